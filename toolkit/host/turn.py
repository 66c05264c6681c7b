"""An open turn or step, and its passes, as a live host drives them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol

from toolkit.engine import calls
from toolkit.engine.boundary import Boundary, step_boundary
from toolkit.engine.calls import SearchRequest, Verdict
from toolkit.engine.offer import Offer
from toolkit.engine.ports import Recorder, Searcher, Selector
from toolkit.engine.state import MAIN, State
from toolkit.engine.view import EarlierTurn, HostView, Scored
from toolkit.engine.visibility import as_patterns
from toolkit.errors import IllegalStepError
from toolkit.host.choosing import choose
from toolkit.host.schema import wrong
from toolkit.tool import SEARCH, SEARCH_NAMES
from toolkit.toolset import ToolSet


class Owner(Protocol):
    """What a turn asks of its host: the state and its changes, the searcher, and the past."""

    state: State
    note: Recorder
    earlier: tuple[EarlierTurn, ...]
    last_offer: Offer
    selector_trips: int
    facts: dict[str, Any]
    time_limit: float | None
    turn: Turn | None

    @property
    def searcher(self) -> Searcher: ...
    def ranking(self, query: str, told: ToolSet, k: int, retriever: str | None) -> Scored: ...
    def change(self, event: str, **body: Any) -> None: ...
    def end_turn(self) -> None: ...


class Turn:
    """An open turn, or a step in one (A3): one offer, and the passes that live by it.

    Attributes:
        told: What the selector was given to split.
        view: What it saw of the session, when there is a selector.
    """

    def __init__(self, host: Owner, id: str, input: str, root: Turn | None = None) -> None:
        self.host, self.id, self.input, self._root = host, id, input, root
        self.offer = Offer()
        self.notices: tuple[str, ...] = ()
        self.details: Mapping[str, str] = {}
        self.calls: list[str] = []
        self.searches: list[str] = []
        self.steps_started = self.passes_started = 0
        self.told = ToolSet()
        self.view = HostView()
        self._selector: Selector | None = None

    def open(self, event: str, boundary: Boundary, selector: Selector | None) -> None:
        """Ask the selector and start; the notices say what came up (section 12)."""
        self.told, self._selector = boundary.span.told, selector
        offer, caused, details = choose(boundary, selector, self._seen, self.host.time_limit)
        self.host.change(event, boundary=boundary, offer=offer, caused=caused)
        self.host.selector_trips += self._selector is not None
        self.offer, self.details = offer, details
        self.notices = tuple(dict.fromkeys((*boundary.notices, *caused)))

    def _seen(self) -> HostView:
        host, told, before = self.host, self.told, self.host.last_offer
        self.view = HostView(
            turn_no=host.state.turn_no + (self.id == MAIN),
            turn_input=self.input,
            earlier=host.earlier,
            declared_before=before.declared.names,
            searchable_before=before.searchable.names,
            _ranker=lambda query, k, retriever: host.ranking(query, told, k, retriever),
            **host.facts,
        )
        return self.view

    @property
    def root(self) -> Turn:
        """The turn that a step is in; a turn is its own, without holding itself in memory."""
        return self._root or self

    @property
    def declared(self) -> tuple[str, ...]:
        """Names declared in every prompt of this turn, in canonical order (B5)."""
        return self.offer.declared.names

    @property
    def searchable(self) -> tuple[str, ...]:
        """Names that a search may answer, in canonical order."""
        return self.offer.searchable.names

    @property
    def withheld(self) -> tuple[str, ...]:
        """Told names that are on neither list (S3)."""
        return self.offer.withheld.names

    @property
    def definitions(self) -> str:
        """The declared bytes: the same for every pass of the turn (B1, B5)."""
        return self.offer.definitions

    def start_pass(self) -> Pass:
        """Start the next request to the model (Q6)."""
        self.check_open()
        self.host.change("pass", id=self.id)
        self.root.passes_started += 1
        self.host.note("pass", span=self.id)
        return Pass(self, self.host.state.span(self.id).pass_no)

    def start_step(self, scope: Iterable[str] | None = None, id: str | None = None) -> Turn:
        """Start a step or sub-agent in this turn, with a scope that can only narrow (A1)."""
        self.check_open()
        host = self.host
        self.root.steps_started += 1
        step = Turn(host, id or f"{self.id}/{self.root.steps_started}", self.input, self.root)
        scope = None if scope is None else as_patterns(scope, "a step's scope")
        step.open("step", step_boundary(host.state, step.id, scope, self.id), self._selector)
        host.note("step", id=step.id, parent=self.id, scope=scope, offer=step.offer)
        return step

    def check_open(self) -> None:
        """Raise IllegalStepError when this turn is over (B9)."""
        if self.root is not self.host.turn:
            raise IllegalStepError("this turn is over.", hint="Start the next one.")

    def end(self) -> None:
        """End the turn or step, and what it found (Q6, A3)."""
        self.check_open()
        if self.id == MAIN:
            self.host.end_turn()
        else:
            self.host.change("end_step", id=self.id)
            self.host.note("end_step", id=self.id)

    def as_earlier(self) -> EarlierTurn:
        """Return what a later turn's selector may know of this one."""
        return EarlierTurn(self.input, tuple(self.calls), tuple(self.searches), self.passes_started)


class Pass:
    """One request to the model and its reply: its searches and calls, in order (C2)."""

    def __init__(self, turn: Turn, pass_no: int) -> None:
        self.turn, self.pass_no = turn, pass_no

    def search(self, query: Any, limit: Any = None) -> Verdict:
        """Run `tools.search`; iterate the verdict for (name, score), best first (Q1)."""
        return self._search({"query": query} if limit is None else {"query": query, "limit": limit})

    def call(self, name: str, arguments: Any = None, *, confirmed: bool = False) -> Verdict:
        """Judge a call by full or wire name (C1); a call to `tools.search` searches.

        Args:
            name: Full or wire name.
            arguments: What the model wrote, a mapping.
            confirmed: The person confirmed a call that the policy asks about.
        """
        self._check_current()
        arguments = {} if arguments is None else arguments
        if name in SEARCH_NAMES:
            return self._search(arguments, confirmed)
        verdict = calls.judge(self.turn.host.state, self.turn.id, name, arguments, wrong, confirmed)
        if verdict.executed:
            self.turn.calls.append(verdict.name)
        return self._noted(name, arguments, verdict)

    def say(self, text: str, reasoning: str = "") -> None:
        """Put down what the model said in this pass, for the recording."""
        self.turn.host.note("say", span=self.turn.id, text=text, reasoning=reasoning)

    def result(self, number: int, content: str, is_error: bool = False) -> None:
        """Put down what the pass's call of that number (from 0) was answered, for the recording."""
        self.turn.host.note("result", span=self.turn.id, number=number, content=content, is_error=is_error)

    def _noted(self, name: str, arguments: Any, verdict: Verdict) -> Verdict:
        self.turn.host.note("call", span=self.turn.id, name=name, arguments=arguments, verdict=verdict)
        return verdict

    def _search(self, arguments: Any, confirmed: bool = False) -> Verdict:
        self._check_current()
        host, id = self.turn.host, self.turn.id
        request = calls.request_search(host.state, id, arguments, confirmed)
        if not isinstance(request, SearchRequest):
            return self._noted(SEARCH, arguments, request)
        self.turn.searches.append(request.query)
        try:
            given = host.searcher(request.query, request.searchable, request.declared, request.limit)
            verdict = calls.answered(host.state, id, given, request)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            return self._noted(SEARCH, arguments, calls.search_failed(host.state, id, error))
        host.change("found", id=id, names=verdict.names, notices=given.notices)
        return self._noted(SEARCH, arguments, verdict)

    def _check_current(self) -> None:
        self.turn.check_open()
        calls.check_pass(self.turn.host.state, self.turn.id, self.pass_no)
