"""The language of recipes: a vector in a few words.

A recipe is a head `RULES | title` and lines of statements, parted by `;`. A statement is a verb, with
`@step` when a step does it, and words; `$A` stands for a world's word (`World.vocabulary`):

- before the first event: `once` (one world is enough), `each K v w …` (expand over `$K`; `*$K` is
  several words), `only A B`, `tool NAME option=value…`, `lamps x y…` (twins `mcp.x.lamp`),
  `row KEY NAME option=value…` (for later `list`s; options `source`, `deferred`, `readonly`,
  `description`, `schema`, `like`), `with scope P…`, `with policy P=verdict…`,
  `with ui|selector|same_pass|failing VALUE`, `with script NAME returns|raises VALUE`;
- events: `turn`, `go` (turn and pass), `pass`, `end`, `end STEP`, `step ID P…`, `enter ID P…` (step
  and pass; `step@PARENT`), `hide EXT P…`, `show EXT P…`, `unload EXT`, `scope P…`, `role P…`,
  `policy P=verdict…`, `selector NAME`, `list SOURCE KEY…`, `down SERVER`, `up SERVER`, `compaction`,
  `resume`, `search QUERY limit=N` (`=5` for a query that is no text), `find QUERY` (search and pass),
  `call NAME key=value…` (`~NAME` by its wire name). No pattern at all is no scope, `nothing` an empty
  one; `selector -` is no selector;
- of the event before: `has TEXT…`, `lacks TEXT…`, about what the model reads.
"""

from __future__ import annotations

import itertools
import json
import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from string import Template
from typing import Any

from toolkit.testing.recipes.worlds import SCHEMAS, WORLDS, Row, World, row

Event = dict[str, Any]
Words = Sequence[str]


@dataclass(slots=True)
class Draft:
    """A vector without its expectations.

    `texts` holds what the model must and must not read, by the place of the event.
    """

    rules: tuple[str, ...]
    title: str
    world: str
    rows: dict[str, Row]
    listed: list[str]
    settings: dict[str, Any] = field(default_factory=dict)
    events: list[Event] = field(default_factory=list)
    texts: dict[int, dict[str, list[str]]] = field(default_factory=dict)

    @property
    def config(self) -> dict[str, Any]:
        return {"tools": [self.rows[key] for key in self.listed], **self.settings}


def drafts(text: str, worlds: Sequence[World] = WORLDS) -> Iterator[Draft]:
    """Yield the vectors of a text of recipes, over the worlds and every value of `each`."""
    for block in filter(None, map(str.strip, re.split(r"\n\s*\n", text))):
        head, _, body = block.partition("\n")
        rules, _, title = (part.strip() for part in head.partition("|"))
        statements = [one.strip() for one in re.split(r"[;\n]", body.replace("\\\n", " ")) if one.strip()]
        for world in worlds[:1] if "once" in statements else worlds:
            for chosen in _choices(statements, world):
                yield _draft(rules, title, world, statements, chosen)


def _choices(statements: Words, world: World) -> Iterator[Mapping[str, str]]:
    """Yield every choice of values for the `each` statements."""
    lists = [_words(one, world.vocabulary)[1:] for one in statements if one.startswith("each ")]
    for values in itertools.product(*(words[1:] for words in lists)):
        yield dict(zip((words[0] for words in lists), values, strict=True))


def _draft(rules: str, title: str, world: World, statements: Words, chosen: Mapping[str, str]) -> Draft:
    rows = world.rows()
    shown = "".join(f", {value or 'empty'}" for value in chosen.values())
    draft = Draft(tuple(rules.split()), f"{title} ({world.name}{shown})", world.name, rows, list(rows))
    vocabulary = {**world.vocabulary, **chosen}
    for statement in statements:
        words = _words(statement, vocabulary)
        verb, _, step = words[0].partition("@")
        _VERBS[verb](draft, step or None, words[1:])
    return draft


def _words(statement: str, vocabulary: Mapping[str, str]) -> list[str]:
    """Return the words of a statement; `*$word` stands for several."""
    words: list[str] = []
    for word in shlex.split(statement):
        several, said = word.startswith("*$"), Template(word.removeprefix("*") if word.startswith("*$") else word)
        words += said.substitute(vocabulary).split() if several else [said.substitute(vocabulary)]
    return words


def _value(text: str) -> Any:
    """Return the JSON value that a text is, else the text."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def _options(words: Words) -> dict[str, Any]:
    return {key: _value(value) for key, _, value in (word.partition("=") for word in words)}


def _patterns(words: Words) -> list[str] | None:
    return None if not words else [word for word in words if word != "nothing"]


def _policy(words: Words) -> list[list[str]]:
    return [[pattern, verdict] for pattern, _, verdict in (word.rpartition("=") for word in words)]


# --- the world ---


def _nothing(draft: Draft, step: str | None, words: Words) -> None:
    """`once` and `each` were read before."""


def _only(draft: Draft, step: str | None, words: Words) -> None:
    draft.listed = list(words)


def _row(draft: Draft, step: str | None, words: Words) -> None:
    options = _options(words[2:])
    made = dict(draft.rows[options["like"]]) if "like" in options else row(words[1], "builtin")
    made["name"] = words[1]
    made |= {key: options[key] for key in ("source", "deferred", "description") if key in options}
    if "schema" in options:
        schema = options["schema"]
        made["input_schema"] = SCHEMAS[schema] if isinstance(schema, str) else schema
    if "readonly" in options:
        made["annotations"] = {"readOnlyHint": options["readonly"]}
    draft.rows[words[0]] = made


def _tool(draft: Draft, step: str | None, words: Words) -> None:
    key = f"{words[0]}#{len(draft.listed)}"
    _row(draft, step, [key, *words])
    draft.listed.append(key)


def _lamps(draft: Draft, step: str | None, words: Words) -> None:
    for server in words:
        _tool(draft, step, [f"mcp.{server}.lamp", f"source=mcp:{server}", "deferred=true"])


def _with(draft: Draft, step: str | None, words: Words) -> None:
    what, rest = words[0], words[1:]
    if what == "script":
        draft.settings.setdefault("selectors", {})[rest[0]] = {rest[1]: _value(rest[2])}
        draft.settings["selector"] = rest[0]
    else:
        read = _SETTINGS.get(what, _first)
        draft.settings["failing_query" if what == "failing" else what] = read(rest)


def _first(words: Words) -> str:
    return words[0]


_SETTINGS: dict[str, Callable[[Words], Any]] = {"scope": _patterns, "policy": _policy, "ui": lambda words: True}


# --- the events ---


def _event(op: str, *keys: str) -> Callable[[Draft, str | None, Words], None]:
    def add(draft: Draft, step: str | None, words: Words) -> None:
        draft.events.append({"op": op, **dict(zip(keys, words, strict=True))})

    return add


def _then_pass(first: str) -> Callable[[Draft, str | None, Words], None]:
    def add(draft: Draft, step: str | None, words: Words) -> None:
        _VERBS[first](draft, step, words)
        _pass(draft, words[0] if first == "step" else step, ())

    return add


def _pass(draft: Draft, step: str | None, words: Words) -> None:
    draft.events.append({"op": "pass", "step": step})


def _end(draft: Draft, step: str | None, words: Words) -> None:
    draft.events.append({"op": "end_step", "id": words[0]} if words else {"op": "end_turn"})


def _step(draft: Draft, step: str | None, words: Words) -> None:
    draft.events.append({"op": "step", "id": words[0], "parent": step, "scope": _patterns(words[1:])})


def _said(op: str) -> Callable[[Draft, str | None, Words], None]:
    def add(draft: Draft, step: str | None, words: Words) -> None:
        draft.events.append({"op": op, "extension": words[0], "patterns": list(words[1:])})

    return add


def _scope(of: str) -> Callable[[Draft, str | None, Words], None]:
    def add(draft: Draft, step: str | None, words: Words) -> None:
        draft.events.append({"op": "scope", "of": of, "patterns": _patterns(words)})

    return add


def _set_policy(draft: Draft, step: str | None, words: Words) -> None:
    draft.events.append({"op": "policy", "policy": _policy(words)})


def _selector(draft: Draft, step: str | None, words: Words) -> None:
    draft.events.append({"op": "selector", "selector": None if words[0] == "-" else words[0]})


def _list(draft: Draft, step: str | None, words: Words) -> None:
    tools = [draft.rows[key] for key in words[1:]]
    draft.events.append({"op": "tools_changed", "source": words[0], "tools": tools})


def _search(draft: Draft, step: str | None, words: Words) -> None:
    query = _value(words[0][1:]) if words[0].startswith("=") else words[0]
    draft.events.append({"op": "search", "step": step, "query": query, **_options(words[1:])})


def _call(draft: Draft, step: str | None, words: Words) -> None:
    spelled = {"wire": True} if words[0].startswith("~") else {}
    name = words[0].removeprefix("~")
    draft.events.append({"op": "call", "step": step, "name": name, **spelled, "arguments": _options(words[1:])})


def _text(kind: str) -> Callable[[Draft, str | None, Words], None]:
    def add(draft: Draft, step: str | None, words: Words) -> None:
        draft.texts.setdefault(len(draft.events) - 1, {}).setdefault(kind, []).extend(words)

    return add


_VERBS: dict[str, Callable[[Draft, str | None, Words], None]] = {
    "once": _nothing,
    "each": _nothing,
    "only": _only,
    "row": _row,
    "tool": _tool,
    "lamps": _lamps,
    "with": _with,
    "turn": lambda draft, step, words: draft.events.append({"op": "turn", "input": ""}),
    "go": _then_pass("turn"),
    "pass": _pass,
    "end": _end,
    "step": _step,
    "enter": _then_pass("step"),
    "hide": _said("hide"),
    "show": _said("show"),
    "unload": _event("unload", "extension"),
    "scope": _scope("session"),
    "role": _scope("role"),
    "policy": _set_policy,
    "selector": _selector,
    "list": _list,
    "down": _event("server_down", "server"),
    "up": _event("server_up", "server"),
    "compaction": _event("compaction"),
    "resume": _event("resume"),
    "search": _search,
    "find": _then_pass("search"),
    "call": _call,
    "has": _text("has"),
    "lacks": _text("lacks"),
}
