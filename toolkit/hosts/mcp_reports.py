"""What came of the servers: one frozen record each, with an error that says what to do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from toolkit.tool import Tool, canonical_order

OK, OFF, NOT_FOUND, ENDED, TIMED_OUT, RUBBISH, FAILED = (
    "ok",
    "off",
    "not_found",
    "ended",
    "timed_out",
    "rubbish",
    "failed",
)


@dataclass(frozen=True, slots=True)
class ServerReport:
    """What came of one server.

    Attributes:
        name: The server.
        state: `ok`; `off` (not enabled); `not_found` (its command); `ended` (its process or connection);
            `timed_out`; `rubbish` (what it prints is no JSON-RPC); `failed` (all else).
        tools: What it lists, in its own order; of a server that has gone, what it listed last.
        error: What went wrong and what to do, without secrets; of a server that is up, what of its list is left out.
    """

    name: str
    state: str
    tools: tuple[Tool, ...] = ()
    error: str = ""


@dataclass(frozen=True, slots=True)
class ServersListing:
    """The tools of all servers that answered, in canonical order (B5), and a report for each server."""

    tools: tuple[Tool, ...]
    reports: tuple[ServerReport, ...]

    @property
    def failed(self) -> tuple[ServerReport, ...]:
        """The reports of the servers that did not answer."""
        return tuple(report for report in self.reports if report.state not in (OK, OFF))


def listing_of(reports: tuple[ServerReport, ...]) -> ServersListing:
    """Return the listing of these reports."""
    tools = (tool for report in reports if report.state == OK for tool in report.tools)
    return ServersListing(tuple(sorted(tools, key=canonical_order)), reports)


@dataclass(frozen=True, slots=True)
class CallAnswer:
    """What came of one call.

    Attributes:
        code: `ok`; `error` (the tool says so, or the server refused); `unavailable` (B4); `timed_out`.
        text: What the model reads.
        content: The parts of the answer as the protocol has them.
        structured: The structured content, if there is any.
    """

    code: str
    text: str
    content: tuple[dict[str, Any], ...] = ()
    structured: Any = None
