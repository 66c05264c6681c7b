"""One registry for every plug-in point: a decorator, an entry point, `pkg.mod:name`, and what is built in."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache, partial, reduce
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from inspect import Parameter, Signature, signature
from typing import Any, TypeVar

from toolkit import specs
from toolkit.errors import InputError, UnknownNameError

P = TypeVar("P")


@dataclass(frozen=True, slots=True, repr=False)
class Bound:
    """A function with its options, called with what comes before them; two are equal when both are."""

    spec: str = field(compare=False)
    function: Callable[..., Any]
    options: Mapping[str, Any]
    args: tuple[Any, ...] = ()

    def __call__(self, *given: Any) -> Any:
        return self.function(*given, *self.args, **self.options)

    def __hash__(self) -> int:
        return hash((self.function, frozenset(self.options)))

    def __repr__(self) -> str:
        return self.spec


@dataclass(frozen=True, slots=True)
class Registry:
    """What has a name at one plug-in point: what is registered here, what is built in, what packages bring.

    Args:
        kind: What messages call one: `selector`.
        group: The group of entry points under which packages bring theirs.
        given: How many arguments a call gives before the options: 2 for a selector `(told, host, k=8)`.
        builds: Whether a class (or `functools.partial` of one) is built of options alone, not called as a function is.
        wants: What one has to be, as the message says it about what is not.
        fits: Whether something is one.
        built_in: By name, each as it is, or as `package.module:name` of the room, imported when it is asked for.
        registered: What the decorator put here.
    """

    kind: str
    group: str
    given: int = 0
    builds: bool = True
    wants: str = "something to call"
    fits: Callable[[Any], bool] = callable
    built_in: dict[str, Any] = field(default_factory=dict)
    registered: dict[str, Any] = field(default_factory=dict)

    def register(self, name: str) -> Callable[[P], P]:
        """Register one under a name, before any other of that name; a decorator."""

        def keep(one: P) -> P:
            self.registered[name] = self.checked(one)
            return one

        return keep

    def known(self) -> list[str]:
        """Return the names, sorted."""
        return sorted({*self.registered, *self.built_in, *points(self.group)})

    def find(self, name: str) -> Any:
        """Return what stands under a name, or at `pkg.mod:name`.

        Raises:
            UnknownNameError: There is none; the nearest is named with its options (`docs/semantics.md` S8).
            InputError: It cannot be imported, or is something else.
        """
        for one in (self.registered, self.built_in):
            if name in one:
                return self._imported(one[name]) if isinstance(one[name], str) else one[name]
        if name in points(self.group):
            point = points(self.group)[name]
            return self.checked(self._imported(f"{point.module}:{point.attr}"))
        if ":" in name:
            return self.checked(self._imported(name))
        error = UnknownNameError(self.kind, name, self.known())
        if error.nearest is not None and callable(near := self.find(error.nearest)):
            error.hint += f" {error.nearest} takes: {', '.join(self._options(near)) or 'nothing'}."
        raise error

    def all(self) -> list[Any]:
        """Return every one: the last registered first, then what packages bring, then what is built in."""
        names = dict.fromkeys((*reversed(self.registered), *points(self.group), *self.built_in))
        return [self.find(name) for name in names]

    def name_of(self, one: Any) -> str | None:
        """Return the name under which something is registered or brought by a package, or None."""
        brought = {name: _loaded(point.module, point.attr) for name, point in points(self.group).items()}
        return next((name for name, named in (*self.registered.items(), *brought.items()) if named is one), None)

    def make(self, name: str, args: tuple[Any, ...] = (), options: Mapping[str, Any] = {}) -> Any:
        """Return the one of a name with its options: a class built, a function that holds them, or as it is.

        Raises:
            UnknownNameError: There is none of that name.
            InputError: It cannot be imported, or an option is unknown, missing or out of range.
        """
        found = self.find(name)
        what = f"{self.kind} {name!r}"
        spec = specs.format(name, options, args)
        args, options = specs.bind(what, self._parameters(found), args, options)
        if not self._is_built(found):
            as_it_is = self.builds and not (args or options)
            return found if as_it_is else Bound(spec, found, options, args)
        try:
            return found(*args, **options)
        except TypeError as error:
            raise InputError(f"{what}: {error}.", hint=specs.takes(self._parameters(found))) from error

    def options(self, name: str) -> list[str]:
        """Return the options that a spec of this name may hold; see `find` for what it raises."""
        return self._options(self.find(name))

    def checked(self, one: Any) -> Any:
        """Return one that is what stands here, or raise InputError."""
        if not self.fits(one):
            raise InputError(f"a {self.kind} is {self.wants}, not {one!r}.")
        return one

    def _imported(self, target: str) -> Any:
        module, _, path = target.partition(":")
        try:
            return reduce(getattr, path.split("."), import_module(module))
        except (ImportError, AttributeError, ValueError) as error:
            what = f"{self.kind} {target!r} cannot be imported: {error}."
            raise InputError(what, hint="Expected package.module:name.") from error

    def _options(self, found: Any) -> list[str]:
        return specs.options(self._parameters(found))

    def _is_built(self, found: Any) -> bool:
        return self.builds and isinstance(found.func if isinstance(found, partial) else found, type)

    def _parameters(self, found: Any) -> list[Parameter]:
        before = 0 if self._is_built(found) else self.given
        return list(_signature(found).parameters.values())[before:] if callable(found) else []


def points(group: str) -> Mapping[str, EntryPoint]:
    """Return the entry points of a group by name, looked up again when the places that modules come from change."""
    return _points(group, tuple(sys.path))


@lru_cache(maxsize=64)
def _points(group: str, places: tuple[str, ...]) -> Mapping[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=group)}


def _loaded(module: str, path: str) -> Any:
    return getattr(sys.modules.get(module), path, None)


def _signature(of: Any) -> Signature:
    """Return a signature; a class's is worked out once, since every replay of a session builds its selector."""
    return _signature_of_class(of) if isinstance(of, type) else signature(of)


_signature_of_class = lru_cache(maxsize=256)(signature)
