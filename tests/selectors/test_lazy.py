"""`lazy` declares the host's own tools and leaves the rest searchable (S9)."""

from __future__ import annotations

from tests.builders import BRANCH, LOG, MAIL, READ, tool
from tests.selectors.views import split


def test_own_tools_are_declared_and_the_rest_is_searchable() -> None:
    assert split("lazy") == ({READ.name}, {BRANCH.name, LOG.name, MAIL.name})


def test_the_name_decides_and_not_a_like_beginning() -> None:
    assert split("lazy", visible=[tool("builtinx.a"), tool("builtin.b")]) == ({"builtin.b"}, {"builtinx.a"})
