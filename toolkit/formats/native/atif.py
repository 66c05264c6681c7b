"""Native sessions: ATIF 1.0 to 1.8 on disk into frozen records, with `extra.toolkit` for what ATIF lacks."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

import msgspec

from toolkit.errors import InputError
from toolkit.formats.importing import UNREADABLE
from toolkit.formats.native import shapes as shapes
from toolkit.formats.native.mend import mended, told
from toolkit.formats.native.tools import definitions
from toolkit.session import Billed, Call, Content, Event, Message, Pass, Result, Session, Turn, text_of
from toolkit.tool import Catalog, Tool

ROOT = ("notes", "final_metrics", "continued_trajectory_ref")
"""Keys of the root that are kept as they are, in `Session.extra["atif"]`."""
_INTERPRETED = ("v", "definitions", "tools", "outcome")
F = TypeVar("F")

_decoder = msgspec.json.Decoder(shapes.Trajectory)
Note = Callable[[str, str], None]


def _untold(code: str, message: str) -> None:
    pass


def read_trajectory(
    data: bytes, source: str = "", parent: str | None = None, note: Note = _untold
) -> Iterator[Session]:
    """Yield the session of a trajectory, then those of its sub-agents.

    Args:
        data: The JSON text.
        source: Where it stands.
        parent: The session that started it.
        note: Is told (code, message) of every field that was put right and every result without a call.

    Raises:
        InputError: The text is no JSON, or no ATIF trajectory; the message says where.
    """
    raw = _decoded(data, note)
    if not raw.schema_version.startswith("ATIF-v1"):
        raise InputError(f"schema_version {raw.schema_version!r} is not ATIF-v1.0 to v1.8.")
    digest = hashlib.sha256(data).hexdigest()
    session = _Reader(raw, note).session(_id(raw, digest, parent), source, parent, digest)
    yield session
    for inner in raw.subagent_trajectories or ():
        yield from read_trajectory(bytes(inner), source, session.id, note)


def _decoded(data: bytes, note: Note) -> shapes.Trajectory:
    try:
        found = _decoder.decode(data)
        bytes(found.agent.tool_definitions).decode()
        return found
    except UNREADABLE as error:
        repaired = mended(data)
        if repaired is None:
            raise InputError(_what_is_wrong(data, error)) from error
        if +repaired[1]:
            note("repaired_field", told(repaired[1]))
        return repaired[0]


def _id(raw: shapes.Trajectory, digest: str, parent: str | None) -> str:
    """Return a trajectory's id; a `session_id` beside another `trajectory_id` is a run's, not the trajectory's."""
    own = raw.trajectory_id if raw.session_id else None
    return next(one for one in (own, raw.session_id, raw.trajectory_id, digest[:16]) if one and one != parent)


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


def _kept(raw: shapes.Trajectory) -> dict[str, Any]:
    """Return what stands at the root and has no field: it is written back where it stood."""
    root = {name: getattr(raw, name) for name in ROOT}
    return {"atif": {name: value for name, value in root.items() if value is not None}} if any(root.values()) else {}


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

    def __init__(self, raw: shapes.Trajectory, note: Note) -> None:
        self.raw, self.note = raw, note
        self.facts = _facts(raw.extra, shapes.SessionFacts)
        self.names, self.catalog, nameless = definitions(
            bytes(raw.agent.tool_definitions), msgspec.json.encode(self.facts.tools)
        )
        if nameless:
            note("repaired_field", f"{nameless} tool definitions are none; they were left out.")
        self.called: set[str] = set()
        self.system: list[str] = []
        self.turns: list[Turn] = []
        self.passes: list[Pass] = []
        self.open: Turn | None = None
        self.context: list[Message] = []
        self.late: list[Message] = []
        self.events: list[Event] = []

    def session(self, id: str, source: str, parent: str | None, digest: str) -> Session:
        for step in self.raw.steps:
            self._take(step)
        self._close()
        catalog = self.catalog if len(self.catalog) else Catalog(map(Tool, sorted(self.called)))
        return Session(
            id=id,
            catalog=catalog,
            turns=tuple(self.turns),
            system="\n\n".join(self.system),
            model=self.raw.agent.model_name,
            agent={"name": self.raw.agent.name, "version": self.raw.agent.version, "extra": self.raw.agent.extra},
            definitions=self.facts.definitions or ("recorded" if len(self.catalog) else "missing"),
            outcome=self.facts.outcome,
            extra={**_leftover(self.raw.extra), **_kept(self.raw)},
            parent=parent,
            source=source,
            digest=digest,
        )

    def _take(self, step: shapes.Step) -> None:
        facts = _facts(step.extra, shapes.StepFacts)
        self.events += (Event(str(event.get("type")), event) for event in facts.events)
        if step.is_copied_context or (step.source == "system" and (self.open or self.turns)):
            message = Message(step.source, _content(step.message), self._calls(step))
            self.context += [message] if message.content or message.calls or not self.late else []
        elif step.source == "system":
            self.system.append(text_of(_content(step.message)))
        elif step.source == "user":
            self._close()
            self.open = Turn(_content(step.message), (), *self._before(), step.timestamp, _other(step.extra))
        elif step.source == "agent":
            self.passes.append(self._pass(step, facts))
            self.open = self.open or Turn()
        else:
            self.note("repaired_field", f"a step's source is {step.source!r}; it is history.")
            self.context.append(Message("system", _content(step.message), self._calls(step)))
        self.context += self.late
        self.late = []

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
        results = step.observation.results if step.observation else []
        joined, orphans = _joined(step.tool_calls or [], results)
        for result in orphans:
            self.note("orphan_result", f"a result for {result.source_call_id!r} belongs to no call; it is history.")
            self.late.append(Message("tool", _content(result.content)))
        self.called.update(raw.function_name for raw, _ in joined)
        return tuple(_call(raw, result) for raw, result in joined)


def _joined(
    calls: list[shapes.Call], results: list[shapes.Result]
) -> tuple[list[tuple[shapes.Call, shapes.Result | None]], list[shapes.Result]]:
    """Join results to their calls by id, in order where ids repeat; those without an id go to the calls left over.

    Return the pairs, and the results that no call waits for.
    """
    named: dict[str, list[shapes.Result]] = {}
    for result in results:
        named.setdefault(result.source_call_id or "", []).append(result)
    unnamed = named.pop("", [])
    pairs: list[tuple[shapes.Call, shapes.Result | None]] = []
    for call in calls:
        waiting = named.get(call.tool_call_id) or unnamed
        pairs.append((call, waiting.pop(0) if waiting else None))
    joined = {id(result) for _, result in pairs}
    return pairs, [result for result in results if id(result) not in joined]


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


def _usage(metrics: shapes.Metrics | None, facts: shapes.StepFacts) -> Billed | None:
    if metrics is None:
        return None
    return Billed(
        metrics.prompt_tokens,
        metrics.completion_tokens,
        metrics.cached_tokens,
        facts.cache_write_tokens,
        metrics.cost_usd,
    )
