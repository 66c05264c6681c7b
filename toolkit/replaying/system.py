"""A system: the selector, retriever, profile and query model that are compared as one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from toolkit.replaying.habits import STEADY, Searching
from toolkit.replaying.profiles import profile
from toolkit.replaying.query_models import OPTIMISTIC, check_query_model
from toolkit.selectors import label, ready

NONE = "none"
ORACLE = "oracle"
ORACLE_COST = "oracle_cost"
KNOWING = (NONE, ORACLE, ORACLE_COST)
"""Bounds that are no selectors: a host could not run them."""
BOUNDS = ("all", *KNOWING)


@dataclass(frozen=True, slots=True)
class System:
    """What is compared: `name` tells all that differs from the defaults."""

    selector: Any = "all"
    retriever: str | None = None
    profile: str = "reference"
    query_model: str = "own_words"
    searching: Searching = STEADY

    @property
    def name(self) -> str:
        """The selector's spec, with the query model where it is optimistic."""
        optimistic = f" [{self.query_model}]" if self.query_model in OPTIMISTIC else ""
        return label(self.selector) + optimistic

    def check(self) -> System:
        """Return the system when all its names are known; raise before anything runs otherwise (S8)."""
        check_query_model(self.query_model)
        profile(self.profile)
        if self.selector not in KNOWING:
            ready(self.selector)
        return self

    def __str__(self) -> str:
        return self.name
