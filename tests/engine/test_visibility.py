"""Scopes and policies that cannot be read are errors that say what came."""

from __future__ import annotations

from typing import Any

import pytest

from toolkit.engine.visibility import as_patterns, as_policy
from toolkit.errors import InputError


@pytest.mark.parametrize(
    ("value", "says"), [("mcp.*", "not the text 'mcp.*'"), (5, "not 5"), (None, "not None"), ([1], "as text, not 1")]
)
def test_patterns_are_a_list_of_texts(value: Any, says: str) -> None:
    with pytest.raises(InputError, match=says):
        as_patterns(value, "a scope")


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ("deny", "pairs, not 'deny'"),
        (5, "pairs, not 5"),
        ([1], r"pairs, not \[1\]"),
        ([("mcp.*",)], "pairs, not"),
        ({"mcp.*": "no"}, "allow, ask or deny, not 'no'"),
        ({5: "deny"}, "policy for 5"),
    ],
)
def test_v8_a_policy_is_patterns_with_verdicts(value: Any, says: str) -> None:
    with pytest.raises(InputError, match=says):
        as_policy(value)
