"""The shapes that ATIF 1.0 to 1.8 has on disk, and those of `extra.toolkit` in it; unknown keys are passed over."""

from __future__ import annotations

from typing import Any

import msgspec

Extra = dict[str, Any] | None


class Agent(msgspec.Struct):
    """Who ran, with what model, and the definitions of its tools."""

    name: str = ""
    version: str = ""
    model_name: str | None = None
    tool_definitions: msgspec.Raw = msgspec.Raw(b"")
    extra: Extra = None


class Call(msgspec.Struct):
    """A call of a tool."""

    function_name: str
    tool_call_id: str = ""
    arguments: dict[str, Any] | str | None = None
    extra: Extra = None


class Result(msgspec.Struct):
    """The result of a call."""

    source_call_id: str | None = None
    content: str | list[dict[str, Any]] | None = None
    subagent_trajectory_ref: Any = None
    extra: Extra = None


class Observation(msgspec.Struct):
    """What a step got back."""

    results: list[Result] = []


class Metrics(msgspec.Struct):
    """The usage that was billed for a step, in tokens and USD."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cached_tokens: int | None = None
    cost_usd: float | None = None


class Step(msgspec.Struct):
    """One message, with its calls and what came of them."""

    source: str
    message: str | list[dict[str, Any]] | None = ""
    reasoning_content: str | None = None
    tool_calls: list[Call] | None = None
    observation: Observation | None = None
    metrics: Metrics | None = None
    model_name: str | None = None
    timestamp: str | None = None
    llm_call_count: int | None = None
    is_copied_context: bool | None = None
    extra: Extra = None


class Trajectory(msgspec.Struct):
    """A whole session."""

    schema_version: str
    steps: list[Step]
    agent: Agent
    session_id: str | None = None
    trajectory_id: str | None = None
    notes: str | None = None
    final_metrics: dict[str, Any] | None = None
    continued_trajectory_ref: Any = None
    subagent_trajectories: list[msgspec.Raw] | None = None
    extra: Extra = None


class ToolFacts(msgspec.Struct):
    """What the function shape of a tool cannot hold."""

    source: str | None = None
    deferred: bool = False
    annotations: dict[str, Any] | None = None


class SessionFacts(msgspec.Struct):
    """`extra.toolkit` of a trajectory."""

    definitions: str | None = None
    tools: dict[str, ToolFacts] = {}
    outcome: dict[str, Any] | None = None


class StepFacts(msgspec.Struct):
    """`extra.toolkit` of a step."""

    declared: list[int] | None = None
    searchable: list[int] | None = None
    cache_write_tokens: int | None = None
    events: list[dict[str, Any]] = []


class CallFacts(msgspec.Struct):
    """`extra.toolkit` of a call."""

    kind: str = "call"
    raw_arguments: str | None = None


class ResultFacts(msgspec.Struct):
    """`extra.toolkit` of a result."""

    is_error: bool | None = None
    returned: list[str] = []
