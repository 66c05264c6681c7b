"""Claude Code: transcripts of all versions with their sub-agents, and captures of its stream-json output."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from toolkit.formats.agents.branches import left_behind
from toolkit.formats.agents.claude_records import BOOKKEEPING, Record, Said, Usage, is_command, said, typed
from toolkit.formats.agents.claude_tools import Offered, answer_of, noted_matches, references
from toolkit.formats.building import Building
from toolkit.formats.files import Problem
from toolkit.formats.importing import Format, Source, shaped
from toolkit.formats.pieces import content_of, usage_of
from toolkit.session import Session

NAME = "claude-code"
_SEARCH = "ToolSearch"
Line = tuple[int, Record]


def _recognises(source: Source) -> bool:
    return any(map(_is_ours, source.objects_at_head)) or (
        "messages" in source.keys and b'"direction"' in source.head and b'"control_re' in source.head
    )


def _is_ours(one: Mapping[str, Any]) -> bool:
    kind, inner = one.get("type"), one.get("message")
    if kind in ("user", "assistant") and isinstance(inner, dict):
        spoken = inner.get("role") in ("user", "assistant") or "content" in inner
        return spoken and not {"uuid", "sessionId", "session_id", "isSidechain", "parentUuid"}.isdisjoint(one)
    return kind == "system" and one.get("subtype") == "init" and "session_id" in one


def _read(source: Source, problems: list[Problem]) -> Iterator[Session]:
    lines = list(_lines(source, problems))
    stem = source.path.name.partition(".")[0]
    main = next((id for _, record in lines if (id := record.session)), stem)
    for thread, records in _threads(source, lines).items():
        parent = None if thread is None else _parent(source, main, stem)
        session = _Reader(source, problems, records, thread is not None).session(thread or main, parent)
        if session is not None:
            yield session


def _lines(source: Source, problems: list[Problem]) -> Iterator[Line]:
    """Yield the records: one a line, the items of a list, or the messages of `{messages: [{direction, message}]}`."""
    if source.head.lstrip()[:1] != b"[" and "messages" not in source.keys:
        yield from source.objects(problems, Record)
        return
    document = source.document(problems)
    rows = document.get("messages") if isinstance(document, dict) else document
    for number, row in enumerate(rows if isinstance(rows, list) else (), 1):
        inner = row.get("message") if isinstance(row, dict) and "direction" in row else row
        if isinstance(inner, dict):
            yield number, shaped(inner, Record)


def _parent(source: Source, main: str, stem: str) -> str:
    """Return the id of the session that started a sub-agent: its own `sessionId`, else its folder's name."""
    folder = source.path.parent
    return folder.parent.name if folder.name == "subagents" and main == stem else main


def _threads(source: Source, lines: list[Line]) -> dict[str | None, list[Line]]:
    """Return the records of the main thread (None) and of each sub-agent, by its id."""
    whole = all(record.isSidechain is True for _, record in lines if record.type in ("user", "assistant"))
    stem = source.path.name.partition(".")[0].removeprefix("agent-")
    roots: dict[Any, str] = {}
    threads: dict[str | None, list[Line]] = {}
    inside = source.path.parent.name == "subagents" or source.path.name.startswith("agent-")
    for number, record in lines:
        key = None
        if record.isSidechain is True or isinstance(record.parent_tool_use_id, str) or (whole and inside):
            key = _thread(record, roots, stem if whole and inside else None)
        if isinstance(record.uuid, str) and key is not None:
            roots[record.uuid] = key
        threads.setdefault(key, []).append((number, record))
    inner = _embedded(source, lines)
    return {**threads, **{id: told for id, told in inner.items() if id not in threads}}


def _embedded(source: Source, lines: list[Line]) -> dict[str | None, list[Line]]:
    """Return the threads of sub-agents that stand inside progress records alone, in no file of their own."""
    threads: dict[str | None, list[Line]] = {}
    for number, record in lines:
        inner = record.embedded
        if inner is not None:
            threads.setdefault(inner.agentId, []).append((number, inner))
    folder, stem = source.path.parent, source.path.name.partition(".")[0]
    places = folder, folder / stem / "subagents"
    return {id: told for id, told in threads.items() if not any((at / f"agent-{id}.jsonl").is_file() for at in places)}


def _thread(record: Record, roots: Mapping[Any, str], stem: str | None) -> str:
    for name in (record.agentId, record.parent_tool_use_id):
        if isinstance(name, str) and name:
            return name
    above = roots.get(record.parentUuid) if isinstance(record.parentUuid, str) else None
    return stem or above or str(record.uuid or "sidechain")


def _prompt(record: Record, inner: bool, blocks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return what starts a turn: a person's words, or in a sub-agent what its caller wrote."""
    if record.isCompactSummary is True or any(block.get("type") == "tool_result" for block in blocks):
        return []
    return blocks if inner and record.isMeta is not True else typed(record, blocks)


class _Reader:
    """Reads the records of one thread, in the order of the file, without the branches that were rewound."""

    def __init__(self, source: Source, problems: list[Problem], lines: list[Line], inner: bool) -> None:
        self.lines, self.inner = lines, inner
        self.made = Building(source, problems, NAME)
        self.offered = Offered()
        self.seen: set[Any] = set()
        self.calls: set[tuple[Any, Any]] = set()
        self.searches: set[Any] = set()
        self.version: str | None = None
        self.commanded = False

    def session(self, id: str, parent: str | None) -> Session | None:
        dead = self._rewound()
        for number, record in self.lines:
            self.made.line = number
            if isinstance(record.uuid, str):
                if record.uuid in dead or record.uuid in self.seen:
                    continue
                self.seen.add(record.uuid)
            self._take(record)
        if self.made.empty:
            return None
        agent = {"name": NAME, "version": self.version}
        model = next(iter(self.made.models()), None)
        return self.made.session(id, version=self.version, parent=parent, model=model, agent=agent)

    def _rewound(self) -> set[str]:
        records = [record for _, record in self.lines if isinstance(record.uuid, str)]
        prompts = [r.uuid for r in records if r.type == "user" and _prompt(r, self.inner, r.blocks)]
        spoken = {r.uuid for r in records if r.type in ("user", "assistant")}
        dead, left = left_behind({r.uuid: r.parentUuid for r in records}, prompts, spoken)
        if left:
            self.made.note("fork", f"{left} prompts were rewound; what followed them is left out.")
        elif forks := _forks(records):
            self.made.note("fork", f"the chain forks at {forks} host records; all that ran is kept.")
        return dead

    def _take(self, record: Record) -> None:
        kind = record.type
        version = record.version or record.claude_code_version
        self.version = version if isinstance(version, str) else self.version
        if kind == "assistant":
            self._assistant(record)
        elif kind == "user":
            self._user(record)
        elif kind == "system":
            self._system(record)
        elif kind == "attachment":
            self._attachment(record)
        elif not isinstance(kind, str) or not BOOKKEEPING.fullmatch(kind):
            self.made.unknown_record(kind)

    def _assistant(self, record: Record) -> None:
        inner = record.message if isinstance(record.message, Said) else Said()
        if not isinstance(inner.content, (str, list)):
            kind = type(inner.content).__name__
            self.made.note("unknown_content_shape", f"a message's content is {kind}; passed over.")
            return
        if record.isApiErrorMessage is True or inner.model == "<synthetic>":
            return
        key = inner.id or record.requestId or record.uuid
        key = key if isinstance(key, str) else None
        if self.commanded:
            self.made.user("")
            self.commanded = False
        self.made.say(
            key,
            usage=_usage(inner.usage),
            model=inner.model if isinstance(inner.model, str) else None,
            timestamp=record.timestamp if isinstance(record.timestamp, str) else None,
            declared=self.offered.declared,
            searchable=self.offered.searchable,
            extra=_finality(inner),
        )
        for block in record.blocks:
            self._block(key, block)

    def _block(self, key: str | None, block: Mapping[str, Any]) -> None:
        kind = block.get("type")
        if kind == "text" and isinstance(block.get("text"), str):
            self.made.say(key, block["text"])
        elif kind == "thinking" and isinstance(block.get("thinking"), str):
            self.made.say(key, reasoning=block["thinking"])
        elif kind in ("tool_use", "server_tool_use", "mcp_tool_use"):
            self._call(key, block)
        elif isinstance(kind, str) and kind.endswith("_tool_result"):
            self._result(block, None)

    def _call(self, key: str | None, block: Mapping[str, Any]) -> None:
        id, name = block.get("id"), str(block.get("name") or "")
        if id is not None and (key, id) in self.calls:
            return
        self.calls.add((key, id))
        is_search = name == _SEARCH or name.startswith("tool_search_tool")
        if is_search:
            self.searches.add(id)
        self.made.call(id if isinstance(id, str) else None, name, block.get("input"), "search" if is_search else "call")

    def _user(self, record: Record) -> None:
        if record.message is not None and not isinstance(record.message, (Said, str)):
            self.made.note("unknown_content_shape", f"a message is {type(record.message).__name__}; passed over.")
            return
        blocks = record.blocks
        for block in blocks:
            if block.get("type") == "tool_result":
                self._result(block, record)
        spoken = said(blocks)
        written = _prompt(record, self.inner, blocks)
        if written:
            self.commanded = False
            self.made.user(content_of(written), record.timestamp if isinstance(record.timestamp, str) else None)
            rest = [one for one in spoken if one not in written] if not self.inner else []
        else:
            rest = spoken
            self.commanded = self.commanded or is_command(spoken)
        if rest:
            self.made.history("user", content_of(rest))

    def _result(self, block: Mapping[str, Any], record: Record | None) -> None:
        given = block.get("tool_use_id")
        id = given if isinstance(given, str) else None
        content = block.get("content")
        returned = list(references(content))
        if not returned and record is not None and id in self.searches:
            returned = noted_matches(record)
        self.made.result(id, answer_of(content), block.get("is_error") is True, returned)

    def _system(self, record: Record) -> None:
        if record.subtype == "compact_boundary":
            self.made.event("compaction")
        elif record.subtype == "init" and isinstance(record.tools, list):
            self.made.define(self.offered.named(record.tools))

    def _attachment(self, record: Record) -> None:
        if not isinstance(record.attachment, dict):
            return
        self.made.define(self.offered.take(record.attachment))
        prompt = record.attachment.get("systemPrompt")
        self.made.system("\n\n".join(one for one in prompt if isinstance(one, str)) if isinstance(prompt, list) else "")
        if record.attachment.get("type") == "queued_command" and isinstance(record.attachment.get("prompt"), str):
            self.made.history("user", record.attachment["prompt"])


def _forks(records: list[Record]) -> int:
    """Count the records of the host that the chain goes on from beside a message."""
    notes = [r for r in records if r.type == "system"]
    if not notes:
        return 0
    spoken = {str(record.parentUuid) for record in records if record.type in ("user", "assistant")}
    return sum(str(r.parentUuid) in spoken and r.uuid in spoken for r in notes)


def _usage(usage: Any) -> Any:
    if not isinstance(usage, Usage):
        return None
    written, read = usage.cache_creation_input_tokens, usage.cache_read_input_tokens
    return usage_of(usage.input_tokens, written, read, usage.output_tokens)


def _finality(inner: Said) -> dict[str, Any] | None:
    """Mark output tokens that are the count at the stream's start: final only where `stop_reason` is set."""
    counted = isinstance(inner.usage, Usage) and inner.usage.output_tokens is not None
    return {"completion_is_final": inner.stop_reason is not None} if counted else None


CLAUDE_CODE = Format(NAME, _recognises, _read, "~/.claude/projects with sub-agents; stream-json captures.")
