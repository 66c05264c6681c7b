"""The hosts of `examples/` are built and run against the real server, where their tools are at hand."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.hosts.running import script

EXAMPLES = Path(__file__).parents[2] / "examples"
TOLD = {
    "declared": ["tools.search", "builtin.read_file"],
    "found": ["mcp.github.close_issue", "mcp.github.list_issues"],
}
DEBIAN = Path("/usr/share/cargo/registry")
"""Where Debian's packages put the sources of crates, for machines without the crates' own registry."""
NPM = ("npm", "install", "--silent", "--no-save", "--fetch-retries=0", "--fetch-timeout=30000")
pytestmark = pytest.mark.slow


def run(command: list[str], folder: Path, why: str = "") -> str:
    """Return what a command prints; with `why`, skip where it fails."""
    program = Path(sys.executable).with_name("toolkit")
    ours = {"TOOLKIT": str(program), "PYTHONPATH": str(EXAMPLES.parent), "CARGO_TARGET_DIR": str(folder / "target")}
    env = {**os.environ, **ours}
    try:
        ran = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=120)
    except subprocess.TimeoutExpired:
        if not why:
            raise
        pytest.skip(f"{why}: no answer")
    if why and ran.returncode:
        pytest.skip(f"{why}: {ran.stderr.strip()[-200:]}")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


def copied(name: str, tmp_path: Path) -> Path:
    return Path(shutil.copytree(EXAMPLES / name, tmp_path / name))


@pytest.mark.skipif(shutil.which("npm") is None, reason="node is not at hand")
def test_the_typescript_host_is_built_and_runs(tmp_path: Path) -> None:
    folder = copied("typescript", tmp_path)
    run([*NPM], folder, "the TypeScript compiler cannot be had")
    run(["npx", "tsc"], folder)
    assert json.loads(run(["node", "host.js"], folder)) == TOLD


@pytest.mark.skipif(shutil.which("cargo") is None, reason="cargo is not at hand")
def test_the_rust_host_is_built_and_runs(tmp_path: Path) -> None:
    folder = copied("rust", tmp_path)
    kept = ["source.crates-io.replace-with='debian'", f"source.debian.directory='{DEBIAN}'"]
    cargo = ["cargo", *(word for one in kept for word in ("--config", one))] if DEBIAN.is_dir() else ["cargo"]
    run([*cargo, "fetch", "--quiet"], folder, "the crates cannot be had")
    run([*cargo, "build", "--quiet"], folder)
    assert json.loads(run([str(folder / "target" / "debug" / "selector-host")], folder)) == TOLD


@pytest.mark.skipif(shutil.which("npm") is None, reason="node is not at hand")
def test_a_client_of_the_typescript_sdk_searches_and_calls_through_the_proxy(tmp_path: Path) -> None:
    server, config = script("plain"), tmp_path / "host.toml"
    config.write_text(
        f'[tools]\nselector = "lazy"\n[mcp_servers.plain]\ncommand = "{server.command}"\nargs = ["{server.args[0]}"]\n',
        encoding="utf-8",
    )
    shutil.copy(Path(__file__).with_name("client.mjs"), tmp_path)
    run([*NPM, "@modelcontextprotocol/sdk@1"], tmp_path, "the SDK cannot be had")
    told = json.loads(run(["node", "client.mjs", str(config)], tmp_path))
    assert told == {"listed": ["tools_search", "tools_call"], "found": "mcp__plain__add", "sum": "3"}
