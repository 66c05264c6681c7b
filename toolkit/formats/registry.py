"""Every format that is read, in the order they are asked."""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator
from pathlib import Path

from toolkit.errors import InputError
from toolkit.formats.files import Problem
from toolkit.formats.importing import Format, Source
from toolkit.plugins import Registry
from toolkit.session import Session

FAULTS = (TypeError, ValueError, AttributeError, LookupError, ArithmeticError, RecursionError)
"""What an importer raises on a value that it did not expect: told, so that the other files are still read."""

FORMATS = Registry(
    "format",
    "toolkit.formats",
    builds=False,
    wants="a Format",
    fits=lambda one: isinstance(one, Format),
    built_in={
        "journal": "toolkit.formats.native.journal:JOURNAL",
        "atif": "toolkit.formats.native.files:ATIF",
        "codex": "toolkit.formats.agents.codex:CODEX",
        "codex-exec": "toolkit.formats.agents.codex_exec:CODEX_EXEC",
        "copilot-cli": "toolkit.formats.agents.copilot:COPILOT",
        "gemini-cli": "toolkit.formats.agents.gemini_cli:GEMINI_CLI",
        "opencode": "toolkit.formats.agents.opencode:OPENCODE",
        "opencode-db": "toolkit.formats.agents.opencode_db:OPENCODE_DB",
        "pi": "toolkit.formats.agents.pi:PI",
        "claude-code": "toolkit.formats.agents.claude:CLAUDE_CODE",
        "vcr": "toolkit.formats.traffic.vcr:VCR",
        "har": "toolkit.formats.traffic.har:HAR",
        "inspect": "toolkit.formats.evaluations.inspect_log:INSPECT",
        "langfuse": "toolkit.formats.traces.langfuse:LANGFUSE",
        "langsmith": "toolkit.formats.traces.langsmith:LANGSMITH",
        "otel": "toolkit.formats.traces.otel:OTEL",
        "tau": "toolkit.formats.evaluations.tau:TAU",
        "mcp-log": "toolkit.formats.evaluations.mcp_log:MCP",
        "bfcl": "toolkit.formats.evaluations.bfcl:BFCL",
        "wire": "toolkit.formats.traffic.wire:WIRE",
        "plain": "toolkit.formats.plain:PLAIN",
    },
)


def format_of(source: Source, formats: Iterable[Format] | None = None) -> Format | None:
    """Return the first format that recognises a file, or None."""
    return next((one for one in (FORMATS.all() if formats is None else formats) if one.recognises(source)), None)


def read_files(
    files: Iterable[Path], problems: list[Problem], formats: Iterable[Format] | None = None
) -> Iterator[Session]:
    """Yield the sessions of files; a file that is none of the formats is noted in one line (`not_a_session`)."""
    claimed: set[Path] = set()
    for path in files:
        if path not in claimed:
            yield from read_file(Source(path, claimed), problems, formats)


def read_file(source: Source, problems: list[Problem], formats: Iterable[Format] | None = None) -> Iterator[Session]:
    """Yield the sessions of one file; see `read_files`."""
    if not source.head.strip():
        source.note(problems, 0, "empty", "the file holds no record.")
        return
    found = format_of(source, formats)
    if found is None:
        source.note(problems, 0, "not_a_session", f"{_other(source)}; it was passed over.")
        return
    try:
        for session in _unpaused(found.read(source, problems)):
            problems += _doubts(session)
            yield session
    except InputError as error:
        source.note(problems, 0, "bad_session", str(error))
    except FAULTS as error:
        what = f"the importer of {found.name} failed: {type(error).__name__}: {error}. What stands before it is used."
        source.note(problems, 0, "importer_failed", what)


def _other(source: Source) -> str:
    """Say what a file is that is no session, where its keys tell."""
    keys = source.keys
    if {"query", "gold"} <= keys:
        return "these are queries, for toolkit rank-eval"
    if "name" in keys and keys & {"description", "input_schema", "inputSchema", "parameters"}:
        return "this is a catalog, for --catalog"
    if "mcpServers" in keys or keys == {"servers"}:
        return "this is a configuration of MCP servers, for toolkit catalog record"
    if {"request", "usage"} <= keys:
        return "these are billed requests, for toolkit count --check"
    return "no format recognises it"


def _unpaused(sessions: Iterator[Session]) -> Iterator[Session]:
    """Yield sessions; the collector of cycles is off while each is read, else it walks every record many times."""
    while True:
        was_on = gc.isenabled()
        gc.disable()
        try:
            session = next(sessions, None)
        finally:
            if was_on:
                gc.enable()
        if session is None:
            return
        yield session


def _doubts(session: Session) -> Iterator[Problem]:
    path, _, line = session.source.rpartition(":")

    def doubt(code: str, message: str) -> Problem:
        return Problem(path, int(line), code, f"session {session.id!r}: {message}")

    if not len(session.catalog):
        yield doubt("no_tools", "it has no tool definitions.")
    elif session.definitions == "missing":
        yield doubt("no_definitions", "tools that it calls have no definition; token figures are lower bounds.")
    for tool in session.catalog.dropped:
        yield doubt("duplicate_name", f"{tool.name!r} is defined twice; the first stays.")
    known = {name for pair in session.catalog.wire_names.items() for name in pair}
    called = dict.fromkeys(call.name for call in session.calls() if call.kind == "call")
    for name in (name for name in called if name not in known):
        yield doubt("unknown_tool", f"it calls {name!r}, which it does not define.")
