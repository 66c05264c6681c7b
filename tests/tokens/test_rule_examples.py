"""Every rule of counting has a small request of ours, with the tokens that it implies."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from toolkit.tokens.counters import counter_for
from toolkit.tokens.vocabulary.vocabulary import available
from toolkit.tokens.wire import request

FILE = Path(__file__).resolve().parents[1] / "cases" / "token_rule_examples.jsonl"
ROWS = [json.loads(line) for line in FILE.read_text("utf-8").splitlines()]
NEEDS = {"anthropic": "claude-3", "google": "gemma3"}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: str(row["example"]))
def test_a_rule_implies_the_tokens_of_its_example(row: dict[str, Any]) -> None:
    if not available(NEEDS.get(row["provider"], "o200k_base")):
        pytest.skip("the vocabulary is not installed")
    asked = request(row["request"], row["api"], row["provider"], row["model"])
    count = counter_for(asked).count(asked)
    assert count.tokens == row["rule_tokens"] and count.covers(row["rule_tokens"])
