"""The written form of a plug-in and its options: `name`, `name(args)`, `pkg.mod:Name(args)`."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from toolkit.errors import InputError

_SPEC = re.compile(r"\s*([\w.:-]+)\s*(?:\((.*)\))?\s*\Z", re.DOTALL)
_EXPECTED = "Expected name, name(8) or name(k=8, model='x'): literals only."


class Spec(NamedTuple):
    """A parsed spec: what to build and with which options."""

    name: str
    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = {}


def parse(spec: str) -> Spec:
    """Return the name, arguments and options of a spec; a bare word among them is a string.

    Raises:
        InputError: The spec has another form, or an argument is not a literal.

    >>> parse("semantic(k=8)")
    Spec(name='semantic', args=(), kwargs={'k': 8})
    >>> parse("dense(multilingual)").args
    ('multilingual',)
    """
    match = _SPEC.match(spec)
    if match is None:
        raise InputError(f"{spec!r} is not a spec.", hint=_EXPECTED)
    call = _call(spec, match.group(2) or "")
    args = tuple(_literal(spec, argument) for argument in call.args)
    return Spec(match.group(1), args, {word.arg or "": _literal(spec, word.value) for word in call.keywords})


def _call(spec: str, inside: str) -> ast.Call:
    try:
        call = ast.parse(f"_({inside})", mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise InputError(f"{spec!r} is not a spec: {error}.", hint=_EXPECTED) from error
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
        raise InputError(f"{spec!r} is not a spec.", hint=_EXPECTED)
    if any(word.arg is None for word in call.keywords):
        raise InputError(f"{spec!r} unpacks an argument.", hint=_EXPECTED)
    return call


def _literal(spec: str, node: ast.expr) -> Any:
    if isinstance(node, ast.Name):
        return node.id
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, RecursionError) as error:
        raise InputError(f"{ast.unparse(node)!r} in {spec!r} is not a literal.", hint=_EXPECTED) from error


def format(name: str, kwargs: Mapping[str, Any] = {}) -> str:
    """Return the spec that parses back to `name` and `kwargs`.

    >>> format("lexical", {"min_coverage": 0.5}), format("all")
    ('lexical(min_coverage=0.5)', 'all')
    """
    inside = ", ".join(f"{key}={value!r}" for key, value in kwargs.items())
    return f"{name}({inside})" if inside else name
