"""What a converter makes of a package, and what converters share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from toolkit.errors import InputError
from toolkit.formats.files import Problem
from toolkit.session import Session

Row = dict[str, Any]
T = TypeVar("T")
JSON_TYPES = frozenset(("string", "number", "integer", "boolean", "array", "object", "null"))


@dataclass(frozen=True, slots=True)
class Converted:
    """A set in our forms: rows of a catalog file, rows of a query file (id, query, gold), sessions."""

    tools: Sequence[Row]
    queries: Sequence[Row] = ()
    sessions: Sequence[Session] = ()


class Pool:
    """Tools of many short lists in one catalog; homonyms are told apart by `#2`, `#3` in the id.

    Tools of one name, description and set of parameters are one, the first that came: sources
    repeat them with slips inside the schema that no query could tell apart.

    >>> pool = Pool("demo")
    >>> [pool.add("add", text, {}) for text in ("Adds.", "Adds.", "Adds a row.")]
    ['add', 'add', 'add#2']
    """

    def __init__(self, server: str) -> None:
        self.server = server
        self.rows: list[Row] = []
        self._ids: dict[tuple[str, str, frozenset[str]], str] = {}
        self._names: Counter[str] = Counter()

    def add(self, name: str, description: str, schema: Row) -> str:
        """Take a tool in, unless it is there; return its id."""
        key = name, description, frozenset(schema.get("properties", {}))
        if key not in self._ids:
            self._names[name] += 1
            count = self._names[name]
            self._ids[key] = name if count == 1 else f"{name}#{count}"
            self.rows.append(row(self._ids[key], name, description, schema, self.server))
        return self._ids[key]


def row(id: str, name: str, description: str, schema: Row, server: str) -> Row:
    """Return the row of a catalog file."""
    return {"id": id, "name": name, "description": description, "input_schema": schema, "server": server}


def kept(rows: Iterable[Any], make: Callable[[Any], T], problems: list[Problem], member: str) -> Iterator[T]:
    """Yield what `make` makes of rows; one that is not of the expected form is noted in `problems` and left out."""
    for number, one in enumerate(rows, 1):
        try:
            yield make(one)
        except (InputError, LookupError, TypeError, ValueError, AttributeError, SyntaxError) as error:
            why = str(error) if isinstance(error, InputError) else repr(error)
            problems.append(Problem(member, number, "bad_row", f"this row is not of the expected form: {why}"))


def resolved(names: Iterable[str], ids: Mapping[str, str]) -> list[str]:
    """Return the ids that names stand for, each once, in order.

    Raises:
        InputError: A name is not among them.
    """
    names = list(dict.fromkeys(names))
    unknown = [name for name in names if name not in ids]
    if unknown:
        raise InputError(f"{unknown[0]!r} is none of the tools.")
    return [ids[name] for name in names]
