"""A trajectory as it is written in the wild, into the shapes that ATIF has; every field that was put right is named."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import msgspec

from toolkit.formats.importing import UNREADABLE, salvaged
from toolkit.formats.native import shapes as shapes
from toolkit.formats.pieces import rows, table, tokens
from toolkit.tool import compact_json

ROLES = {"assistant": "agent", "ai": "agent", "model": "agent", "human": "user"}
Mended = tuple[shapes.Trajectory, Counter[str]]


def mended(data: bytes) -> Mended | None:
    """Return the trajectory of a text that a strict reader refuses, and how often which field was put right.

    None where it is no JSON, or no object with a list of steps and a version.
    """
    values, why = salvaged(data)
    whole = values[0] if len(values) == 1 else None
    if not isinstance(whole, dict) or not isinstance(whole.get("steps"), list):
        return None
    mender = _Mender()
    if not is_json(data):
        mender.told[why] += 1
    made = mender.trajectory(whole)
    return (made, mender.told) if made is not None else None


def is_json(data: bytes) -> bool:
    """Say whether a text is strict JSON in UTF-8."""
    try:
        msgspec.json.decode(data)
    except UNREADABLE:
        return False
    return True


class _Mender:
    """Puts fields right, and counts them by where they stand."""

    def __init__(self) -> None:
        self.told: Counter[str] = Counter()

    def fit(self, where: str, value: Any, fits: Callable[[Any], bool], mend: Callable[[Any], Any]) -> Any:
        """Return a value that fits as it is, another one mended and told."""
        if value is None or fits(value):
            return value
        self.told[where] += 1
        return mend(value)

    def word(self, where: str, value: Any) -> str | None:
        word: str | None = self.fit(where, value, lambda one: isinstance(one, str), _as_text)
        return word

    def count(self, where: str, value: Any) -> int | None:
        count: int | None = self.fit(where, value, lambda one: type(one) is int, tokens)
        return count

    def extra(self, where: str, value: Any) -> dict[str, Any] | None:
        extra: dict[str, Any] | None = self.fit(where, value, lambda one: isinstance(one, dict), lambda _: None)
        return extra

    def content(self, where: str, value: Any) -> Any:
        parts = isinstance(value, list) and all(isinstance(part, dict) for part in value)
        return self.fit(where, value, lambda one: isinstance(one, str) or parts, _as_content)

    def moment(self, where: str, value: Any) -> str | None:
        moment: str | None = self.fit(where, value, lambda one: isinstance(one, str), _as_moment)
        return moment

    def trajectory(self, whole: dict[str, Any]) -> shapes.Trajectory | None:
        version = whole.get("schema_version")
        if not isinstance(version, str):
            self.told["schema_version"] += 1
            version = f"ATIF-v{version or '1.0'}"
        steps = rows(whole["steps"])
        self.told["steps"] += len(whole["steps"]) - len(steps)
        agent = table(self.fit("agent", whole.get("agent", ()), lambda one: isinstance(one, dict), lambda _: {}))
        inner = whole.get("subagent_trajectories")
        return shapes.Trajectory(
            schema_version=version,
            steps=[self.step(step) for step in steps],
            agent=self.agent(agent),
            session_id=self.word("session_id", whole.get("session_id")),
            trajectory_id=self.word("trajectory_id", whole.get("trajectory_id")),
            notes=self.word("notes", whole.get("notes")),
            final_metrics=self.extra("final_metrics", whole.get("final_metrics")),
            continued_trajectory_ref=whole.get("continued_trajectory_ref"),
            subagent_trajectories=[msgspec.Raw(msgspec.json.encode(one)) for one in rows(inner)] or None,
            extra=self.extra("extra", whole.get("extra")),
        )

    def agent(self, agent: dict[str, Any]) -> shapes.Agent:
        tools = self.fit("tool_definitions", agent.get("tool_definitions"), lambda one: isinstance(one, list), list)
        return shapes.Agent(
            name=self.word("agent.name", agent.get("name")) or "",
            version=self.word("agent.version", agent.get("version")) or "",
            model_name=self.word("agent.model_name", agent.get("model_name")),
            tool_definitions=msgspec.Raw(msgspec.json.encode(tools) if tools else b""),
            extra=self.extra("agent.extra", agent.get("extra")),
        )

    def step(self, step: dict[str, Any]) -> shapes.Step:
        source = self.word("source", step.get("source")) or ""
        if source in ROLES:
            self.told["source"] += 1
        seen = step.get("observation")
        metrics = self.extra("metrics", step.get("metrics"))
        calls = self.fit("tool_calls", step.get("tool_calls"), lambda one: isinstance(one, list), lambda one: [one])
        copied = step.get("is_copied_context")
        return shapes.Step(
            source=ROLES.get(source, source),
            message=self.content("message", step.get("message")),
            reasoning_content=self.word("reasoning_content", step.get("reasoning_content")),
            tool_calls=None if calls is None else [self.call(call) for call in rows(calls)],
            observation=None if seen is None else shapes.Observation(self.results(seen)),
            metrics=None if metrics is None else self.metrics(metrics),
            model_name=self.word("model_name", step.get("model_name")),
            timestamp=self.moment("timestamp", step.get("timestamp")),
            llm_call_count=self.count("llm_call_count", step.get("llm_call_count")),
            is_copied_context=self.fit("is_copied_context", copied, lambda one: isinstance(one, bool), bool),
            extra=self.extra("step.extra", step.get("extra")),
        )

    def call(self, call: dict[str, Any]) -> shapes.Call:
        given = call.get("arguments")
        return shapes.Call(
            function_name=self.word("function_name", call.get("function_name") or call.get("name")) or "",
            tool_call_id=self.word("tool_call_id", call.get("tool_call_id") or call.get("id")) or "",
            arguments=self.fit("arguments", given, lambda one: isinstance(one, dict | str), _as_text),
            extra=self.extra("call.extra", call.get("extra")),
        )

    def results(self, seen: Any) -> list[shapes.Result]:
        found = seen.get("results", seen) if isinstance(seen, dict) else seen
        found = self.fit("results", found, lambda one: isinstance(one, list), lambda one: [one])
        items = [one if isinstance(one, dict) else {"content": one} for one in found or ()]
        self.told["results"] += sum(1 for one in found or () if not isinstance(one, dict))
        return [self.result(one) for one in items]

    def result(self, one: dict[str, Any]) -> shapes.Result:
        content = one.get("content") if "content" in one or "source_call_id" in one else one
        return shapes.Result(
            source_call_id=self.word("source_call_id", one.get("source_call_id")),
            content=self.content("result.content", content),
            subagent_trajectory_ref=one.get("subagent_trajectory_ref"),
            extra=self.extra("result.extra", one.get("extra")),
        )

    def metrics(self, metrics: dict[str, Any]) -> shapes.Metrics:
        counts = ("prompt_tokens", "completion_tokens", "cached_tokens")
        cost = metrics.get("cost_usd")
        return shapes.Metrics(
            **{name: self.count(name, metrics.get(name)) for name in counts},
            cost_usd=self.fit(
                "cost_usd", cost, lambda one: isinstance(one, int | float) and one is not True, _as_number
            ),
        )


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else compact_json(value)


def _as_content(value: Any) -> Any:
    if isinstance(value, list):
        return [one if isinstance(one, dict) else {"type": "text", "text": _as_text(one)} for one in value]
    return _as_text(value)


def _as_number(value: Any) -> float | None:
    try:
        return float(value)
    except (TypeError, ValueError):
        return None


def _as_moment(value: Any) -> str | None:
    """Return seconds or milliseconds as ISO text."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1e14:
        return None
    return datetime.fromtimestamp(value / 1000 if value > 1e11 else value, UTC).isoformat()


def told(counts: Counter[str]) -> str:
    """Return the message about what was put right.

    >>> told(Counter({"timestamp": 2, "metrics": 1}))
    'fields that are not as ATIF has them were put right or left out: timestamp (2), metrics (1).'
    """
    fields = ", ".join(f"{name} ({n})" for name, n in counts.most_common() if n)
    return f"fields that are not as ATIF has them were put right or left out: {fields}."
