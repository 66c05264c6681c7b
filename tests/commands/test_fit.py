"""`toolkit fit`: sessions into a usage file, and `compare --fit` beside it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.builders import atif, many_turns, tool, written
from toolkit.cli import main
from toolkit.formats.catalogs.write import write_catalog
from toolkit.selectors.usage import load_usage
from toolkit.tool import Catalog


@pytest.fixture
def recorded(tmp_path: Path) -> str:
    return str(written(tmp_path / "four.jsonl", *map(many_turns, "abcd")))


def test_it_counts_all_sessions_and_says_how_the_file_is_used(
    recorded: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "usage.json"
    assert main(["fit", recorded, "--out", str(out)]) == 0
    usage = load_usage(out)
    assert (usage.sessions, usage.turns, len(usage.digests)) == (4, 8, 4)
    assert f"--selector \"frequent(k=8, usage='{out}')\"" in capsys.readouterr().out


def test_a_share_counts_the_earlier_sessions_only(
    recorded: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "usage.json"
    assert main(["fit", recorded, "--share", "0.5", "--out", str(out), "--json"]) == 0
    said = capsys.readouterr()
    (row,) = json.loads(said.out)
    assert (row["sessions"], row["left_for_a_test"], row["digest"]) == (2, 2, load_usage(out).digest[:12])
    assert "the order of the files was taken for it" in said.err


def test_more_tools_count_as_told(recorded: str, tmp_path: Path) -> None:
    catalog, out = tmp_path / "tools.jsonl", tmp_path / "usage.json"
    write_catalog(Catalog([tool("mcp.sea.tide")]), catalog)
    assert main(["fit", recorded, "--catalog", str(catalog), "--out", str(out)]) == 0
    assert load_usage(out).told_in["mcp.sea.tide"] == 4


def test_compare_fits_on_the_earlier_share_and_shows_it(
    recorded: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("pandas")
    run = tmp_path / "run"
    asked = ["--selector", "frequent(k=1)", "--retriever", "lexical", "--no-prices", "--out", str(run)]
    assert main(["compare", recorded, *asked, "--fit", "0.5", "--fit-by", "order"]) == 0
    assert "Fitted on 2 other sessions (by order" in capsys.readouterr().out
    assert "fitted_digests" in (run / "run.toml").read_text("utf-8")
    page = (run / "report.html").read_text("utf-8")
    assert "Fitted on 2 other sessions" in page and "fitted_digests" not in page


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--share", "1.5"], "must lie between 0 and 1"),
        (["--share", "0.5", "--by", "tyme"], "Did you mean 'time'"),
        (["--share", "0.5", "--group", "extra.user"], "no session has a field 'extra.user'"),
        (["--out", "no/such/folder/usage.json"], "cannot be written"),
    ],
)
def test_bad_input_is_2_with_one_message(
    recorded: str, more: list[str], words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["fit", recorded, "--out", str(tmp_path / "usage.json"), *more]) == 2
    said = capsys.readouterr()
    assert words in said.err and said.out == "" and "Traceback" not in said.err


def test_one_session_is_too_few_for_two_sides(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path / "one.jsonl", atif())
    assert main(["fit", str(path), "--share", "0.5", "--out", str(tmp_path / "usage.json")]) == 2
    assert "1 session in 1 group, too few" in capsys.readouterr().err
