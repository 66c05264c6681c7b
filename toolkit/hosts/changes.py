"""What running MCP servers tell a host: their tools, that one has gone, that it is back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Literal

from toolkit.host import Host
from toolkit.tool import Tool


@dataclass(frozen=True, slots=True)
class Change:
    """One thing that happened to a server.

    Attributes:
        server: Its name.
        kind: `tools`: the full list that it serves now; `down`: it has gone (B4); `up`: it is back.
        tools: With `tools`, all of them.
        error: With `down`, why.
    """

    server: str
    kind: Literal["tools", "down", "up"]
    tools: tuple[Tool, ...] = ()
    error: str = ""

    def apply(self, host: Host) -> None:
        """Tell a host; its offer waits for the boundary, its permission does not (B2, B4)."""
        match self.kind:
            case "tools":
                host.tools_changed(f"mcp:{self.server}", self.tools)
            case "down":
                host.server_down(self.server)
            case "up":
                host.server_up(self.server)


Listener = Callable[[Change], None]


def feeding(host: Host) -> Listener:
    """Return the listener that tells a host at once; for a host that lives in the servers' own thread."""
    return lambda change: change.apply(host)


class Mailbox:
    """A listener for a host that lives in another thread, which empties it when it wants to.

    A host that delivers before each turn, pass and call sees every change as early as it can.
    """

    def __init__(self) -> None:
        self._queue: SimpleQueue[Change] = SimpleQueue()

    def __call__(self, change: Change) -> None:
        self._queue.put(change)

    def deliver(self, host: Host) -> int:
        """Tell the host what has come since the last time, in order; return how many changes it was."""
        told = 0
        while True:
            try:
                self._queue.get_nowait().apply(host)
            except Empty:
                return told
            told += 1
