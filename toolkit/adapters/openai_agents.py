"""OpenAI Agents SDK: an agent whose model is told what the selector declares, and whose calls are judged.

agent = with_selection(Agent("helper", model=model, tools=tools), "semantic(k=8)")
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from toolkit.errors import need

need("agents", "the OpenAI Agents SDK")
from agents import Agent, FunctionTool, Model, MultiProvider
from agents.tool_context import ToolContext

from toolkit.adapters.conversation import ASK, OWN_NAMES, Now, Selecting
from toolkit.adapters.responses import arguments_of, conversation
from toolkit.errors import InputError
from toolkit.host import CALL_TOOL, SEARCH_TOOL
from toolkit.tool import Tool, wire_name

_PENDING = 10_000


def with_selection(agent: Agent[Any], selector: Any = None, **options: Any) -> Agent[Any]:
    """Return an agent whose function tools are declared, searched and judged; other kinds of tools are left alone.

    Args:
        agent: An agent with a model: an object, or a name that the SDK knows.
        selector: See `Selecting`, whose options these are.
        options: The same.

    Raises:
        InputError: The agent has no model of its own.
    """
    if agent.model is None:
        raise InputError("the agent has no model of its own.", hint="Give Agent(model=…).")
    model = agent.model if isinstance(agent.model, Model) else MultiProvider().get_model(agent.model)
    selection = SelectedModel(model, Selecting(selector, **options))
    own = {tool.name: tool for tool in agent.tools if isinstance(tool, FunctionTool)}
    rest = [tool for tool in agent.tools if not isinstance(tool, FunctionTool)]
    added = (SEARCH_TOOL, CALL_TOOL) if selection.selecting.call_tool else (SEARCH_TOOL,)
    tools = [
        *(_judged(tool, own, selection) for tool in own.values()),
        *(_added(tool, own, selection) for tool in added),
    ]
    return agent.clone(model=selection, tools=[*tools, *rest])


class SelectedModel(Model):
    """A model that is told the declared tools alone.

    Each call of its replies is kept with what held when it was made, until it is run: the SDK does not tell a
    tool what was said since the run began.
    """

    def __init__(self, model: Model, selecting: Selecting) -> None:
        self.model, self.selecting = model, selecting
        self._made: OrderedDict[str, Now] = OrderedDict()

    async def get_response(
        self, system_instructions: Any, input: Any, model_settings: Any, tools: Any, *args: Any, **more: Any
    ) -> Any:
        """Return the model's reply to the declared tools."""
        now, told = self._told(input, tools)
        answer = await self.model.get_response(system_instructions, input, model_settings, told, *args, **more)
        self._note(answer.output, now)
        return answer

    async def stream_response(
        self, system_instructions: Any, input: Any, model_settings: Any, tools: Any, *args: Any, **more: Any
    ) -> AsyncIterator[Any]:
        """Yield the model's reply to the declared tools."""
        now, told = self._told(input, tools)
        async for event in self.model.stream_response(system_instructions, input, model_settings, told, *args, **more):
            if event.type == "response.completed":
                self._note(event.response.output, now)
            yield event

    def held(self, ctx: ToolContext[Any], own: Iterable[FunctionTool]) -> Now:
        """Return what held when a call was made; for one of a resumed run, what its input tells."""
        known = self._made.pop(ctx.tool_call_id, None)
        return known or self.selecting.now(map(_tool, own), conversation(ctx.turn_input))

    def _told(self, input: Any, tools: Sequence[Any]) -> tuple[Now, list[Any]]:
        own = {tool.name: tool for tool in tools if isinstance(tool, FunctionTool)}
        rest = [tool for tool in tools if not isinstance(tool, FunctionTool)]
        now = self.selecting.now(
            [_tool(tool) for name, tool in own.items() if name not in OWN_NAMES], conversation(input)
        )
        return now, [*(own[tool.name] for tool in now.declared if tool.name in own), *rest]

    def _note(self, output: Iterable[Any], now: Now) -> None:
        for item in output:
            if getattr(item, "type", "") == "function_call":
                self._made[item.call_id] = now
        while len(self._made) > _PENDING:
            self._made.popitem(last=False)


def _tool(tool: FunctionTool) -> Tool:
    return Tool(tool.name, tool.description, tool.params_json_schema)


def _judged(tool: FunctionTool, own: Mapping[str, FunctionTool], selection: SelectedModel) -> FunctionTool:
    """Return a tool that runs when the engine allows it, and answers the refusal otherwise."""
    return replace(tool, on_invoke_tool=_invoking(tool.name, own, selection))


def _added(tool: Tool, own: Mapping[str, FunctionTool], selection: SelectedModel) -> FunctionTool:
    """Return the search tool or `tools_call`."""
    name = wire_name(tool.name)
    run = _invoking(name, own, selection)
    return FunctionTool(name, tool.description, tool.input_schema, run, strict_json_schema=False)


def _invoking(name: str, own: Mapping[str, FunctionTool], selection: SelectedModel) -> Callable[..., Any]:
    async def invoke(ctx: ToolContext[Any], text: str) -> Any:
        now, given = selection.held(ctx, own.values()), arguments_of(text)
        verdict = now.judge(name, given)
        if verdict.answer is not None or not verdict.executed:
            return now.told(verdict)
        meant, arguments = now.meant(name, given)
        if meant != name and own[meant].needs_approval is not False:
            return ASK
        return await own[meant].on_invoke_tool(ctx, text if meant == name else json.dumps(arguments))

    return invoke
