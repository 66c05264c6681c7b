"""The public sets that packages carry, read from `sets.toml`: which package, what is in it, under what licence."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from toolkit.errors import UnknownNameError


@dataclass(frozen=True, slots=True)
class DataSet:
    """A public set and the one package file that carries it; `form` names its converter, `size` is in bytes."""

    name: str
    about: str
    licence: str
    package: str
    version: str
    file: str
    sha256: str
    size: int
    form: str
    tools: int
    queries: int
    sessions: int
    note: str

    @property
    def requirement(self) -> str:
        """The package as pip takes it: `bfcl-eval==2026.3.23`."""
        return f"{self.package}=={self.version}"


@cache
def data_sets() -> dict[str, DataSet]:
    """Return the known sets by name.

    >>> data_sets()["nestful"].requirement
    'nestful-wrapper==0.1.7'
    """
    text = (files("toolkit.formats.datasets") / "sets.toml").read_text("utf-8")
    return {name: DataSet(name, **table) for name, table in tomllib.loads(text).items()}


def data_set(name: str) -> DataSet:
    """Return the set of that name.

    Raises:
        UnknownNameError: There is none; the message names the nearest.
    """
    known = data_sets()
    if name not in known:
        raise UnknownNameError("data set", name, known)
    return known[name]
