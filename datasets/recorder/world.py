"""The small world of a session: its folder, a Git repository, a shop database, a memory, a web site."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import threading
import tomllib
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

WORLD = Path(__file__).parent.parent / "world"
FILE_TIME = 1_772_700_000  # 5 March 2026, 08:40 UTC: the age of every file


def reset(workspace: Path, state: Path) -> None:
    """Put folder, repository, database and memory back to how each session finds them."""
    for folder in (workspace, state):
        folder.mkdir(exist_ok=True)
        _empty(folder)
    shutil.copytree(WORLD / "files", workspace, dirs_exist_ok=True)
    shutil.copy(WORLD / "memory.jsonl", state / "memory.jsonl")
    with closing(sqlite3.connect(state / "shop.db")) as shop:
        shop.executescript((WORLD / "shop.sql").read_text(encoding="utf-8"))
    make_repository(workspace)
    for path in workspace.rglob("*"):
        os.utime(path, (FILE_TIME, FILE_TIME))


def _empty(folder: Path) -> None:
    for entry in folder.iterdir():
        shutil.rmtree(entry) if entry.is_dir() else entry.unlink()


def make_repository(workspace: Path) -> None:
    """Make the repository of `world/repo.toml`; fixed authors and dates give the same hashes everywhere."""
    plan = tomllib.loads((WORLD / "repo.toml").read_text(encoding="utf-8"))
    folder = workspace / plan["folder"]
    folder.mkdir()
    _git(folder, "init", "-q", "-b", "main")
    for commit in plan["commits"]:
        _commit(folder, commit)
    _git(folder, "checkout", "-q", "main")
    for name, text in plan.get("uncommitted", {}).items():
        (folder / name).write_text(text, encoding="utf-8")


def _commit(folder: Path, commit: dict[str, Any]) -> None:
    branch = commit.get("branch", "main")
    known = _git(folder, "branch", "--list", branch)
    if branch != _git(folder, "symbolic-ref", "--short", "HEAD").strip():
        _git(folder, "checkout", "-q", *([branch] if known else ["-b", branch]))
    for name, text in commit["files"].items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    _git(folder, "add", "--all")
    _git(folder, "commit", "-q", "-m", commit["message"], author=commit["author"], date=commit["date"])
    if "tag" in commit:
        _git(folder, "tag", commit["tag"])


def _git(folder: Path, *args: str, author: str = "Nobody", date: str = "2026-01-01T00:00:00Z") -> str:
    mail = f"{author.split()[0].lower()}@example.com"
    env = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": "/dev/null",
    }
    for role in ("AUTHOR", "COMMITTER"):
        env |= {f"GIT_{role}_NAME": author, f"GIT_{role}_EMAIL": mail, f"GIT_{role}_DATE": date}
    done = subprocess.run(["git", *args], cwd=folder, env=env, check=True, capture_output=True, text=True)
    return done.stdout


class _Site(SimpleHTTPRequestHandler):
    """Serves `world/site` and keeps quiet."""

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


@contextmanager
def web_site() -> Iterator[str]:
    """Serve the pages of `world/site` on this machine; yields the address."""
    handler = partial(_Site, directory=str(WORLD / "site"))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
