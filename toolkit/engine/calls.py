"""Calls and searches: what the engine says of each, and what the model reads of that (`docs/semantics.md` C, Q)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from dataclasses import replace as with_changes
from itertools import islice
from typing import Any

from msgspec.structs import replace

from toolkit.engine import texts
from toolkit.engine.offer import Offer
from toolkit.engine.ports import Answer
from toolkit.engine.roster import admit
from toolkit.engine.schema import checker
from toolkit.engine.state import Basis, Span, State
from toolkit.engine.turns import span_of, with_span
from toolkit.engine.visibility import in_scope, is_hidden, permitted, policy_verdict
from toolkit.errors import IllegalStep
from toolkit.tool import SEARCH, Tool

UNKNOWN = "unknown_tool"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of a call (section 12).

    Attributes:
        code: The host's verdict; `reads` is the code that the model reads.
        name: The full name that was called, as far as it is known.
        tool: The tool as the model was told it, when it is offered.
        detail: What was wrong with the arguments, or inside a search.
        answer: What a call to `tools.search` answered.
        offer: The offer that the call was judged against.
    """

    code: str
    reads: str
    name: str
    tool: Tool | None
    offer: Offer = field(repr=False, compare=False)
    detail: str = ""
    answer: Answer | None = None

    @property
    def text(self) -> str:
        """What the model reads: a refusal, or a search's result; empty when a tool is to run."""
        if self.answer is not None:
            return texts.search_result(self.answer, self.offer)
        return "" if self.reads in ("ok", "ask") else texts.refusal(self.reads, self.name, self.detail, self.offer)

    @property
    def executed(self) -> bool:
        return self.code == "ok"

    @property
    def names(self) -> tuple[str, ...]:
        """The names that a search answered, best first."""
        return self.answer.names if self.answer else ()

    def __iter__(self) -> Iterator[tuple[str, float]]:
        return iter(self.answer.hits if self.answer else ())


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """A search that may run: over these tools and no others (Q1, Q2)."""

    query: str
    limit: int
    searchable: tuple[Tool, ...]
    declared: tuple[Tool, ...]
    down: tuple[str, ...]


def judge(state: State, id: str, name: str, arguments: Any, confirmed: bool = False) -> Verdict:
    """Say what becomes of a call, in the order of checks of C1; the state does not change (C3).

    `confirmed` says that a call which the policy asks about was confirmed.
    """
    span, full = _caller(state, id), _full_name(state, name)
    refusal = _refusal(state, span, full, arguments)
    if refusal is not None:
        return _refused(state, span, full, *refusal)
    tool = span.offer.get(full)
    code = "ask" if policy_verdict(state.policy, full) == "ask" and not confirmed else "ok"
    return Verdict(code, code, full, tool, span.offer)


def _caller(state: State, id: str) -> Span:
    span = span_of(state, id)
    if span.pass_no == 0:
        raise IllegalStep("no pass has started.", hint="Start a pass before its calls and searches.")
    return span


def check_pass(state: State, id: str, pass_no: int) -> None:
    """Raise IllegalStep unless this pass is the newest of an open turn or step (B9)."""
    newest = span_of(state, id).pass_no
    if newest != pass_no:
        raise IllegalStep(f"pass {pass_no} is over: pass {newest} has started.", hint="Call on the newest pass.")


def _basis(state: State) -> Basis:
    assert state.basis is not None
    return state.basis


def _full_name(state: State, name: str) -> str:
    roster = _basis(state).roster
    return name if name in roster.by_name else roster.by_wire.get(name, name)


def _refusal(state: State, span: Span, name: str, arguments: Any) -> tuple[str, str] | None:
    """Return (code, detail) of the first check that fails (C1), or None."""
    tool = _basis(state).roster.by_name.get(name)
    if tool is None:
        return UNKNOWN, ""
    if name not in span.visible or not permitted(_scopes(state, span), state.policy, name):
        return "denied", ""
    told = span.offer.get(name)
    if told is None:
        return "not_offered", ""
    if not is_alive(state, told):
        return "unavailable", ""
    gate = state.profile.gate
    if gate == "strict" and not is_callable(state, span, name):
        return "not_found_yet", ""
    wrong = checker(told.schema_text)(arguments) if name != SEARCH and gate != "executes" else None
    return ("invalid_arguments", wrong) if wrong else None


def _refused(state: State, span: Span, name: str, code: str, detail: str) -> Verdict:
    told = span.offer.get(name)
    reads = code
    if code == "not_offered" or (code == "denied" and (told is None or not in_scope(_scopes(state, span), name))):
        reads = UNKNOWN
    return Verdict(code, reads, name, told, span.offer, detail)


def _scopes(state: State, span: Span) -> tuple[tuple[str, ...], ...]:
    return (*state.session_scopes, *span.scopes)


def is_alive(state: State, tool: Tool) -> bool:
    """Say whether the tool is listed by its source now, and its server is up (B4)."""
    return (tool.name, tool.source) in state.listing.keys and (tool.server is None or tool.server not in state.down)


def is_callable(state: State, span: Span, name: str) -> bool:
    """Say whether an offered tool is declared, or was found early enough (Q6, Q7)."""
    if name in span.offer.declared_by_name:
        return True
    found = span.found.get(name)
    return found is not None and (found < span.pass_no or state.profile.same_pass == "allow")


def request_search(
    state: State, id: str, arguments: Mapping[str, Any], confirmed: bool = False
) -> Verdict | SearchRequest:
    """Check a search like any call (C1, Q5), and say over what it may run (Q1, Q10)."""
    span = _caller(state, id)
    refusal = _refusal(state, span, SEARCH, arguments) or _wrong_search(arguments)
    if refusal is not None:
        return _refused(state, span, SEARCH, *refusal)
    if policy_verdict(state.policy, SEARCH) == "ask" and not confirmed:
        return Verdict("ask", "ask", SEARCH, span.offer.get(SEARCH), span.offer)
    limit = int(arguments.get("limit", state.profile.limit))
    searchable, declared = _now_visible(state, span)
    return SearchRequest(
        arguments["query"], min(limit, state.profile.limit_max), searchable, declared, _down_sources(state, span)
    )


def _wrong_search(arguments: Any) -> tuple[str, str] | None:
    query = arguments.get("query") if isinstance(arguments, Mapping) else None
    if not isinstance(query, str) or not query.strip():
        return "invalid_arguments", "query must be text that is not blank"
    limit = arguments.get("limit", 1)
    whole = isinstance(limit, int) or (isinstance(limit, float) and limit.is_integer())
    if isinstance(limit, bool) or not whole or limit < 1:
        return "invalid_arguments", f"limit must be a whole number of at least 1, not {limit!r}"
    return None


def _now_visible(state: State, span: Span) -> tuple[tuple[Tool, ...], tuple[Tool, ...]]:
    """Return the searchable and the declared tools that are still visible and alive now (Q1, Q10, B3, B4)."""
    declared = span.offer.declared
    if state.unchanged and not span.scopes:
        return span.offer.searchable, declared
    scopes = _scopes(state, span)

    def stays(tool: Tool) -> bool:
        return permitted(scopes, state.policy, tool.name) and is_alive(state, tool)

    return tuple(filter(stays, span.offer.searchable)), tuple(filter(stays, declared))


def _down_sources(state: State, span: Span) -> tuple[str, ...]:
    """Return the servers that are down and that the caller may hear of (Q10)."""
    if not state.down:
        return ()
    rules = (*span.rules, (_scopes(state, span), state.policy))
    hides = _basis(state).now[3]
    everything = admit(state.listing.tools, _basis(state).roster.sources).tools

    def would_be_told(tool: Tool) -> bool:
        return not is_hidden(hides, tool.name) and all(permitted(*rule, tool.name) for rule in rules)

    told = {tool.server for tool in everything if tool.server in state.down and would_be_told(tool)}
    if not any(scopes for scopes, _ in rules):
        told |= state.down - {tool.server for tool in state.listing.tools}
    return tuple(sorted(server for server in told if server))


def _counted(given: Any, request: SearchRequest) -> Answer:
    """Return what counts of a searcher's answer: `limit` of the tools that it was asked about, each once (Q8)."""
    if not isinstance(given, Answer):
        raise TypeError(f"an Answer was expected, a {type(given).__name__} came")
    asked, told = {tool.name for tool in request.searchable}, {tool.name for tool in request.declared}
    hits: dict[str, float] = {}
    for name, score in given.hits:
        if name in asked:
            hits.setdefault(name, float(score))
    first = tuple(islice(hits.items(), request.limit))
    matches = tuple(name for name in given.declared_matches if name in told)
    return with_changes(given, hits=first, declared_matches=matches, down=request.down)


def found(state: State, id: str, given: Any, request: SearchRequest) -> tuple[State, Verdict]:
    """Take a search's answer: its hits are found from the next pass on (Q6).

    Raises:
        TypeError, ValueError: What the searcher gave is no answer (Q8); nothing has changed.
    """
    span, answer = span_of(state, id), _counted(given, request)
    only_newest = state.profile.found_until == "last_search"
    fresh = {name: span.found.get(name, span.pass_no) for name in answer.names}
    pending = tuple(dict.fromkeys((*state.pending, *answer.notices)))
    after = with_span(
        replace(state, pending=pending), replace(span, found=fresh if only_newest else {**span.found, **fresh})
    )
    if span.parent is None and state.profile.found_until != "turn":
        outlives = dict.fromkeys(fresh, state.turn_no)
        after = replace(after, found=outlives if only_newest else {**state.found, **outlives})
    return after, Verdict("ok", "ok", SEARCH, span.offer.get(SEARCH), span.offer, "", answer)


def search_failed(state: State, id: str, error: BaseException) -> Verdict:
    """Answer a search that failed inside: an error result, nothing is found (Q8)."""
    offer = span_of(state, id).offer
    return Verdict("search_failed", "search_failed", SEARCH, offer.get(SEARCH), offer, type(error).__name__)
