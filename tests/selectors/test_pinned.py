"""`pinned(patterns)` declares what is named."""

from __future__ import annotations

import pytest

from tests.builders import BRANCH, LOG, READ, TOOLS
from tests.selectors.views import split
from toolkit.errors import InputError
from toolkit.selectors import resolve


def test_what_matches_is_declared_and_everything_is_searchable() -> None:
    everything = {one.name for one in TOOLS}
    assert split("pinned('mcp.git.*')") == ({BRANCH.name, LOG.name}, everything)
    assert split("pinned(['builtin.*', 'mcp.git.show_log', 'none'])") == ({READ.name, LOG.name}, everything)


@pytest.mark.parametrize("text", ["pinned('mcp.*')", "pinned(('a', 'b'))"])
def test_its_repr_is_the_expression_that_builds_it(text: str) -> None:
    assert repr(resolve(text)) == text and resolve(text) == resolve(repr(resolve(text)))


@pytest.mark.parametrize("text", ["pinned", "pinned()", "pinned(3)", "pinned([])", "pinned([1])"])
def test_without_a_pattern_it_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="pattern"):
        resolve(text)
