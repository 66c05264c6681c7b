"""A system: the selector, retriever, profile and query model that are compared as one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from toolkit.replay.profiles import profile
from toolkit.replay.queries import OPTIMISTIC, query_model
from toolkit.selectors import label, resolve

ORACLE = "oracle"
BOUNDS = ("all", ORACLE)


@dataclass(frozen=True, slots=True)
class System:
    """What is compared: `name` tells all that differs from the defaults."""

    selector: Any = "all"
    retriever: str | None = None
    profile: str = "reference"
    query_model: str = "own_words"

    @property
    def name(self) -> str:
        """The selector's spec, with the query model where it is optimistic."""
        optimistic = f" [{self.query_model}]" if self.query_model in OPTIMISTIC else ""
        return label(self.selector) + optimistic

    def check(self) -> System:
        """Return the system when all its names are known; raise before anything runs otherwise (S8)."""
        query_model(self.query_model)
        profile(self.profile)
        if self.selector != ORACLE:
            resolve(self.selector)
        return self

    def __str__(self) -> str:
        return self.name
