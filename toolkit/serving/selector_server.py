"""`toolkit selector-server`: a selector and `tools.search`, for hosts that are written in other languages.

The server holds tools, never a conversation: whatever a decision may look at comes with its request, so
that resumed, forked and concurrent sessions of a host share one server.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import msgspec

from toolkit import __version__
from toolkit.engine.calls import kept
from toolkit.engine.offer import Offer, default_offer, rankable
from toolkit.engine.ports import Answer, Selector
from toolkit.engine.view import EarlierTurn, HostView, Scored
from toolkit.errors import InputError
from toolkit.host import listing
from toolkit.host.choosing import choice
from toolkit.prices.price import price_or_usual, window
from toolkit.search.retrievers.registry import default_retriever, known_retrievers
from toolkit.search.shared import ranking, searcher
from toolkit.selectors.registry import known_selectors, resolve, written
from toolkit.serving import contract
from toolkit.serving.rpc import NO_METHOD, NOT_READY, RpcError
from toolkit.serving.within import within
from toolkit.tokens.counter import counter_of
from toolkit.tool import SEARCH, Catalog
from toolkit.toolset import ToolSet, toolset

SELF = contract.Client("selector-toolkit", __version__)
NAME_LIMIT = 20


class SelectorServer:
    """The methods of the contract over one list of tools.

    Args:
        selector: A spec, a function, or None for rule S1.
        retriever: A retriever's spec; None is the best one installed.
        model: Whose tokens, prices and window selectors that weigh cost are told of.
        time_limit: Seconds that an answer may take where the request gives no `deadline_ms`.

    >>> server = SelectorServer("lazy", "lexical")
    >>> server("initialize", {"version": 1, "tools": [{"name": "mcp.git.log"}]}).tools
    1
    >>> server("select", {"turn_input": "what changed?"}).searchable
    ['mcp.git.log']

    Raises:
        UnknownNameError: No selector (S8) or retriever of that name is registered.
    """

    def __init__(
        self,
        selector: str | Selector | None = None,
        retriever: str | None = None,
        model: str | None = None,
        time_limit: float = 5.0,
    ) -> None:
        self.time_limit, self.ended, self.ready = time_limit, False, False
        self._take(selector, retriever, model)
        self.config: Mapping[str, Any] = {}
        self._hold(())

    def __call__(self, method: str, params: Any) -> Any:
        """Return the result of a method.

        Raises:
            RpcError: There is no such method, or it was asked too early.
            msgspec.ValidationError, InputError: The parameters are not what the contract says.
        """
        if method not in contract.METHODS:
            raise RpcError(NO_METHOD, f"no method {method!r}. Known: {', '.join(contract.METHODS)}.")
        if not self.ready and method in ("select", "search"):
            raise RpcError(NOT_READY, f"{method} needs the tools: ask initialize first.")
        asked, _ = contract.METHODS[method]
        given = () if asked is None else (msgspec.convert(params, asked),)
        return getattr(self, method)(*given)

    def initialize(self, asked: contract.Initialize) -> contract.Initialized:
        """Take the tools and make ready; may be asked again."""
        if asked.version != contract.VERSION:
            raise InputError(f"version must be {contract.VERSION}, not {asked.version}.", hint="See describe.")
        self._take(asked.selector or self.selector, asked.retriever or self.retriever, asked.model or self.model)
        self.config = MappingProxyType(asked.config)
        self._hold(asked.tools)
        getattr(self.searcher, "prepare", lambda tools: None)(self.tools)
        self.ready = True
        return contract.Initialized(
            contract.VERSION, SELF, self._spec, self.retriever, len(asked.tools) - len(self.dropped), self.dropped
        )

    def select(self, asked: contract.Select) -> contract.Selected:
        """Split what is visible into declared and searchable; a selector that fails gets rule S1 (S7)."""
        if asked.tools is not None:
            self._hold(asked.tools)
        told = self.tools if asked.visible is None else self._named(asked.visible)
        try:
            offer, notices, details = within(
                self._seconds(asked.deadline_ms),
                lambda: choice(told, self._selector, lambda: self._view(asked, told), None),
            )
        except TimeoutError as error:
            (offer, caused), details = default_offer(told), {"selector_failed": str(error)}
            notices = ("selector_failed", *caused)
        return _selected(offer, (*self._unknown(asked.visible or ()), *notices), details.get("selector_failed", ""))

    def search(self, asked: contract.Search) -> contract.Found:
        """Answer a query over what is searchable; a search that fails finds nothing and says so (Q8)."""
        if not asked.query.strip() or asked.limit < 1:
            raise InputError("query must be text that is not blank, and limit at least 1.")
        among, declared = self._only(asked.searchable).without({SEARCH}), self._only(asked.declared)
        try:
            given = within(
                self._seconds(asked.deadline_ms), lambda: self.searcher(asked.query, among, declared, asked.limit)
            )
            return _found(kept(given, among, declared, asked.limit))
        except Exception as error:
            return contract.Found([], notices=["search_failed"], detail=f"{type(error).__name__}: {error}")

    def describe(self) -> contract.Described:
        """Say what runs here, what else could, and the contract's schema."""
        names = known_selectors(), known_retrievers()
        return contract.Described(contract.VERSION, SELF, self._spec, self.retriever, *names, contract.schema())

    def shutdown(self) -> dict[str, Any]:
        """End after this answer."""
        self.ended = True
        return {}

    def _take(self, selector: str | Selector | None, retriever: str | None, model: str | None) -> None:
        self._selector = None if selector is None else resolve(selector)
        self.selector, self.retriever, self.model = selector, retriever or default_retriever(), model
        self._spec = None if selector is None else written(selector)
        self.searcher = searcher(self.retriever)
        self.facts: dict[str, Any] = {} if model is None else self._weighing(model)

    def _hold(self, rows: Sequence[contract.ToolRow]) -> None:
        catalog = listing(Catalog(row.tool() for row in rows))
        self.tools, self.dropped = toolset(catalog), [tool.name for tool in catalog.dropped]

    def _named(self, visible: Sequence[str]) -> ToolSet:
        return self.tools.subset(frozenset(visible) | {SEARCH})

    def _only(self, names: Sequence[str]) -> ToolSet:
        return self.tools.subset(frozenset(names))

    def _unknown(self, visible: Sequence[str]) -> list[str]:
        unknown = sorted(set(visible) - set(self.tools.by_name))
        return [f"unknown_tool:{name}" for name in unknown[:NAME_LIMIT]]

    def _seconds(self, deadline_ms: float | None) -> float:
        return self.time_limit if deadline_ms is None else max(deadline_ms, 0.0) / 1000

    def _view(self, asked: contract.Select, told: ToolSet) -> HostView:
        past = tuple(EarlierTurn(t.input, tuple(t.calls), tuple(t.searches), t.passes) for t in asked.earlier)
        return HostView(
            turn_no=asked.turn_no,
            turn_input=asked.turn_input,
            earlier=past,
            declared_before=tuple(asked.declared_before),
            searchable_before=tuple(asked.searchable_before),
            history_tokens=asked.history_tokens,
            config=self.config,
            _ranker=lambda query, k, retriever: self._ranking(query, told, k, retriever),
            **self.facts,
        )

    def _ranking(self, query: str, told: ToolSet, k: int, retriever: str | None) -> Scored:
        asked = self.searcher if retriever is None else searcher(retriever)
        return ranking(asked, query, told.derived(rankable), k)

    def _weighing(self, model: str) -> dict[str, Any]:
        """Return what selectors that weigh cost are told of a model."""
        counter = counter_of(model)

        def tokens(name: str) -> int:
            tool = self.tools.by_name.get(name)
            return 0 if tool is None else counter.definition(tool)

        return {"tokens": tokens, "price": price_or_usual(model), "window": window(model)}


def _selected(offer: Offer, notices: Sequence[str], detail: str) -> contract.Selected:
    declared, searchable, withheld = map(list, (offer.declared.names, offer.searchable.names, offer.withheld.names))
    return contract.Selected(declared, searchable, withheld, list(dict.fromkeys(notices)), detail)


def _found(answer: Answer) -> contract.Found:
    hits = [contract.Hit(name, score) for name, score in answer.hits]
    words, declared, notices = map(list, (answer.unmatched_words, answer.declared_matches, answer.notices))
    return contract.Found(hits, answer.matched, words, declared, notices, answer.poor)
