"""A host that records leaves a file that runs again to the same offers, answers and verdicts (section 11, 8)."""

from __future__ import annotations

import gc
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.engine.worlds import SELECTORS, Run, apply, runs, word_rank
from tests.test_plain import VALUES
from toolkit import Host, load_sessions
from toolkit.engine.profile import REFERENCE
from toolkit.errors import IllegalStepError
from toolkit.formats.files import Problem
from toolkit.formats.importing import Source
from toolkit.formats.native.journal import JOURNAL
from toolkit.formats.registry import format_of, read_file
from toolkit.plain import plain
from toolkit.replaying.profiles import profile, profiles
from toolkit.replaying.rerun import rerun
from toolkit.testing.driver import Driver
from toolkit.tool import Tool

TOOLS = [
    Tool("builtin.read", "Reads a file."),
    Tool("mcp.git.log", "Lists commits.", deferred=True),
    Tool("mcp.git.drop", "Drops a branch.", deferred=True),
    Tool("mcp.sea.tide", "Tells the tide."),
]


def test_a_recording_runs_again_to_the_same_results(tmp_path: Path) -> None:
    path = tmp_path / "live.json"
    host = Host(TOOLS, selector="lazy", policy={"*.drop": "deny"}, retriever="lexical", record=path)
    notes = host.extension("notes")
    turn = host.start_turn("what changed?")
    step = turn.start_pass()
    step.search("commits")
    step.say("Let me look.")
    notes.hide(["mcp.sea.*"])
    now = turn.start_pass()
    now.call("mcp.git.log", {})
    now.result(0, "3 commits")
    host.set_policy({"builtin.*": "deny"})
    now.call("builtin.read")
    helper = turn.start_step(["mcp.*"], id="helper")
    helper.start_pass().search("tide")
    helper.end()
    host.server_down("git")
    now.call("mcp.git.log", {})
    host.start_turn("and now?").start_pass().call("mcp.sea.tide")
    again = rerun(load_sessions(path))
    assert again.same, again.differences
    assert (again.offers, again.answers, again.verdicts) == (4, 2, 6)


def test_a_rerun_takes_the_profile_and_retriever_that_were_recorded(tmp_path: Path) -> None:
    path = tmp_path / "live.json"
    host = Host(TOOLS, retriever="regex", profile=profile("spring-ai"), record=path)
    host.start_turn("look").start_pass().search("c.mmits")
    host.start_turn("again").start_pass().call("mcp.git.log", {})
    again = rerun(load_sessions(path))
    assert again.same, again.differences
    assert not rerun(load_sessions(path), profile=REFERENCE).same


def test_every_recorded_note_leaves_a_file_that_can_be_read(tmp_path: Path) -> None:
    path = tmp_path / "live.jsonl"
    host = Host(TOOLS, record=path)
    for number in range(3):
        turn = host.start_turn(f"turn {number}")
        assert len(load_sessions(path)[0].turns) == number + 1
        turn.start_pass().call("builtin.read")
        assert sum(1 for _ in load_sessions(path)[0].calls()) == number + 1


@settings(
    deadline=None,
    max_examples=40,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
    phases=(Phase.generate,),
)
@given(run=runs())
def test_random_recordings_run_again_to_the_same_results(tmp_path_factory: pytest.TempPathFactory, run: Run) -> None:
    path = tmp_path_factory.mktemp("recorded") / "run.json"
    driver = Driver(run.config, SELECTORS, word_rank, record=path)
    for event in run.events:
        apply(driver, event)
    fresh = Driver(run.config, SELECTORS, word_rank)
    again = rerun(
        load_sessions(path),
        selectors={name: fresh.selector(name) for name in SELECTORS},
        retriever=fresh.host.searcher,
        profile=fresh.host.state.profile,
    )
    assert again.same, again.differences


KILLED = """
import sys, itertools
from toolkit import Host
from toolkit.tool import Tool
host = Host([Tool("builtin.read", "Reads. " * 200)], record=sys.argv[1])
for number in itertools.count():
    one = host.start_turn(f"turn {number}").start_pass()
    one.call("builtin.read")
    one.result(0, "x" * 5000)
    print(number, flush=True)
"""


def test_a_killed_host_leaves_a_readable_file(tmp_path: Path) -> None:
    path = tmp_path / "killed.json"
    process = subprocess.Popen([sys.executable, "-c", KILLED, str(path)], stdout=subprocess.PIPE)
    assert process.stdout is not None
    for _ in range(15):
        process.stdout.readline()
    time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    process.stdout.close()
    sessions = load_sessions(path)
    assert not sessions.problems
    assert len(sessions[0].turns) >= 15


def test_confirmed_calls_another_selector_and_steps_side_by_side_run_again_to_the_same(tmp_path: Path) -> None:
    path = tmp_path / "live.json"
    host = Host(TOOLS, selector="lazy", policy={"mcp.sea.*": "ask"}, retriever="lexical", record=path)
    turn = host.start_turn("look")
    one, two = turn.start_step(["mcp.*"], id="one"), turn.start_step(id="two")
    one.start_pass().search("tide")
    two.start_pass().search("commits")
    assert one.start_pass().call("mcp.sea.tide").code == "ask"
    host.set_policy({"mcp.git.*": "deny"})
    assert two.start_pass().call("mcp.git.log").code == "denied"
    one.start_step(id="inner").start_pass().call("builtin.read")
    one.end()
    turn.start_step(id="inner").start_pass().call("builtin.read")
    host.set_policy({"mcp.sea.*": "ask"})
    host.set_selector("all")
    last = turn.start_pass()
    last.search("tide", limit=1)
    assert host.start_turn("go").start_pass().call("mcp.sea.tide", confirmed=True).code == "ok"
    again = rerun(load_sessions(path))
    assert again.same, again.differences
    assert (again.offers, again.verdicts) == (8, 8)


@pytest.mark.parametrize("name", sorted(profiles()))
def test_a_recording_runs_again_under_every_profile(name: str, tmp_path: Path) -> None:
    path = tmp_path / "live.json"
    host = Host(TOOLS, retriever="lexical", profile=replace(profile(name), limit=1, found_until="2"), record=path)
    for _ in range(3):
        turn = host.start_turn("look")
        one = turn.start_pass()
        one.search("commits branch")
        one.call("mcp.git.log")
        turn.start_pass().call("mcp.git.drop", [1])
    again = rerun(load_sessions(path))
    assert again.same, again.differences


def own(visible: Any, host: Any) -> Any:
    """Split by what the configuration says."""
    return [tool.name for tool in visible if host.config["word"] in tool.name], [tool.name for tool in visible]


def test_a_selector_of_ones_own_is_found_again_with_its_configuration(tmp_path: Path) -> None:
    path = tmp_path / "live.json"
    host = Host(TOOLS, selector=own, config={"word": "git"}, record=path)
    host.start_turn("look", history_tokens=7).start_pass().call("mcp.git.log")
    again = rerun(load_sessions(path))
    assert again.same and again.offers == 1, again.differences


SCHEMAS = st.none() | st.booleans() | st.dictionaries(st.sampled_from(["type", "default", "enum", "a"]), VALUES)


@settings(deadline=None, max_examples=60, derandomize=True, suppress_health_check=list(HealthCheck))
@given(schema=SCHEMAS, arguments=VALUES, answer=VALUES, limit=VALUES)
def test_any_value_is_recorded_and_runs_again_to_the_same(
    tmp_path_factory: pytest.TempPathFactory, schema: Any, arguments: Any, answer: Any, limit: Any
) -> None:
    path = tmp_path_factory.mktemp("recorded") / "run.jsonl"
    tools = [Tool("builtin.any", "", plain(schema)), Tool("mcp.git.log", deferred=True)]
    host = Host(tools, retriever="lexical", record=path)
    one = host.start_turn("look").start_pass()
    one.call("builtin.any", {"a": arguments})
    one.call("builtin.any", arguments)
    one.search(arguments, limit)
    one.say(answer, answer)
    one.result(0, answer)
    sessions = load_sessions(path)
    again = rerun(sessions)
    assert not sessions.problems and again.same and again.verdicts == 3, again.differences


def test_what_is_no_json_is_recorded_as_what_it_is_shown_to_be(tmp_path: Path) -> None:
    path = tmp_path / "live.json"
    one = Host(TOOLS, record=path).start_turn("look").start_pass()
    one.call("builtin.read", {"limit": float("nan"), "key": b"1"})
    one.call("builtin.read", [1, 2])
    first, second = load_sessions(path)[0].calls()
    assert first.arguments == {"limit": "NaN", "key": "b'1'"} and second.raw_arguments == "[1,2]"


def test_a_folder_that_vanishes_is_told_once_and_nothing_is_lost(tmp_path: Path) -> None:
    folder = tmp_path / "there"
    folder.mkdir()
    host = Host(TOOLS, record=folder / "live.json")
    one = host.start_turn("look").start_pass()
    shutil.rmtree(folder)
    with pytest.warns(RuntimeWarning, match="cannot be written: .*The host goes on") as told:
        assert [one.call("builtin.read").code for _ in range(3)] == ["ok"] * 3
        host.set_policy({"builtin.read": "deny"})
    assert len(told) == 1 and one.call("builtin.read").code == "denied"
    folder.mkdir()
    one.call("builtin.read")
    assert rerun(load_sessions(folder / "live.json")).verdicts == 5


def test_a_result_stands_at_the_pass_that_it_is_of(tmp_path: Path) -> None:
    path = tmp_path / "live.json"
    turn = Host(TOOLS, record=path).start_turn("look")
    first = turn.start_pass()
    first.call("builtin.read")
    turn.start_pass().call("builtin.read")
    first.result(0, "early")
    with pytest.raises(IllegalStepError, match="no call 1 in this pass"):
        first.result(1, "none")
    one, two = (call.result for call in load_sessions(path)[0].calls())
    assert one is not None and two is not None and (one.content, two.content or "") == ("early", "")


def noted(host: Host, turns: int) -> None:
    """Play turns of a search, a call and its result."""
    for number in range(turns):
        one = host.start_turn(f"turn {number}").start_pass()
        one.call("builtin.read", {"n": number})
        one.result(0, "text " * 20)


@pytest.mark.parametrize("name", ["live.json", "live.jsonl", "live.jsonl.gz", "live.jsonl.zst"])
def test_the_journal_and_the_file_that_it_becomes_hold_the_same(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    with Host(TOOLS, retriever="lexical", record=path) as host:
        turn = host.start_turn("what changed?")
        turn.start_pass().search("commits")
        turn.start_pass().call("mcp.git.log")
        turn.start_step(["mcp.*"], id="helper").start_pass().search("tide")
        noted(host, 2)
        host.end_turn()
        during = load_sessions(path)
    after = load_sessions(path)
    assert not during.problems and not after.problems
    assert [(one.id, one.turns, one.catalog, one.extra) for one in during] == [
        (one.id, one.turns, one.catalog, one.extra) for one in after
    ]
    assert rerun(during).same and rerun(after).same


def test_closing_makes_a_plain_session_and_a_host_that_is_used_again_records_on(tmp_path: Path) -> None:
    path = tmp_path / "live.json"
    host = Host(TOOLS, record=path)
    noted(host, 1)
    assert path.read_bytes().startswith(b'{"toolkit_journal":1')
    host.close()
    assert path.read_bytes().startswith(b'{"schema_version":"ATIF')
    noted(host, 1)
    assert path.read_bytes().startswith(b'{"toolkit_journal":1')
    host.close()
    assert len(load_sessions(path)[0].turns) == 2 and rerun(load_sessions(path)).same


@pytest.mark.parametrize("name", ["live.json", "live.jsonl.gz"])
def test_a_host_that_is_closed_while_its_journal_is_opened_loses_no_session(name: str, tmp_path: Path) -> None:
    host = Host(TOOLS, record=tmp_path / name)
    noted(host, 2)
    problems: list[Problem] = []
    source = Source(tmp_path / name)
    assert format_of(source) is JOURNAL
    host.close()
    (session,) = read_file(source, problems, [JOURNAL])
    assert len(session.turns) == 2 and not problems


def test_a_host_that_nobody_holds_any_more_leaves_a_plain_session(tmp_path: Path) -> None:
    path = tmp_path / "live.json"
    noted(Host(TOOLS, record=path), 1)
    gc.collect()  # a host and its open turn hold each other
    assert path.read_bytes().startswith(b'{"schema_version":"ATIF') and load_sessions(path)[0].turns


def test_a_process_that_ends_leaves_a_plain_session(tmp_path: Path) -> None:
    code = "import sys\nfrom toolkit import Host\nhost = Host([], record=sys.argv[1])\nhost.start_turn('hello')\n"
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "live.json")], check=True)
    assert (tmp_path / "live.json").read_bytes().startswith(b'{"schema_version":"ATIF')


def test_a_cut_journal_loses_the_note_that_was_being_written_and_no_other(tmp_path: Path) -> None:
    path = tmp_path / "live.json"
    host = Host(TOOLS, record=path)
    noted(host, 3)
    whole, cut = path.read_bytes(), tmp_path / "cut.json"
    for end in range(len(whole) - 1, whole.rindex(b"\n", 0, -1), -17):
        cut.write_bytes(whole[:end])
        read = load_sessions(cut)
        assert len(read[0].turns) == 3 and {one.code for one in read.problems} <= {"unreadable_tail"}


def test_a_damaged_note_is_told_by_its_line_and_the_others_count(tmp_path: Path) -> None:
    path = tmp_path / "live.json"
    host = Host(TOOLS, record=path)
    noted(host, 2)
    lines = path.read_bytes().splitlines(keepends=True)
    odd = tmp_path / "odd.json"
    odd.write_bytes(b"".join((*lines[:4], b'{"op":"dance"}\n', b'{"op":"pass","body":{"span":"no"}}\n', *lines[4:])))
    read = load_sessions(odd)
    assert [(one.code, one.line) for one in read.problems] == [("bad_note", 5), ("bad_note", 6)]
    assert len(read[0].turns) == 2


def test_what_a_note_costs_does_not_grow_with_the_session(tmp_path: Path) -> None:
    path = tmp_path / "live.json"
    host, sizes = Host(TOOLS, record=path), []
    for _ in range(3):
        noted(host, 40)
        sizes.append(path.stat().st_size)
    before, after = sizes[1] - sizes[0], sizes[2] - sizes[1]
    assert abs(after - before) <= 3 * 40 * 2, "each forty turns add as many bytes, but for longer numbers"


def test_another_version_of_the_journal_is_told_and_not_read(tmp_path: Path) -> None:
    path = tmp_path / "live.json"
    path.write_text('{"toolkit_journal": 2, "id": "x"}\n')
    read = load_sessions(path)
    assert not len(read) and "version 2" in str(read.problems[0])
