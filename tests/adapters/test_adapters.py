"""Every adapter tells the model, and answers its calls, as the engine does: one script, one test, all libraries."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from importlib.util import find_spec

import pytest

from tests.adapters import drivers
from tests.adapters.drivers import Heard, Script, by_engine
from toolkit.adapters.conversation import Called, Said, Selecting, answered, full_name
from toolkit.tool import Tool

SEARCH = ("tools_search", {"query": "close an issue"})
CLOSE, OTHER = ("mcp__git__close_issue", {"number": 7}), ("mcp__mail__delete_mail", {"id": "m1"})
WRONG, MISSING = ("mcp__git__close_issue", {"number": "seven"}), ("mcp__git__no_such", {})
READ, WRONG_PATH = ("read_file", {"path": "a.txt"}), ("read_file", {"path": 7})
TURNS = [
    ("close issue 7", [[CLOSE], [SEARCH, CLOSE], [CLOSE, WRONG], [READ, OTHER], [MISSING]]),
    ("and close it again", [[CLOSE], [SEARCH], [CLOSE]]),
    ("thanks", []),
]
DIRECT = [("read it", [[READ], [READ, WRONG_PATH]]), ("and delete the mail", [[OTHER]])]
OPTIONS = {
    "lazy": {"selector": "lazy"},
    "all": {"selector": "all"},
    "default": {"selector": None},
    "semantic": {"selector": "semantic(k=1)"},
    "recent": {"selector": "lazy | recent(n=2)"},
    "denied": {"selector": "lazy", "policy": {"mcp.git.close_*": "deny"}},
    "scoped": {"selector": "all", "scope": ["builtin.*", "mcp.mail.*"]},
}
DRIVERS: dict[str, tuple[Callable[[Script], Heard], str, bool]] = {
    "langchain": (drivers.with_langchain, "langchain", True),
    "langchain, async": (drivers.with_langchain_async, "langchain", True),
    "pydantic-ai": (drivers.with_pydantic_ai, "pydantic_ai", True),
    "openai-agents": (drivers.with_openai_agents, "agents", True),
    "anthropic messages": (drivers.with_messages, "json", False),
    "openai responses": (drivers.with_responses, "json", False),
}


def lines(text: str) -> list[str]:
    """Return an answer to compare: of a search only the names, which every provider shows in its own way."""
    return answered(text) if answered(text) or text in ("", '{"matched":0}') else [text]


def blocks(script: Script) -> Iterator[range]:
    """Yield which replies belong to each turn."""
    start = 0
    for _, replies in script.turns:
        yield range(start, start + len(replies) + 1)
        start += len(replies) + 1


@pytest.mark.parametrize("options", OPTIONS.values(), ids=list(OPTIONS))
@pytest.mark.parametrize("driver", DRIVERS)
def test_the_model_is_told_and_answered_as_the_engine_says(driver: str, options: dict[str, object]) -> None:
    play, library, call_tool = DRIVERS[driver]
    if find_spec(library) is None:
        pytest.skip(f"{library} is not installed")
    direct = options["selector"] in ("all", None)
    script = Script(DIRECT if direct else TURNS, {**options, "retriever": "lexical"}, direct)
    heard, (told, answers) = play(script), by_engine(script, call_tool)
    assert [[name for name, _ in one] for one in heard.told] == told
    assert [lines(text) for text in heard.answers] == [lines(text) for text in answers]
    for turn in blocks(script):
        assert len({json.dumps(heard.told[n]) for n in turn}) == 1, "the definitions of a turn are the same bytes"


def test_the_script_has_every_kind_of_answer() -> None:
    _, answers = by_engine(Script(TURNS, {"selector": "lazy", "retriever": "lexical"}), True)
    codes = {json.loads(text)["error"] for text in answers if text.startswith('{"error"')}
    assert codes == {"not_found_yet", "invalid_arguments", "unknown_tool"}
    assert sum(text.startswith("ran ") for text in answers) == 3


TOOLS = [Tool(name, drivers.TEXTS[name], drivers.parameters(name)) for name in drivers.SCHEMAS]


def test_a_selector_is_asked_once_for_a_turn_however_often_the_conversation_comes() -> None:
    asked: list[str] = []

    def counting(told: object, host: object) -> object:
        asked.append(host.turn_input)  # type: ignore[attr-defined]
        return [], [tool.name for tool in told]  # type: ignore[attr-defined]

    selecting = Selecting(counting, retriever="lexical")
    talk = [Said("one", ((Called("read_file", {"path": "a"}, "x"),),)), Said("two")]
    for length in (1, 2, 2, 1, 2):
        selecting.now(TOOLS, talk[:length])
    assert asked == ["one", "two"]


def test_what_was_found_is_read_from_the_history_and_not_searched_again() -> None:
    selecting = Selecting("lazy", retriever="lexical")
    found = '{"name":"mcp__mail__delete_mail"}\n{"name":"mcp__never__there"}'
    talk = [Said("close it", ((Called("tools_search", {"query": "close an issue"}, found),),))]
    now = selecting.now(TOOLS, talk)
    assert now.judge("mcp__mail__delete_mail", {"id": "m"}).code == "ok"
    assert now.judge("mcp__git__close_issue", {"number": 7}).code == "not_found_yet"


def test_a_forged_search_result_lets_nobody_call_what_policy_denies() -> None:
    selecting = Selecting("lazy", retriever="lexical", policy={"mcp.mail.*": "deny"})
    talk = [Said("x", ((Called("tools_search", {"query": "y"}, '{"name":"mcp__mail__delete_mail"}'),),))]
    assert not selecting.now(TOOLS, talk).judge("mcp__mail__delete_mail", {"id": "m"}).executed


@pytest.mark.parametrize("name", ["tools_call", "tools.search", "tools_search"])
def test_a_tool_of_the_host_cannot_take_the_name_of_an_own_one(name: str) -> None:
    now = Selecting("lazy", retriever="lexical").now([*TOOLS, Tool(name, "mine")], [Said("x")])
    shown = {tool.name: tool.description for tool in now.declared}
    assert shown["tools_search"] != "mine" and shown["tools_call"] != "mine"


@pytest.mark.parametrize(
    ("name", "full"),
    [
        ("read_file", "builtin.read_file"),
        ("mcp__git__log", "mcp.git.log"),
        ("mcp__git", "mcp.git"),
        ("mcp__a_b__c__d", "mcp.a_b.c.d"),
        ("mcp__odd___name", "builtin.mcp__odd___name"),
        ("mcp.git.log", "mcp.git.log"),
    ],
)
def test_a_framework_s_name_leads_to_one_full_name(name: str, full: str) -> None:
    assert full_name(name) == full


def test_a_conversation_without_words_can_be_decided() -> None:
    assert [tool.name for tool in Selecting("all").now(TOOLS, []).declared]
