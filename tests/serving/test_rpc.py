"""JSON-RPC 2.0 as its specification has it: every request is answered once, in order, and nothing ends the server."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolkit.errors import InputError
from toolkit.serving import rpc


def echo(method: str, params: Any) -> Any:
    if method == "echo":
        return params
    if method == "wrong":
        raise InputError("a name was expected.")
    if method == "broken":
        raise ZeroDivisionError("oh")
    raise rpc.RpcError(rpc.NO_METHOD, f"no method {method!r}.")


def answers(*lines: Any) -> list[Any]:
    """Return what a server writes that reads these lines: texts as they are, all else as JSON."""
    sent = b"".join((one if isinstance(one, bytes) else json.dumps(one).encode()) + b"\n" for one in lines)
    out = io.BytesIO()
    rpc.serve(echo, io.BytesIO(sent), out, lambda: False)
    return [json.loads(line) for line in out.getvalue().splitlines()]


def request(id: Any, method: str = "echo", **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": params}


def test_requests_are_answered_in_their_order() -> None:
    assert [one["id"] for one in answers(request(3), request(1), request("x"))] == [3, 1, "x"]


def test_a_notification_has_no_answer() -> None:
    assert answers({"jsonrpc": "2.0", "method": "echo"}, {"jsonrpc": "2.0", "method": "nothing"}) == []


def test_a_batch_has_one_answer_a_request() -> None:
    (batch,) = answers([request(1), {"jsonrpc": "2.0", "method": "echo"}, 7])
    assert [one["id"] for one in batch] == [1, None]
    assert batch[1]["error"]["code"] == rpc.INVALID_REQUEST


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"{", rpc.PARSE_ERROR),
        (b"\xff\xfe", rpc.PARSE_ERROR),
        (b"[" * 100_000, rpc.PARSE_ERROR),
        (b"[]", rpc.INVALID_REQUEST),
        (b"7", rpc.INVALID_REQUEST),
        ({"jsonrpc": "1.0", "id": 1, "method": "echo"}, rpc.INVALID_REQUEST),
        ({"jsonrpc": "2.0", "id": [1], "method": "echo"}, rpc.INVALID_REQUEST),
        ({"jsonrpc": "2.0", "id": 1, "method": 7}, rpc.INVALID_REQUEST),
        (request(1, "nothing"), rpc.NO_METHOD),
        (request(1, "wrong"), rpc.INVALID_PARAMS),
        (request(1, "broken"), rpc.INTERNAL),
    ],
)
def test_what_is_wrong_gets_the_standard_error_and_the_next_an_answer(line: Any, code: int) -> None:
    wrong, right = answers(line, request(2, word="so"))
    assert wrong["error"]["code"] == code and wrong["error"]["message"]
    assert right == {"jsonrpc": "2.0", "id": 2, "result": {"word": "so"}}


def test_a_line_that_is_too_long_is_skipped_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rpc, "LONGEST", 100)
    long, right = answers(request(1, text="x" * 1000), request(2))
    assert long["error"]["code"] == rpc.INVALID_REQUEST
    assert right["id"] == 2


@given(st.lists(st.binary(max_size=60).filter(lambda line: b"\n" not in line), max_size=8))
def test_no_rubbish_ends_the_server(lines: list[bytes]) -> None:
    assert answers(*lines, request("last"))[-1] == {"jsonrpc": "2.0", "id": "last", "result": {}}


def test_what_a_plug_in_prints_never_stands_among_the_answers() -> None:
    code = (
        "import os\nfrom toolkit.serving.rpc import pipes, serve\n"
        "def loud(method, params):\n    print('hello'); os.write(1, b'raw'); return {}\n"
        "with pipes() as (reading, writing):\n    serve(loud, reading, writing, lambda: False)\n"
    )
    sent = json.dumps(request(1)).encode()
    ran = subprocess.run([sys.executable, "-c", code], input=sent, capture_output=True, check=True)
    assert json.loads(ran.stdout) == {"jsonrpc": "2.0", "id": 1, "result": {}}
    assert b"hello" in ran.stderr and b"raw" in ran.stderr
