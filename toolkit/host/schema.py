"""Arguments against the schema that the model was told (C1); what cannot be read in it accepts anything (C5)."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import jsonschema_rs

_MOST_REPAIRS = 200
_IDENTITY = frozenset(
    ("$schema", "$id", "id", "$anchor", "$dynamicAnchor", "$dynamicRef", "$recursiveRef", "$recursiveAnchor")
)


def wrong(schema_text: str, arguments: Any) -> str | None:
    """Return what is wrong with arguments by a schema's JSON text, or None.

    >>> wrong('{"type":"object","required":["day"]}', {})
    '"day" is a required property'
    """
    return checker(schema_text)(arguments)


@lru_cache(maxsize=4096)
def checker(schema_text: str) -> Callable[[Any], str | None]:
    """Return a function from arguments to what is wrong with them, or None; compiled once a schema.

    >>> check = checker('{"type":"object","required":["day"]}')
    >>> check({"day": 1}) is None, check({})
    (True, '"day" is a required property')
    """
    try:
        schema = json.loads(schema_text or "{}")
        validator = _compiled(_with_local_references(schema, schema))
    except (ValueError, RecursionError):
        return lambda arguments: None
    return lambda arguments: _first_error(validator, arguments)


def _first_error(validator: Any, arguments: Any) -> str | None:
    try:
        if validator is None or validator.is_valid(arguments):
            return None
        return str(next(validator.iter_errors(arguments)).message)
    except (ValueError, TypeError) as error:
        return str(error)


def _compiled(schema: Any) -> Any:
    """Compile a schema, taking out keyword by keyword what the validator cannot read."""
    for _ in range(_MOST_REPAIRS):
        try:
            return jsonschema_rs.validator_for(schema, validate_formats=False)
        except jsonschema_rs.ValidationError as error:
            if not _take_out(schema, list(error.instance_path)):
                return None
    return None


def _take_out(schema: Any, path: list[Any]) -> bool:
    for step in path[:-1]:
        schema = schema[step]
    if not path or not isinstance(schema, dict | list):
        return False
    del schema[path[-1]]
    return True


def _with_local_references(part: Any, root: Any) -> Any:
    """Return a copy without references that lead nowhere, to another file or in a circle."""
    if isinstance(part, list):
        return [_with_local_references(item, root) for item in part]
    if not isinstance(part, dict):
        return part
    return {key: _with_local_references(value, root) for key, value in part.items() if _keeps(key, value, root)}


def _keeps(key: str, value: Any, root: Any) -> bool:
    if key == "$ref" and isinstance(value, str):
        return _resolves(root, value)
    return key not in _IDENTITY or not isinstance(value, str)


def _resolves(root: Any, reference: str) -> bool:
    """Follow a chain of local references to its end; a circle has none."""
    seen: set[str] = set()
    while reference not in seen:
        seen.add(reference)
        target = _pointed(root, reference)
        if not isinstance(target, dict | bool):
            return False
        following = target.get("$ref") if isinstance(target, dict) else None
        if not isinstance(following, str):
            return True
        reference = following
    return False


def _pointed(root: Any, reference: str) -> Any:
    if reference != "#" and not reference.startswith("#/"):
        return None
    target = root
    for step in reference.split("/")[1:]:
        step = step.replace("~1", "/").replace("~0", "~")
        if isinstance(target, list) and step.isdigit() and int(step) < len(target):
            target = target[int(step)]
        elif isinstance(target, dict):
            target = target.get(step)
        else:
            return None
    return target
