"""`deferred` is rule S1 as a selector."""

from __future__ import annotations

from tests.builders import BRANCH, LOG, MAIL, READ
from tests.selectors.views import split


def test_what_is_flagged_is_searchable_and_the_rest_declared() -> None:
    assert split("deferred") == ({READ.name, BRANCH.name, MAIL.name}, {LOG.name})
