"""`all` declares everything (S9)."""

from __future__ import annotations

from tests.builders import TOOLS
from tests.selectors.views import split


def test_every_told_tool_is_declared() -> None:
    assert split("all") == ({one.name for one in TOOLS}, set())
