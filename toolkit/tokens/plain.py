"""Requests as SDKs build them, as plain dicts and lists: pydantic models, enums, and what was not given."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any

NOT_GIVEN = frozenset(("NotGiven", "Omit"))
"""Names of the classes whose values say that a parameter was left out."""


def plain(value: Any) -> Any:
    """Return a value in plain types; a parameter that was not given is left out, a model class is its JSON schema.

    >>> class NotGiven: ...
    >>> plain({"model": "m", "tools": NotGiven(), "messages": ({"role": "user"},)})
    {'model': 'm', 'messages': [{'role': 'user'}]}
    """
    if value is None or isinstance(value, (str, bytes, bool, int, float)) and not isinstance(value, Enum):
        return value
    if isinstance(value, Enum):
        return plain(value.value)
    if isinstance(value, type):
        return _schema(value)
    if hasattr(value, "model_dump"):
        return plain(value.model_dump(exclude_unset=True, by_alias=True))
    if isinstance(value, Mapping):
        return {str(key): plain(one) for key, one in value.items() if type(one).__name__ not in NOT_GIVEN}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(one) for one in value if type(one).__name__ not in NOT_GIVEN]
    return value


def _schema(model: type) -> Any:
    """A class that an SDK takes in the place of an answer's schema, in the form that it sends."""
    if not hasattr(model, "model_json_schema"):
        return None
    return {"type": "json_schema", "name": model.__name__, "schema": model.model_json_schema(), "strict": True}


def given(value: Any) -> dict[str, Any]:
    """Return a mapping without the keys that are null: dumps of models name every field; anything else is empty."""
    return {key: one for key, one in value.items() if one is not None} if isinstance(value, Mapping) else {}


def deeply_given(value: Any) -> Any:
    """Return a value without null keys on any level, for schemas, in which none has a meaning."""
    if isinstance(value, Mapping):
        return {
            _camel(key): deeply_given(one) if key != "properties" else _each(one) for key, one in given(value).items()
        }
    return [deeply_given(one) for one in value] if isinstance(value, list) else value


def _each(properties: Any) -> Any:
    return {name: deeply_given(one) for name, one in given(properties).items()}


def _camel(key: str) -> str:
    head, *others = str(key).split("_")
    return head + "".join(part.title() for part in others)
