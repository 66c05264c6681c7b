"""`toolkit doctor`: what is there, what is missing and how to get it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from toolkit import __version__
from toolkit.cli import main
from toolkit.commands import doctor


def asked(capsys: pytest.CaptureFixture[str]) -> tuple[int, dict[str, dict[str, Any]]]:
    status = main(["doctor", "--json"])
    return status, {row["what"]: row for row in json.loads(capsys.readouterr().out)}


def test_what_is_installed_is_ok_with_its_version(capsys: pytest.CaptureFixture[str]) -> None:
    status, rows = asked(capsys)
    assert status == 0
    assert rows["selector-toolkit"] == {"what": "selector-toolkit", "state": "ok", "detail": __version__}
    assert rows["vocabulary o200k_base"]["detail"] == "200,019 tokens"


def test_a_missing_extra_says_how_to_get_it_and_is_no_failure(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = doctor.find_spec
    monkeypatch.setattr(doctor, "find_spec", lambda name: None if name == "torch" else found(name))
    status, rows = asked(capsys)
    assert (status, rows["torch"]["state"]) == (0, "missing")
    assert "selector-toolkit[embed]" in rows["torch"]["detail"]


def test_a_missing_package_of_the_core_is_status_1(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = doctor.find_spec
    monkeypatch.setattr(doctor, "find_spec", lambda name: None if name == "numpy" else found(name))
    status, rows = asked(capsys)
    assert (status, rows["numpy"]["state"]) == (1, "broken")


def test_a_table_is_printed_without_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor"]) == 0
    assert capsys.readouterr().out.split()[:3] == ["what", "state", "detail"]
