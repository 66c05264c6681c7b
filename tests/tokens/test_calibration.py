"""Ten bills bring the counts of an unknown template in line, and every command uses them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from toolkit.cli import app
from toolkit.tokens.calibration import fitted, keep, kept
from toolkit.tokens.counters import counter, counter_for, uncalibrated
from toolkit.tokens.request import Request
from toolkit.tokens.wire import request

MODEL = "zeta-9"


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOOLKIT_CACHE", str(tmp_path))


def plain(asked: Request) -> Any:
    return uncalibrated(asked.provider, asked.api, asked.model)


def body(n: int) -> dict[str, Any]:
    return {"model": MODEL, "messages": [{"role": "user", "content": "How are you today? " * n}]}


def rows(n: int = 10, odd: int = 0) -> list[dict[str, Any]]:
    """Bills of a template that takes 40 tokens and a fifth more than is counted."""
    found = []
    for at in range(1, n + 1):
        asked = request(body(10 * at), "chat", "zeta", MODEL)
        bill = round(40 + 1.2 * plain(asked).count(asked).tokens) + (500 if at <= odd else 0)
        usage = {"input_total": bill}
        found.append({"provider": "zeta", "api": "chat", "model": MODEL, "request": body(10 * at), "usage": usage})
    return found


@pytest.mark.parametrize("odd", [0, 2])
def test_offset_and_scale_are_found_whatever_a_few_odd_bills_say(odd: int) -> None:
    (found,) = fitted(rows(odd=odd), plain)
    assert found.scale == pytest.approx(1.2, abs=0.01) and found.offset == pytest.approx(40, abs=4)


def test_what_was_fitted_is_used_by_every_counter_of_the_model() -> None:
    keep(fitted(rows(), plain))
    asked = request(body(77), "chat", "zeta", MODEL)
    count = counter_for(asked).count(asked)
    bill = 40 + 1.2 * plain(asked).count(asked).tokens
    assert count.method == "calibrated" and count.tokens == pytest.approx(bill, rel=0.01)
    assert count.covers(round(bill)) and count.high is not None and count.high - count.low < 20
    assert "calibrated on 10 bills" in counter(None, None, MODEL).name
    assert sum(part.tokens for part in counter_for(asked).breakdown(asked).values()) == count.tokens


def test_other_models_and_other_hosts_are_left_alone() -> None:
    keep(fitted(rows(), plain))
    assert "bills" not in counter("eta", "chat", MODEL).name and "bills" not in counter("zeta", "chat", "zeta-8").name


def test_a_counter_that_is_exact_is_not_calibrated() -> None:
    asked = request(body(3) | {"model": "gpt-4o"}, "chat", "openai", "gpt-4o")
    bill = {"usage": {"input_total": plain(asked).count(asked).tokens}, "request": asked.raw}
    assert fitted([{"provider": "openai", "api": "chat", "model": "gpt-4o", **bill}] * 10, plain) == []


def test_a_newer_calibration_takes_the_place_of_the_older() -> None:
    keep(fitted(rows(4), plain))
    keep(fitted(rows(12), plain))
    assert [one.rows for one in kept()] == [12]


def test_the_command_fits_keeps_and_uses(tmp_path: Path) -> None:
    (tmp_path / "bills.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows()))
    (tmp_path / "one.json").write_text(json.dumps(body(20)))
    said = CliRunner().invoke(app, ["count", "--calibrate", str(tmp_path / "bills.jsonl")])
    assert said.exit_code == 0 and "1.2" in said.stdout
    counted = CliRunner().invoke(app, ["count", "--json", "--provider", "zeta", str(tmp_path / "one.json")])
    (row,) = json.loads(counted.stdout)
    assert row["method"] == "calibrated" and row["calibration"] > 0


def test_too_few_bills_are_refused_with_a_reason(tmp_path: Path) -> None:
    (tmp_path / "bills.jsonl").write_text(json.dumps(rows(1)[0]))
    said = CliRunner().invoke(app, ["count", "--calibrate", str(tmp_path / "bills.jsonl")])
    assert said.exit_code != 0 and "nothing to calibrate" in said.output + str(said.exception)
