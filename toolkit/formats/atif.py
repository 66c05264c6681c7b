"""Native sessions: ATIF 1.0 to 1.8 on disk into frozen records, with `extra.toolkit` for what ATIF lacks."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, TypeVar

import msgspec

from toolkit.errors import InputError
from toolkit.formats import atif_shapes as shapes
from toolkit.formats.files import Problem, records
from toolkit.formats.importing import UNREADABLE, Format, Source
from toolkit.session import Call, Content, Event, Message, Pass, Result, Session, Turn, Usage, text_of
from toolkit.tool import Catalog, Tool

_INTERPRETED = ("v", "definitions", "tools", "outcome")
F = TypeVar("F")

_MARK = re.compile(rb'"schema_version"\s*:\s*"ATIF-v')
_decoder = msgspec.json.Decoder(shapes.Trajectory)


def _recognises(source: Source) -> bool:
    return _MARK.search(source.head) is not None or {"agent", "steps"} <= source.keys


def _read(source: Source, problems: list[Problem]) -> Iterator[Session]:
    for record in records(source.path, problems):
        for data in _texts(record.data):
            try:
                yield from read_trajectory(data, f"{record.path}:{record.line}")
            except InputError as error:
                source.note(problems, record.line, "bad_session", str(error))


def _texts(data: bytes) -> list[bytes]:
    """Return the trajectories of one JSON text: itself, or the items of a list."""
    if data.lstrip()[:1] != b"[":
        return [data]
    try:
        return [bytes(item) for item in msgspec.json.decode(data, type=list[msgspec.Raw])]
    except UNREADABLE:
        return [data]


ATIF = Format("atif", _recognises, _read, "Native sessions, and trajectories of Harbor and other agents.")


def read_trajectory(data: bytes, source: str = "", parent: str | None = None) -> Iterator[Session]:
    """Yield the session of a trajectory, then those of its sub-agents.

    Raises:
        InputError: The text is no JSON, or no ATIF trajectory; the message says where.
    """
    try:
        raw = _decoder.decode(data)
    except UNREADABLE as error:
        raise InputError(_what_is_wrong(data, error)) from error
    if not raw.schema_version.startswith("ATIF-v1"):
        raise InputError(f"schema_version {raw.schema_version!r} is not ATIF-v1.0 to v1.8.")
    digest = hashlib.sha256(data).hexdigest()
    id = next(one for one in (raw.session_id, raw.trajectory_id, digest[:16]) if one and one != parent)
    session = _Reader(raw).session(id, source, parent, digest)
    yield session
    for inner in raw.subagent_trajectories or ():
        yield from read_trajectory(bytes(inner), source, session.id)


def _what_is_wrong(data: bytes, error: Exception) -> str:
    try:
        value = msgspec.json.decode(data)
    except UNREADABLE as worse:
        return f"this is no JSON in UTF-8: {worse}."
    if isinstance(value, dict) and "steps" in value:
        return f"this trajectory is not as ATIF has it: {error}."
    found = (
        f"an object with {', '.join(sorted(value)[:6]) or 'no keys'}"
        if isinstance(value, dict)
        else type(value).__name__
    )
    return f"an ATIF trajectory was expected (schema_version, agent, steps); {found} came."


def _toolkit(extra: shapes.Extra) -> dict[str, Any]:
    ours = (extra or {}).get("toolkit")
    return ours if isinstance(ours, dict) else {}


def _facts(extra: shapes.Extra, shape: type[F]) -> F:
    """Return what `extra.toolkit` says, checked."""
    try:
        return msgspec.convert(_toolkit(extra), shape)
    except msgspec.ValidationError as error:
        raise InputError(f"extra.toolkit is not as it should be: {error}.") from error


def _other(extra: shapes.Extra) -> Mapping[str, Any]:
    return {key: value for key, value in (extra or {}).items() if key != "toolkit"}


def _leftover(extra: shapes.Extra) -> Mapping[str, Any]:
    """Return what the records have no field for."""
    ours = {key: value for key, value in _toolkit(extra).items() if key not in _INTERPRETED}
    return {**_other(extra), **({"toolkit": ours} if ours else {})}


def _content(value: str | list[dict[str, Any]] | None) -> Content:
    return tuple(value) if isinstance(value, list) else value or ""


class _Reader:
    """Reads the steps of one trajectory, in order, into turns."""

    def __init__(self, raw: shapes.Trajectory) -> None:
        self.raw = raw
        self.facts = _facts(raw.extra, shapes.SessionFacts)
        self.names, self.catalog = _definitions(
            bytes(raw.agent.tool_definitions), msgspec.json.encode(self.facts.tools)
        )
        self.system: list[str] = []
        self.turns: list[Turn] = []
        self.passes: list[Pass] = []
        self.open: Turn | None = None
        self.context: list[Message] = []
        self.events: list[Event] = []

    def session(self, id: str, source: str, parent: str | None, digest: str) -> Session:
        for step in self.raw.steps:
            self._take(step)
        self._close()
        return Session(
            id=id,
            catalog=self.catalog,
            turns=tuple(self.turns),
            system="\n\n".join(self.system),
            model=self.raw.agent.model_name,
            agent={"name": self.raw.agent.name, "version": self.raw.agent.version, "extra": self.raw.agent.extra},
            definitions=self.facts.definitions,
            outcome=self.facts.outcome,
            extra=_leftover(self.raw.extra),
            parent=parent,
            source=source,
            digest=digest,
        )

    def _take(self, step: shapes.Step) -> None:
        facts = _facts(step.extra, shapes.StepFacts)
        self.events += (Event(str(event.get("type")), event) for event in facts.events)
        if step.is_copied_context or (step.source == "system" and (self.open or self.turns)):
            self.context.append(Message(step.source, _content(step.message), self._calls(step)))
        elif step.source == "system":
            self.system.append(text_of(_content(step.message)))
        elif step.source == "user":
            self._close()
            self.open = Turn(_content(step.message), (), *self._before(), step.timestamp, _other(step.extra))
        elif step.source == "agent":
            self.passes.append(self._pass(step, facts))
            self.open = self.open or Turn()
        else:
            raise InputError(f"a step's source must be system, user or agent, not {step.source!r}.")

    def _close(self) -> None:
        if self.open is not None:
            turn = self.open
            self.turns.append(
                Turn(turn.input, tuple(self.passes), turn.events, turn.context, turn.timestamp, turn.extra)
            )
        self.open, self.passes = None, []

    def _before(self) -> tuple[tuple[Event, ...], tuple[Message, ...]]:
        before = tuple(self.events), tuple(self.context)
        self.events, self.context = [], []
        return before

    def _pass(self, step: shapes.Step, facts: shapes.StepFacts) -> Pass:
        events, context = self._before()
        return Pass(
            content=_content(step.message),
            reasoning=step.reasoning_content or "",
            calls=self._calls(step),
            usage=_usage(step.metrics, facts),
            declared=self._named(facts.declared),
            searchable=self._named(facts.searchable),
            events=events,
            context=context,
            timestamp=step.timestamp,
            model=step.model_name,
            requested=step.llm_call_count != 0,
            extra=_other(step.extra),
        )

    def _named(self, indices: list[int] | None) -> tuple[str, ...] | None:
        if indices is None:
            return None
        wrong = [i for i in indices if not 0 <= i < len(self.names)]
        if wrong:
            raise InputError(f"declared or searchable points at definition {wrong[0]!r} of {len(self.names)}.")
        return tuple(self.names[i] for i in indices)

    def _calls(self, step: shapes.Step) -> tuple[Call, ...]:
        joined = _joined(step.tool_calls or [], step.observation.results if step.observation else [])
        return tuple(_call(raw, result) for raw, result in joined)


def _joined(
    calls: list[shapes.Call], results: list[shapes.Result]
) -> Iterator[tuple[shapes.Call, shapes.Result | None]]:
    """Join results to their calls by id, in order where ids repeat; those without an id go to the calls left over."""
    named: dict[str, list[shapes.Result]] = {}
    for result in results:
        named.setdefault(result.source_call_id or "", []).append(result)
    unnamed = named.pop("", [])
    for call in calls:
        waiting = named.get(call.tool_call_id) or unnamed
        yield call, waiting.pop(0) if waiting else None


def _call(raw: shapes.Call, result: shapes.Result | None) -> Call:
    facts = _facts(raw.extra, shapes.CallFacts)
    text = raw.arguments if isinstance(raw.arguments, str) else facts.raw_arguments
    return Call(
        id=raw.tool_call_id,
        name=raw.function_name,
        arguments=raw.arguments if isinstance(raw.arguments, dict) else {},
        kind=facts.kind,
        result=_result(result) if result is not None else None,
        raw_arguments=text,
        extra=_other(raw.extra),
    )


def _result(raw: shapes.Result) -> Result:
    facts = _facts(raw.extra, shapes.ResultFacts)
    extra = dict(_other(raw.extra))
    if raw.subagent_trajectory_ref is not None:
        extra["subagent_trajectory_ref"] = raw.subagent_trajectory_ref
    return Result(_content(raw.content), bool(facts.is_error), tuple(facts.returned), extra)


def _usage(metrics: shapes.Metrics | None, facts: shapes.StepFacts) -> Usage | None:
    if metrics is None:
        return None
    return Usage(
        metrics.prompt_tokens,
        metrics.completion_tokens,
        metrics.cached_tokens,
        facts.cache_write_tokens,
        metrics.cost_usd,
    )


@lru_cache(maxsize=1024)
def _definitions(data: bytes, facts: bytes) -> tuple[tuple[str, ...], Catalog]:
    """Return the names by index, and the catalog; sessions of one agent share it."""
    rows = (msgspec.json.decode(data) if data else None) or []
    if not isinstance(rows, list):
        raise InputError(f"agent.tool_definitions must be a list, not {type(rows).__name__}.")
    known = msgspec.json.decode(facts, type=dict[str, shapes.ToolFacts])
    tools = [_tool(row, index, known) for index, row in enumerate(rows)]
    return tuple(tool.name for tool in tools), Catalog(tools)


def _tool(row: Any, index: int, known: Mapping[str, shapes.ToolFacts]) -> Tool:
    function = row.get("function") if isinstance(row, dict) else None
    if not isinstance(function, dict) or not isinstance(function.get("name"), str):
        raise InputError(f"tool_definitions[{index}] has no function with a name.")
    name, facts = function["name"], known.get(function["name"]) or shapes.ToolFacts()
    return Tool(
        name,
        function.get("description"),
        function.get("parameters"),
        source=facts.source,
        deferred=facts.deferred,
        annotations=facts.annotations,
    )
