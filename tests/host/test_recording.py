"""A host that records leaves a file that runs again to the same offers, answers and verdicts (section 11, 8)."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from tests.engine.worlds import SELECTORS, Run, apply, runs, word_rank
from toolkit import Host, load_sessions
from toolkit.engine.profile import REFERENCE
from toolkit.replaying.profiles import profile
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
    if any(event["op"] == "selector" for event in run.events):
        return
    path = tmp_path_factory.mktemp("recorded") / "run.json"
    driver = Driver(run.config, SELECTORS, word_rank, record=path)
    for event in run.events:
        apply(driver, event)
    fresh = Driver(run.config, SELECTORS, word_rank)
    again = rerun(
        load_sessions(path),
        selector=fresh.selector(run.config.get("selector")),
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
