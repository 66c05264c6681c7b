"""What checks token cases finds a wrong figure, and builds the same texts every time."""

from __future__ import annotations

from tests.cases.token_cases import check, generated


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
