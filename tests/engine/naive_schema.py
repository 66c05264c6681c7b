"""JSON values and JSON Schema for the naive engine: as much as C1 needs, and no more.

All that is not read here accepts anything (C5).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeGuard


def json_equal(a: Any, b: Any) -> bool:
    # READING (B6): numbers compare by value (1 equals 1.0), true is not 1, the order of keys is nothing.
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    if isinstance(a, int | float) and isinstance(b, int | float):
        return a == b
    if isinstance(a, list | tuple) and isinstance(b, list | tuple):
        return len(a) == len(b) and all(json_equal(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(json_equal(a[key], b[key]) for key in a)
    return type(a) is type(b) and bool(a == b)


TYPES: dict[str, Callable[[Any], bool]] = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "number": lambda value: is_number(value),
    "integer": lambda value: is_number(value) and float(value).is_integer(),  # READING: 2.0 is an integer.
}


def is_number(value: Any) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def accepts(schema: Any, value: Any, root: Any = None, following: tuple[Any, ...] = ()) -> bool:
    # READING (C5): what cannot be read is dropped keyword by keyword; the rest of the schema still holds.
    if isinstance(schema, bool):
        return schema
    if not isinstance(schema, dict):
        return True
    root = schema if root is None else root
    return (
        accepts_type(schema.get("type"), value)
        and accepts_value(schema, value)
        and accepts_sizes(schema, value)
        and accepts_parts(schema, value, root, following)
        and accepts_combined(schema, value, root, following)
        and accepts_ref(schema.get("$ref"), value, root, following)
    )


def accepts_type(wanted: Any, value: Any) -> bool:
    names = wanted if isinstance(wanted, list) else [wanted]
    if not all(isinstance(name, str) and name in TYPES for name in names) or not names:
        return True
    return any(TYPES[name](value) for name in names)


def accepts_value(schema: dict[str, Any], value: Any) -> bool:
    if isinstance(schema.get("enum"), list) and not any(json_equal(value, one) for one in schema["enum"]):
        return False
    return "const" not in schema or json_equal(value, schema["const"])


def accepts_sizes(schema: dict[str, Any], value: Any) -> bool:
    low, high = schema.get("minimum"), schema.get("maximum")
    above, below = schema.get("exclusiveMinimum"), schema.get("exclusiveMaximum")
    if is_number(value):
        return (
            (not is_number(low) or value >= low)
            and (not is_number(high) or value <= high)
            and (not is_number(above) or value > above)
            and (not is_number(below) or value < below)
        )
    for kind, suffix in ((str, "Length"), (list, "Items"), (dict, "Properties")):
        if isinstance(value, kind):
            least, most = schema.get(f"min{suffix}"), schema.get(f"max{suffix}")
            return (not is_number(least) or len(value) >= least) and (not is_number(most) or len(value) <= most)
    return True


def accepts_parts(schema: dict[str, Any], value: Any, root: Any, following: tuple[Any, ...]) -> bool:
    if isinstance(value, list) and "items" in schema and "prefixItems" not in schema:
        return all(accepts(schema["items"], item, root, following) for item in value)
    if not isinstance(value, dict):
        return True
    required = schema.get("required")
    if isinstance(required, list) and any(isinstance(key, str) and key not in value for key in required):
        return False
    known = schema.get("properties") if isinstance(schema.get("properties"), dict) else {}
    assert isinstance(known, dict)
    more = True if "patternProperties" in schema else schema.get("additionalProperties", True)
    return all(accepts(known.get(key, more), part, root, following) for key, part in value.items())


def accepts_combined(schema: dict[str, Any], value: Any, root: Any, following: tuple[Any, ...]) -> bool:
    def verdicts(keyword: str) -> list[bool]:
        parts = schema.get(keyword)
        return [accepts(part, value, root, following) for part in parts] if isinstance(parts, list) else []

    every, some, one = verdicts("allOf"), verdicts("anyOf"), verdicts("oneOf")
    return all(every) and (not some or any(some)) and (not one or sum(one) == 1)


def accepts_ref(ref: Any, value: Any, root: Any, following: tuple[Any, ...]) -> bool:
    if not isinstance(ref, str) or not ref.startswith("#") or (ref, id(value)) in following:
        return True
    target = root
    for part in ref[1:].split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        if isinstance(target, dict) and key in target:
            target = target[key]
        elif isinstance(target, list) and key.isdecimal() and int(key) < len(target):
            target = target[int(key)]
        else:
            return True
    return accepts(target, value, root, (*following, (ref, id(value))))
