"""A server of the years of the initialize handshake, by hand: prints a banner, knows no discovery, tells of changes.

Options: `--endless` names the same next page for ever; `--broken` lists tools that are none; `--odd JSON` lists one
tool more, as it is given.
"""

import json
import os
import sys

names = ["grow", "die"]
SCHEMA = {"required": ["q"], "properties": {"q": {"description": "ü", "type": "string"}}, "type": "object"}


def tool(name: str) -> dict:
    hints = {"annotations": {"readOnlyHint": True}} if name == "grow" else {}
    return {"name": name, "description": name.title(), "inputSchema": SCHEMA if hints else {"type": "object"}, **hints}


def answer(method: str, params: dict) -> dict | None:
    if method == "initialize":
        info = {"name": "handshake", "version": "1"}
        can = {"tools": {"listChanged": True}}
        return {"protocolVersion": params["protocolVersion"], "capabilities": can, "serverInfo": info}
    if method == "tools/list" and "--broken" in sys.argv:
        return {"tools": [{"title": "no name"}]}
    if method == "tools/list":
        more = {"nextCursor": "again"} if "--endless" in sys.argv else {}
        odd = [json.loads(sys.argv[2])] if "--odd" in sys.argv else []
        return {"tools": [*odd, *(tool(name) for name in names)], **more}
    if method == "tools/call" and params["name"] == "die":
        os._exit(9)
    if method == "tools/call":
        names.append("late")
        send({"method": "notifications/tools/list_changed"})
        return {"content": [{"type": "text", "text": str(os.getpid())}]}
    return None


def send(message: dict) -> None:
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


print("Welcome to the handshake server!", flush=True)
for line in sys.stdin:
    request = json.loads(line)
    if "id" not in request:
        continue
    result = answer(request["method"], request.get("params") or {})
    failed = {"error": {"code": -32601, "message": f"no {request['method']}"}}
    send({"id": request["id"], **(failed if result is None else {"result": result})})
