"""Spans as exchanges and runs of tools: OpenTelemetry's conventions old and new, OpenInference, Traceloop."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from toolkit.formats.importing import parsed
from toolkit.formats.pieces import content_of, table, text, tokens
from toolkit.formats.traces.spans import Span, moment, nested
from toolkit.formats.traffic.chain_session import Run
from toolkit.formats.traffic.conversation import Piece
from toolkit.formats.traffic.definitions import tools_of
from toolkit.formats.traffic.exchanges import Exchange, exchange_of, usage_from
from toolkit.formats.traffic.messages import pieces_of
from toolkit.session import Billed
from toolkit.tool import Tool

MODEL, TOOL, AGENT = "model", "tool", "agent"
_OPERATIONS = {
    **dict.fromkeys(("chat", "text_completion", "generate_content", "completion", "message_creation"), MODEL),
    "execute_tool": TOOL,
    **dict.fromkeys(("invoke_agent", "invoke_workflow"), AGENT),
    **dict.fromkeys(("create_agent", "embeddings"), ""),
}
_KINDS = {"LLM": MODEL, "TOOL": TOOL, "AGENT": AGENT}
_SESSIONS = ("gen_ai.conversation.id", "session.id", "langfuse.session.id", "claude.code.session_id")


def role_of(span: Span) -> str:
    """Return what a span is: MODEL, TOOL, AGENT, or nothing of these."""
    if span.kind in _KINDS:
        return _KINDS[span.kind]
    operation = str(span.get("gen_ai.operation.name") or "")
    if operation in _OPERATIONS:
        return _OPERATIONS[operation]
    step = str(span.get("ai.operationId") or "")
    if step:
        return MODEL if step.endswith((".doGenerate", ".doStream")) else TOOL if step == "ai.toolCall" else ""
    if span.get("traceloop.span.kind") in ("tool", "agent"):
        return str(span.get("traceloop.span.kind"))
    if span.name.startswith("execute_tool "):
        return TOOL
    if span.name.startswith("invoke_agent"):
        return AGENT
    asks = span.get("gcp.vertex.agent.llm_request", "llm.request.type") or span.get("gen_ai.input.messages")
    spent = span.get("gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens", "llm.token_count.prompt")
    models = span.get("gen_ai.request.model", "llm.model_name")
    return MODEL if asks or (spent is not None and models) else ""


def exchange_in(span: Span, agent: str) -> Exchange:
    """Return the exchange of a model's span."""
    asked = _asked(span)
    inner = exchange_of(*asked) if asked is not None else None
    history, reply, tools = _history(span), _reply(span), _tools(span)
    if inner is not None:
        history, reply = history or inner.history, reply or inner.reply or ()
        tools = tools or inner.tools or ()
    return Exchange(
        history=history,
        reply=reply,
        tools=tools or None,
        model=text(span.get(*_MODELS)) or (inner.model if inner else None),
        usage=_usage(span) or (inner.usage if inner else None),
        timestamp=moment(span.start),
        id=text(span.get("gen_ai.response.id")) or (inner.id if inner else None),
        conversation=text(span.get(*_SESSIONS)),
        group=span.trace,
        agent=agent,
    )


_MODELS = (
    "gen_ai.response.model",
    "llm.response.model_name",
    "llm.model_name",
    "gen_ai.request.model",
    "ai.response.model",
    "ai.model.id",
)


def _asked(span: Span) -> tuple[Any, Any] | None:
    """Return the bodies of the request and the response where a span keeps them whole."""
    for asked, answer in _BODIES:
        request, response = parsed(span.get(asked)), parsed(span.get(answer))
        if isinstance(request, Mapping):
            model = {"model": request.get("model") or span.get(*_MODELS)}
            config = table(request.get("config"))
            return {**config, **request, **model}, _as_response(response)
    return None


_BODIES = (("gcp.vertex.agent.llm_request", "gcp.vertex.agent.llm_response"), ("input.value", "output.value"))


def _as_response(value: Any) -> Any:
    """Return ADK's response, which is Gemini's only candidate, as Gemini's."""
    if isinstance(value, Mapping) and isinstance(value.get("content"), Mapping):
        return {**value, "candidates": [value]}
    return value


def _history(span: Span) -> tuple[Piece, ...]:
    said = parsed(span.get("gen_ai.system_instructions"))
    system = tuple(Piece("system", piece.content) for piece in pieces_of(said, "system"))
    for name in ("gen_ai.input.messages", "ai.prompt.messages", "gen_ai.prompt"):
        value = parsed(span.get(name))
        if value:
            return system + pieces_of(value)
    for name in ("llm.input_messages", "gen_ai.prompt"):
        value = nested(span.attributes, name)
        if value:
            return system + pieces_of(value)
    return system + _of_events(span, "history")


def _reply(span: Span) -> tuple[Piece, ...]:
    for name in ("gen_ai.output.messages", "gen_ai.completion"):
        value = parsed(span.get(name))
        if value:
            return pieces_of(value, "assistant")
    for name in ("llm.output_messages", "gen_ai.completion"):
        value = nested(span.attributes, name)
        if value:
            return pieces_of([{"role": "assistant", **one} if name[0] == "g" else one for one in value], "assistant")
    said = pieces_of(span.get("ai.response.text"), "assistant")
    calls = parsed(span.get("ai.response.toolCalls"))
    return said + (pieces_of({"role": "assistant", "tool_calls": calls}) if calls else ()) or _of_events(span, "reply")


_EVENT_ROLES = {
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
}


def _of_events(span: Span, part: str) -> tuple[Piece, ...]:
    """Return the messages that a span keeps as events: of the old conventions, and of the details event of the new."""
    found: list[Piece] = []
    for name, fields in span.events:
        if name == "gen_ai.client.inference.operation.details":
            value = parsed(fields.get("gen_ai.input.messages" if part == "history" else "gen_ai.output.messages"))
            found += pieces_of(value, "user" if part == "history" else "assistant")
        elif name in _EVENT_ROLES and part == "history":
            found += pieces_of({**_unflat(fields), "role": _EVENT_ROLES[name]})
        elif name == "gen_ai.choice" and part == "reply":
            row = _unflat(fields)
            found += pieces_of({**(table(row.get("message")) or row), "role": "assistant"})
        elif name == "gen_ai.content.prompt" and part == "history":
            found += pieces_of(parsed(fields.get("gen_ai.prompt")))
        elif name == "gen_ai.content.completion" and part == "reply":
            found += pieces_of(parsed(fields.get("gen_ai.completion")), "assistant")
    return tuple(found)


def _unflat(fields: dict[str, Any]) -> dict[str, Any]:
    tree = nested({f"x.{key}": parsed(value) for key, value in fields.items()}, "x")
    row: dict[str, Any] = tree if isinstance(tree, dict) else {}
    return {**row, "tool_call_id": row.get("id")} if "id" in row and "tool_call_id" not in row else row


def _tools(span: Span) -> tuple[Tool, ...]:
    for name in ("gen_ai.tool.definitions", "gen_ai.request.tools", "ai.prompt.tools", "tools"):
        value = span.get(name)
        if value:
            return tools_of(value)
    listed = nested(span.attributes, "llm.tools")
    if listed:
        schemas = [table(one).get("tool") for one in listed]
        return tools_of([table(one).get("json_schema") for one in schemas])
    return tools_of(nested(span.attributes, "llm.request.functions"))


def _usage(span: Span) -> Billed | None:
    """Return what a span says was billed; the conventions count what was cached as part of the input."""

    def count(*names: str) -> int | None:
        return tokens(span.get(*names))

    prompt = count(
        "gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens", "llm.token_count.prompt", "ai.usage.promptTokens"
    )
    done = count(
        "gen_ai.usage.output_tokens",
        "gen_ai.usage.completion_tokens",
        "llm.token_count.completion",
        "ai.usage.completionTokens",
    )
    if prompt is None and done is None:
        return usage_from(table(parsed(span.get("llm.usage"))))
    read = count(
        "gen_ai.usage.cache_read.input_tokens",
        "gen_ai.usage.cache_read_input_tokens",
        "llm.token_count.prompt_details.cache_read",
        "llm.token_count.prompt_details.cache_input",
    )
    written = count(
        "gen_ai.usage.cache_creation.input_tokens",
        "gen_ai.usage.cache_write.input_tokens",
        "gen_ai.usage.cache_creation_input_tokens",
        "llm.token_count.prompt_details.cache_write",
    )
    return Billed(prompt, done, read, written)


def run_in(span: Span, agent: str) -> Run:
    """Return the run of a tool's span, with its answer where the span keeps it."""
    name = text(span.get("gen_ai.tool.name", "tool.name", "ai.toolCall.name", "traceloop.entity.name"))
    name = name or span.name.removeprefix("execute_tool ").removesuffix(".tool")
    id = text(span.get("gen_ai.tool.call.id", "tool_call.id", "tool.id", "ai.toolCall.id"))
    given = span.get("gen_ai.tool.call.arguments", "tool.parameters", "ai.toolCall.args", "input.value")
    answer = span.get("gen_ai.tool.call.result", "output.value", "ai.toolCall.result", "traceloop.entity.output")
    given = given if isinstance(given, Mapping) or isinstance(parsed(given), Mapping) else None
    call = Piece("call", "", id, name, given)
    said = Piece("result", content_of(answer), is_error=span.failed) if answer is not None or span.failed else None
    return Run(call, said, span.trace, text(span.get(*_SESSIONS)), agent)


_FILLED = ("history", "reply", "tools", "usage", "id", "conversation")
Step = Exchange | Run
Read = Callable[[Span, str], Exchange]


def steps_of(spans: list[Span], read: Read = exchange_in, run: Callable[[Span, str], Run] = run_in) -> Iterator[Step]:
    """Yield the exchanges and the runs of tools of spans that come in the order of time.

    Args:
        spans: The spans.
        read: Reads the exchange of a model's span, given the sub-agent it belongs to.
        run: Reads the run of a tool's span.
    """
    tree = Tree(spans, read)
    for span in spans:
        role = tree.roles[span.key]
        if role == MODEL and span.key not in tree.shells:
            yield tree.filled(span)
        elif role == TOOL:
            yield run(span, tree.agent_of(span))


class Tree:
    """Spans by their parents: which one request is told by several spans, and which agent a span belongs to."""

    def __init__(self, spans: list[Span], read: Read = exchange_in) -> None:
        self.read = read
        self.spans = {span.key: span for span in spans}
        self.roles = {span.key: role_of(span) for span in spans}
        models = [span for span in spans if self.roles[span.key] == MODEL]
        self.shells = {above.key for span in models for above in self._models_above(span)}
        agents = [span for span in spans if self.roles[span.key] == AGENT]
        self.subs = {span.key for span in agents if self._is_sub(span, agents)}

    def _above(self, span: Span) -> Iterator[Span]:
        seen = {span.key}
        while (above := self.spans.get((span.trace, span.parent))) is not None and above.key not in seen:
            seen.add(above.key)
            yield above
            span = above

    def _models_above(self, span: Span) -> list[Span]:
        """Return the spans of the same request around a model's span: up to the next tool or agent."""
        found = []
        for above in self._above(span):
            if self.roles[above.key] in (TOOL, AGENT):
                break
            if self.roles[above.key] == MODEL:
                found.append(above)
        return found

    def filled(self, span: Span) -> Exchange:
        """Return the exchange of a span, with what only the spans around it tell."""
        agent = self.agent_of(span)
        one = self.read(span, agent)
        for above in self._models_above(span):
            outer = self.read(above, agent)
            told = {name: getattr(one, name) or getattr(outer, name) for name in _FILLED}
            one = replace(one, **told, model=outer.model or one.model)
        return one

    def _is_sub(self, span: Span, agents: list[Span]) -> bool:
        """Whether an agent works for another: inside a tool, or beside others at the same time."""
        above = [self.roles[one.key] for one in self._above(span)]
        beside = [one for one in agents if one.parent == span.parent and one.key != span.key]
        return TOOL in above or (AGENT in above and any(_overlap(one, span) for one in beside))

    def agent_of(self, span: Span) -> str:
        """Return the name of the sub-agent that a span belongs to; empty for the main one."""
        own = next((one for one in self._above(span) if one.key in self.subs), None)
        return "" if own is None else own.name.removeprefix("invoke_agent ").strip() + "/" + own.id


def _overlap(one: Span, other: Span) -> bool:
    if one.start is None or other.start is None or one.end is None or other.end is None:
        return False
    return one.start < other.end and other.start < one.end
