"""Host profiles: their rules change a replay, and every rule names its source."""

from __future__ import annotations

from pathlib import Path

import pytest

import toolkit.replaying.profiles as module
from toolkit.engine import Profile
from toolkit.errors import UnknownNameError
from toolkit.host import Host
from toolkit.ledger import ledger
from toolkit.replaying import System, fold, prepare
from toolkit.replaying.profiles import MARKS, RULES, profile, profiles, rule_table
from toolkit.replaying.search_billing import billing
from toolkit.session import Call, Pass, Session, Turn
from toolkit.tokens.counter import Counter
from toolkit.tool import Catalog, Tool

TOOLS = Catalog([Tool("builtin.read"), Tool("mcp.git.log", "Lists commits."), Tool("mcp.git.push", "Sends commits.")])
WANTED = (
    "anthropic-api",
    "openai-responses",
    "claude-code",
    "codex-first",
    "codex",
    "vscode",
    "pydantic-ai",
    "bigtool",
    "fastmcp",
    "spring-ai",
)


def recorded() -> Session:
    log = Pass("Let me list the commits.", calls=(Call("c1", "mcp.git.log"),))
    again = Pass("Let me list the commits.", calls=(Call("c2", "mcp.git.log"),))
    return Session("s", TOOLS, (Turn("list commits", (log, Pass("Done."))), Turn("again", (again, Pass("Done.")))))


def test_every_shipped_profile_marks_every_rule() -> None:
    assert set(WANTED) | {"reference"} == set(profiles())
    for one in profiles().values():
        assert set(one.marks) == set(RULES)
        assert set(one.marks.values()) <= set(MARKS)
        assert one.about


def test_the_document_is_the_table() -> None:
    page = Path(module.__file__).with_name("PROFILES.md").read_text("utf-8")
    assert page.endswith(rule_table())


def test_an_unknown_profile_names_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="codex"):
        profile("codexx")


@pytest.mark.parametrize(("name", "trips"), [("reference", 2), ("codex-first", 2), ("codex", 1), ("claude-code", 1)])
def test_a_found_tool_is_searched_again_when_its_lifetime_is_over(name: str, trips: int) -> None:
    trace = fold(prepare(recorded()), System("lazy", "lexical", name))
    assert sum(one.is_search for one in trace.passes()) == trips


def test_found_definitions_that_join_the_tools_break_the_prefix() -> None:
    counter = Counter()
    one = prepare(recorded(), counter)
    kept, broken = (ledger(one, fold(one, System("lazy", "lexical", n)), counter) for n in ("reference", "codex-first"))
    after_search = [row for row in broken if row.turn_no == 1][1]
    assert after_search.declared_tokens > broken[0].declared_tokens
    assert after_search.cached_prompt_tokens < broken[0].prompt_tokens
    assert [row for row in kept if row.turn_no == 1][1].cached_prompt_tokens == kept[0].prompt_tokens


def test_a_profile_defers_by_itself_from_its_threshold_on() -> None:
    few = fold(prepare(recorded()), System("deferred", "lexical", "codex-first"))
    all_of_them = fold(prepare(recorded()), System("deferred", "lexical", "codex"))
    assert not few.turns[0].offer.searchable
    assert {tool.name for tool in all_of_them.turns[0].offer.searchable} == {"mcp.git.log", "mcp.git.push"}


@pytest.mark.parametrize(
    ("gate", "arguments", "code"),
    [
        ("strict", {}, "not_found_yet"),
        ("lenient", {}, "invalid_arguments"),
        ("lenient", {"n": 1}, "ok"),
        ("executes", {}, "ok"),
    ],
)
def test_the_gate_decides_about_a_call_that_no_search_found(gate: str, arguments: dict[str, int], code: str) -> None:
    tool = Tool("mcp.git.log", input_schema={"required": ["n"]}, deferred=True)
    host = Host([tool], profile=Profile(gate=gate), retriever="lexical")
    assert host.start_turn().start_pass().call("mcp.git.log", arguments).code == code


def test_only_the_newest_answer_counts_where_the_profile_says_so() -> None:
    host = Host([t.flagged(True) for t in TOOLS], profile=Profile(found_until="last_search"), retriever="lexical")
    turn = host.start_turn()
    turn.start_pass().search("mcp.git.log", 1)
    turn.start_pass().search("mcp.git.push", 1)
    one = turn.start_pass()
    assert [one.call("mcp.git.log").code, one.call("mcp.git.push").code] == ["not_found_yet", "ok"]


def test_a_number_of_turns_is_a_lifetime() -> None:
    host = Host([t.flagged(True) for t in TOOLS], profile=Profile(found_until="2"), retriever="lexical")
    host.start_turn().start_pass().search("mcp.git.log", 1)
    codes = [host.start_turn().start_pass().call("mcp.git.log").code for _ in range(3)]
    assert codes == ["ok", "not_found_yet", "not_found_yet"]


def test_a_compaction_forgets_where_the_profile_says_so() -> None:
    host = Host([t.flagged(True) for t in TOOLS], profile=Profile(found_until="compaction"), retriever="lexical")
    host.start_turn().start_pass().search("mcp.git.log", 1)
    turn = host.start_turn()
    before = turn.start_pass().call("mcp.git.log").code
    host.compaction()
    assert (before, turn.start_pass().call("mcp.git.log").code) == ("ok", "not_found_yet")


def test_a_search_inside_the_pass_that_asked_is_not_billed_as_a_pass_of_its_own() -> None:
    counter = Counter()
    one = prepare(recorded(), counter)
    trace = fold(one, System("lazy", "lexical", "openai-responses"))
    rows = ledger(one, trace, counter, billing=billing("openai-responses"))
    searches = [row for row in rows if row.kind == "search"]
    assert searches and all(row.prompt_tokens == 0 and row.output_tokens > 0 for row in searches)
    assert rows[-1].search_history_tokens > 170
