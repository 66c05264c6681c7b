"""What a client of the proxy is told and may call follows the engine's rules, whatever way a name is written."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import pytest

from tests.builders import BRANCH, LOG, MAIL, TOOLS
from toolkit import load_sessions
from toolkit.hosts.changes import Change
from toolkit.replaying.rerun import rerun
from toolkit.serving.proxy_session import CALL_TOOL, RULES, ProxySession, ProxySettings, told
from toolkit.tool import Tool, wire_name

SERVED = (BRANCH, LOG, MAIL)
LAZY = ProxySettings("lazy", "lexical")


def session(settings: ProxySettings = LAZY, tools: Any = SERVED, **more: Any) -> ProxySession:
    return ProxySession("s", tools, (), settings, more.pop("log", lambda event, **facts: None), **more)


def names(one: ProxySession) -> list[str]:
    return [tool.name for tool in one.declared()]


def code(one: ProxySession, name: str, /, **arguments: Any) -> str:
    return one.ask(name, arguments).verdict.code


def test_the_selector_decides_what_a_client_is_listed() -> None:
    assert names(session()) == ["tools_search", "tools_call"]
    assert names(session(ProxySettings("all"))) == [wire_name(tool.name) for tool in SERVED]
    assert names(session(ProxySettings("lazy", call_tool=False))) == ["tools_search"]


def test_a_call_needs_a_search_that_found_it_and_then_runs_by_every_name() -> None:
    one = session()
    assert code(one, "mcp__git__create_branch", name="x") == "not_found_yet"
    assert one.ask("tools_search", {"query": "make a new branch"}).verdict.names[0] == BRANCH.name
    through = {"name": BRANCH.name, "arguments": {"name": "x"}}
    assert code(one, "mcp__git__create_branch", name="x") == code(one, BRANCH.name, name="x") == "ok"
    assert one.ask("tools_call", through).arguments == {"name": "x"}
    assert code(one, "tools_call", **through) == "ok"


@pytest.mark.parametrize(
    "settings",
    [
        ProxySettings("all", policy=(("mcp.git.*", "deny"),)),
        ProxySettings("lazy", "lexical", policy=(("mcp.git.*", "deny"),)),
        ProxySettings("all", scope=("mcp.mail.*",)),
        ProxySettings("lazy", "lexical", scope=("mcp.mail.*",)),
        ProxySettings("all", hide=("mcp.git.*",)),
        ProxySettings("lazy", "lexical", hide=("mcp.git.*",)),
    ],
)
def test_no_spelling_of_a_name_passes_policy_scope_or_hides(settings: ProxySettings) -> None:
    one = session(settings)
    shown = {tool.name for tool in one.declared()}
    found = one.ask("tools_search", {"query": "make a new branch, list commits", "limit": 20}).verdict.names
    assert not {name for name in (*shown, *found) if "git" in name}
    spelt = (BRANCH.name, wire_name(BRANCH.name), "mcp.git.create_branch ", "MCP.git.create_branch")
    for name, confirmed in product(spelt, ({}, {"confirmed": True})):
        plain = {"name": "x", **confirmed}
        nested = {"name": "tools_call", "arguments": {"name": name, "arguments": plain}}
        for asked in ((name, plain), ("tools_call", {"name": name, "arguments": plain}), ("tools_call", nested)):
            verdict = one.ask(*asked).verdict
            assert not verdict.executed and verdict.reads in ("unknown_tool", "denied")
            assert "git" not in told(verdict).replace(name, "")


def test_a_call_that_needs_a_person_is_refused_in_words() -> None:
    asked = session(ProxySettings("all", policy=(("mcp.git.*", "ask"),))).ask(BRANCH.name, {"name": "x"})
    assert asked.verdict.code == "ask" and "confirmation" in told(asked.verdict)


def test_an_upstream_change_waits_for_the_next_list() -> None:
    one = session(ProxySettings("all"))
    before = names(one)
    one.apply(Change("mail", "down"))
    assert code(one, MAIL.name, to="a", body="b") == "unavailable"
    assert code(one, BRANCH.name, name="x") == "ok"
    after = names(one)
    assert before == [wire_name(tool.name) for tool in SERVED]
    assert after == [name for name in before if "mail" not in name]
    one.apply(Change("mail", "up"))
    assert names(one) == before
    one.apply(Change("mail", "tools", (MAIL, Tool("mcp.mail.read"))))
    assert names(one) == sorted([*before, "mcp__mail__read"])


def test_a_list_that_is_asked_again_is_the_same_to_the_byte() -> None:
    one = session(ProxySettings("semantic(k=1)", "lexical"))
    first = one.declared("list the commits")
    assert one.declared() == first
    one.ask("tools_search", {"query": "write to somebody"})
    assert one.declared() == first


def test_a_client_may_say_that_a_turn_begins_and_with_which_words() -> None:
    one = session(ProxySettings("semantic(k=1)", "lexical"))
    assert "mcp__git__show_log" in [tool.name for tool in one.declared("list the commits")]
    assert "mcp__mail__send_message" in [tool.name for tool in one.declared("send a letter")]
    assert [turn.input for turn in one.host.earlier] == ["list the commits"]


def test_what_an_upstream_server_says_of_its_tools_is_cut_to_what_is_fit() -> None:
    long = Tool("mcp.odd.long", "word " * 5000, {"type": "object", "properties": {"a": {"type": "string"}}})
    (shown,) = session(ProxySettings("all", longest=100), [long]).declared()
    assert len(shown.description) == 100 and shown.description.endswith("…")
    assert shown.schema_text == long.schema_text


def test_no_upstream_tool_takes_the_name_of_the_proxy_s_own() -> None:
    taken = [Tool("tools.search", "mine", source="mcp:odd"), Tool("tools_call", "mine", source="mcp:odd"), *SERVED]
    listed = {tool.name: tool.description for tool in session(tools=taken).declared()}
    assert listed["tools_call"] == CALL_TOOL.description and listed["tools_search"] != "mine"


@pytest.mark.parametrize("arguments", [None, [], "x", 7, {"name": 7}, {"name": "tools_call"}, {"arguments": {}}])
def test_rubbish_in_a_call_is_refused(arguments: Any) -> None:
    assert not session().ask("tools_call", arguments).verdict.executed


def test_the_log_says_by_which_rule_and_every_verdict_has_one() -> None:
    lines: list[dict[str, Any]] = []
    one = session(log=lambda event, **facts: lines.append({"event": event, **facts}))
    one.ask("tools_search", {"query": "write to somebody"})
    one.ask(MAIL.name, {"to": "a", "body": "b"})
    one.ask(BRANCH.name, {"name": "x"})
    one.end()
    assert [line["event"] for line in lines] == ["offer", "search", "call", "call", "end"]
    assert [line.get("rule") for line in lines[1:4]] == ["C1", "C1", RULES["not_found_yet"]]
    assert set(RULES) >= {"ok", "ask", "unknown_tool", "denied", "not_offered", "unavailable", "search_failed"}


def test_a_recorded_session_is_read_again_and_gives_the_same(tmp_path: Path) -> None:
    path = tmp_path / "one.json"
    one = session(record=str(path))
    one.declared()
    one.ask("tools_search", {"query": "make a new branch"})
    asked = one.ask("tools_call", {"name": BRANCH.name, "arguments": {"name": "x"}})
    asked.answered("made", False)
    one.apply(Change("mail", "down"))
    one.declared()
    one.ask(MAIL.name, {"to": "a", "body": "b"})
    one.end()
    (read,) = load_sessions(path)
    calls = [call for turn in read.turns for one in turn.passes for call in one.calls]
    assert [call.name for call in calls] == ["tools.search", BRANCH.name, MAIL.name]
    assert calls[1].result is not None and calls[1].result.content == "made"
    assert rerun([read]).differences == ()


def test_an_answer_after_the_session_has_gone_on_costs_nothing() -> None:
    one = session(ProxySettings("all"))
    asked = one.ask(BRANCH.name, {"name": "x"})
    one.declared("another turn")
    asked.answered("late", False)
    assert code(one, LOG.name) == "ok"


def test_all_the_tools_of_the_host_s_builders_can_be_served() -> None:
    assert len(session(ProxySettings("all"), TOOLS).declared()) == len(TOOLS)
