"""MCP servers over stdio: their settings, how they are started, called and always stopped."""

from __future__ import annotations

import asyncio
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, TextIO

from mcp import MCPError, StdioServerParameters
from mcp.client.client import Client
from mcp.client.stdio import stdio_client

from recorder.errors import RecordError

START_SECONDS = 60.0
CALL_SECONDS = 30.0
CLOCK_FOLDER = Path(__file__).with_name("clock")


@dataclass(frozen=True, slots=True)
class ServerSpec:
    """How one server of `servers.toml` is installed and started."""

    name: str
    package: str
    environment: str
    command: str
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    fresh: bool = False
    clock: bool = False


def read_specs(path: Path) -> dict[str, ServerSpec]:
    """Return the servers of a `servers.toml`, in the order of the file."""
    tables = tomllib.loads(path.read_text(encoding="utf-8"))["servers"]
    return {name: _spec(name, table) for name, table in tables.items()}


def _spec(name: str, table: dict[str, Any]) -> ServerSpec:
    return ServerSpec(name, **{**table, "args": tuple(table.get("args", ()))})


def executable(spec: ServerSpec, home: Path) -> Path:
    """Return the path of the server's command under `home`.

    Raises:
        RecordError: The command is not installed; the text says how to install it.
    """
    folder = home / spec.environment
    bins = folder / "node_modules" / ".bin" if spec.environment == "npm" else folder / "bin"
    path = bins / spec.command
    if not path.exists():
        raise RecordError(
            f"the MCP server {spec.name!r} ({spec.package}) is not installed: {path} is missing.\n"
            f"Install all servers with:  python datasets/record.py --install --servers {home}"
        )
    return path.absolute()


@dataclass(frozen=True, slots=True)
class Place:
    """Where a session's servers live: its folder, the servers' own files, the session's start."""

    workspace: Path
    state: Path
    clock: str

    def fill(self, text: str) -> str:
        """Return `text` with the place's words put in."""
        words = {"workspace": self.workspace, "state": self.state, "clock": self.clock, "unix": self.unix}
        for word, value in words.items():
            text = text.replace(f"{{{word}}}", str(value))
        return text

    @property
    def unix(self) -> int:
        """The session's start in seconds since 1970."""
        return int(datetime.fromisoformat(self.clock).timestamp())


def parameters(spec: ServerSpec, home: Path, place: Place) -> StdioServerParameters:
    """Return the SDK's description of the process, in a bare and repeatable environment."""
    command = executable(spec, home)
    env = {"HOME": str(place.state), "USER": "agent", "LOGNAME": "agent", "TZ": "UTC", "LC_ALL": "C.UTF-8"}
    env |= {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1", "PYTHONHASHSEED": "0"}
    env |= {"PYTHONDONTWRITEBYTECODE": "1"}
    if spec.clock:
        env |= {"PYTHONPATH": str(CLOCK_FOLDER), "RECORDER_NOW": place.clock}
    env |= {key: place.fill(value) for key, value in spec.env.items()}
    args = [place.fill(arg) for arg in spec.args]
    return StdioServerParameters(command=str(command), args=args, env=env, cwd=place.workspace)


class Running:
    """One started server; a task of its own opens and closes it, so that servers end in any order."""

    def __init__(self, spec: ServerSpec, process: StdioServerParameters, log: TextIO) -> None:
        self.spec = spec
        self._process = process
        self._log = log
        self._ready: asyncio.Future[Client] = asyncio.get_running_loop().create_future()
        self._stop = asyncio.Event()
        self._task = asyncio.create_task(self._live())

    async def _live(self) -> None:
        try:
            async with Client(stdio_client(self._process, errlog=self._log)) as client:
                self._ready.set_result(client)
                await self._stop.wait()
        except Exception as error:
            if not self._ready.done():
                self._ready.set_exception(error)

    async def client(self) -> Client:
        """Return the connected client.

        Raises:
            RecordError: The server did not start in time or ended at once.
        """
        try:
            return await asyncio.wait_for(asyncio.shield(self._ready), START_SECONDS)
        except Exception as error:
            raise RecordError(f"the MCP server {self.spec.name!r} did not start: {error!r}; see its log.") from error

    async def tools(self) -> list[dict[str, Any]]:
        """Return the definitions of all pages of `tools/list`, as the server gave them."""
        client = await self.client()
        found: list[dict[str, Any]] = []
        cursor: str | None = None
        while True:
            page = await client.list_tools(cursor=cursor)
            found += [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in page.tools]
            cursor = page.next_cursor
            if not cursor:
                return found

    async def call(self, tool: str, arguments: dict[str, Any]) -> tuple[list[dict[str, Any]], bool]:
        """Call a tool and return the parts of its answer and whether it is an error.

        Raises:
            RecordError: No answer came within `CALL_SECONDS`.
        """
        client = await self.client()
        try:
            answer = await asyncio.wait_for(client.call_tool(tool, arguments), CALL_SECONDS)
        except MCPError as error:
            return [{"type": "text", "text": error.error.message}], True
        except TimeoutError as error:
            raise RecordError(f"{self.spec.name}.{tool} gave no answer within {CALL_SECONDS:.0f} s.") from error
        parts = [part.model_dump(mode="json", by_alias=True, exclude_none=True) for part in answer.content]
        return parts, bool(answer.is_error)

    async def stop(self) -> None:
        """End the process; what is still open after the SDK's own limits is cancelled."""
        self._stop.set()
        await asyncio.wait({self._task}, timeout=10)
        self._task.cancel()


class Pool:
    """The servers of a recording, started when they are first needed."""

    def __init__(self, specs: Mapping[str, ServerSpec], home: Path, log: TextIO) -> None:
        self.specs = specs
        self._home = home
        self._log = log
        self._running: dict[str, Running] = {}

    async def __aenter__(self) -> Pool:
        return self

    async def __aexit__(self, *_: object) -> None:
        await asyncio.gather(*(self.stop(name) for name in list(self._running)))

    def get(self, name: str, place: Place) -> Running:
        """Return the server, started if it is not running."""
        if name not in self._running:
            spec = self.specs[name]
            self._running[name] = Running(spec, parameters(spec, self._home, place), self._log)
        return self._running[name]

    async def stop(self, name: str) -> None:
        """Stop one server, if it runs."""
        running = self._running.pop(name, None)
        if running is not None:
            await running.stop()

    async def stop_fresh(self) -> None:
        """Stop the servers that each session starts anew."""
        await asyncio.gather(*(self.stop(name) for name in list(self._running) if self.specs[name].fresh))
