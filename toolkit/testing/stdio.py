"""A host under test behind JSON-RPC 2.0 over stdio: started when needed, given up when it breaks."""

from __future__ import annotations

import json
import queue
import subprocess
import tempfile
import threading
from collections.abc import Mapping, Sequence
from typing import IO, Any

from toolkit.errors import InputError, ToolkitError

_SHOWN = 120


class HostBrokenError(ToolkitError):
    """The host died, printed something else than an answer, or did not answer in time."""

    code = "host_broke"


class StdioHost:
    """Asks a command's process, one JSON object a line; a process that breaks is replaced at the next question.

    Args:
        command: The program and its arguments.
        time_limit: Seconds that an answer may take.
    """

    def __init__(self, command: Sequence[str], time_limit: float = 10.0) -> None:
        self.command, self.time_limit = list(command), time_limit
        self._process: subprocess.Popen[bytes] | None = None
        self._lines: queue.Queue[bytes] = queue.Queue()
        self._errors: IO[bytes] | None = None
        self._number = 0

    def ask(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """Return the result of a method; an error is the outcome `{"error": message, "text": …}`.

        Raises:
            HostBrokenError: There is no answer; the process has been ended.
            InputError: The command cannot be started.
        """
        self._number += 1
        request = {"jsonrpc": "2.0", "id": self._number, "method": method, "params": params}
        try:
            self._send(request)
            return _outcome(self._answer(), self._number)
        except HostBrokenError:
            self.close()
            raise

    def _send(self, request: Mapping[str, Any]) -> None:
        process = self._process or self._start()
        assert process.stdin is not None
        try:
            process.stdin.write(json.dumps(request).encode() + b"\n")
            process.stdin.flush()
        except OSError as error:
            raise self._dead() from error

    def _start(self) -> subprocess.Popen[bytes]:
        errors = self._errors = tempfile.TemporaryFile()  # noqa: SIM115 (closed with the process)
        pipe = subprocess.PIPE
        try:
            process = subprocess.Popen(self.command, stdin=pipe, stdout=pipe, stderr=errors)
        except OSError as error:
            raise InputError(f"cannot start {self.command[0]!r}: {error.strerror}.") from error
        self._process, self._lines = process, queue.Queue()
        threading.Thread(target=_read, args=(process.stdout, self._lines), daemon=True).start()
        return process

    def _answer(self) -> bytes:
        try:
            line = self._lines.get(timeout=self.time_limit)
        except queue.Empty:
            raise HostBrokenError(f"the host did not answer within {self.time_limit:g} s.") from None
        if not line:
            raise self._dead()
        return line

    def _dead(self) -> HostBrokenError:
        assert self._process is not None and self._errors is not None
        try:
            status: int | str = self._process.wait(1.0)
        except subprocess.TimeoutExpired:
            return HostBrokenError("the host closed its output.")
        self._errors.seek(0)
        last = self._errors.read().decode(errors="replace").strip().rpartition("\n")[2]
        return HostBrokenError(f"the host ended with status {status}.", hint=last[:_SHOWN])

    def close(self) -> None:
        """End the process, if one runs."""
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        for stream in (process.stdin, self._errors):
            if stream is not None:
                _close(stream)


def _close(stream: IO[bytes]) -> None:
    """Close a pipe, whose other end may be gone."""
    try:
        stream.close()
    except OSError:
        return


def _read(stream: IO[bytes] | None, lines: queue.Queue[bytes]) -> None:
    """Hand lines over until the process closes its output; an empty one says so."""
    assert stream is not None
    with stream:
        for line in stream:
            lines.put(line)
    lines.put(b"")


def _outcome(line: bytes, number: int) -> dict[str, Any]:
    try:
        answer = json.loads(line)
    except ValueError:
        answer = None
    if not isinstance(answer, dict) or answer.get("id") != number or not {"result", "error"} & answer.keys():
        printed = line[:_SHOWN].decode(errors="replace").rstrip("\n")
        hint = f"Expected one object a line with id {number} and a result or an error; see PROTOCOL.md."
        raise HostBrokenError(f"the answer to request {number} is no JSON-RPC 2.0 response: {printed!r}.", hint=hint)
    if answer.get("error") is None:
        return answer.get("result") or {}
    error = answer["error"] if isinstance(answer["error"], dict) else {"message": answer["error"]}
    data = error.get("data")
    return {"error": str(error.get("message")), "text": data.get("text", "") if isinstance(data, dict) else ""}
