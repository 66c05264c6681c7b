"""Every command takes every wrong file with one clear message, exit status 2, and without a trace of Python."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.builders import DATASET
from toolkit.cli import main

CATALOG = DATASET.with_name("tools.jsonl")
QUERIES = DATASET.with_name("queries.jsonl")
FILES: dict[str, bytes | None] = {
    "missing.json": None,
    "object.json": b"{}",
    "list.json": b"[1, 2]",
    "text.json": b'"words"',
    "empty.json": b"",
    "blank.json": b"\n\n",
    "binary.json": bytes(range(256)) * 4,
    "marked.json": b'\xef\xbb\xbf{"x": 1}',
    "table.json": b"a,b\n1,2\n",
    "cut.json": b'{"schema_version": "ATIF-v1.6", "steps": [',
    "deep.json": b"[" * 5000,
    "cut.json.gz": b"\x1f\x8b\x08\x00",
}
COMMANDS: dict[str, list[str]] = {
    "compare": ["compare", "FILE", "--out", "OUT/run", "--retriever", "lexical"],
    "inspect": ["inspect", "FILE"],
    "count": ["count", "FILE", "--model", "gpt-5"],
    "count --check": ["count", "FILE", "--check"],
    "count --calibrate": ["count", "FILE", "--calibrate"],
    "diagnose": ["diagnose", "FILE"],
    "break-even": ["break-even", "FILE"],
    "fit": ["fit", "FILE", "--out", "OUT/usage.json"],
    "import": ["import", "FILE", "--out", "OUT/imported"],
    "catalog cost": ["catalog", "cost", "FILE", "--model", "gpt-5"],
    "catalog record": ["catalog", "record", "--config", "FILE", "--out", "OUT/tools.jsonl"],
    "search": ["search", "words", "--catalog", "FILE", "--retriever", "lexical"],
    "rank-eval, catalog": ["rank-eval", "--catalog", "FILE", "--queries", str(QUERIES), "--retriever", "lexical"],
    "rank-eval, queries": ["rank-eval", "--catalog", str(CATALOG), "--queries", "FILE", "--retriever", "lexical"],
    "report": ["report", "FILE"],
    "serve": ["serve", "--config", "FILE"],
    "doctor": ["doctor", "--config", "FILE"],
}
Run = Callable[..., tuple[int, str]]


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    """Return what runs a command over a file, and gives its exit status and all that it said on standard error."""

    def ran(command: str, file: Path) -> tuple[int, str]:
        words = [
            str(file) if word == "FILE" else word.replace("OUT", str(tmp_path / "out")) for word in COMMANDS[command]
        ]
        (tmp_path / "out").mkdir(exist_ok=True)
        return main(words), capsys.readouterr().err

    return ran


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("command", COMMANDS)
def test_a_wrong_file_is_told_in_words(command: str, name: str, tmp_path: Path, run: Run) -> None:
    content, file = FILES[name], tmp_path / name
    if content is not None:
        file.write_bytes(content)
    if command == "catalog record" and name in ("object.json", "marked.json"):
        pytest.skip("an object without servers is a host's file that starts none")
    status, said = run(command, file)
    assert status == 2, said
    last = said.strip().splitlines()[-1]
    assert last.startswith("toolkit: ") and name in said
    assert not re.search(r"Traceback|\[Errno|KeyError|Error\(|<class|NoneType", said)
    assert not list((tmp_path / "out").iterdir()), "nothing was left behind"


@pytest.mark.parametrize("command", [one for one in COMMANDS if "catalog" not in one and one != "search"])
def test_a_catalog_in_the_place_of_something_else_is_recognised(command: str, run: Run) -> None:
    status, said = run(command, CATALOG)
    assert status == 2 and said.strip().splitlines()[-1].startswith("toolkit: ")
    assert "Traceback" not in said


@pytest.mark.parametrize("command", ["compare", "inspect", "diagnose", "break-even", "import"])
def test_in_a_folder_of_everything_the_sessions_count_and_the_rest_is_told_by_kind(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "mixed"
    folder.mkdir()
    (folder / "live.json").write_bytes(SESSION)
    for one in (CATALOG, QUERIES):
        (folder / one.name).write_bytes(one.read_bytes())
    (folder / "host.json").write_text('{"mcpServers": {}}')
    more = {"compare": ["--out", str(tmp_path / "run"), "--retriever", "lexical", "--no-spread", "--selector", "lazy"]}
    more |= {"diagnose": ["--retriever", "lexical"], "break-even": ["--retriever", "lexical", "--sizes", "2"]}
    more |= {"import": ["--out", str(tmp_path / "imported")]}
    assert main([command, str(folder), *more.get(command, [])]) == 0
    said = capsys.readouterr().err
    assert "3 × not_a_session" in said
    for what in ("this is a catalog", "these are queries", "a configuration of MCP servers"):
        assert said.count(what) == 1


SESSION = (
    b'{"schema_version":"ATIF-v1.6","session_id":"s","agent":{"name":"a","version":"1","model_name":"gpt-5",'
    b'"tool_definitions":[{"type":"function","function":{"name":"read","description":"Reads.","parameters":{}}},'
    b'{"type":"function","function":{"name":"mcp.git.log","description":"Lists commits.","parameters":{}}}]},'
    b'"steps":[{"step_id":1,"source":"user","message":"read it"},{"step_id":2,"source":"agent","message":"",'
    b'"tool_calls":[{"tool_call_id":"c","function_name":"read","arguments":{}}]}]}\n'
)
