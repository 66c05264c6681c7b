"""OpenAPI documents as tools: one an operation, its parameters and its body the properties of one schema."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

_METHODS = ("get", "put", "post", "delete", "patch", "head", "options", "trace")
_DEEPEST = 20


def is_openapi(value: Mapping[str, Any]) -> bool:
    """Whether an object is an OpenAPI or a Swagger document."""
    return isinstance(value.get("paths"), Mapping) and ("openapi" in value or "swagger" in value)


def operations(document: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the rows of a document's operations; references inside it are put in, one that goes in circles is `{}`.

    A `GET` or `HEAD` is annotated as read only, a `DELETE` as destructive (Q3).
    """
    for path, item in document["paths"].items():
        item = _whole(item, document)
        for method in _METHODS:
            if isinstance(item, Mapping) and isinstance(item.get(method), Mapping):
                yield _row(path, method, item[method], item.get("parameters"))


def _row(path: str, method: str, operation: Mapping[str, Any], shared: Any) -> dict[str, Any]:
    told = [operation[key] for key in ("summary", "description") if isinstance(operation.get(key), str)]
    name = operation.get("operationId") or f"{method}{path}"
    return {
        "name": re.sub(r"[^A-Za-z0-9_.-]+", "_", str(name)).strip("_"),
        "description": "\n".join(dict.fromkeys(told)) or f"{method.upper()} {path}",
        "input_schema": _schema([*_listed(shared), *_listed(operation.get("parameters"))], operation),
        "annotations": _ANNOTATIONS.get(method),
    }


_ANNOTATIONS = {
    "get": {"readOnlyHint": True},
    "head": {"readOnlyHint": True},
    "delete": {"destructiveHint": True},
}


def _listed(value: Any) -> list[Mapping[str, Any]]:
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []


def _schema(parameters: list[Mapping[str, Any]], operation: Mapping[str, Any]) -> dict[str, Any]:
    properties: dict[str, Any] = {}
    required: list[str] = []
    for one in parameters:
        name = str(one.get("name") or "body")
        schema = one.get("schema") or {key: one[key] for key in ("type", "enum", "items", "format") if key in one}
        described = {"description": one["description"]} if isinstance(one.get("description"), str) else {}
        properties[name] = {**schema, **described} if isinstance(schema, Mapping) else described
        required += [name] if one.get("required") is True else []
    body = operation.get("requestBody")
    if isinstance(body, Mapping):
        properties["body"] = _body(body)
        required += ["body"] if body.get("required") is True else []
    return {
        "type": "object",
        "properties": properties,
        **({"required": list(dict.fromkeys(required))} if required else {}),
    }


def _body(body: Mapping[str, Any]) -> Any:
    contents = body.get("content")
    kinds = [one for one in contents.values() if isinstance(one, Mapping)] if isinstance(contents, Mapping) else []
    return next((one["schema"] for one in kinds if isinstance(one.get("schema"), Mapping)), {"type": "object"})


def _whole(value: Any, document: Mapping[str, Any], inside: tuple[str, ...] = ()) -> Any:
    """Return a value with the document's own references put in."""
    if isinstance(value, list):
        return [_whole(one, document, inside) for one in value]
    if not isinstance(value, Mapping):
        return value
    reference = value.get("$ref")
    if not isinstance(reference, str):
        return {key: _whole(one, document, inside) for key, one in value.items()}
    if reference in inside or len(inside) > _DEEPEST:
        return {}
    return _whole(_at(reference, document), document, (*inside, reference))


def _at(reference: str, document: Mapping[str, Any]) -> Any:
    found: Any = document
    for step in reference.removeprefix("#/").split("/") if reference.startswith("#/") else ("",):
        found = found.get(step.replace("~1", "/").replace("~0", "~")) if isinstance(found, Mapping) else None
    return found if found is not None else {}
