"""What Google bills for a prompt: Gemma's vocabulary, and three ways in which tools are written into it.

Source: billed usage of public recordings (`docs/token-rules.md`, Google); with that vocabulary the rules fit to the
token. `words` (Vertex, and Gemini 1.5 and 2.0 everywhere): names and descriptions only. `python` (Developer API, 2.5):
signatures with documented arguments. `declaration` (Developer API, 3 and later): Gemma's own declaration syntax.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from toolkit.tokens.media import banded, unbounded
from toolkit.tokens.models import facts
from toolkit.tokens.pictures import media
from toolkit.tokens.providers.typescript import DEEPEST, pointed
from toolkit.tokens.request import Count, Definition, Message, Request, at_least, exact, shown, total
from toolkit.tokens.vocabulary.vocabulary import Vocabulary, vocabulary
from toolkit.tool import Tool

QUOTE = "\0"
"""Stands for the special token that Gemma puts around a text: one token."""

SPREAD = {"words": 0.08, "python": 0.02, "declaration": 0.02}
"""Share by which a style's rules can miss a bill, signed history left out."""


@dataclass(frozen=True, slots=True)
class GeminiCounter:
    """Counts for one model of Google's.

    `style` says how tools are written, `each` what a message costs, `typed` what a member's type does.
    """

    model: str
    host: str
    style: str
    each: int
    words: Vocabulary
    typed: int = 2
    remainder: str = "thought signatures in the history; enums, unions and deep schemas by approximation"

    @property
    def name(self) -> str:
        return f"{self.host}/gemini/{self.model} ({self.words.actual})"

    # Pieces

    def base(self) -> Count:
        return exact(0)

    def message(
        self, role: str, text: str = "", calls: Sequence[tuple[str, str]] = (), results: Sequence[tuple[str, str]] = ()
    ) -> Count:
        """Return the tokens of one message; calls and results are (tool name, text) pairs."""
        tokens = self.each + self.words.count(text) + sum(self._call(*one) for one in calls)
        return self._banded(tokens + sum(self._result(*one) for one in results))

    def definition(self, tool: Tool | Definition) -> Count:
        one = Definition.of(tool)
        if one.kind != "function":
            return at_least(0)
        if self.style == "python":
            return self._banded(self._signature(one))
        if self.style == "declaration":
            return self._banded(2 + self._quoted(declaration(one)))
        return self._banded(self._named(one))

    def tools_overhead(self, n_tools: int, has_system: bool = True) -> Count:
        return exact(0)

    # Whole requests

    def count(self, request: Request) -> Count:
        return total(self.breakdown(request).values())

    def breakdown(self, request: Request) -> dict[str, Count]:
        """Return the count by part: `base`, `tools`, `messages`, and what else there is; an answer's schema is free."""
        names = {part.id: part.name for m in request.messages for part in m.of_kind("call") if part.id}
        everything = [part for m in request.messages for part in m.parts]
        return shown({
            "base": self.base(),
            "tools": total(map(self.definition, request.tools)),
            "messages": total(self._one(message, names) for message in request.messages),
            "images": total(media(part, "google", self.model) for part in everything if part.kind == "media"),
            "unbounded": unbounded(request),
        })  # fmt: skip

    def _banded(self, tokens: int) -> Count:
        spread = SPREAD[self.style] + self.words.spread
        return banded(tokens, spread, "calibrated" if self.words.real else "estimate")

    def _one(self, message: Message, names: Mapping[str, str]) -> Count:
        calls = [(part.name, part.text) for part in message.of_kind("call")]
        results = [(part.name or names.get(part.id, ""), part.text) for part in message.of_kind("result")]
        return self.message(message.role, message.text, calls, results)

    def _quoted(self, text: str) -> int:
        """Tokens of a text with quote tokens in it."""
        pieces = text.split(QUOTE)
        return sum(map(self.words.count, pieces)) + len(pieces) - 1

    def _all(self, texts: Iterable[Any]) -> int:
        return sum(self.words.count(text) for text in texts if isinstance(text, str))

    # Words

    def _named(self, tool: Definition) -> int:
        """Name and description; a schema in Google's own form (`parameters`) adds its words, JSON Schema nothing."""
        tokens = self._all((tool.name, tool.description))
        if "parameters" not in (tool.raw or {}) or not isinstance(tool.schema, Mapping):
            return tokens
        return tokens + self._members(tool.schema, 0)

    def _members(self, schema: Mapping[str, Any], depth: int) -> int:
        properties, required = _properties(schema), schema.get("required") or []
        rows = (self._word(name, one, name in required, depth) for name, one in properties.items())
        return sum(rows) if depth < DEEPEST else 0

    def _word(self, name: str, schema: Mapping[str, Any], required: bool, depth: int) -> int:
        words = [name, schema.get("description"), schema.get("default"), *(schema.get("enum") or ())]
        tokens = self._all(words) + (self.words.count(name) if required else 0) + self.typed
        return tokens + self._members(schema, depth + 1)

    # Python

    def _signature(self, tool: Definition) -> int:
        root = tool.schema if isinstance(tool.schema, Mapping) else {}
        return 18 + self._all((tool.name, tool.description)) + self._arguments(root, root, 0)

    def _arguments(self, schema: Mapping[str, Any], root: Any, depth: int) -> int:
        """Each argument stands in the signature and in the documentation; one that may be left out has a default."""
        required = schema.get("required") or []
        tokens = 0
        for name, one in _properties(schema).items() if depth < 6 else ():
            tokens += 9 + 2 * self.words.count(name) + self._note(one.get("description"), depth)
            tokens += (0 if name in required else 4) + self._annotation(one, root, depth)
        return tokens

    def _note(self, description: Any, depth: int) -> int:
        """A description stands after a blank, and at the top in the place of a token."""
        if not isinstance(description, str) or not description:
            return 0
        return self.words.count(f" {description}") - 1 if depth == 0 else self.words.count(description)

    def _annotation(self, schema: Mapping[str, Any], root: Any, depth: int) -> int:
        """What a type costs beyond one token: an object is a documented class of its own."""
        schema = _resolved(schema, root)
        options = [one for one in schema.get("anyOf") or () if isinstance(one, Mapping) and one.get("type") != "null"]
        if options:
            return sum(self._annotation(one, root, depth + 1) + 2 for one in options) - 2
        if isinstance(schema.get("enum"), list):
            return 2 + sum(3 + self.words.count(str(value)) for value in schema["enum"])
        kind = str(schema.get("type", "")).lower()
        if kind == "array":
            items = schema.get("items")
            return 3 + (self._annotation(items, root, depth + 1) if isinstance(items, Mapping) and depth < 6 else 0)
        if kind == "object" and _properties(schema):
            return 28 + self._all((schema.get("description"),)) + self._arguments(schema, root, depth + 1)
        return 0

    # History

    def _call(self, name: str, arguments: str) -> int:
        if self.style == "python":
            pairs = ", ".join(f"{key}={value!r}" for key, value in _parsed(arguments).items())
            return 1 + self.words.count(f"print(default_api.{name}({pairs}))")
        if self.style == "declaration":
            return 2 + self._quoted(f"call:{name}{_value(_parsed(arguments))}")
        return self.words.count(name) + self._leaves(_parsed(arguments))

    def _result(self, name: str, text: str) -> int:
        if self.style == "python":
            return self.words.count(json.dumps({f"{name}_response": _parsed(text)}, ensure_ascii=False))
        if self.style == "declaration":
            return 2 + self._quoted(f"response:{name}{_value(_parsed(text))}")
        return self.words.count(name) + self._leaves(_parsed(text))

    def _leaves(self, value: Any) -> int:
        if isinstance(value, Mapping):
            return sum(self.words.count(str(key)) + self._leaves(one) for key, one in value.items())
        if isinstance(value, list):
            return sum(map(self._leaves, value))
        return self.words.count(value if isinstance(value, str) else json.dumps(value))


def declaration(tool: Definition) -> str:
    """Return a definition in Gemma's syntax, `QUOTE` for its quote token.

    >>> declaration(Definition("now", "Tells.", {"type": "object"})).replace(QUOTE, "'")
    "declaration:now{description:'Tells.',parameters:{type:'OBJECT'}}"
    """
    root = tool.schema if isinstance(tool.schema, Mapping) else None
    rows = [f"description:{QUOTE}{tool.description}{QUOTE}"] if tool.description else []
    if root is not None:
        rows.append(f"parameters:{{{_declared(root, root, 0)}}}")
    return f"declaration:{tool.name}{{{','.join(rows)}}}"


def _declared(schema: Mapping[str, Any], root: Any, depth: int) -> str:
    schema = _resolved(schema, root)
    rows = [f"description:{QUOTE}{schema['description']}{QUOTE}"] if schema.get("description") else []
    if isinstance(schema.get("enum"), list):
        rows.append(f"enum:[{','.join(f'{QUOTE}{value}{QUOTE}' for value in schema['enum'])}]")
    if isinstance(schema.get("items"), Mapping) and depth < 6:
        rows.append(f"items:{{{_declared(schema['items'], root, depth + 1)}}}")
    if _properties(schema) and depth < 6:
        members = (f"{name}:{{{_declared(one, root, depth + 1)}}}" for name, one in _properties(schema).items())
        rows.append(f"properties:{{{','.join(members)}}}")
    if isinstance(schema.get("required"), list) and schema["required"]:
        rows.append(f"required:[{','.join(f'{QUOTE}{name}{QUOTE}' for name in schema['required'])}]")
    if schema.get("type"):
        rows.append(f"type:{QUOTE}{str(schema['type']).upper()}{QUOTE}")
    return ",".join(rows)


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ",".join(f"{key}:{_value(one)}" for key, one in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(_value, value)) + "]"
    return f"{QUOTE}{value}{QUOTE}" if isinstance(value, str) else json.dumps(value)


def _properties(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    properties = schema.get("properties")
    named = properties.items() if isinstance(properties, Mapping) else ()
    return {str(name): one if isinstance(one, Mapping) else {} for name, one in named}


def _resolved(schema: Mapping[str, Any], root: Any) -> Mapping[str, Any]:
    for _ in range(DEEPEST):
        reference = schema.get("$ref")
        found = pointed(root, reference) if isinstance(reference, str) else None
        if not isinstance(found, Mapping):
            return schema
        schema = {**found, **{key: value for key, value in schema.items() if key != "$ref"}}
    return schema


def _parsed(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text or "{}")
    except ValueError:
        value = text
    return value if isinstance(value, dict) else {"result": value}


def counter(model: str, host: str = "google") -> GeminiCounter:
    """Return the counter of a Gemini model on the Developer API (`google`) or on `vertex`."""
    told = facts(model)
    style = "words" if host == "vertex" else told.rules.removesuffix("-1")
    typed = 0 if told.rules == "words-1" else 2
    name, each = model.rpartition("/")[2], int(style != "words")
    return GeminiCounter(name, host, style, each, vocabulary(told.vocabulary), typed)
