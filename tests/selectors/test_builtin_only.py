"""`builtin-only` declares the host's own tools and withholds the rest (S9)."""

from __future__ import annotations

from tests.builders import READ
from tests.selectors.views import split


def test_own_tools_are_declared_and_the_rest_is_on_neither_list() -> None:
    assert split("builtin-only") == ({READ.name}, set())
