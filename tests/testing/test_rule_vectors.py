"""The conformance vectors: enough, honest, the same everywhere, and agreed on by the naive engine."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.engine.naive import is_named, words_of
from tests.testing.broken_hosts import BROKEN, twin
from toolkit.errors import UnknownNameError
from toolkit.testing.judge import first_difference
from toolkit.testing.recipes.language import drafts
from toolkit.testing.recipes.worlds import WORLDS
from toolkit.testing.reference_host import Server
from toolkit.testing.rule_vectors import FAMILIES, RULES, Vector, vectors, write

ALL = vectors()


def by_id(vector: Vector) -> str:
    return str(vector["id"])


def test_there_are_enough_and_every_rule_is_covered() -> None:
    counts = Counter(rule for vector in ALL for rule in vector["rules"])
    assert len(ALL) >= 300 and set(counts) == set(RULES)
    assert min(counts.values()) >= 3, counts


def test_no_two_have_one_id_or_one_content() -> None:
    assert len({vector["id"] for vector in ALL}) == len(ALL)
    contents = [json.dumps({key: vector[key] for key in vector if key not in ("id", "title")}) for vector in ALL]
    assert len(set(contents)) == len(ALL)


def test_the_naive_engine_agrees_with_every_vector() -> None:
    server = Server(twin())
    assert [(v["id"], wrong) for v in ALL if (wrong := first_difference(v, server.ask))] == []


def test_the_reference_engine_agrees_with_every_vector() -> None:
    server = Server()
    assert [(v["id"], wrong) for v in ALL if (wrong := first_difference(v, server.ask))] == []


@pytest.mark.parametrize("rule", RULES)
def test_a_host_that_breaks_a_rule_is_caught_by_a_vector_of_that_rule(rule: str) -> None:
    server = Server(twin(BROKEN[rule]))
    assert any(first_difference(vector, server.ask) for vector in ALL if rule in vector["rules"])


def test_the_files_are_the_same_byte_for_byte_in_every_process(tmp_path: Path) -> None:
    code = "import sys, pathlib; from toolkit.testing.rule_vectors import write; write(pathlib.Path(sys.argv[1]))"
    write(tmp_path / "here")
    subprocess.run([sys.executable, "-c", code, tmp_path / "there"], check=True, env={"PYTHONHASHSEED": "7"})
    for name in ("vectors.jsonl", "PROTOCOL.md"):
        assert (tmp_path / "here" / name).read_bytes() == (tmp_path / "there" / name).read_bytes()


def test_a_written_line_is_a_vector(tmp_path: Path) -> None:
    assert write(tmp_path, ["H3"]) == len(vectors(["H3"]))
    lines = (tmp_path / "vectors.jsonl").read_text("utf-8").splitlines()
    assert [json.loads(line) for line in lines] == vectors(["H3"])


@pytest.mark.parametrize("family", FAMILIES)
def test_a_family_is_all_its_rules(family: str) -> None:
    rules = [rule for rule in RULES if rule[0] == family]
    assert list(map(by_id, vectors([family]))) == list(map(by_id, vectors(rules)))


def test_an_unknown_rule_is_refused_with_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="H3"):
        vectors(["H3x"])


def judged_searches() -> Iterator[tuple[str, Any, list[Any]]]:
    """Yield every search whose answer is judged: the vector's id, the step, and all tools listed so far."""
    for vector in ALL:
        tools = [*vector["config"]["tools"]]
        for step in vector["steps"]:
            tools += step["event"].get("tools", [])
            judged = {"hits", "matched"} & step["expect"].keys() and step["expect"].get("verdict") == "ok"
            if step["event"]["op"] == "search" and judged:
                yield vector["id"], step, tools


def doubtful_words(query: str, tools: list[Any]) -> list[str]:
    """Return the words of a query that stand in several tools, which are no twins."""
    doubtful = []
    for word in words_of(query):
        bearers = {tool["name"] for tool in tools if word in words_of(f"{tool['name']} {tool['description']}")}
        if len(bearers) > 1 and {name.split(".")[-1] for name in bearers} != {"lamp"}:
            doubtful.append(word)
    return doubtful


def test_a_query_is_a_name_or_has_words_of_one_tool_only() -> None:
    seen = 0
    for id, step, tools in judged_searches():
        seen, query = seen + 1, step["event"]["query"]
        named = step["event"].get("limit") == 1 and any(is_named(query, tool) for tool in tools)
        assert named or not doubtful_words(query, tools), f"{id}: {query!r}"
        assert not named or "matched" not in step["expect"] or not doubtful_words(query, tools), f"{id}: {query!r}"
    assert seen > 100


@pytest.mark.parametrize("world", WORLDS, ids=lambda world: world.name)
def test_no_word_of_a_world_stands_in_two_tools(world: Any) -> None:
    segments = [words_of(name) for name, *_ in world.tools.values()]
    servers = Counter(word for words in segments for word in set(words[:-1]))
    words = Counter(word for words in segments for word in words if servers[word] < 2)
    words += Counter(word for *_, text in world.tools.values() for word in words_of(text))
    assert max(words.values()) == 1, words


def test_a_recipe_is_expanded_over_worlds_and_choices() -> None:
    made = list(drafts("H2 H5 | said twice\neach V $R $A; go; hide $X $V; call ~$V bay=1\nlacks $A"))
    assert len(made) == 2 * len(WORLDS) and made[0].rules == ("H2", "H5")
    assert [event["op"] for event in made[0].events] == ["turn", "pass", "hide", "call"]
    assert made[1].events[3] == {
        "op": "call", "step": None, "name": "mcp.harbor.anchor", "wire": True, "arguments": {"bay": 1}
    }  # fmt: skip
    assert made[0].texts == {3: {"lacks": ["mcp.harbor.anchor"]}}
