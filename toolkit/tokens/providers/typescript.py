"""How OpenAI writes tool definitions into the prompt: as the types of a TypeScript-like namespace.

Found from billed usage (`docs/token-rules.md`, OpenAI), and right to the token on every clean recording. Descriptions
are `//` comments; properties are not indented; an object without any comment stands on one line.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from toolkit.tool import compact_json

HEAD = "# Tools\n\n## functions\n\nnamespace functions {\n\n"
BETWEEN = ";\n\n"
TAIL = ";\n\n} // namespace functions"
DEEPEST = 24
MOST_NODES = 20_000
_FREE = frozenset(("additionalProperties", "required"))
_PLAIN = frozenset(("string", "number", "integer", "boolean", "null"))


def block(functions: Iterable[str]) -> str:
    """Return the whole tool block around functions written by `function`.

    The tokens of a block are those of `HEAD` and `TAIL` and of `BETWEEN` + each function, for in this
    vocabulary a token may reach over `;`, the blank line and `//`, but never over the word before `;`.
    """
    return HEAD + BETWEEN.join(functions) + TAIL


def function(name: str, description: str, schema: Any) -> str:
    """Return one tool as a type, without the semicolon that ends it.

    >>> print(function("get", "Gets.", {"properties": {"x": {"type": "string"}}, "required": ["x"]}))
    // Gets.
    type get = (_: { x: string }) => any
    """
    schema = schema if isinstance(schema, Mapping) else {}
    notes = _notes(schema)
    written = _Writer(schema).members(schema, 0)
    argument = f"_: {notes}{written}" if written else ""
    return f"{comment(description)}type {name} = ({argument}) => any"


def comment(text: Any) -> str:
    r"""Return `text` as comment lines, each stripped; a blank line is a bare `//`.

    >>> comment("one\n\n  two ")
    '// one\n//\n// two\n'
    """
    if not isinstance(text, str) or not text.strip():
        return ""
    lines = (line.strip() for line in text.strip().split("\n"))
    return "".join(f"// {line}\n" if line else "//\n" for line in lines)


def freeform(name: str, description: str) -> str:
    r"""Return a custom tool, whose input is any text, as a type.

    >>> freeform("run", "Runs.")
    '// Runs.\ntype run = (FREEFORM) => any'
    """
    return f"{comment(description)}type {name} = (FREEFORM) => any"


def answer_format(name: str, description: Any, schema: Any) -> str:
    """Return the schema of a structured answer as a block of its own."""
    return f"# Response Formats\n\n## {name}\n\n{comment(description)}{answer_schema(schema)}"


def answer_schema(schema: Any) -> str:
    """Return a schema as JSON without the keys that cost nothing; names of properties are no keys.

    >>> answer_schema({"type": "object", "properties": {"required": {}}, "required": ["required"]})
    '{"type":"object","properties":{"required":{}}}'
    """
    return compact_json(_without(schema))


def _without(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_without(one) for one in schema]
    if not isinstance(schema, Mapping):
        return schema
    return {key: _kept(key, value) for key, value in schema.items() if key not in _FREE}


def _kept(key: str, value: Any) -> Any:
    if key in ("properties", "$defs", "definitions") and isinstance(value, Mapping):
        return {name: _without(one) for name, one in value.items()}
    return _without(value)


def doubtful(schema: Any, depth: int = 0) -> bool:
    """Return whether a union in a schema has an array, or an object beside null: those were seen a token off."""
    if isinstance(schema, list):
        return depth < DEEPEST and any(doubtful(one, depth + 1) for one in schema)
    if not isinstance(schema, Mapping):
        return False
    options = schema.get("anyOf") or schema.get("oneOf")
    kinds = [one.get("type") for one in options if isinstance(one, Mapping)] if isinstance(options, list) else []
    kinds += schema["type"] if isinstance(schema.get("type"), list) else []
    odd = len(kinds) > 1 and ("array" in kinds or {"object", "null"} <= set(map(str, kinds)))
    return odd or (depth < DEEPEST and any(doubtful(one, depth + 1) for one in schema.values()))


@dataclass(slots=True)
class _Writer:
    """Writes the schemas of one definition; it stops at `any` where a `$ref` runs in a circle or grows without end."""

    root: Mapping[str, Any]
    nodes: int = field(default=0)

    def type_of(self, schema: Any, depth: int) -> str:
        self.nodes += 1
        if depth > DEEPEST or self.nodes > MOST_NODES:
            return "any"
        schema = self.resolved(schema)
        if literals := _literals(schema):
            return literals
        variants = schema.get("anyOf") or schema.get("oneOf")
        if isinstance(variants, Sequence) and not isinstance(variants, str):
            return " | ".join(self.variant(self.resolved(one), depth) for one in variants) or "any"
        return self.by_type(schema, schema.get("type"), depth)

    def by_type(self, schema: Mapping[str, Any], kind: Any, depth: int) -> str:
        if isinstance(kind, list) and len(kind) == 1:
            kind = kind[0]
        if isinstance(kind, list):
            return " | ".join(self.variant({**schema, "type": one}, depth) for one in kind) or "any"
        if kind == "object" or (kind is None and "properties" in schema):
            return self.members(schema, depth) or "object"
        if kind == "array":
            return self.array(schema.get("items"), depth)
        return kind if kind in _PLAIN else "any"

    def array(self, items: Any, depth: int) -> str:
        """An item that takes several lines stands between angle brackets, under its own comments."""
        item = self.type_of(items, depth + 1) if isinstance(items, Mapping) else "any"
        return f"Array<\n{_notes(self.resolved(items))}{item}\n>" if "\n" in item else f"{item}[]"

    def variant(self, schema: Mapping[str, Any], depth: int) -> str:
        """A member of a union, its own comments on lines before it: a type list repeats its description so."""
        notes = _notes(schema)
        return ("\n" + notes if notes else "") + self.type_of(schema, depth + 1)

    def members(self, schema: Mapping[str, Any], depth: int) -> str:
        properties = schema.get("properties")
        if not isinstance(properties, Mapping) or not properties:
            return ""
        required = schema.get("required")
        required = set(map(str, required)) if isinstance(required, list) else set()
        rows = [self.member(str(name), one, name in required, depth) for name, one in properties.items()]
        if any("//" in before + after for before, _, after in rows):
            return "{\n" + "".join(f"{before}{line},{after}\n" for before, line, after in rows) + "}"
        return "{ " + ", ".join(line for _, line, _ in rows) + " }"

    def member(self, name: str, schema: Any, required: bool, depth: int) -> tuple[str, str, str]:
        """The comments before a property, the property, the comment after it."""
        schema = self.resolved(schema)
        before = _notes(schema)
        line = f"{name}{'' if required else '?'}: {self.type_of(schema, depth + 1)}"
        after = f" // default: {_default(schema)}" if "default" in schema else ""
        return before, line, after

    def resolved(self, schema: Any) -> Mapping[str, Any]:
        """`schema` with its `$ref` looked up, keys beside the reference winning."""
        beside: dict[str, Any] = {}
        for _ in range(DEEPEST):
            if not isinstance(schema, Mapping) or not isinstance(schema.get("$ref"), str):
                break
            beside = {**{key: value for key, value in schema.items() if key != "$ref"}, **beside}
            schema = pointed(self.root, schema["$ref"])
        return {**schema, **beside} if isinstance(schema, Mapping) else beside


def pointed(root: Any, reference: str) -> Any:
    """Return what a local JSON pointer (`#/$defs/Box`) points to in `root`, or None."""
    for step in reference.lstrip("#").split("/")[1:]:
        step = step.replace("~1", "/").replace("~0", "~")
        root = root.get(step) if isinstance(root, Mapping) else None
    return root


def _literals(schema: Mapping[str, Any]) -> str:
    values = [schema["const"]] if "const" in schema else schema.get("enum")
    return " | ".join(map(_json, values)) if isinstance(values, list) else ""


def _notes(schema: Mapping[str, Any]) -> str:
    return comment(schema.get("title")) + comment(schema.get("description"))


def _default(schema: Mapping[str, Any]) -> str:
    """A text is quoted, except beside an enum."""
    value = schema["default"]
    return value if isinstance(value, str) and "enum" in schema else _json(value)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
