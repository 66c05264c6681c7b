"""`toolkit break-even`, from the command line to table, rows and picture."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.builders import ALWAYS, many_turns, tool, written
from toolkit.cli import main
from toolkit.formats.catalogs.write import write_catalog
from toolkit.tool import Catalog


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    """The arguments of a small run: two sessions, and a catalog of forty tools."""
    recorded = written(tmp_path / "two.jsonl", many_turns("a"), many_turns("b"))
    catalog = tmp_path / "tools.jsonl"
    write_catalog(Catalog(tool(f"mcp.sea.tide_{n}", f"Says how high tide {n} is.") for n in range(40)), catalog)
    return [str(recorded), "--catalog", str(catalog), "--retriever", "lexical", "--selector", "lazy"]


def test_it_prints_each_size_where_it_crosses_and_what_the_figures_are_of(
    files: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["break-even", *files, "--sizes", "4,40"]) == 0
    said = capsys.readouterr().out
    assert "ratio to all [95 %]" in said and "lazy: " in said and "pay" in said
    assert "2 sessions, 4 turns; tools drawn by seed 0 out of 44." in said
    assert "openai/chat/gpt-5" in said and "genai-prices" in said


def test_rows_as_json_and_a_picture(files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib").use("Agg")
    picture = tmp_path / "pays.png"
    assert main(["break-even", *files, "--sizes", "4,40", "--json", "--plot", str(picture)]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert {(row["size"], row["system"]) for row in rows} == {(n, s) for n in (4, 40) for s in (*ALWAYS, "lazy")}
    assert picture.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--sizes", "20,x"], "--sizes 20,60,120"),
        (["--sizes", "45"], "hold 44. Give more of them with --catalog"),
        (["--model", "gpt-55x"], "Did you mean"),
        (["--profile", "referense"], "Did you mean 'reference'"),
    ],
)
def test_bad_input_is_2_with_one_message(
    files: list[str], more: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["break-even", *files, *more]) == 2
    said = capsys.readouterr()
    assert words in said.err and said.out == "" and "Traceback" not in said.err
