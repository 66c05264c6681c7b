"""Pydantic AI 2.x: a capability that declares what the selector declares, and judges every call.

    agent = Agent(model, tools=[...], capabilities=[ToolSelection("semantic(k=8)")])

`search_strategy` is the retriever alone, for Pydantic AI's own `ToolSearch`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from toolkit.errors import need

need("pydantic_ai", "Pydantic AI")
from pydantic_ai import RunContext
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    RetryPromptPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.tools import ToolDefinition
from pydantic_ai.toolsets import AbstractToolset, WrapperToolset
from pydantic_ai.toolsets.abstract import ToolsetTool
from pydantic_core import SchemaValidator, core_schema

from toolkit.adapters.conversation import ASK, OWN_NAMES, Called, Said, Selecting
from toolkit.search.shared import searcher
from toolkit.tool import Tool
from toolkit.toolset import ToolSet, toolset

_ANY = SchemaValidator(core_schema.dict_schema())


class ToolSelection(AbstractCapability[Any]):
    """Declares, searches and judges in a Pydantic AI agent.

    Args:
        selector: See `Selecting`, whose options these are.
        options: The same.
    """

    def __init__(self, selector: Any = None, **options: Any) -> None:
        self.selecting = Selecting(selector, **options)

    def get_wrapper_toolset(self, toolset: AbstractToolset[Any]) -> AbstractToolset[Any]:
        """Return the agent's tools behind the selection."""
        return SelectedToolset(toolset, self.selecting)


@dataclass
class SelectedToolset(WrapperToolset[Any]):
    """A toolset of which the model is told what the selector declares; the rest is found and called through."""

    selecting: Selecting

    async def get_tools(self, ctx: RunContext[Any]) -> dict[str, ToolsetTool[Any]]:
        """Return the declared tools of this turn, in canonical order (B5)."""
        tools = await self.wrapped.get_tools(ctx)
        now = self.selecting.now(_tools(tools), conversation(ctx.messages))
        return {tool.name: tools.get(tool.name) or self._own(tool) for tool in now.declared}

    async def call_tool(
        self, name: str, tool_args: dict[str, Any], ctx: RunContext[Any], tool: ToolsetTool[Any]
    ) -> Any:
        """Run a call that the engine allows; answer a search or a refusal otherwise."""
        tools = await self.wrapped.get_tools(ctx)
        now = self.selecting.now(_tools(tools), conversation(_before(ctx.messages, ctx.tool_call_id)))
        given = _written(ctx.messages, ctx.tool_call_id, tool_args)
        verdict = now.judge(name, given, confirmed=ctx.tool_call_approved)
        if verdict.answer is not None or not verdict.executed:
            return now.told(verdict)
        if name not in OWN_NAMES:
            return await self.wrapped.call_tool(name, tool_args, ctx, tool)
        meant, arguments = now.meant(name, given)
        if tools[meant].tool_def.kind != "function":
            return ASK
        checked = tools[meant].args_validator.validate_python(arguments, context=ctx.validation_context)
        return await self.wrapped.call_tool(meant, checked, ctx, tools[meant])

    def _own(self, tool: Tool) -> ToolsetTool[Any]:
        """Return the search tool or `tools_call`."""
        said = ToolDefinition(name=tool.name, description=tool.description, parameters_json_schema=tool.input_schema)
        return ToolsetTool(toolset=self, tool_def=said, max_retries=1, args_validator=_ANY)


def search_strategy(retriever: str | None = None, limit: int = 5) -> Callable[..., list[str]]:
    """Return a strategy for `capabilities.ToolSearch`: the toolkit's search over the tools that are deferred.

    Args:
        retriever: What it ranks with; the best one installed by default.
        limit: The most tools for one query.
    """
    search = searcher(retriever)

    def strategy(ctx: RunContext[Any], queries: Sequence[str], tools: Sequence[ToolDefinition]) -> list[str]:
        among = toolset(tuple(map(_tool, tools)))
        answers = (search(query, among, ToolSet(), limit) for query in queries if query.strip())
        return list(dict.fromkeys(name for answer in answers for name in answer.names))

    return strategy


def conversation(messages: Sequence[ModelMessage]) -> list[Said]:
    """Return the turns that messages hold: each user's words, and the calls of the replies that follow."""
    answers = {part.tool_call_id: _answer(part) for message in messages for part in _answers(message)}
    turns: list[tuple[list[str], list[tuple[Called, ...]]]] = []
    for message in messages:
        if isinstance(message, ModelRequest):
            words = [_words(part) for part in message.parts if isinstance(part, UserPromptPart)]
            turns += [(words, [])] if words else []
        else:
            turns = turns or [([], [])]
            turns[-1][1].append(tuple(_called(part, answers) for part in _calls(message)))
    return [Said("\n".join(words), tuple(replies)) for words, replies in turns]


def _called(part: ToolCallPart, answers: Mapping[str, str]) -> Called:
    return Called(part.tool_name, part.args_as_dict(), answers.get(part.tool_call_id, ""))


def _calls(message: ModelMessage) -> list[ToolCallPart]:
    return [part for part in message.parts if isinstance(part, ToolCallPart)]


def _answers(message: ModelMessage) -> list[ToolReturnPart | RetryPromptPart]:
    return [part for part in message.parts if isinstance(part, ToolReturnPart | RetryPromptPart)]


def _answer(part: ToolReturnPart | RetryPromptPart) -> str:
    return str(part.model_response_str() if isinstance(part, ToolReturnPart) else part.model_response())


def _words(part: UserPromptPart) -> str:
    parts = [part.content] if isinstance(part.content, str) else part.content
    return "\n".join(one for one in parts if isinstance(one, str))


def _before(messages: Sequence[ModelMessage], id: str | None) -> Sequence[ModelMessage]:
    """Return what stood before the newest reply that makes a call of this id."""
    made = (n for n, one in enumerate(messages) if any(part.tool_call_id == id for part in _calls(one)))
    return messages[: max(made, default=len(messages))]


def _written(messages: Sequence[ModelMessage], id: str | None, checked: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of a call as the model wrote them, before the framework made values of them."""
    made = (part for message in reversed(messages) for part in _calls(message) if part.tool_call_id == id)
    part = next(made, None)
    return checked if part is None else part.args_as_dict()


def _tools(tools: Mapping[str, ToolsetTool[Any]]) -> list[Tool]:
    return [_tool(one.tool_def) for one in tools.values()]


def _tool(told: ToolDefinition) -> Tool:
    """Return a tool as the model is told it."""
    return Tool(told.name, told.description or "", told.parameters_json_schema)
