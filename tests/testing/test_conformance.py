"""`toolkit conformance`: hosts over stdio, good ones, broken ones and such that do not answer."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.testing.broken_hosts import twin
from toolkit.cli import main
from toolkit.testing.conformance import NOT_RUN, by_rule, check
from toolkit.testing.judge import first_difference
from toolkit.testing.reference_host import Server, serve
from toolkit.testing.rule_vectors import FAMILIES, vectors
from toolkit.testing.stdio import HostBrokenError, StdioHost

ADAPTER = [sys.executable, "-m", "toolkit.testing.reference_host"]
FEW = vectors(["T2"])


def broken(rule: str) -> list[str]:
    return [sys.executable, "-m", "tests.testing.broken_hosts", rule]


def script(code: str) -> list[str]:
    return [sys.executable, "-c", f"import json, os, sys, time\n{code}"]


def rows_of(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    return {row["rule"]: row for row in json.loads(capsys.readouterr().out)}


def test_the_reference_engine_passes_every_vector(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["conformance", "check", "--json", "--", *ADAPTER]) == 0
    rows = rows_of(capsys)
    assert {row["failed"] for row in rows.values()} == {0}
    assert {rule[0] for rule in rows} == set(FAMILIES)


@pytest.mark.parametrize("rule", ["V3", "H3", "B3", "S9", "Q7", "C1", "A2", "T2"])
def test_a_broken_host_of_each_family_is_caught(rule: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["conformance", "check", "--rule", rule, "--json", "--", *broken(rule)]) == 1
    row = rows_of(capsys)[rule]
    assert row["failed"] > 0 and row["passed"] + row["failed"] == row["vectors"]
    assert "expected" in row["first_difference"]
    failures = row["failures"]
    assert len(failures) == row["failed"] and all("expected" in one["difference"] for one in failures)
    assert {one["id"] for one in failures} <= {vector["id"] for vector in vectors([rule])}


def test_the_table_names_the_broken_rule_and_the_first_difference(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["conformance", "check", "--rule", "Q7", "--", *broken("Q7")]) == 1
    out = capsys.readouterr().out
    assert "Q7-01" in out and 'expected "not_found_yet", got "ok"' in out and "9 vectors passed" in out


ANSWER = "print(json.dumps({'jsonrpc': '2.0', 'id': json.loads(line)['id'], 'result': {}}), flush=True)"
UNWELL = {
    "ends at once": ("", "ended with status 0"),
    "dies with words": ("sys.exit('no licence')", "ended with status 1. no licence"),
    "dies in the middle": (
        f"for line in sys.stdin:\n if 'apply' in line: os._exit(3)\n {ANSWER}",
        "ended with status 3",
    ),
    "prints rubbish": ("for line in sys.stdin: print('Loading…', flush=True)", " is no JSON-RPC 2.0 response"),
    "prints bytes": (r"sys.stdout.buffer.write(b'\xff\xfe\n')", "is no JSON-RPC 2.0 response"),
    "answers another request": (
        'for line in sys.stdin: print(\'{"id": 0, "result": {}}\', flush=True)',
        "is no JSON-RPC 2.0",
    ),
    "answers a list": ("for line in sys.stdin: print('[]', flush=True)", "is no JSON-RPC 2.0 response"),
    "hangs": ("time.sleep(60)", "did not answer within 0.5 s"),
    "closes its output": ("sys.stdout.close(); os.close(1); time.sleep(60)", "closed its output"),
}


@pytest.mark.parametrize(("code", "said"), UNWELL.values(), ids=UNWELL)
def test_a_host_that_breaks_is_reported_and_given_up(code: str, said: str) -> None:
    findings = list(check(FEW[:4], script(code), time_limit=0.5 if "hangs" in said or "0.5" in said else 5, give_up=2))
    assert all(said in str(one.difference) for one in findings[:2]), findings[0].difference
    assert [one.difference for one in findings[2:]] == [NOT_RUN, NOT_RUN]
    assert by_rule(findings)[0]["failed"] == 4


def test_a_host_that_breaks_is_started_again_for_the_next_vector() -> None:
    lines = "(os._exit(4) if 'compaction' in line else line for line in sys.stdin)"
    code = f"from toolkit.testing.reference_host import serve\nserve({lines}, sys.stdout)"
    findings = list(check(FEW, script(code), give_up=len(FEW)))
    died = [one for one in findings if "ended with status 4" in str(one.difference)]
    assert 0 < len(died) < len(FEW) and all(one.difference is None for one in findings if one not in died)


def test_an_error_where_none_is_expected_is_a_difference() -> None:
    code = f"for line in sys.stdin: {ANSWER}".replace("'result': {}", "'error': 'no such thing'")
    (finding,) = check(FEW[:1], script(code))
    assert finding.difference == "start: error 'no such thing'"


def test_a_host_is_ended_with_the_check() -> None:
    host = StdioHost(ADAPTER)
    host.ask("start", {"config": {"tools": []}})
    process = host._process
    host.close()
    host.close()
    assert process is not None and process.poll() is not None


def test_a_big_line_passes() -> None:
    host = StdioHost(ADAPTER)
    tools = [{"name": f"t{n}", "description": "x" * 1000, "source": "builtin"} for n in range(1000)]
    host.ask("start", {"config": {"tools": tools}})
    assert len(host.ask("apply", {"event": {"op": "turn"}})["declared"]) == 1000
    host.close()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["check", "--rule", "H33", "--", "true"], "Did you mean 'H3'"),
        (["check", "--", "no-such-command"], "cannot start 'no-such-command'"),
        (["vectors", "--out", __file__], "cannot be written"),
        (["vectors", "--out", "x", "--rule", "Z"], "unknown rule 'Z'"),
    ],
)
def test_bad_usage_is_status_2(arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["conformance", *arguments]) == 2
    assert said in capsys.readouterr().err


def test_vectors_writes_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["conformance", "vectors", "--out", str(tmp_path / "a" / "b"), "--rule", "T"]) == 0
    lines = (tmp_path / "a" / "b" / "vectors.jsonl").read_text("utf-8").splitlines()
    assert f"{len(lines)} vectors in" in capsys.readouterr().out
    assert "JSON-RPC 2.0" in (tmp_path / "a" / "b" / "PROTOCOL.md").read_text("utf-8")


# --- the adapter ---


def replies(*lines: str) -> list[Any]:
    out = io.StringIO()
    serve(lines, out)
    return [json.loads(line) for line in out.getvalue().splitlines()]


def test_the_adapter_answers_wrong_requests_with_errors() -> None:
    said = replies("rubbish", "[]", '{"id": 1}', '{"id": 2, "method": "dance"}', "", '{"id": 3, "method": "end"}')
    assert [one.get("error", {}).get("message") for one in said] == [*["invalid_request"] * 3, "unknown_method", None]
    assert [one["id"] for one in said] == [None, None, None, 2, 3]


def test_an_illegal_step_is_an_error_with_its_text() -> None:
    event = {"op": "pass", "step": None}
    (before, _, after) = replies(
        json.dumps({"id": 1, "method": "apply", "params": {"event": event}}),
        json.dumps({"id": 2, "method": "start", "params": {"config": {"tools": []}}}),
        json.dumps({"id": 3, "method": "apply", "params": {"event": event}}),
    )
    assert before["error"]["message"] == after["error"]["message"] == "illegal_step"
    assert after["error"]["code"] == -32001 and "no turn is open" in after["error"]["data"]["text"]


# --- the judge ---

OFFER = {"declared": ["b", "a"], "searchable": ["x", "y"], "definitions": {"a": '{"name":"a","n":1}'}}


def judge(expect: Any, *outcomes: Any) -> str | None:
    answers = iter([{}, *outcomes, {}])
    steps = [{"event": {"op": "turn"}, "expect": expect} for _ in outcomes]
    return first_difference({"config": {}, "steps": steps}, lambda method, params: next(answers))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({}, None),
        ({"more": 1}, None),
        ({"searchable": ["y", "x"]}, None),
        ({"definitions": {"a": '{ "name": "a", "n": 1 }'}}, None),
        ({"declared": ["a", "b"]}, "declared: expected"),
        ({"searchable": ["x", "y", "y"]}, "searchable: expected"),
        ({"searchable": None}, "searchable: expected"),
        ({"definitions": {"a": '{"n":1,"name":"a"}'}}, "definitions: 'a'"),
        ({"definitions": {"a": {"name": "a", "n": 1}}}, "definitions: 'a'"),
        ({"definitions": {}}, "definitions: expected those of"),
        ({"error": "illegal_step"}, "error 'illegal_step'"),
    ],
)
def test_what_is_compared(change: Any, said: str | None) -> None:
    wrong = judge(OFFER, {**OFFER, **change})
    assert (wrong is None) if said is None else said in str(wrong)


def test_what_is_expected_to_be_the_same_has_the_same_bytes() -> None:
    spaced = {**OFFER, "definitions": {"a": '{"name": "a", "n": 1}'}}
    assert judge(OFFER, spaced, spaced) is None
    assert "its bytes are not" in str(judge(OFFER, OFFER, spaced))


def test_a_text_is_judged_where_there_is_one() -> None:
    expect = {"text": {"has": ["anchor"], "lacks": ["buoy"]}}
    assert judge(expect, {}) is judge(expect, {"text": "an anchor"}) is None
    assert "lacks ['anchor']" in str(judge(expect, {"text": "nothing"}))
    assert "must not hold ['buoy']" in str(judge(expect, {"text": "anchor, buoy"}))


def test_a_vector_of_a_refused_start_has_no_steps() -> None:
    (vector, *_) = vectors(["S8"])
    assert vector["steps"] == [] and first_difference(vector, Server().ask) is None
    assert "start: error: expected" in str(first_difference(vector, lambda method, params: {}))


def test_an_outcome_that_is_no_object_is_a_difference() -> None:
    assert "an object was expected" in str(judge(OFFER, [1, 2]))


def test_the_twin_passes_over_the_same_server() -> None:
    assert all(first_difference(vector, Server(twin()).ask) is None for vector in FEW)


def test_a_host_that_broke_answers_no_more_questions_of_its_vector() -> None:
    with pytest.raises(HostBrokenError):
        StdioHost(script("")).ask("start", {})
