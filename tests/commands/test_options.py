"""Shared options: one declaration for the command line and for `compare`."""

from __future__ import annotations

import inspect
from dataclasses import fields

import pytest

from toolkit.commands import break_even, compare, diagnose
from toolkit.experiment.comparison.options import OPTIONS, Execution, Study, held, study
from toolkit.replaying.system import Setting


def test_every_option_of_a_study_says_what_it_means() -> None:
    names = {one.name for kind in (Setting, Execution, Study) for one in fields(kind)}
    assert names - set(OPTIONS) == {"setting", "execution", "also", "progress"}
    assert set(OPTIONS) <= names


@pytest.mark.parametrize("module", [compare, diagnose, break_even])
def test_a_command_takes_an_option_as_the_values_hold_it(module: object) -> None:
    taken = inspect.signature(module.command).parameters  # type: ignore[attr-defined]
    assert inspect.Parameter.VAR_KEYWORD not in {one.kind for one in taken.values()}
    assert taken["seed"].default == held("seed")[1] == study().execution.seed
    assert taken["profile"].default == held("profile")[1] == study().setting.profile
    assert taken["catalog"].default is None
