"""Files of any format become native ones, one for each; what was done is kept."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.builders import READ, atif, written
from toolkit.errors import InputError, UnknownNameError
from toolkit.formats.converting import Wanted, convert, convert_all, total
from toolkit.formats.sessions import load_sessions
from toolkit.tool import Tool


def test_every_file_becomes_one_that_reads_back_equal_and_is_kept_the_next_time(tmp_path: Path) -> None:
    paths = [
        written(tmp_path / folder / "x.jsonl", atif(folder)) for folder in ("a", "b") if not (tmp_path / folder).mkdir()
    ]
    first = list(convert_all(paths, Wanted(tmp_path / "out")))
    assert [one.sessions for one in first] == [1, 1] and len({one.made for one in first}) == 2
    for path, one in zip(paths, first, strict=True):
        assert one.made is not None and list(load_sessions(one.made)) == list(load_sessions(path))
    assert [one.kept for one in convert_all(paths, Wanted(tmp_path / "out"), workers=2)] == [True, True]


def test_a_file_without_a_session_writes_nothing_and_tells_why(tmp_path: Path) -> None:
    one = convert(written(tmp_path / "x.json", {"theme": "dark"}), Wanted(tmp_path))
    assert (one.made, one.sessions, [problem.code for problem in one.problems]) == (None, 0, ["not_a_session"])


def test_a_catalog_is_joined_and_secrets_are_replaced(tmp_path: Path) -> None:
    bare = atif("s", tools=(), calls=["git_log"])
    bare["steps"][0]["message"] = "Ask mary@example.org."
    one = convert(
        written(tmp_path / "x.jsonl", bare), Wanted(tmp_path, tools=(Tool("mcp.git.log", "", {}),), redact=True)
    )
    assert one.made is not None and total([one]) == {"email": 1}
    assert load_sessions(one.made)[0].definitions == "joined" and "mary" not in one.made.read_text()


def test_spans_hold_every_pass_and_tool_run_with_hex_ids_and_text_counts(tmp_path: Path) -> None:
    steps = [
        {"source": "user", "message": "Read it.", "timestamp": "2026-01-05T10:00:00Z"},
        {
            "source": "agent",
            "message": "So.",
            "tool_calls": [{"tool_call_id": "c", "function_name": "builtin.read_file", "arguments": {"a": 1}}],
            "observation": {"results": [{"source_call_id": "c", "content": "text"}]},
            "metrics": {"prompt_tokens": 7},
        },
        {"source": "agent", "message": "Done."},
    ]
    path = written(tmp_path / "x.jsonl", atif("s", steps=steps, tools=(READ,)))
    one = convert(path, Wanted(tmp_path, to="otlp"))
    assert one.made is not None
    spans = json.loads(one.made.read_bytes())["resourceSpans"][0]["scopeSpans"][0]["spans"]
    assert [span["name"].partition(" ")[0] for span in spans] == ["chat", "execute_tool", "chat"]
    assert len({span["traceId"] for span in spans}) == 1 and len(spans[0]["traceId"]) == 32
    facts = {one["key"]: one["value"] for one in spans[0]["attributes"]}
    assert facts["gen_ai.usage.input_tokens"] == {"intValue": "7"}
    later = {one["key"]: one["value"] for one in spans[2]["attributes"]}
    roles = [message["role"] for message in json.loads(later["gen_ai.input.messages"]["stringValue"])]
    assert roles == ["user", "assistant", "tool"] and spans[1]["parentSpanId"] == spans[0]["spanId"]


@pytest.mark.parametrize(
    ("wanted", "error"), [({"to": "csv"}, InputError), ({"format": "claud-code"}, UnknownNameError)]
)
def test_a_wrong_name_is_an_error_before_any_work(
    tmp_path: Path, wanted: dict[str, str], error: type[Exception]
) -> None:
    with pytest.raises(error):
        list(convert_all([], Wanted(tmp_path / "out", **wanted)))
    assert not (tmp_path / "out").exists()


def test_an_import_that_is_killed_and_run_again_writes_what_an_undisturbed_one_writes(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    for number in range(400):
        written(folder / f"{number}.jsonl", atif(f"s{number}", calls=["builtin.read_file"] * 40))
    command = [sys.executable, "-m", "toolkit", "import", str(folder), "--out"]
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    subprocess.run([*command, str(whole)], check=True, capture_output=True)
    with subprocess.Popen([*command, str(cut)], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        deadline = time.monotonic() + 60
        while not any(cut.glob("*.jsonl")) and running.poll() is None and time.monotonic() < deadline:
            time.sleep(0.002)
        running.kill()
    done = {path.name: path.read_bytes() for path in cut.glob("*.jsonl")}
    expected = {path.name: path.read_bytes() for path in whole.iterdir()}
    assert 0 < len(done) < len(expected) and done.items() <= expected.items()
    subprocess.run([*command, str(cut)], check=True, capture_output=True)
    assert {path.name: path.read_bytes() for path in cut.glob("*.jsonl")} == expected
