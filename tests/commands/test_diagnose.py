"""`toolkit diagnose`, from the command line to tables, rows, page and the file for the host."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.builders import READ, many_turns, tool, written
from toolkit.cli import main
from toolkit.config import read_config
from toolkit.experiment.diagnosis.diagnose import Diagnosis, diagnose
from toolkit.experiment.diagnosis.host_toml import COMMAND, host_toml, pinned
from toolkit.experiment.diagnosis.page import page, sections
from toolkit.formats.catalogs.write import write_catalog
from toolkit.formats.sessions import load_sessions
from toolkit.selectors import resolve
from toolkit.tool import Catalog, Tool

pytest.importorskip("matplotlib").use("Agg")
ODD = 'odd "name" <b>'


def small(id: str, *more: Tool, **changes: Any) -> dict[str, Any]:
    row = many_turns(id)
    functions = [{"name": one.name, "description": one.description, "parameters": one.input_schema} for one in more]
    row["agent"]["tool_definitions"] += [{"type": "function", "function": function} for function in functions]
    return {**row, **changes}


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    """The arguments of a small run: three sessions, and a catalog of a large server that nobody calls."""
    recorded = written(tmp_path / "three.jsonl", *map(small, "abc"))
    catalog = tmp_path / "tools.jsonl"
    large = (tool(f"mcp.sea.tide_{n}", "Says how high the tide is. " * 40) for n in range(12))
    write_catalog(Catalog(large), catalog)
    return [str(recorded), "--catalog", str(catalog), "--retriever", "lexical"]


def read(text: str, folder: Path) -> Any:
    path = folder / "host.toml"
    path.write_text(text, "utf-8")
    return read_config(path)


def test_it_prints_every_table_and_ends_with_a_file_that_the_host_reads(
    files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["diagnose", *files]) == 0
    said = capsys.readouterr().out
    for title in ("Dead weight by server: ", "Needed, but not to be found: ", "Tools that should stay declared: "):
        assert title in said
    assert "in replays against declaring everything" in said and "An estimate from replays" in said
    text = said[said.index("# Made by") : said.index("3 sessions, 6 turns")]
    host = read(text, tmp_path)
    assert "sea" in {one.name for one in host.servers if one.deferred}


def test_rows_as_json_say_which_table_they_stand_in(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diagnose", *files, "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    tables = {row["table"] for row in rows}
    assert tables >= {"dead_weight", "servers", "saving", "toml"} and rows[-1]["text"].startswith("# Made by")
    sea = next(row for row in rows if row["table"] == "servers" and row["server"] == "sea")
    assert sea["defer"] is True and sea["tools"] == 12 and sea["alone_saves_usd"] > 0


def test_a_folder_gets_the_page_the_file_and_the_tables(files: list[str], tmp_path: Path) -> None:
    out = tmp_path / "deep" / "er"
    assert main(["diagnose", *files, "--out", str(out)]) == 0
    assert {one.name for one in out.iterdir()} == {
        "run.toml",
        *("diagnose.html", "diagnose.toml", "weight.csv", "findable.csv", "staying.csv", "servers.csv"),
    }
    assert read_config(out / "diagnose.toml").servers
    text = (out / "diagnose.html").read_text("utf-8")
    assert "data:image/png;base64," in text and "http://" not in text and "https://" not in text


def diagnosed(path: Path, *rows: dict[str, Any]) -> Diagnosis:
    recorded = load_sessions(written(path / "odd.jsonl", *rows))
    return diagnose(recorded, retriever="lexical", model="gpt-5", progress=False)


def test_foreign_names_are_escaped_in_page_and_file(tmp_path: Path) -> None:
    odd = Tool(f"mcp.{ODD}.look", "Looks. " * 99)
    found = diagnosed(tmp_path, *(small(id, odd) for id in "abc"))
    assert ODD not in page(found) and "odd &#34;name&#34; &lt;b&gt;" in page(found)
    assert ODD in {one.name for one in read(host_toml(found), tmp_path).servers}


def test_what_must_stay_on_a_deferred_server_is_pinned_by_its_exact_name(tmp_path: Path) -> None:
    name = "mcp.git.new_[branch]*"
    tools = (Tool(name, "Makes a branch."), *(Tool(f"mcp.git.{n}", "Does something large. " * 60) for n in range(8)))
    rows = [{**small(id, *tools), "steps": many_turns(id, (name,))["steps"]} for id in "abc"]
    found = diagnosed(tmp_path, *rows)
    assert "git" in found.defer and pinned(found) == (name,)
    host = read(host_toml(found), tmp_path)
    visible = [Tool(name), Tool("mcp.git.new_b"), Tool("mcp.git.new_branch_x")]
    assert list(resolve(host.selector)([one.flagged(True) for one in visible], None).declared) == [name]


def test_without_a_server_the_file_says_that_nothing_is_worth_deferring(tmp_path: Path) -> None:
    row = small("a")
    row["agent"]["tool_definitions"] = row["agent"]["tool_definitions"][:1]
    row["steps"] = row["steps"][:3]
    found = diagnosed(tmp_path, row)
    assert found.defer == () and "no server is worth deferring" in host_toml(found) and COMMAND in host_toml(found)
    assert read(host_toml(found), tmp_path).servers == ()
    assert [section.of for section in sections(found)][-1] == 0 and READ.name in set(found.weight["name"])


def test_sessions_without_schemas_say_what_that_means(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bare = small("a", extra={"toolkit": {"v": 1, "definitions": "missing"}})
    path = written(tmp_path / "bare.jsonl", bare)
    assert main(["diagnose", str(path), "--retriever", "lexical"]) == 0
    assert "1 sessions lack schemas or descriptions: what declaring costs is a lower bound" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--retriever", "lexicul"], "Did you mean 'lexical'"),
        (["--model", "gpt-55x"], "Did you mean"),
        (["--profile", "referense"], "Did you mean 'reference'"),
        (["--query-model", "own"], "unknown query model"),
        (["--k", "0"], "'--k'"),
        (["--catalog", "nowhere.jsonl"], "nowhere.jsonl is no file"),
    ],
)
def test_bad_input_is_2_with_one_message(
    files: list[str], more: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["diagnose", *files, *more]) == 2
    said = capsys.readouterr()
    assert words in said.err and said.out == "" and "Traceback" not in said.err


def test_a_file_without_sessions_is_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "none.jsonl"
    path.write_text("{}\n")
    assert main(["diagnose", str(path)]) == 2
    assert "no session could be read" in capsys.readouterr().err


def test_ctrl_c_leaves_no_folder_behind(files: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def pressed(*given: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("toolkit.experiment.diagnosis.diagnose._deferring", pressed)
    assert main(["diagnose", *files, "--out", str(tmp_path / "out")]) == 130
    assert not (tmp_path / "out").exists()
