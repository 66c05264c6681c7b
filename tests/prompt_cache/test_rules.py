"""A model has its vendor's cache rules."""

from __future__ import annotations

import pytest

from toolkit.errors import UnknownNameError
from toolkit.prompt_cache.rules import CacheRules, rules_for


def test_an_unknown_mode_names_the_known_ones() -> None:
    with pytest.raises(UnknownNameError, match="breakpoints"):
        CacheRules("sometimes")


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("claude-opus-4-5", ("breakpoints", 4096, 1)),
        ("claude-sonnet-4-5", ("breakpoints", 1024, 1)),
        ("claude-opus-5", ("breakpoints", 512, 1)),
        ("gpt-4.1", ("longest_prefix", 1024, 128)),
        ("gpt-5.4", ("longest_prefix", 1024, 128)),
        ("gpt-5.6-sol", ("longest_prefix", 1024, 1)),
        ("gemini-2.5-pro", ("longest_prefix", 2048, 1)),
        ("mistral-large", ("longest_prefix", 16, 16)),
    ],
)
def test_a_model_has_its_vendors_rules(model: str, expected: tuple[str, int, int]) -> None:
    rules = rules_for(model)
    assert (rules.mode, rules.minimum, rules.step) == expected
