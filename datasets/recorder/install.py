"""Installing the MCP servers of `servers.toml`: two virtual environments and a folder of npm packages."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

from recorder.errors import RecordError


def install(config: Path, home: Path) -> None:
    """Install every server of `config` under `home`, at the versions that stand there."""
    settings = tomllib.loads(config.read_text(encoding="utf-8"))
    for environment, packages in settings["environments"].items():
        servers = settings["servers"].values()
        wanted = [*packages, *(one["package"] for one in servers if one["environment"] == environment)]
        (_npm if environment == "npm" else _python)(home / environment, wanted)


def _python(folder: Path, packages: list[str]) -> None:
    _run([sys.executable, "-m", "venv", str(folder)])
    _run([str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", *packages])


def _npm(folder: Path, packages: list[str]) -> None:
    if shutil.which("npm") is None:
        raise RecordError("four of the MCP servers come from npm: install Node.js 20 or newer, then try again.")
    folder.mkdir(parents=True, exist_ok=True)
    _run(["npm", "install", "--no-fund", "--no-audit", "--prefix", str(folder), *packages])


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RecordError(f"`{' '.join(command[:4])} …` failed:\n{(done.stderr or done.stdout)[-1500:]}")
