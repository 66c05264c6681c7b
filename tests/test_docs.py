"""What the tree cites is in the tree, down to the rule, and the Python in its documents runs."""

from __future__ import annotations

import gzip
import re
import subprocess
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest

from tests.builders import DATASET
from tests.test_floors import FLOORS

ROOT = Path(__file__).resolve().parents[1]
KINDS = {".py", ".md", ".toml", ".ipynb"}
DOCS = sorted((ROOT / "docs").rglob("*.md"))
LIGHT = "import sys; sys.modules['sentence_transformers'] = None\n"
"""Runs a document as where the extra `embed` is not installed."""
CITATION = re.compile(r"[\w./-]*\b[\w-]+\.md\b")
PACKAGED = {page.name for page in (ROOT / "toolkit").rglob("*.md")}
FOREIGN = ("https:", "//", "/workspace", "notes/", "drafts/", "teapot/", "tests/fixtures", "AGENTS.md")
RULE = re.compile(r"docs/semantics\.md`?,? ((?:[A-Z]\d+(?:–[A-Z]\d+)?(?:, | and )?)+)")
SECTION = re.compile(r"docs/token-rules\.md`?, ([\w ]+)")
LINK = re.compile(r"\]\((?!https?:|#)([^)#\s]+)?(?:#([\w-]+))?\)")


def texts() -> Iterator[tuple[str, str]]:
    """Yield (path, text) of every file of the repository that may cite a document."""
    for room in ("toolkit", "tests", "benchmarks", "docs", "notebooks", "datasets"):
        for path in sorted((ROOT / room).rglob("*")):
            if path.suffix in KINDS and path != Path(__file__) and "world" not in path.parts:
                yield str(path.relative_to(ROOT)), path.read_text("utf-8")
    for path in sorted(ROOT.glob("*.md")):
        yield path.name, path.read_text("utf-8")


def anchors(page: Path) -> set[str]:
    """Return what a link into a page may name: its headings as they are addressed, and its own anchors."""
    text = page.read_text("utf-8")
    heads = re.findall(r"^#+ (.+)$", text, re.M)
    named = {re.sub(r"[^\w -]", "", head.lower()).replace(" ", "-") for head in heads}
    return named | {re.sub(r"^\d+-", "", name) for name in named} | set(re.findall(r'<a id="([\w-]+)">', text))


def missing(path: str, cited: str) -> bool:
    """Tell whether a citation leads nowhere; a page of the package may go by its name alone."""
    beside = (ROOT / path).parent / cited
    return not ((ROOT / cited).is_file() or beside.is_file() or cited in PACKAGED)


def test_every_document_that_is_cited_is_in_the_repository() -> None:
    cited = {(path, one) for path, text in texts() for one in CITATION.findall(text) if not one.startswith(FOREIGN)}
    lost = sorted(f"{path}: {one}" for path, one in cited if missing(path, one))
    assert not lost


def test_no_document_outside_the_repository_is_named() -> None:
    outside = re.compile(r"token-accounting\.md|interface\.md|stack\.md|\.\./design|/design/")
    assert not [path for path, text in texts() if outside.search(text)]


def test_every_rule_that_is_cited_has_its_number() -> None:
    known = anchors(ROOT / "docs/semantics.md")
    cited = {
        (path, rule) for path, text in texts() for some in RULE.findall(text) for rule in re.findall(r"[A-Z]\d+", some)
    }
    assert cited and not [(path, rule) for path, rule in cited if rule.lower() not in known]


def test_every_section_of_the_token_rules_that_is_cited_stands_there() -> None:
    known = anchors(ROOT / "docs/token-rules.md")
    cited = {(path, some) for path, text in texts() for some in SECTION.findall(text)}
    lost = [
        (path, some) for path, some in cited if not any(some.lower().replace(" ", "-").startswith(one) for one in known)
    ]
    assert cited and not lost


@pytest.mark.parametrize("page", [*sorted(ROOT.glob("*.md")), *DOCS], ids=lambda page: page.name)
def test_every_link_of_a_document_leads_somewhere(page: Path) -> None:
    for target, anchor in LINK.findall(page.read_text("utf-8")):
        found = page.parent / target if target else page
        assert found.exists(), target
        assert not anchor or anchor in anchors(found), anchor


def test_the_numbers_of_the_rules_are_complete() -> None:
    rules = re.findall(r'<a id="(\w\d+)">', (ROOT / "docs/semantics.md").read_text("utf-8"))
    last = {"v": 8, "h": 8, "b": 9, "s": 9, "q": 10, "c": 5, "a": 3, "t": 2, "k": 3}
    assert rules == [f"{letter}{at}" for letter, many in last.items() for at in range(1, many + 1)]


@pytest.mark.parametrize("page", [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *DOCS], ids=lambda page: page.name)
def test_the_python_of_a_document_runs(page: Path, tmp_path: Path) -> None:
    code = "\n".join(re.findall(r"^```python\n(.*?)^```", page.read_text("utf-8"), re.M | re.S))
    if code:
        with_recordings(tmp_path)
        done = subprocess.run([sys.executable, "-c", LIGHT + code], cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr


def with_recordings(folder: Path) -> None:
    """Put what the documents read into a folder: a few sessions, and a catalog."""
    (folder / "sessions").mkdir()
    with gzip.open(DATASET, "rt", encoding="utf-8") as lines:
        (folder / "sessions" / "some.jsonl").write_text("".join(islice(lines, 4)), "utf-8")
    (folder / "tools.jsonl").write_bytes((DATASET.parent / "tools.jsonl").read_bytes())


def test_links_of_the_first_page_work_on_a_package_index() -> None:
    assert not LINK.search((ROOT / "README.md").read_text("utf-8"))


def test_the_architecture_names_the_floors_as_they_are() -> None:
    text = (ROOT / "docs/architecture.md").read_text("utf-8")
    table = text[text.index("| rooms |") : text.index("Importing `toolkit`")]
    told = [tuple(re.findall(r"`(\w+)`", row.split("|")[1])) for row in table.splitlines() if "`" in row]
    assert told == [rooms for rooms in FLOORS if rooms != ("__main__",)]
