"""How OpenAI writes tool definitions into the prompt: as the types of a TypeScript-like namespace.

Found from billed usage (`token-accounting.md` 1.1), and right to the token on every clean recording. Descriptions
are `//` comments; properties are not indented; an object without any comment stands on one line.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

HEAD = "# Tools\n\n## functions\n\nnamespace functions {\n\n"
BETWEEN = ";\n\n"
TAIL = ";\n\n} // namespace functions"
DEEPEST = 24
MOST_NODES = 20_000
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
    notes = comment(schema.get("title")) + comment(schema.get("description"))
    written = _Writer(schema).members(schema, 0)
    argument = f"_: {notes}{written}" if written else ""
    return f"{comment(description)}type {name} = ({argument}) => any"


def comment(text: Any) -> str:
    """Return `text` as comment lines, each stripped; a blank line is a bare `//`.

    >>> comment("one\\n\\n  two ")
    '// one\\n//\\n// two\\n'
    """
    if not isinstance(text, str) or not text.strip():
        return ""
    lines = (line.strip() for line in text.strip().split("\n"))
    return "".join(f"// {line}\n" if line else "//\n" for line in lines)


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
            items = schema.get("items")
            return f"{self.type_of(items, depth + 1) if isinstance(items, Mapping) else 'any'}[]"
        return kind if kind in _PLAIN else "any"

    def variant(self, schema: Mapping[str, Any], depth: int) -> str:
        """A member of a union, its own comments on lines before it: a type list repeats its description so."""
        notes = comment(schema.get("title")) + comment(schema.get("description"))
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
        before = comment(schema.get("title")) + comment(schema.get("description"))
        line = f"{name}{'' if required else '?'}: {self.type_of(schema, depth + 1)}"
        after = f" // default: {_default(schema['default'])}" if "default" in schema else ""
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


def _default(value: Any) -> str:
    return value if isinstance(value, str) else _json(value)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
