"""A system: the selector, retriever, profile and query model that are compared as one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from toolkit.errors import InputError
from toolkit.replaying.habits import STEADY, Searching, searching
from toolkit.replaying.profiles import profile
from toolkit.replaying.query_models import OPTIMISTIC, check_query_model
from toolkit.search import default_retriever
from toolkit.search import retriever as retriever_of
from toolkit.selectors import label, ready, resolve
from toolkit.tool import Catalog

NONE = "none"
ORACLE = "oracle"
ORACLE_COST = "oracle_cost"
KNOWING = (NONE, ORACLE, ORACLE_COST)
"""Bounds that are no selectors: a host could not run them."""
BOUNDS = ("all", *KNOWING)
PREFIXES = ("cold", "shared")


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

    @property
    def same_everywhere(self) -> bool:
        """True when it declares the same in every session that has the same tools: it looks at nothing else."""
        static = self.selector not in KNOWING and getattr(resolve(self.selector), "static", False)
        return static or self.selector == NONE

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Setting:
    """What all systems of a study have in common, and what stands around them.

    Attributes:
        retriever: What `tools.search` ranks with; the best one installed if None.
        profile: The host's rules.
        query_model: Where the counterfactual queries come from.
        searching: How the model searches.
        model: Whose tokens, cache rules and prices count; each session's own if None.
        catalog: More tools around the recorded ones.
        defer: Patterns of tools to flag deferred.
        fallback: Share of a fallback's cost that a missed or blocked call is charged, from 0 to 1.
        prefix: `cold`: each session writes its own definitions; `shared`: other sessions keep warm those that every
            session of a system declares.
    """

    retriever: str | None = None
    profile: str = "reference"
    query_model: str = "own_words"
    searching: str | Searching = STEADY
    model: str | None = None
    catalog: Catalog | None = None
    defer: tuple[str, ...] = ()
    fallback: float = 1.0
    prefix: str = "cold"

    def check(self) -> Setting:
        """Return the setting when all its names are known; raise before anything runs otherwise.

        Raises:
            UnknownNameError: A retriever, profile, query model or way of searching is not known.
            InputError: `fallback` is no share, or `prefix` is not known.
        """
        if not 0 <= self.fallback <= 1:
            raise InputError(f"fallback must be a share from 0 to 1, not {self.fallback!r}.")
        if self.prefix not in PREFIXES:
            raise InputError(f"prefix must be one of {', '.join(PREFIXES)}, not {self.prefix!r}.")
        retriever_of(self.retriever or default_retriever())
        self.system("all").check()
        return self

    def system(self, selector: Any) -> System:
        """Return a selector as a system of this setting."""
        ranks_with = self.retriever or default_retriever()
        return System(selector, ranks_with, self.profile, self.query_model, searching(self.searching))
