"""How fast session files are read, against a plain loop of `json.loads` over the same lines.

    python benchmarks/importing.py [--megabytes 100]

Made files of the layouts people have most: Claude Code and Codex, and traffic of a model API, whose every request tells
the conversation anew, with results of the sizes that tools give.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from toolkit.formats.sessions import load_sessions

WORDS = ("the tide rises in the bay", "every crane of the harbour", "waits for its load\n", "until", "noon")


def text(noise: random.Random, length: int) -> str:
    return " ".join(noise.choices(WORDS, k=length // 3))


def claude(noise: random.Random) -> Iterator[dict[str, object]]:
    """Yield the records of one session: a prompt, then passes of a call and its result."""
    last: str | None = None
    for number in range(10**9):
        base = {"sessionId": "s", "version": "2.1.100", "cwd": "/w", "isSidechain": False}
        prompt, reply, answer = (f"{kind}{number}" for kind in "uar")
        if number % 20 == 0:
            said = {"role": "user", "content": text(noise, 30)}
            yield {**base, "type": "user", "uuid": prompt, "parentUuid": last, "message": said}
            last = prompt
        call = {"type": "tool_use", "id": f"t{number}", "name": "Read", "input": {"file_path": f"/w/{number}.py"}}
        usage = {"input_tokens": 3, "cache_read_input_tokens": 20_000, "output_tokens": 80}
        inner = {"id": f"m{number}", "model": "claude-x", "content": [call], "usage": usage, "stop_reason": "tool_use"}
        yield {**base, "type": "assistant", "uuid": reply, "parentUuid": last, "message": inner}
        body = text(noise, noise.choice((40, 200, 1200)))
        result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": body}
        told = {"file": {"content": body, "numLines": 40}}
        said = {"role": "user", "content": [result]}
        yield {**base, "type": "user", "uuid": answer, "parentUuid": reply, "message": said, "toolUseResult": told}
        last = answer


def codex(noise: random.Random) -> Iterator[dict[str, object]]:
    """Yield the lines of one rollout: a prompt, then passes of a call, its usage and its result."""
    time = {"timestamp": "2026-01-05T10:00:00Z"}
    yield {**time, "type": "session_meta", "payload": {"id": "s", "cli_version": "1", "cwd": "/w"}}
    for number in range(10**9):
        if number % 20 == 0:
            yield {**time, "type": "event_msg", "payload": {"type": "user_message", "message": text(noise, 30)}}
        call = {"type": "function_call", "name": "shell", "arguments": '{"command":["ls"]}', "call_id": f"c{number}"}
        yield {**time, "type": "response_item", "payload": call}
        usage = {"input_tokens": 100 + number, "output_tokens": 9, "total_tokens": 109 + number}
        info = {"total_token_usage": usage, "last_token_usage": usage}
        yield {**time, "type": "event_msg", "payload": {"type": "token_count", "info": info}}
        body = text(noise, noise.choice((40, 200, 1200)))
        output = {"type": "function_call_output", "call_id": f"c{number}", "output": body}
        yield {**time, "type": "response_item", "payload": output}


def wire(noise: random.Random) -> Iterator[dict[str, object]]:
    """Yield the exchanges of conversations of twelve requests, each with its thirty tools."""
    schema = {"type": "object", "properties": {name: {"type": "string"} for name in WORDS}}
    inner = [{"name": f"tool_{n}", "description": text(noise, 60), "parameters": schema} for n in range(30)]
    tools = [{"type": "function", "function": one} for one in inner]
    for number in range(10**9):
        messages: list[dict[str, object]] = [{"role": "user", "content": f"{number} {text(noise, 90)}"}]
        for turn in range(12):
            id = f"c{number}-{turn}"
            call = {"id": id, "type": "function", "function": {"name": f"tool_{turn}", "arguments": '{"until":"noon"}'}}
            reply = {"role": "assistant", "content": text(noise, 60), "tool_calls": [call]}
            usage = {"prompt_tokens": 1000, "completion_tokens": 30}
            asked = {"model": "gpt-4o", "messages": messages, "tools": tools}
            answer = {"id": f"r{id}", "model": "gpt-4o", "choices": [{"message": reply}], "usage": usage}
            yield {"request": asked, "response": {**answer, "object": "chat.completion"}}
            body = text(noise, noise.choice((40, 200, 1200)))
            messages = [*messages, reply, {"role": "tool", "tool_call_id": id, "content": body}]


def write(path: Path, records: Iterator[dict[str, object]], megabytes: int) -> None:
    left = megabytes * 1_000_000
    with path.open("w", encoding="utf-8") as file:
        for record in records:
            left -= file.write(json.dumps(record, separators=(",", ":")) + "\n")
            if left < 0:
                return


def plain(path: Path) -> None:
    with path.open("rb") as file:
        for line in file:
            json.loads(line)


def best(run: Callable[[], object], times: int = 3) -> float:
    spans = []
    for _ in range(times):
        start = time.perf_counter()
        run()
        spans.append(time.perf_counter() - start)
    return min(spans)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--megabytes", type=int, default=100)
    size = parser.parse_args().megabytes
    print(f"{'format':12s} {'MB/s':>6s} {'json.loads MB/s':>16s} {'times its time':>15s}")
    for name, make in (("claude-code", claude), ("codex", codex), ("wire", wire)):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "session.jsonl"
            write(path, make(random.Random(0)), size)
            ours, theirs = best(lambda path=path: load_sessions(path)), best(lambda path=path: plain(path))
        print(f"{name:12s} {size / ours:6.0f} {size / theirs:16.0f} {ours / theirs:15.2f}")


if __name__ == "__main__":
    main()
