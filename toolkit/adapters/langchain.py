"""LangChain 1.x: a middleware that declares what the selector declares, and judges every call.

agent = create_agent(model, tools, middleware=[ToolSelection("semantic(k=8)")])
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any

from toolkit.errors import need

need("langchain", "LangChain")
from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from langchain_core.tools import BaseTool, StructuredTool
from langchain_core.utils.function_calling import convert_to_openai_tool

from toolkit.adapters.conversation import OWN_NAMES, Called, Said, Selecting
from toolkit.host import CALL_TOOL, SEARCH_TOOL
from toolkit.tool import Tool, wire_name


class ToolSelection(AgentMiddleware[Any, Any]):
    """Declares, searches and judges in a LangChain agent; sync and async.

    Tools that a provider runs itself (dicts in the tool list) are left alone.

    Args:
        selector: See `Selecting`, whose options these are.
        options: The same.
    """

    def __init__(self, selector: Any = None, **options: Any) -> None:
        super().__init__()
        self.selecting = Selecting(selector, **options)
        own = (SEARCH_TOOL, CALL_TOOL) if self.selecting.call_tool else (SEARCH_TOOL,)
        self.tools = [_own(tool) for tool in own]

    def wrap_model_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        """Send the model the declared tools of this turn."""
        return handler(self._told(request))

    async def awrap_model_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        """Send the model the declared tools of this turn."""
        return await handler(self._told(request))

    def wrap_tool_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        """Run a call that the engine allows; answer a search or a refusal otherwise."""
        answer, meant = self._judged(request)
        return answer if meant is None else handler(meant)

    async def awrap_tool_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        """Run a call that the engine allows; answer a search or a refusal otherwise."""
        answer, meant = self._judged(request)
        return answer if meant is None else await handler(meant)

    def _told(self, request: Any) -> Any:
        own = {one.name: one for one in request.tools if isinstance(one, BaseTool)}
        foreign = [one for one in request.tools if not isinstance(one, BaseTool)]
        now = self.selecting.now(_tools(own.values()), conversation(request.messages))
        return request.override(tools=[*(own[tool.name] for tool in now.declared), *foreign])

    def _judged(self, request: Any) -> tuple[ToolMessage | None, Any]:
        """Return the answer of a call that runs no tool, or the request that runs the tool it is meant for."""
        call, tools = request.tool_call, {tool.name: tool for tool in request.runtime.tools}
        now = self.selecting.now(_tools(tools.values()), conversation(_before(request.state["messages"], call["id"])))
        verdict = now.judge(call["name"], call["args"])
        if verdict.answer is not None or not verdict.executed:
            status = "success" if verdict.answer is not None else "error"
            return ToolMessage(now.told(verdict), name=call["name"], tool_call_id=call["id"], status=status), None
        name, arguments = now.meant(call["name"], call["args"])
        return None, request.override(tool_call={**call, "name": name, "args": arguments}, tool=tools[name])


def conversation(messages: Sequence[AnyMessage]) -> list[Said]:
    """Return the turns that messages hold: each user's words, and the calls of the replies that follow."""
    answers = {said.tool_call_id: said.text for said in messages if isinstance(said, ToolMessage)}
    turns: list[tuple[str, list[tuple[Called, ...]]]] = []
    for said in messages:
        if isinstance(said, HumanMessage):
            turns.append((said.text, []))
        elif isinstance(said, AIMessage):
            turns = turns or [("", [])]
            made = (Called(call["name"], call["args"], answers.get(call["id"] or "", "")) for call in said.tool_calls)
            turns[-1][1].append(tuple(made))
    return [Said(words, tuple(replies)) for words, replies in turns]


def _before(messages: Sequence[AnyMessage], id: str | None) -> Sequence[AnyMessage]:
    """Return what stood before the newest reply that makes a call of this id."""
    made = (n for n, said in enumerate(messages) if isinstance(said, AIMessage) and _makes(said, id))
    return messages[: max(made, default=len(messages))]


def _makes(said: AIMessage, id: str | None) -> bool:
    return any(call["id"] == id for call in said.tool_calls)


def _tools(known: Iterable[BaseTool]) -> list[Tool]:
    return [_tool(one) for one in known if one.name not in OWN_NAMES]


def _tool(one: BaseTool) -> Tool:
    """Return a tool as the model is told it."""
    told = convert_to_openai_tool(one)["function"]
    return Tool(told["name"], told.get("description", ""), told.get("parameters"))


def _own(tool: Tool) -> StructuredTool:
    """Return the search tool or `tools_call`; the middleware answers their calls before they would run."""

    def unanswered(**arguments: Any) -> str:
        raise NotImplementedError(f"{tool.name} is answered by the middleware.")

    return StructuredTool(
        name=wire_name(tool.name), description=tool.description, args_schema=tool.input_schema, func=unanswered
    )
