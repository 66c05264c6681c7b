"""The same script played through each adapter by its real library and a fake model that says what the script says.

A driver returns, of each reply, the definitions that the model was told, and of each call what it was answered.
Each turn is played by new objects that get the conversation so far: nothing may hang on the adapter's own state.
"""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from toolkit.adapters import messages, responses
from toolkit.adapters.conversation import Selecting, full_name
from toolkit.host import Host, text_of
from toolkit.tool import Tool, wire_name

Made = tuple[str, dict[str, Any]]
SCHEMAS: dict[str, dict[str, Any]] = {
    "read_file": {"path": {"type": "string"}},
    "mcp__git__close_issue": {"number": {"type": "integer"}},
    "mcp__git__list_issues": {"state": {"type": "string"}},
    "mcp__mail__delete_mail": {"id": {"type": "string"}},
}
TEXTS = {
    "read_file": "Reads a file.",
    "mcp__git__close_issue": "Closes an issue of a repository.",
    "mcp__git__list_issues": "Lists the issues of a repository.",
    "mcp__mail__delete_mail": "Deletes a mail.",
}


@dataclass(frozen=True)
class Script:
    """A user's words and the calls of each reply to them, turn by turn; the last reply of a turn is words alone.

    `direct`: every tool that is called is declared.
    """

    turns: Sequence[tuple[str, Sequence[Sequence[Made]]]]
    options: dict[str, Any] = field(default_factory=dict)
    direct: bool = False


@dataclass
class Heard:
    """What the model was told and what its calls were answered."""

    told: list[list[tuple[str, str]]] = field(default_factory=list)
    answers: list[str] = field(default_factory=list)


def parameters(name: str) -> dict[str, Any]:
    return {"type": "object", "properties": SCHEMAS[name], "required": list(SCHEMAS[name])}


def ran(name: str, arguments: Any) -> str:
    return f"ran {name} {json.dumps(arguments, sort_keys=True)}"


def by_engine(script: Script, call_tool: bool) -> tuple[list[list[str]], list[str]]:
    """Return what the engine itself tells and answers: names of each reply's definitions, and the answers."""
    tools = [Tool(full_name(name), TEXTS[name], parameters(name)) for name in SCHEMAS]
    given = dict(script.options)
    host = Host(tools, given.pop("selector"), given.pop("scope", None), given.pop("policy", None), **given)
    names = {full_name(name): name for name in SCHEMAS}
    told, answers = [], []
    for words, replies in script.turns:
        turn = host.start_turn(words)
        for reply in [*replies, ()]:
            declared = [names.get(name) or wire_name(name) for name in turn.declared]
            told.append([*declared[:1], "tools_call", *declared[1:]] if call_tool and turn.searchable else declared)
            now = turn.start_pass()
            for name, arguments in reply:
                full = name if name == "tools_search" else full_name(name)
                verdict = now.call(full, arguments)
                named: Callable[[str], str] = lambda one: names.get(one, one)  # noqa: E731
                answers.append(
                    ran(name, arguments) if verdict.executed and not verdict.answer else text_of(verdict, named)
                )
    return told, answers


def through(made: Made, script: Script) -> Made:
    """Return a call as a model makes it that calls only what it was declared."""
    name, arguments = made
    direct = script.direct or name == "tools_search"
    return made if direct else ("tools_call", {"name": name, "arguments": arguments})


def with_langchain(script: Script, asynchronous: bool = False) -> Heard:
    from langchain.agents import create_agent
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import AIMessage, ToolMessage
    from langchain_core.outputs import ChatGeneration, ChatResult
    from langchain_core.tools import StructuredTool
    from langchain_core.utils.function_calling import convert_to_openai_tool

    from toolkit.adapters.langchain import ToolSelection

    heard, ids = Heard(), itertools.count()

    class Fake(BaseChatModel):
        replies: list[Any]
        bound: list[Any] = []

        @property
        def _llm_type(self) -> str:
            return "fake"

        def bind_tools(self, tools: Any, **more: Any) -> Any:
            return self.model_copy(update={"bound": tools})

        def _generate(self, messages: Any, stop: Any = None, run_manager: Any = None, **more: Any) -> Any:
            heard.told.append([(tool.name, json.dumps(convert_to_openai_tool(tool))) for tool in self.bound])
            calls = [{"name": n, "args": a, "id": f"c{next(ids)}"} for n, a in self.replies.pop(0)]
            return ChatResult(generations=[ChatGeneration(message=AIMessage("", tool_calls=calls))])

    def tool(name: str) -> StructuredTool:
        def run(**arguments: Any) -> str:
            return ran(name, arguments)

        return StructuredTool(name=name, description=TEXTS[name], args_schema=parameters(name), func=run)

    history: list[Any] = []
    for words, replies in script.turns:
        model = Fake(replies=[[through(made, script) for made in reply] for reply in replies] + [[]])
        agent = create_agent(model, [tool(name) for name in SCHEMAS], middleware=[ToolSelection(**script.options)])
        state: Any = {"messages": [*history, ("user", words)]}
        out = asyncio.run(agent.ainvoke(state)) if asynchronous else agent.invoke(state)
        heard.answers += [m.text for m in out["messages"][len(history) :] if isinstance(m, ToolMessage)]
        history = out["messages"]
    return heard


def with_langchain_async(script: Script) -> Heard:
    return with_langchain(script, asynchronous=True)


def with_pydantic_ai(script: Script) -> Heard:
    from pydantic_ai import Agent
    from pydantic_ai import Tool as Function
    from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart, ToolReturnPart
    from pydantic_ai.models.function import FunctionModel

    from toolkit.adapters.pydantic_ai import ToolSelection

    heard = Heard()

    def function(name: str) -> Any:
        def run(**arguments: Any) -> str:
            return ran(name, arguments)

        return Function.from_schema(run, name, TEXTS[name], parameters(name))

    history: list[Any] = []
    for words, replies in script.turns:
        left = [[through(made, script) for made in reply] for reply in replies] + [[]]

        def reply(said: Any, info: Any, left: Any = left) -> Any:
            heard.told.append(
                [(t.name, json.dumps([t.description, t.parameters_json_schema])) for t in info.function_tools]
            )
            calls = [ToolCallPart(name, arguments) for name, arguments in left.pop(0)]
            return ModelResponse(parts=calls or [TextPart("done")])

        tools = [function(name) for name in SCHEMAS]
        agent = Agent(FunctionModel(reply), tools=tools, capabilities=[ToolSelection(**script.options)])
        out = agent.run_sync(words, message_history=history).all_messages()
        parts = [part for message in out[len(history) :] for part in message.parts]
        heard.answers += [part.model_response_str() for part in parts if isinstance(part, ToolReturnPart)]
        history = out
    return heard


def with_openai_agents(script: Script) -> Heard:
    import agents
    from agents import Agent, FunctionTool, Model, ModelResponse, Runner, Usage
    from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

    from toolkit.adapters.openai_agents import with_selection

    agents.set_tracing_disabled(True)
    heard, ids = Heard(), itertools.count()
    done = ResponseOutputText(text="done", annotations=[], type="output_text")
    end = ResponseOutputMessage(id="m", content=[done], role="assistant", status="completed", type="message")

    class Fake(Model):
        def __init__(self, replies: list[Any]) -> None:
            self.replies = replies

        async def get_response(self, system: Any, input: Any, settings: Any, tools: Any, *a: Any, **k: Any) -> Any:
            heard.told.append([(t.name, json.dumps([t.description, t.params_json_schema])) for t in tools])
            made = [
                ResponseFunctionToolCall(
                    name=name, arguments=json.dumps(given), call_id=f"c{next(ids)}", type="function_call"
                )
                for name, given in self.replies.pop(0)
            ]
            return ModelResponse(output=made or [end], usage=Usage(), response_id=None)

        def stream_response(self, *a: Any, **k: Any) -> Any:
            raise NotImplementedError

    def function(name: str) -> Any:
        async def run(ctx: Any, text: str) -> str:
            return ran(name, json.loads(text))

        return FunctionTool(name, TEXTS[name], parameters(name), run, strict_json_schema=False)

    history: list[Any] = []
    for words, replies in script.turns:
        model = Fake([[through(made, script) for made in reply] for reply in replies] + [[]])
        agent = with_selection(Agent("x", model=model, tools=[function(n) for n in SCHEMAS]), **script.options)
        out = Runner.run_sync(agent, [*history, {"role": "user", "content": words}]).to_input_list()
        heard.answers += [i["output"] for i in out[len(history) :] if i.get("type") == "function_call_output"]
        history = out
    return heard


def with_messages(script: Script) -> Heard:
    heard, ids = Heard(), itertools.count()
    rows = [{"name": n, "description": TEXTS[n], "input_schema": parameters(n)} for n in SCHEMAS]
    body: dict[str, Any] = {"model": "claude-sonnet-4-5", "max_tokens": 100, "messages": [], "tools": rows}
    for words, replies in script.turns:
        body["messages"].append({"role": "user", "content": words})
        for reply in [*replies, ()]:
            selecting = Selecting(**script.options, call_tool=False)
            sent = messages.request(selecting, body)["tools"]
            heard.told.append([(t["name"], json.dumps(t)) for t in sent if not t.get("defer_loading")])
            made = [{"type": "tool_use", "id": f"c{next(ids)}", "name": n, "input": a} for n, a in reply]
            done = messages.replied(selecting, body, {"content": made})
            runs = [
                {"type": "tool_result", "tool_use_id": r.id, "content": ran(r.name, r.arguments)} for r in done.to_run
            ]
            results = {one["tool_use_id"]: one for one in [*done.answers, *runs]}
            heard.answers += [shown(results[one["id"]]["content"]) for one in made]
            body["messages"].append({"role": "assistant", "content": made or "done"})
            body["messages"] += [{"role": "user", "content": [results[one["id"]] for one in made]}] if made else []
    return heard


def with_responses(script: Script) -> Heard:
    heard, ids = Heard(), itertools.count()
    rows = [{"type": "function", "name": n, "description": TEXTS[n], "parameters": parameters(n)} for n in SCHEMAS]
    body: dict[str, Any] = {"model": "gpt-5.4", "input": [], "tools": rows}
    for words, replies in script.turns:
        body["input"].append({"role": "user", "content": words})
        for reply in [*replies, ()]:
            selecting = Selecting(**script.options, call_tool=False)
            sent = responses.request(selecting, body)["tools"]
            heard.told.append(
                [(t.get("name", "tools_search"), json.dumps(t)) for t in sent if not t.get("defer_loading")]
            )
            made = [item(name, given, f"c{next(ids)}") for name, given in reply]
            done = responses.replied(selecting, body, {"output": made})
            runs = [
                {"type": "function_call_output", "call_id": r.id, "output": ran(r.name, r.arguments)}
                for r in done.to_run
            ]
            results = {one["call_id"]: one for one in [*done.answers, *runs]}
            heard.answers += [
                shown(results[one["call_id"]].get("output", results[one["call_id"]].get("tools"))) for one in made
            ]
            body["input"] += [*made, *(results[one["call_id"]] for one in made)]
    return heard


def item(name: str, arguments: dict[str, Any], id: str) -> dict[str, Any]:
    if name == "tools_search":
        return {"type": "tool_search_call", "call_id": id, "execution": "client", "arguments": arguments}
    return {"type": "function_call", "call_id": id, "name": name, "arguments": json.dumps(arguments)}


def shown(answer: Any) -> str:
    """Return an answer as text; of a provider's search answer, a line a tool with its name."""
    if isinstance(answer, str):
        return answer
    return "\n".join(json.dumps({"name": one.get("tool_name") or one.get("name")}) for one in answer)
