"""The check judges what can be judged, and counts what cannot."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from tests.tokens.shared import RECORDINGS, needs_recordings
from toolkit.errors import InputError
from toolkit.tokens.check import EXCLUSIONS, check, exclusion, judge, load_rows
from toolkit.tokens.counters import counter_for
from toolkit.tokens.vocabulary.vocabulary import vocabulary
from toolkit.tokens.wire import request


def row(billed: int | None = 9, **more: Any) -> dict[str, Any]:
    body = {"model": "gpt-4o", "messages": [{"role": "user", "content": "hello world"}]}
    plain = {"provider": "openai", "api": "chat", "model": "gpt-4o", "toolset": "t", "request": body, "output": None}
    return {**plain, "usage": {"input_total": billed}, **more}


def test_a_row_has_its_shares_by_provider_and_api_and_by_model() -> None:
    table = check([row(9), row(10)], counter_for)
    assert [one["model"] for one in table] == ["", "gpt-4o"]
    assert table[0] | {"model": "gpt-4o"} == table[1]
    assert (table[0]["n"], table[0]["tool_sets"], table[0]["exact"], table[0]["covered"]) == (2, 1, 0.5, 0.5)
    assert table[0]["mean_pct"] == pytest.approx(5.0)


def responses(output: Any = None, **body: Any) -> dict[str, Any]:
    return row(
        api="responses", request={"model": "gpt-4o", "input": "hi", **body}, output=output, created=1_780_000_000
    )


CALL = {"type": "function_call", "name": "f", "arguments": "{}"}


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (row(None), "no usage"),
        (responses(previous_response_id="r"), "server history"),
        (responses(input=[{"type": "reasoning", "encrypted_content": "x"}]), "opaque history"),
        (responses(input=[{"role": "user", "content": [{"type": "input_image"}]}]), "media"),
        (responses(tools=[{"type": "web_search"}]), "hosted tool"),
        (responses(reasoning={"mode": "pro"}), "several passes"),
        (responses(tools=[]) | {"created": 1_741_000_000}, "before May 2025"),
        (responses(output=[CALL, CALL]), "parallel answer"),
        (responses(output=[CALL]), None),
        (row(), None),
    ],
)
def test_a_row_is_left_out_for_a_reason_that_is_named(given: dict[str, Any], reason: str | None) -> None:
    asked = request(given["request"], given["api"], given["provider"], given["model"])
    assert exclusion(given, asked) == reason and (reason is None or reason in EXCLUSIONS)


def test_rows_left_out_are_counted_by_reason() -> None:
    judged, left_out = judge([row(), row(None)], counter_for)
    assert len(judged) == 1 and dict(left_out) == {"no usage": 1}


def test_rows_are_read_gzipped_or_not(tmp_path: Path) -> None:
    text = json.dumps(row()) + "\n\n" + json.dumps(row(10)) + "\n"
    (tmp_path / "a.jsonl").write_text(text)
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(text.encode()))
    assert load_rows(tmp_path / "a.jsonl") == load_rows(tmp_path / "a.jsonl.gz") == [row(), row(10)]


def test_a_file_that_is_no_jsonl_says_so(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text("{broken")
    with pytest.raises(InputError, match="no JSONL"):
        load_rows(tmp_path / "a.jsonl")


def test_no_rows_make_an_empty_table() -> None:
    assert check([], counter_for) == []


GOALS = {
    ("openai", "chat"): {"exact": 0.9, "mean_pct": 0.41},
    ("openai", "responses"): {"exact": 0.9, "mean_pct": 0.4},
    ("anthropic", "messages"): {"median_pct": 0.4, "p90_pct": 2.0},
    ("google", "gemini"): {"median_pct": 1.0, "p90_pct": 10.0},
}


@needs_recordings
def test_the_goals_hold_on_the_open_recordings() -> None:
    table = {
        (one["provider"], one["api"]): one for one in check(load_rows(RECORDINGS), counter_for) if not one["model"]
    }
    for key, goals in GOALS.items():
        if key[0] != "openai" and not vocabulary("claude-3" if key[0] == "anthropic" else "gemma3").real:
            continue
        for column, goal in goals.items():
            assert table[key][column] >= goal if column == "exact" else table[key][column] <= goal, (key, column)


@needs_recordings
def test_the_band_covers_nine_bills_of_ten_of_every_provider_with_enough_rows() -> None:
    for one in check(load_rows(RECORDINGS), counter_for):
        if not one["model"] and one["n"] >= 30:
            assert one["covered"] >= 0.9, one
