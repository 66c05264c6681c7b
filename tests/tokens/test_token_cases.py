"""The cases of kind `tokens`, and of `cache` where they model a prompt cache, are green."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from toolkit.testing.token_cases import check, generated

FILE = Path(__file__).resolve().parents[1] / "cases" / "open_cases.jsonl"
ROWS = [json.loads(line) for line in FILE.read_text("utf-8").split("\n") if line] if FILE.is_file() else []
MINE = [
    row for row in ROWS if row["kind"] == "tokens" or "requests" in str(row["expected"]) or "breaks" in row["expected"]
]


@pytest.mark.parametrize("case", MINE, ids=lambda case: str(case["id"]))
def test_a_case_is_green(case: dict[str, Any]) -> None:
    assert check(case) == []


def test_a_wrong_expectation_is_found() -> None:
    case = {
        "kind": "tokens",
        "input": {"text": "hello", "encodings": ["o200k_base"]},
        "expected": {"count": {"o200k_base": 7}},
    }
    assert check(case) == ["count: expected {'o200k_base': 7}"]


def test_generated_texts_are_the_same_every_time() -> None:
    value = {"generate": {"random_letters": 20, "seed": 3}}
    assert generated(value) == generated(value) and len(generated(value)) == 20
