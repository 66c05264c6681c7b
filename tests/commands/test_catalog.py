"""`toolkit catalog record` and `toolkit doctor --config`, from the command line to the file."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.hosts.running import SCRIPTS, SECRET, gone
from toolkit.cli import main
from toolkit.formats.catalogs.load import load_catalog, read_tool
from toolkit.formats.catalogs.write import row_of, write_catalog
from toolkit.tool import Tool


def host_file(folder: Path, *servers: str, **options: Any) -> Path:
    """Write a host's TOML that starts these scripts."""
    tables = [
        f"[mcp_servers.{server}]\ncommand = {json.dumps(sys.executable)}\n"
        f"args = {json.dumps([str(SCRIPTS / f'{server}.py'), *options.get('args', ())])}\n"
        f"env = {{ SECRET_KEY = '{SECRET}' }}\ndeferred = true\n"
        for server in servers
    ]
    path = folder / "host.toml"
    path.write_text("[tools]\nselector = 'lazy'\n" + "".join(tables), "utf-8")
    return path


def record(folder: Path, *servers: str) -> tuple[int, Path]:
    out = folder / "tools.jsonl"
    return main(["catalog", "record", "--config", str(host_file(folder, *servers)), "--out", str(out), "--json"]), out


def test_all_servers_answer_and_the_catalog_is_read_back(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    status, out = record(tmp_path, "handshake")
    assert status == 0
    assert json.loads(capfd.readouterr().out) == [{"server": "handshake", "state": "ok", "tools": 2, "error": ""}]
    catalog = load_catalog(out)
    assert [(tool.name, tool.deferred) for tool in catalog] == [
        ("mcp.handshake.die", True),
        ("mcp.handshake.grow", True),
    ]
    assert catalog["mcp.handshake.grow"].read_only
    assert catalog["mcp.handshake.grow"].schema_text.startswith('{"required":["q"],"properties"')


def test_a_server_that_fails_makes_it_1_and_the_others_are_written_and_no_secret_is_said(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    status, out = record(tmp_path, "quits", "handshake")
    said = capfd.readouterr()
    assert status == 1 and len(load_catalog(out)) == 2
    assert "quits: ended: " in said.err and "Traceback" not in said.err
    assert SECRET not in said.out + said.err


def test_when_no_server_answers_the_file_stays_as_it_was(tmp_path: Path) -> None:
    before = '{"name": "before"}\n'
    (tmp_path / "tools.jsonl").write_text(before)
    status, out = record(tmp_path, "quits")
    assert status == 1 and out.read_text() == before


def test_a_file_that_is_no_catalog_is_left_alone_and_no_server_is_started(tmp_path: Path) -> None:
    (tmp_path / "tools.jsonl").write_text("notes of mine")
    status, out = record(tmp_path, "handshake")
    assert status == 2 and out.read_text() == "notes of mine"


@pytest.mark.parametrize(
    ("text", "out", "words"),
    [
        ("[mcp_servers.s]\ncomand = 'x'", "x.jsonl", "Did you mean 'command'?"),
        ("[tools]\nselector = 'lazy'", "x.jsonl", "names no MCP server to start"),
        ("[mcp_servers.s]\ncommand = 'x'", "x.json", "ends in .jsonl"),
        ("[mcp_servers.s]\ncommand = 'x'", "no/x.jsonl", "does not exist"),
    ],
)
def test_bad_input_is_2_with_one_message(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, out: str, words: str
) -> None:
    (tmp_path / "host.toml").write_text(text)
    assert main(["catalog", "record", "--config", str(tmp_path / "host.toml"), "--out", str(tmp_path / out)]) == 2
    said = capsys.readouterr()
    assert words in said.err and said.out == ""


def test_an_interruption_ends_the_servers_too(tmp_path: Path) -> None:
    note = tmp_path / "pid"
    config = host_file(tmp_path, "mute", args=[str(note)])
    command = [sys.executable, "-m", "toolkit", "catalog", "record", "--config", str(config)]
    with subprocess.Popen([*command, "--out", str(tmp_path / "x.jsonl")], stderr=subprocess.PIPE) as process:
        while not (note.exists() and note.read_text()):
            time.sleep(0.05)
        os.kill(process.pid, signal.SIGINT)
        assert process.wait(60) == 130
    assert gone(int(note.read_text()))
    assert not (tmp_path / "x.jsonl").exists()


def test_doctor_shows_what_a_file_resolves_to(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "--json", "--config", str(host_file(tmp_path, "handshake"))]) == 0
    said = capsys.readouterr().out
    rows = {row["what"]: row for row in json.loads(said)}
    assert rows["selector"]["detail"] == "lazy"
    assert "deferred" in rows["mcp_servers.handshake"]["detail"]
    assert "SECRET_KEY=***" in said and SECRET not in said


@pytest.mark.parametrize(
    "tool",
    [
        Tool("mcp.s.t", "Does.", {"type": "object"}, annotations={"readOnlyHint": True}, id="s::t"),
        Tool("mcp.a.b.t", source="mcp:a.b", deferred=True),
        Tool("mcp.s.mcp.s.t", "Named like a full name.", {}, source="mcp:s"),
        Tool("builtin.read", "Reads.", {"required": [], "type": "object"}),
        Tool("ui.show"),
    ],
    ids=lambda tool: tool.name,
)
def test_a_written_row_is_read_back_as_the_same_tool(tool: Tool) -> None:
    assert read_tool(row_of(tool)) == tool


def test_a_catalog_is_written_in_canonical_order(tmp_path: Path) -> None:
    write_catalog([Tool("mcp.b.x"), Tool("mcp.a.x"), Tool("ui.show")], tmp_path / "x.jsonl")
    assert [tool.name for tool in load_catalog(tmp_path / "x.jsonl")] == ["ui.show", "mcp.a.x", "mcp.b.x"]
    assert [path.name for path in tmp_path.iterdir()] == ["x.jsonl"]


@pytest.mark.parametrize("name", ["gpt5", "zeta-9", "gpt 5"])
def test_an_unknown_model_has_no_cost(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "tools.jsonl"
    path.write_text('{"name": "read", "description": "Reads."}\n')
    assert main(["catalog", "cost", str(path), "--model", name]) == 2
    told = capsys.readouterr()
    assert "unknown model" in told.err and told.out == ""


def test_a_new_model_of_a_known_family_is_counted_and_told_with_a_bound_above_zero(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "tools.jsonl"
    path.write_text('{"name": "read", "description": "Reads."}\n')
    assert main(["catalog", "cost", str(path), "--model", "llama-9"]) == 0
    told = capsys.readouterr()
    assert "by the rules of its family" in told.err and "; -" not in told.out
