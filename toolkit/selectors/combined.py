"""Selectors out of selectors: `a | b`, `a & "pattern"`, `a.cap(tokens)`, `a.pin(patterns)`.

A combinator adds no name that is not told, and withholds nothing: what it takes off the declared
list is searchable. Declared names stand in order of preference, the most wanted first, so that
`cap` knows what to drop; the engine puts them into canonical order (`docs/semantics.md` B5).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import MISSING, Field, dataclass, fields, replace
from pathlib import Path
from typing import Any, ClassVar

from toolkit import specs
from toolkit.engine import HostView, Selection
from toolkit.engine.offer import as_selection
from toolkit.selectors import checks
from toolkit.selectors.costs import costs
from toolkit.selectors.registry import COMBINATORS, resolve, written
from toolkit.selectors.usage import Usage
from toolkit.session import Session
from toolkit.tool import SEARCH, Tool
from toolkit.toolset import toolset


class Combining:
    """What every selector of this package can do: be written as its spec, and be combined with others.

    The classes are frozen dataclasses whose fields are the options of the spec `spec`.
    """

    __slots__ = ()
    spec: ClassVar[str] = ""

    def __or__(self, other: Any) -> Either:
        return Either(self, other)

    def __ror__(self, other: Any) -> Either:
        return Either(other, self)

    def __and__(self, patterns: Any) -> Narrowed:
        return Narrowed(self, patterns)

    def cap(self, tokens: int) -> Capped:
        """Return this selector with its least wanted tools dropped beyond so many tokens."""
        return Capped(self, tokens)

    def pin(self, patterns: Any) -> Pinning:
        """Return this selector with what matches declared too, before all else."""
        return Pinning(self, patterns)

    def __repr__(self) -> str:
        """Return the spec: the first option always, the others where they differ from their defaults."""
        options = [(one, getattr(self, one.name)) for one in fields(self)]  # type: ignore[arg-type]
        said = [(one, value) for place, (one, value) in enumerate(options) if place == 0 or _changed(one, value)]
        first = tuple(_Written(written(value)) for one, value in said[:1] if callable(value))
        return specs.format(self.spec, {specs.shown(one.name): value for one, value in said[len(first) :]}, first)


class _Written(str):
    __slots__ = ()
    __repr__ = str.__str__


def _changed(option: Field[Any], value: Any) -> bool:
    return option.default is MISSING or bool(value != option.default)


def parts(selector: Any) -> Iterator[Any]:
    """Yield a selector and all that it is made of, outermost first."""
    yield selector
    if isinstance(selector, Wrapping):
        for one in selector.inner:
            yield from parts(one)


def ready(spec: Any) -> Any:
    """Return the selector of a spec when it can run now: what learns from sessions has learnt.

    A selector that needs something before a run has a method `check`, which raises when it is not there.

    Raises:
        UnknownNameError, InputError: As `resolve` does, and when a fitted selector was never fitted.
    """
    found = resolve(spec)
    for part in parts(found):
        getattr(part, "check", bool)()
    return found


def combine(selector: Any) -> Combining:
    """Return a selector, given as a spec or a function, as one that has `|`, `&`, `cap` and `pin`.

    >>> combine("lazy") & "builtin.*"
    lazy & 'builtin.*'
    """
    found = resolve(selector)
    return found if isinstance(found, Combining) else Plain(found)


class Wrapping(Combining):
    """A selector that holds others: what they learn, it learns; it looks at the told set alone when they do."""

    __slots__ = ()

    @property
    def inner(self) -> tuple[Any, ...]:
        return tuple(value for one in fields(self) if callable(value := getattr(self, one.name)))  # type: ignore[arg-type]

    @property
    def static(self) -> bool:
        return all(getattr(one, "static", False) for one in self.inner)

    @property
    def fit(self) -> Callable[[Iterable[Session] | Usage], Any]:
        """Learn from sessions, or from what they say, part by part; no such attribute when no part learns."""
        self._need("fit")
        return lambda given: self._each("fit", given if isinstance(given, Usage) else Usage.of(given))

    @property
    def save(self) -> Callable[[str | Path], Any]:
        """Write what the parts learnt to one file, and read it from there; see `Fitted.save`."""
        self._need("save")
        return lambda path: self._each("save", path)

    def _need(self, method: str) -> None:
        if not any(hasattr(one, method) for one in self.inner):
            raise AttributeError(f"nothing in {self!r} has {method!r}")

    def _each(self, method: str, given: Any) -> Any:
        """Return the same with each part that has a method replaced by what the method gives."""
        able = {one.name: part for one in fields(self) if hasattr(part := getattr(self, one.name), method)}  # type: ignore[arg-type]
        return replace(self, **{name: getattr(part, method)(given) for name, part in able.items()})  # type: ignore[type-var]


def resolve_into(owner: Any, *names: str) -> None:
    """Put the selectors of specs into the fields of a frozen selector; a function stands there as it is."""
    for name in names:
        found = resolve(getattr(owner, name))
        object.__setattr__(owner, name, found.function if isinstance(found, Plain) else found)


@dataclass(frozen=True, slots=True, repr=False)
class Plain(Wrapping):
    """A function `(visible, host)` that can be combined; it chooses what the function chooses."""

    function: Any

    def __call__(self, told: Sequence[Tool], host: HostView) -> Selection:
        return as_selection(self.function(told, host))

    def __repr__(self) -> str:
        return written(self.function)


@COMBINATORS.register(specs.OR)
@dataclass(frozen=True, slots=True, repr=False)
class Either(Wrapping):
    """`a | b`: declares what one of the two declares, `a`'s first; searchable is what either offers.

    So a tool is withheld only when both withhold it: `builtin-only | recent` leaves all searchable.
    """

    first: Any
    second: Any

    def __post_init__(self) -> None:
        resolve_into(self, "first", "second")

    def __call__(self, told: Sequence[Tool], host: HostView) -> Selection:
        first, second = (asked(one, told, host) for one in self.inner)
        notices = tuple(dict.fromkeys((*first.notices, *second.notices)))
        everything = toolset(told).names
        whole = everything is first.searchable or everything is second.searchable
        searchable = everything if whole else union(first.searchable, second.searchable)
        return Selection(union(first.declared, second.declared), searchable, notices)

    def __repr__(self) -> str:
        return f"{written(self.first)} | {_within(self.second, Either)}"


@COMBINATORS.register(specs.AND)
@dataclass(frozen=True, slots=True, repr=False)
class Narrowed(Wrapping):
    """`a & "pattern"`: of what `a` declares only what matches is declared, the rest is searchable."""

    of: Any
    patterns: Any

    def __post_init__(self) -> None:
        resolve_into(self, "of")
        object.__setattr__(self, "patterns", checks.patterns("&", self.patterns))

    def __call__(self, told: Sequence[Tool], host: HostView) -> Selection:
        found = asked(self.of, told, host)
        matching = set(toolset(told).matching(self.patterns))
        declared = [name for name in found.declared if name in matching]
        return Selection(declared, reachable(found, told), found.notices)

    def __repr__(self) -> str:
        return f"{_within(self.of, Either)} & {one_or_all(self.patterns)}"


@COMBINATORS.register(".cap")
@dataclass(frozen=True, slots=True, repr=False)
class Capped(Wrapping):
    """`a.cap(tokens)`: of what `a` declares as many as fit, the most wanted first; the rest is searchable.

    It ends at the first tool that does not fit: what is wanted less never takes the place of what is wanted more.
    """

    of: Any
    tokens: int
    static: ClassVar[bool] = False

    def __post_init__(self) -> None:
        resolve_into(self, "of")
        checks.whole("cap", "tokens", self.tokens, 0)

    def __call__(self, told: Sequence[Tool], host: HostView) -> Selection:
        found = asked(self.of, told, host)
        cost, left, kept = costs(told, host.tokens), self.tokens, []
        for name in found.declared:
            left -= cost[name] if name != SEARCH else 0
            if left < 0:
                break
            kept.append(name)
        whole = len(kept) == len(found.declared)
        return found if whole else Selection(kept, reachable(found, told), found.notices)

    def __repr__(self) -> str:
        return f"{_within(self.of, Either, Narrowed)}.cap({self.tokens!r})"


@COMBINATORS.register(".pin")
@dataclass(frozen=True, slots=True, repr=False)
class Pinning(Wrapping):
    """`a.pin(patterns)`: every told tool that matches is declared, before what `a` declares."""

    of: Any
    patterns: Any

    def __post_init__(self) -> None:
        resolve_into(self, "of")
        object.__setattr__(self, "patterns", checks.patterns("pin", self.patterns))

    def __call__(self, told: Sequence[Tool], host: HostView) -> Selection:
        found = asked(self.of, told, host)
        return Selection(union(toolset(told).matching(self.patterns), found.declared), found.searchable, found.notices)

    def __repr__(self) -> str:
        return f"{_within(self.of, Either, Narrowed)}.pin({one_or_all(self.patterns)})"


def _within(selector: Any, *looser: type) -> str:
    """Return a selector as it stands in an expression, in brackets when it binds looser."""
    return f"({written(selector)})" if isinstance(selector, looser) else written(selector)


def one_or_all(patterns: tuple[str, ...]) -> str:
    """Return patterns as a spec writes them: one as it is, several in brackets."""
    return repr(patterns[0] if len(patterns) == 1 else patterns)


def asked(selector: Any, told: Sequence[Tool], host: HostView) -> Selection:
    """Return what a part selects; what a function returns is checked first (`docs/semantics.md` S7)."""
    found = selector(told, host)
    return found if isinstance(selector, Combining) and isinstance(found, Selection) else as_selection(found)


def reachable(found: Selection, told: Sequence[Tool]) -> Sequence[str]:
    """Return all that a selection does not withhold."""
    return found.searchable if found.searchable is toolset(told).names else union(found.searchable, found.declared)


def union(first: Sequence[str], second: Sequence[str]) -> Sequence[str]:
    """Return the names of both, each once, those of `first` before the others."""
    if not second or first is second:
        return first
    return tuple(dict.fromkeys((*first, *second))) if first else second
