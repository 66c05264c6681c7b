"""Each plug-in point from outside: a package with one file and an entry point is used by name on the command line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.builders import DATASET

ROOT = Path(__file__).parents[1]
FILES = {
    ("toolkit.selectors", "first", "first"): """
def first(told, host, k=1):
    return [tool.name for tool in told[:k]], [tool.name for tool in told]
""",
    ("toolkit.retrievers", "by-length", "ByLength"): """
from toolkit.search import Ranking

class ByLength:
    def __init__(self, tools, most=5):
        self.names, self.most = sorted((tool.name for tool in tools), key=lambda name: (-len(name), name)), most

    def rank(self, query, among=None, k=10):
        names = tuple(name for name in self.names if among is None or name in among)[:min(k, self.most)]
        return Ranking(names, tuple(1.0 * len(name) for name in names))
""",
    ("toolkit.query_models", "shouted", "shouted"): """
def shouted(seen, mark="!"):
    return [seen.turn_input.upper() + mark]
""",
    ("toolkit.profiles", "patient", "PATIENT"): """
from toolkit.engine.profile import Profile
from toolkit.replaying.profiles import RULES, HostProfile

PATIENT = HostProfile(Profile(name="patient", limit=9), "One of our own.", {rule: "docs" for rule in RULES})
""",
    ("toolkit.searching", "once", "once"): """
from functools import partial
from toolkit.replaying.habits import Searching

once = partial(Searching, tries=1)
""",
    ("toolkit.counters", "mine", "MINE"): """
from toolkit.tokens.models import Provider
from toolkit.tokens.providers import generic

MINE = Provider(lambda provider, api, model: generic.counter("qwen3", "mine") if model == "mine-1" else None)
""",
    ("toolkit.formats", "chat-log", "CHAT"): """
from toolkit.formats.importing import Format
from toolkit.session import Pass, Session, Turn
from toolkit.tool import Catalog

def read(source, problems):
    said = tuple(Turn(line[5:].decode(), (Pass("Done."),)) for _, line in source.lines(problems))
    yield Session(source.name, Catalog(()), said, source=f"{source.path}:1")

CHAT = Format("chat-log", lambda source: source.head.startswith(b"chat:"), read, "A log of chats.")
""",
}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder that holds a module and an entry point for each plug-in point, as pip would put them there."""
    folder = tmp_path_factory.mktemp("site")
    info = folder / "outsider-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: outsider\nVersion: 1.0\n")
    lines = []
    for (group, name, attribute), text in FILES.items():
        module = "outsider_" + group.rpartition(".")[2]
        (folder / f"{module}.py").write_text(text)
        lines.append(f"[{group}]\n{name} = {module}:{attribute}\n")
    (info / "entry_points.txt").write_text("\n".join(lines))
    return folder


def run(site: Path, *words: str | Path) -> Any:
    """Return the rows that a command prints where the package is installed."""
    path = os.pathsep.join((str(site), str(ROOT)))
    command = [sys.executable, "-m", "toolkit", *map(str, words), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": path}, cwd=site)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_selector_a_retriever_a_query_model_a_profile_and_a_way_of_searching_are_compared(site: Path) -> None:
    chosen = {"retriever": "by-length(most=3)", "profile": "patient", "query-model": "shouted(mark='?')"}
    options = [word for name, spec in chosen.items() for word in (f"--{name}", spec)]
    rows = run(site, "compare", DATASET, "--selector", "first(k=2)", *options, "--searching", "once")
    mine = next(row for row in rows if row["selector"] == "first(k=2)")
    assert {name: mine[name.replace("-", "_")] for name in chosen} == chosen and mine["calls"] > 0


def test_a_retriever_is_ranked(site: Path) -> None:
    folder = ROOT / "datasets" / "mcp-servers"
    files = ("--catalog", folder / "tools.jsonl", "--queries", folder / "queries.jsonl")
    rows = run(site, "rank-eval", *files, "--retriever", "by-length", "--retriever", "lexical", "--sample", "5")
    assert [row["retriever"] for row in rows] == ["by-length", "lexical"]


def test_a_counter_counts(site: Path, tmp_path: Path) -> None:
    path = tmp_path / "request.json"
    path.write_text('{"model": "mine-1", "messages": [{"role": "user", "content": "hello"}]}')
    (row,) = run(site, "count", path)
    assert row["tokens"] > 0


def test_a_format_is_read(site: Path, tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text("chat:hello\nchat:and again\n")
    (row,) = run(site, "inspect", path)
    assert (row["sessions"], row["turns"]) == (1, 2)


def test_an_unknown_name_lists_what_packages_bring(site: Path) -> None:
    with pytest.raises(AssertionError, match="Did you mean 'first'.*first takes: k"):
        run(site, "compare", DATASET, "--selector", "firsd")
