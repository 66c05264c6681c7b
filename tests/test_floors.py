"""A module imports only from the floors below its own, no files import in a circle, and the face stays light."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import toolkit

ROOT = Path(toolkit.__file__).parent
FLOORS = (
    ("errors", "patterns"),
    ("plain", "specs", "store"),
    ("plugins",),
    ("tool",),
    ("toolset", "session"),
    ("engine", "formats", "tokens"),
    ("prices", "search"),
    ("prompt_cache", "selectors"),
    ("host",),
    ("hosts", "replaying"),
    ("adapters", "serving"),
    ("ledger",),
    ("bench",),
    ("report",),
    ("experiment",),
    ("config",),
    ("testing",),
    ("commands",),
    ("cli",),
    ("__main__",),
)
FLOOR = {room: number for number, rooms in enumerate(FLOORS) for room in rooms}
UPWARDS: set[tuple[str, str]] = set()
"""(room, room) of imports that do not go down, and what for."""
CIRCLES = {"__init__.py"}
"""Files that stand in a circle still. The face does so by nature: it names what it gives, and gives the version."""
DOTTED = re.compile(r"toolkit(\.\w+)+(?=$|:\w+$)")


def modules() -> list[Path]:
    return sorted(ROOT.rglob("*.py"))


def room(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def file_of(dotted: str) -> Path | None:
    """Return the file of a dotted name: the module, or the package, or what it stands in."""
    place = ROOT.parent.joinpath(*dotted.split("."))
    if place.with_suffix(".py").is_file():
        return place.with_suffix(".py")
    return place / "__init__.py" if (place / "__init__.py").is_file() else None


def imported(node: ast.AST) -> Iterator[str]:
    """Yield the dotted names that a statement imports."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    if isinstance(node, ast.ImportFrom) and node.module:
        for alias in node.names:
            inner = f"{node.module}.{alias.name}"
            yield inner if file_of(inner) else node.module


def imports(path: Path, texts: bool = False) -> set[Path]:
    """Return the files of the toolkit that a file imports; with `texts` also those that its strings name."""
    nodes = list(ast.walk(ast.parse(path.read_text("utf-8"))))
    names = [name for node in nodes for name in imported(node) if name.partition(".")[0] == "toolkit"]
    if texts:
        said = [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]
        names += [match.group() for text in said if (match := DOTTED.match(text))]
    return {file for name in names if (file := file_of(name)) and file != path}


def upwards(path: Path) -> Iterable[tuple[str, str]]:
    for file in imports(path, texts=True):
        ours, theirs = room(path), room(file)
        if ours != theirs and theirs != "__init__" and FLOOR[theirs] >= FLOOR[ours]:
            yield ours, theirs


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_go_down_only(path: Path) -> None:
    if room(path) != "__init__":
        assert set(upwards(path)) <= UPWARDS


def test_every_exception_is_still_needed() -> None:
    assert {pair for path in modules() if room(path) != "__init__" for pair in upwards(path)} == UPWARDS


def test_no_files_import_in_a_circle() -> None:
    graph = {path: imports(path) for path in modules()}
    kept = {p: {q for q in to if name(q) not in CIRCLES} for p, to in graph.items() if name(p) not in CIRCLES}
    try:
        TopologicalSorter(kept).prepare()
    except CycleError as error:
        raise AssertionError(" → ".join(map(name, error.args[1]))) from error


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def test_the_face_loads_nothing_heavy() -> None:
    heavy = ("pandas", "matplotlib", "torch", "sentence_transformers", "tiktoken", "numpy", "scipy", "mcp")
    face = "import sys, toolkit, toolkit.engine, toolkit.host, toolkit.selectors, toolkit.search"
    code = f"{face}; print([m for m in {heavy!r} if m in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


def test_no_module_is_longer_than_300_lines() -> None:
    long = {str(path): n for path in modules() if (n := len(path.read_text("utf-8").splitlines())) > 300}
    assert not long


def test_what_a_string_names_stands_in_the_same_room() -> None:
    named = {(name(path), room(file)) for path in modules() for file in imports(path, texts=True) - imports(path)}
    across = {(path, to) for path, to in named if path.partition("/")[0] != to}
    assert across == {("experiment/diagnosis/page.py", "report")}, "whose templates it reads"


def test_no_function_is_longer_than_35_lines_beside_its_signature_and_docstring() -> None:
    nodes = ((path, node) for path in modules() for node in ast.walk(ast.parse(path.read_text("utf-8"))))
    functions = ((path, node) for path, node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    bodies = ((path, one.name, one.body[1:] if ast.get_docstring(one) else one.body) for path, one in functions)
    sizes = {(name(path), what): body[-1].end_lineno - body[0].lineno + 1 for path, what, body in bodies if body}
    assert not {where: size for where, size in sizes.items() if size > 35}


def test_nothing_is_kept_by_the_identity_of_a_value() -> None:
    """These ask for an identity within one call, of values that they hold, and keep nothing."""
    calls = (
        (path, node)
        for path in modules()
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "id"
    )
    assert {name(path) for path, _ in calls} == {"formats/native/atif.py", "formats/traffic/chains.py", "plain.py"}
