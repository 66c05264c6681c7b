"""`toolkit rank-fit`: learn a ranker from queries or from own sessions."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.builders import BRANCH, DATASET, LOG, MAIL, call, said, searched, session, turn
from tests.search.stubs import StubEncoder, fresh_cache
from toolkit.cli import main
from toolkit.commands.pairs import asked
from toolkit.search.learned.ranker import load_ranker
from toolkit.search.retrievers import dense

TOOLS, QUERIES = (str(DATASET.with_name(name)) for name in ("tools.jsonl", "queries.jsonl"))


@pytest.fixture(autouse=True)
def _stub(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    encoder = StubEncoder(dim=64)
    monkeypatch.setattr(dense, "named", lambda given: encoder)
    with fresh_cache():
        yield


def test_one_set_is_tested_on_its_last_fifth(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "r.json"
    assert main(["rank-fit", "--catalog", TOOLS, "--queries", QUERIES, "--out", str(out), "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert row["set"].startswith("mcp-servers/queries (last ") and set(row) >= {"hybrid", "ranker", "gain"}
    card = load_ranker(out).card
    assert [one["file"] for one in card["data"]] == ["tools.jsonl", "queries.jsonl"]
    assert card["quality"] == [row] and len(card["data"][0]["sha256"]) == 64


def test_several_sets_are_left_out_in_turn_and_the_file_is_the_same_each_time(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "more.jsonl"
    other.write_text("".join(Path(QUERIES).read_text("utf-8").splitlines(keepends=True)[::2]), "utf-8")
    options = ["rank-fit", "--catalog", TOOLS, "--queries", QUERIES, "--queries", str(other)]
    for name in ("a", "b"):
        assert main([*options, "--out", str(tmp_path / name)]) == 0
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert len(load_ranker(tmp_path / "a").card["quality"]) == 2
    assert "hybrid(ranker=" in capsys.readouterr().out


def test_sessions_teach_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rank-fit", "--sessions", str(DATASET), "--out", str(tmp_path / "r"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["set"].startswith("sessions (last ")


def test_pairs_are_the_models_words_and_what_it_called_then() -> None:
    one = session(
        turn("Make a branch.", said("", searched("branch"), call(BRANCH.name)), said("Now mail", call(MAIL.name)))
    )
    assert list(asked(one)) == [("Make a branch.", {BRANCH.id}), ("Now mail", {MAIL.id})]
    assert list(asked(session(turn("", said("", call(LOG.name))), turn("x", said("done"))))) == []


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ([], "nothing to fit"),
        (["--queries", QUERIES], "0 catalogs for 1 files"),
        (["--catalog", TOOLS, "--queries", QUERIES, "--leave-out", "nobody"], "no set is named 'nobody'"),
    ],
)
def test_wrong_usage_is_status_2(
    options: list[str], told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["rank-fit", *options, "--out", str(tmp_path / "r")]) == 2
    assert told in capsys.readouterr().err
