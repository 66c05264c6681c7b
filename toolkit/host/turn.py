"""An open turn or step, and its passes, as a live host drives them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
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
from toolkit.host.locking import locked
from toolkit.host.schema import wrong
from toolkit.plain import plain
from toolkit.tool import SEARCH, SEARCH_NAMES
from toolkit.toolset import ToolSet


class Owner(Protocol):
    """What a turn asks of its host: the state and its changes, the searcher, and the past."""

    lock: AbstractContextManager[Any]
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
    def lock(self) -> AbstractContextManager[Any]:
        return self.host.lock

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

    @locked
    def start_pass(self) -> Pass:
        """Start the next request to the model (Q6)."""
        self.check_open()
        self.host.change("pass", id=self.id)
        self.root.passes_started += 1
        self.host.note("pass", span=self.id)
        return Pass(self, self.host.state.span(self.id).pass_no)

    @locked
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

    @locked
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
        return self._search(plain({"query": query} if limit is None else {"query": query, "limit": limit}))

    @property
    def lock(self) -> AbstractContextManager[Any]:
        return self.turn.host.lock

    def call(self, name: str, arguments: Any = None, *, confirmed: bool = False) -> Verdict:
        """Judge a call by full or wire name (C1); a call to `tools.search` searches.

        Args:
            name: Full or wire name.
            arguments: What the model wrote, a mapping; what JSON cannot hold counts as the text it is shown as.
            confirmed: The person confirmed a call that the policy asks about.
        """
        arguments = {} if arguments is None else plain(arguments)
        if name in SEARCH_NAMES:
            return self._search(arguments, confirmed)
        return self._judge(name, arguments, confirmed)

    @locked
    def _judge(self, name: str, arguments: Any, confirmed: bool) -> Verdict:
        self._check_current()
        verdict = calls.judge(self.turn.host.state, self.turn.id, name, arguments, wrong, confirmed)
        if verdict.executed:
            self.turn.calls.append(verdict.name)
        return self._noted(name, arguments, verdict, confirmed)

    @locked
    def say(self, text: str, reasoning: str = "") -> None:
        """Put down what the model said in this pass, for the recording."""
        self._put("say", text=text, reasoning=reasoning)

    @locked
    def result(self, number: int, content: Any, is_error: bool = False) -> None:
        """Put down what the pass's call of that number (from 0) was answered, for the recording."""
        self._put("result", number=number, content=content, is_error=is_error)

    def _put(self, op: str, **body: Any) -> None:
        self.turn.check_open()
        self.turn.host.note(op, span=self.turn.id, pass_no=self.pass_no, **body)

    def _noted(self, name: str, arguments: Any, verdict: Verdict, confirmed: bool) -> Verdict:
        made = {"name": name, "arguments": arguments, "confirmed": confirmed}
        self.turn.host.note("call", span=self.turn.id, **made, verdict=verdict)
        return verdict

    def _search(self, arguments: Any, confirmed: bool = False) -> Verdict:
        request = self._request(arguments, confirmed)
        if not isinstance(request, SearchRequest):
            return request
        try:
            given: Any = self.turn.host.searcher(request.query, request.searchable, request.declared, request.limit)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            given = error
        return self._answered(given, request, arguments, confirmed)

    @locked
    def _request(self, arguments: Any, confirmed: bool) -> Verdict | SearchRequest:
        self._check_current()
        request = calls.request_search(self.turn.host.state, self.turn.id, arguments, confirmed)
        if not isinstance(request, SearchRequest):
            return self._noted(SEARCH, arguments, request, confirmed)
        self.turn.searches.append(request.query)
        return request

    @locked
    def _answered(self, given: Any, request: SearchRequest, arguments: Any, confirmed: bool) -> Verdict:
        """Take what the searcher gave, or raised; it is judged by what is visible now (Q8)."""
        self._check_current()
        host, id = self.turn.host, self.turn.id
        try:
            if isinstance(given, BaseException):
                raise given
            verdict = calls.answered(host.state, id, given, request)
            assert verdict.answer is not None
            host.change("found", id=id, names=verdict.names, notices=verdict.answer.notices)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            verdict = calls.search_failed(host.state, id, error)
        return self._noted(SEARCH, arguments, verdict, confirmed)

    def _check_current(self) -> None:
        self.turn.check_open()
        calls.check_pass(self.turn.host.state, self.turn.id, self.pass_no)
