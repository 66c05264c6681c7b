"""A system's name tells what it is, and a wrong part of it fails before anything runs."""

from __future__ import annotations

from typing import Any

import pytest

from toolkit.errors import UnknownNameError
from toolkit.replaying.system import BOUNDS, System, profile


def test_a_system_is_called_by_its_selectors_spec() -> None:
    assert [System(one).name for one in (*BOUNDS, "lazy")] == ["all", "none", "oracle", "oracle_cost", "lazy"]
    assert str(System("lazy", query_model="turn_input")) == "lazy"


def test_an_optimistic_system_is_labelled() -> None:
    assert System("lazy", query_model="optimistic").name == "lazy [optimistic]"


def test_a_function_is_called_by_its_name() -> None:
    def mine(visible: Any, host: Any) -> Any: ...

    assert System(mine).name == "mine"


@pytest.mark.parametrize(
    ("wrong", "near"),
    [
        ({"selector": "lazzy"}, "lazy"),
        ({"profile": "referense"}, "reference"),
        ({"query_model": "optimist"}, "optimistic"),
        ({"query_model": "shortphrase"}, "short_phrase"),
    ],
)
def test_a_wrong_name_fails_and_the_nearest_is_named(wrong: dict[str, str], near: str) -> None:
    with pytest.raises(UnknownNameError) as raised:
        System(**wrong).check()
    assert raised.value.nearest == near


def test_the_reference_profile_is_the_reference() -> None:
    assert profile("reference").name == "reference"
