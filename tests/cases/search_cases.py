"""Checks cases of the kind `search` against `toolkit.search` (`README.md`)."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from toolkit.engine.ports import Answer
from toolkit.errors import ToolkitError
from toolkit.search import ToolSearch, default_retriever
from toolkit.specs import format as format_spec
from toolkit.tool import Tool

Json = Mapping[str, Any]
_FOLLOWING = ("same_first_for", "same_result_for")


def check(case: Json) -> list[str]:
    """Return what failed in a case, one line each; none when it passed."""
    given, expected = case["input"], case["expected"]
    failures = _checked(given, expected)
    for other in expected.get("also", ()):
        failures += _checked({**given, **other}, other, needs=expected.get("needs"))
    return failures


def tool_of(row: Json) -> Tool:
    """Return the tool of a case's row, under the engine's name for it."""
    server = row.get("server")
    name = f"mcp.{server}.{row['name']}" if server else row["name"]
    return Tool(name, row.get("description"), row.get("input_schema"), annotations=row.get("annotations"))


def text_of(value: Any) -> str:
    """Return a query as it stands, or as its `generate` says."""
    if isinstance(value, str):
        return value
    recipe = value["generate"]
    return str(recipe["repeat"]) * int(recipe["times"]) + str(recipe.get("suffix", ""))


def _checked(given: Json, expected: Json, needs: str | None = None) -> list[str]:
    search = ToolSearch(_spec(given, expected.get("needs", needs)))
    query, began = text_of(given["query"]), time.monotonic()
    answer = _answer(search, given, query)
    seconds = time.monotonic() - began
    failures = [line for key, test in _TESTS.items() if key in expected for line in test(answer, expected[key])]
    failures += _same(search, given, answer, expected) + _modes(given, expected)
    if seconds > expected.get("max_seconds", seconds):
        failures.append(f"took {seconds:.1f} s")
    if expected.get("order_independent") and _answer(search, _reversed(given), query) != answer:
        failures.append("another order of the tools gave another answer")
    return failures


def _spec(given: Json, needs: str | None) -> str:
    return default_retriever() if needs == "semantic" else format_spec("lexical", given.get("options", {}))


def _answer(search: ToolSearch, given: Json, query: str) -> Answer:
    rows = given["tools"]
    searchable = [tool_of(row) for row in rows if row.get("state", "searchable") == "searchable"]
    declared = [tool_of(row) for row in rows if row.get("state") == "declared"]
    return search(query, searchable, declared, given.get("k", 5))


def _reversed(given: Json) -> Json:
    return {**given, "tools": list(reversed(given["tools"]))}


def _names(answer: Answer) -> list[str]:
    return [short(name) for name in answer.names]


def short(name: str) -> str:
    """Return the name that a case uses for one of the engine's."""
    return name.split(".", 2)[2] if name.startswith("mcp.") else name


def _told(what: str, expected: Any, came: Any) -> list[str]:
    return [] if expected == came else [f"{what}: expected {expected!r}, got {came!r}"]


def _before(answer: Answer, pairs: Sequence[Sequence[str]]) -> list[str]:
    names = _names(answer)
    return [f"{a!r} is not before {b!r}" for a, b in pairs if a not in names or b in names[: names.index(a)]]


_TESTS: dict[str, Callable[[Answer, Any], list[str]]] = {
    "first": lambda answer, name: _told("first", name, next(iter(_names(answer)), None)),
    "within_k": lambda answer, names: [f"{n!r} is not in the answer" for n in names if n not in _names(answer)],
    "absent": lambda answer, names: [f"{n!r} is in the answer" for n in names if n in _names(answer)],
    "before": _before,
    "empty": lambda answer, empty: _told("empty", empty, not answer.hits),
    "max_results": lambda answer, most: _told("max_results", True, len(answer.hits) <= most),
    "total_matches": lambda answer, total: _told("total_matches", total, answer.matched),
    "unmatched_terms": lambda answer, words: _told("unmatched_terms", words, list(answer.unmatched_words)),
    "already_declared": lambda answer, names: _told(
        "already_declared", sorted(names), sorted(map(short, answer.declared_matches))
    ),
}


def _same(search: ToolSearch, given: Json, answer: Answer, expected: Json) -> list[str]:
    failures: list[str] = []
    for key in _FOLLOWING:
        for query in expected.get(key, ()):
            ours, theirs = _names(answer), _names(_answer(search, given, query))
            most = 1 if key == "same_first_for" else None
            failures += _told(f"{key} {query!r}", ours[:most], theirs[:most])
    return failures


def _modes(given: Json, expected: Json) -> list[str]:
    failures = _checked(given, expected["lexical_mode"]) if "lexical_mode" in expected else []
    if "pattern_mode" not in expected and not _looks_slow(given, expected):
        return failures
    try:
        _answer(ToolSearch("regex"), given, text_of(given["query"]))
        code = None
    except ToolkitError as error:
        code = error.code
    return failures + _told("pattern_mode", expected.get("pattern_mode", {}).get("error", code), code)


def _looks_slow(given: Json, expected: Json) -> bool:
    return "max_seconds" in expected and not isinstance(given["query"], dict)
