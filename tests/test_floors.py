"""A module imports only from the floors below its own, and the face stays light."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import toolkit

ROOT = Path(toolkit.__file__).parent
FLOORS = {
    "errors": 0,
    "store": 0,
    "plugins": 0,
    "specs": 0,
    "tool": 0,
    "session": 0,
    "engine": 1,
    "formats": 1,
    "selectors": 2,
    "search": 2,
    "tokens": 4,
    "prices": 4,
    "prompt_cache": 4,
    "replaying": 4,
    "hosts": 4,
    "ledger": 5,
    "bench": 5,
    "experiment": 5,
    "report": 6,
    "config": 7,
    "commands": 7,
    "cli": 7,
}
FREE = {"testing", "__init__", "__main__"}
SAME_FLOOR = {("hosts", "config")}


def modules() -> list[Path]:
    return sorted(ROOT.rglob("*.py"))


def room(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def imports(path: Path) -> Iterator[tuple[str, bool]]:
    """Yield (room that is imported, whether at import time) for every import of the toolkit."""
    tree = ast.parse(path.read_text("utf-8"))
    at_once = {id(node) for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) for node in ast.walk(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "toolkit":
            parts = node.module.split(".")
            for name in [parts[1]] if len(parts) > 1 else [alias.name for alias in node.names]:
                yield name, id(node) not in at_once


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_go_down_only(path: Path) -> None:
    if room(path) in FREE:
        return
    mine = FLOORS[room(path)]
    for name, _ in imports(path):
        if name in FLOORS and name != room(path) and (room(path), name) not in SAME_FLOOR:
            assert FLOORS[name] <= mine, f"{path} imports {name}, which is above it"


def test_the_face_loads_nothing_heavy() -> None:
    heavy = ("pandas", "matplotlib", "torch", "sentence_transformers", "tiktoken", "numpy", "scipy", "mcp")
    face = "import sys, toolkit, toolkit.engine, toolkit.selectors, toolkit.search"
    code = f"{face}; print([m for m in {heavy!r} if m in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


def test_no_module_is_longer_than_300_lines() -> None:
    long = {str(path): n for path in modules() if (n := len(path.read_text("utf-8").splitlines())) > 300}
    assert not long
