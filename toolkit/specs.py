"""The written form of a plug-in and its options: `name`, `name(args)`, `pkg.mod:Name(args)`, and what combines them.

    a | b    a & "pattern"    a.cap(tokens=4000)    a.pin("pattern")    a(b(k=8), n=2)

It is read as literals and names; nothing is ever run.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from inspect import Parameter
from keyword import iskeyword
from typing import Any, NamedTuple

from toolkit.errors import InputError, nearest

OR, AND = "|", "&"
METHODS = (".cap", ".pin")
_EXPECTED = "Expected name, name(8) or name(k=8, model='x'): literals only."
_CONSTANTS = ("True", "False", "None")
_TOKEN = re.compile(
    r"""(?P<text>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')
      | (?P<number>(?:0[xob][\da-f_]+ | (?:\d[\d_]*\.?[\d_]* | \.\d[\d_]*)(?:e[+-]?\d+)?)(?![\w.:-]))
      | (?P<name>\w[\w.:-]*)
      | (?P<rest>\s+|.)""",
    re.DOTALL | re.IGNORECASE | re.VERBOSE,
)


class Spec(NamedTuple):
    """A parsed spec: what to build and with which options.

    In an expression an option may be a `Spec` itself, and the name that of a combinator:
    `|`, `&`, `.cap`, `.pin`, whose first argument is what it is applied to.
    """

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
    found = expression(spec)
    nested = [one for one in (*found.args, *found.kwargs.values()) if isinstance(one, Spec)]
    if nested or found.name in (OR, AND) or found.name.startswith("."):
        what = f"{nested[0].name!r} in {spec!r} is not a literal." if nested else f"{spec!r} is not a single spec."
        raise InputError(what, hint=_EXPECTED)
    return found


def expression(spec: str) -> Spec:
    """Return a spec that may combine others.

    Raises:
        InputError: It has another form, or holds what is neither a literal nor a spec.

    >>> expression("semantic(k=8) | lazy").args
    (Spec(name='semantic', args=(), kwargs={'k': 8}), Spec(name='lazy', args=(), kwargs={}))
    >>> expression("mmr(lambda=0.7).cap(4000)").args[1:]
    (4000,)
    """
    try:
        return _Reader(spec).read()
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        reason = getattr(error, "msg", "it cannot be read")
        raise InputError(f"{spec!r} is not a spec.", hint=f"{reason[:1].upper()}{reason[1:]}. {_EXPECTED}") from error


def names(spec: Spec) -> Iterator[str]:
    """Yield the plug-ins that an expression names, combinators left out.

    >>> list(names(expression("sticky(lazy) & 'mcp.*'")))
    ['sticky']
    """
    if spec.name not in (OR, AND) and not spec.name.startswith("."):
        yield spec.name
    for one in (*spec.args, *spec.kwargs.values()):
        if isinstance(one, Spec):
            yield from names(one)


class _Reader:
    """Reads one spec: names become placeholders, so that Python's own grammar does the rest."""

    def __init__(self, spec: str) -> None:
        self.spec = spec
        self.places: dict[str, str] = {}
        self.names: dict[str, str] = {}

    def read(self) -> Spec:
        pieces = [self._piece(match) for match in _TOKEN.finditer(self.spec.strip())]
        return self._spec(ast.parse("".join(pieces), mode="eval").body)

    def _piece(self, match: re.Match[str]) -> str:
        word, called = match.group(), match.string.startswith("(", match.end())
        if match.lastgroup != "name" or word in _CONSTANTS:
            return word
        method = next((one for one in METHODS if called and word.endswith(one)), "")
        return f"{self._place(word.removesuffix(method))}{method and '.' + self._place(method[1:])}"

    def _place(self, name: str) -> str:
        place = self.places.setdefault(name, f"_{len(self.places)}")
        self.names[place] = name
        return place

    def _spec(self, node: ast.expr) -> Spec:
        match node:
            case ast.Name(id):
                return Spec(self.names[id])
            case ast.Call(ast.Name(id)):
                return Spec(self.names[id], self._args(node), self._kwargs(node))
            case ast.Call(ast.Attribute(inner, method)):
                args = (self._spec(inner), *self._args(node))
                return Spec(f".{self.names[method]}", args, self._kwargs(node))
            case ast.BinOp(left, ast.BitOr(), right):
                return Spec(OR, (self._spec(left), self._spec(right)))
            case ast.BinOp(left, ast.BitAnd(), right):
                return Spec(AND, (self._spec(left), self._patterns(right)))
        raise InputError(f"{self.spec!r} is not a spec.", hint=_EXPECTED)

    def _args(self, call: ast.Call) -> tuple[Any, ...]:
        return tuple(map(self._value, call.args))

    def _kwargs(self, call: ast.Call) -> dict[str, Any]:
        given = [(self.names.get(word.arg or "", ""), self._value(word.value)) for word in call.keywords]
        if any(word.arg is None for word in call.keywords):
            raise InputError(f"{self.spec!r} unpacks an argument.", hint=_EXPECTED)
        if len(dict(given)) < len(given):
            raise InputError(f"{self.spec!r} gives an option twice.", hint=_EXPECTED)
        return dict(given)

    def _patterns(self, node: ast.expr) -> Any:
        if isinstance(node, ast.Constant | ast.Tuple | ast.List):
            return self._value(node)
        raise InputError(f"{self.spec!r} is not a spec.", hint="What stands after & is a pattern in quotes: & 'mcp.*'.")

    def _value(self, node: ast.expr) -> Any:
        if isinstance(node, ast.Name):
            return self._word(self.names[node.id])
        if isinstance(node, ast.Call) or (isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr | ast.BitAnd)):
            return self._spec(node)
        try:
            return ast.literal_eval(node)
        except (ValueError, TypeError) as error:
            raise InputError(f"{self.spec!r} holds what is no literal.", hint=_EXPECTED) from error

    def _word(self, word: str) -> str:
        if "." in word and ":" not in word:
            raise InputError(f"{word!r} in {self.spec!r} is not a literal.", hint=f"As text it is written {word!r}.")
        return word


def format(name: str, kwargs: Mapping[str, Any] = {}, args: tuple[Any, ...] = ()) -> str:
    """Return the spec that parses back to `name`, `args` and `kwargs`.

    >>> format("lexical", {"min_coverage": 0.5}), format("all"), format("dense", {}, ("static",))
    ('lexical(min_coverage=0.5)', 'all', "dense('static')")
    """
    inside = ", ".join((*map(repr, args), *(f"{key}={value!r}" for key, value in kwargs.items())))
    return f"{name}({inside})" if inside else name


def bind(
    what: str, parameters: Sequence[Parameter], args: Sequence[Any], options: Mapping[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return the arguments and options of a spec: all by parameter, but where any number of arguments is taken.

    Raises:
        InputError: There are too many, one is unknown, given twice or missing; `what` is what takes them.
    """
    places = [one.name for one in parameters if one.kind is one.POSITIONAL_OR_KEYWORD]
    named, placed = {_field(key): value for key, value in options.items()}, dict(zip(places, args, strict=False))
    endless = any(one.kind is one.VAR_POSITIONAL for one in parameters)
    if len(args) > len(places) and not endless:
        raise InputError(_too_many(what, parameters, places, len(args)), hint=takes(parameters))
    if not any(one.kind is one.VAR_KEYWORD for one in parameters):
        _check_known(what, parameters, named)
    needed = [one.name for one in parameters if one.default is one.empty and one.kind not in _ANY_NUMBER]
    _refuse(what, parameters, [name for name in placed if name in named], "given twice")
    _refuse(what, parameters, [name for name in needed if name not in {**placed, **named}], "missing")
    return (tuple(args), named) if endless else ((), {**placed, **named})


def options(parameters: Iterable[Parameter]) -> list[str]:
    """Return parameters as a spec writes them: `lambda` for `lambda_`."""
    return [shown(one.name) for one in parameters if one.kind not in _ANY_NUMBER]


def takes(parameters: Sequence[Parameter]) -> str:
    """Return the hint that lists the options there are."""
    endless = [f"*{one.name}" for one in parameters if one.kind is one.VAR_POSITIONAL]
    return f"It takes: {', '.join((*endless, *options(parameters))) or 'none'}."


def shown(parameter: str) -> str:
    """Return a parameter as a spec writes it: `lambda` for `lambda_`."""
    return parameter[:-1] if parameter.endswith("_") and iskeyword(parameter[:-1]) else parameter


_ANY_NUMBER = (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)


def _field(option: str) -> str:
    return f"{option}_" if iskeyword(option) else option


def _too_many(what: str, parameters: Sequence[Parameter], places: Sequence[str], given: int) -> str:
    if not parameters:
        return f"{what} has no options."
    return f"{what} is given too many options, {given}." if places else f"the options of {what} go by name."


def _check_known(what: str, parameters: Sequence[Parameter], named: Iterable[str]) -> None:
    known = [one.name for one in parameters if one.kind not in _ANY_NUMBER]
    for name in (name for name in named if name not in known):
        near = nearest(shown(name), options(parameters))
        hint = f"Did you mean {near!r}? " if near else ""
        raise InputError(f"{what} has no option {shown(name)!r}.", hint=f"{hint}{takes(parameters)}")


def _refuse(what: str, parameters: Sequence[Parameter], names: Sequence[str], fault: str) -> None:
    if names:
        said = f"{' and '.join(names)} {'is' if len(names) == 1 else 'are'} {fault}"
        raise InputError(f"{what}: {said}.", hint=takes(parameters))
