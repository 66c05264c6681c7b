"""Calls and searches: what the engine says of each, and the code that the model reads (`docs/semantics.md` C, Q)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

from toolkit.engine.catalog import admit, by_wire, listed, listed_keys
from toolkit.engine.offer import Offer
from toolkit.engine.ports import Answer, Checker
from toolkit.engine.state import Basis, Span, State
from toolkit.engine.visibility import in_scope, is_hidden, permitted, policy_verdict
from toolkit.errors import IllegalStepError
from toolkit.tool import SEARCH, Tool
from toolkit.toolset import ToolSet

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
    searchable: ToolSet
    declared: ToolSet


def judge(state: State, id: str, name: str, arguments: Any, checker: Checker, confirmed: bool = False) -> Verdict:
    """Say what becomes of a call, in the order of checks of C1; the state does not change (C3).

    Args:
        state: What is known.
        id: The turn (`MAIN`) or step that calls.
        name: Full or wire name.
        arguments: What the model wrote.
        checker: Says what is wrong with arguments by a schema.
        confirmed: The person confirmed a call that the policy asks about.

    Raises:
        IllegalStepError: Nothing of that id is in a pass (B9).
    """
    span, full = state.caller(id), _full_name(state, name)
    refusal = _refusal(state, span, full) or _wrong_arguments(state, span, full, arguments, checker)
    if refusal is not None:
        return _refused(state, span, full, *refusal)
    tool = span.offer.get(full)
    code = "ask" if policy_verdict(state.policy, full) == "ask" and not confirmed else "ok"
    return Verdict(code, code, full, tool, span.offer)


def check_pass(state: State, id: str, pass_no: int) -> None:
    """Raise IllegalStepError unless this pass is the newest of an open turn or step (B9)."""
    newest = state.span(id).pass_no
    if newest != pass_no:
        raise IllegalStepError(f"pass {pass_no} is over: pass {newest} has started.", hint="Call on the newest pass.")


def _basis(state: State) -> Basis:
    assert state.basis is not None
    return state.basis


def _full_name(state: State, name: str) -> str:
    tools = _basis(state).catalog.tools
    return name if name in tools.by_name else tools.derived(by_wire).get(name, name)


def _refusal(state: State, span: Span, name: str) -> tuple[str, str] | None:
    """Return (code, detail) of the first check that fails before the arguments (C1), or None."""
    if name not in _basis(state).catalog.tools.by_name:
        return UNKNOWN, ""
    if name not in span.visible or not permitted(_scopes(state, span), state.policy, name):
        return "denied", ""
    told = span.offer.get(name)
    if told is None:
        return "not_offered", ""
    if not is_alive(state, told):
        return "unavailable", ""
    if state.profile.gate == "strict" and not is_callable(state, span, name):
        return "not_found_yet", ""
    return None


def _wrong_arguments(state: State, span: Span, name: str, arguments: Any, checker: Checker) -> tuple[str, str] | None:
    told = span.offer.get(name)
    if told is None or name == SEARCH or state.profile.gate == "executes":
        return None
    wrong = checker(told.schema_text, arguments)
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
    return (tool.name, tool.source) in listed_keys(state.listing) and (
        tool.server is None or tool.server not in state.down
    )


def is_callable(state: State, span: Span, name: str) -> bool:
    """Say whether an offered tool is declared, or was found early enough (Q6, Q7)."""
    if name in span.offer.declared.by_name:
        return True
    found = span.found.get(name)
    return found is not None and (found < span.pass_no or state.profile.same_pass == "allow")


def request_search(
    state: State, id: str, arguments: Mapping[str, Any], confirmed: bool = False
) -> Verdict | SearchRequest:
    """Check a search like any call (C1, Q5), and say over what it may run (Q1, Q10)."""
    span = state.caller(id)
    refusal = _refusal(state, span, SEARCH) or _wrong_search(arguments)
    if refusal is not None:
        return _refused(state, span, SEARCH, *refusal)
    if policy_verdict(state.policy, SEARCH) == "ask" and not confirmed:
        return Verdict("ask", "ask", SEARCH, span.offer.get(SEARCH), span.offer)
    limit = int(arguments.get("limit", state.profile.limit))
    searchable, declared = _now_visible(state, span)
    return SearchRequest(arguments["query"], min(limit, state.profile.limit_max), searchable, declared)


def _wrong_search(arguments: Any) -> tuple[str, str] | None:
    query = arguments.get("query") if isinstance(arguments, Mapping) else None
    if not isinstance(query, str) or not query.strip():
        return "invalid_arguments", "query must be text that is not blank"
    limit = arguments.get("limit", 1)
    whole = isinstance(limit, int) or (isinstance(limit, float) and limit.is_integer())
    if isinstance(limit, bool) or not whole or limit < 1:
        return "invalid_arguments", f"limit must be a whole number of at least 1, not {limit!r}"
    return None


def _now_visible(state: State, span: Span) -> tuple[ToolSet, ToolSet]:
    """Return the searchable and the declared tools that are still visible and alive now (Q1, Q10, B3, B4)."""
    searchable, declared = span.offer.searchable, span.offer.declared
    if state.unchanged and not span.scopes:
        return searchable, declared
    scopes = _scopes(state, span)

    def gone(tools: ToolSet) -> set[str]:
        return {t.name for t in tools if not permitted(scopes, state.policy, t.name) or not is_alive(state, t)}

    return searchable.without(gone(searchable)), declared.without(gone(declared))


def _down_sources(state: State, span: Span) -> tuple[str, ...]:
    """Return the servers that are down and that the caller may hear of (Q10)."""
    if not state.down:
        return ()
    rules = (*span.rules, (_scopes(state, span), state.policy))
    hides = _basis(state).now[3]
    everything = admit(listed(state.listing), _basis(state).catalog.tools.by_name).tools

    def would_be_told(tool: Tool) -> bool:
        return not is_hidden(hides, tool.name) and all(permitted(*rule, tool.name) for rule in rules)

    told = {tool.server for tool in everything if tool.server in state.down and would_be_told(tool)}
    if not any(scopes for scopes, _ in rules):
        told |= state.down - {tool.server for tool in listed(state.listing)}
    return tuple(sorted(server for server in told if server))


def answered(state: State, id: str, given: Any, request: SearchRequest) -> Verdict:
    """Take what a searcher gave: of what it names only what is searchable and visible now counts, `limit` of it (Q8).

    Raises:
        TypeError, ValueError: It is no answer.
    """
    span = state.span(id)
    answer = replace(kept(given, *_now_visible(state, span), request.limit), down=_down_sources(state, span))
    return Verdict("ok", "ok", SEARCH, span.offer.get(SEARCH), span.offer, "", answer)


def kept(given: Any, searchable: ToolSet, declared: ToolSet, limit: int) -> Answer:
    """Return of a searcher's answer what may be shown: searchable tools, each once, at most `limit` (Q1, Q8).

    Raises:
        TypeError, ValueError: It is no answer.
    """
    if not isinstance(given, Answer):
        raise TypeError(f"an Answer was expected, a {type(given).__name__} came")
    hits: dict[str, float] = {}
    for name, score in given.hits:
        if name in searchable.by_name:
            hits.setdefault(name, float(score))
    return replace(
        given,
        hits=tuple(islice(hits.items(), limit)),
        matched=max(len(hits), min(int(given.matched), len(searchable))),
        unmatched_words=_texts(given.unmatched_words),
        declared_matches=tuple(name for name in given.declared_matches if name in declared.by_name),
        down=(),
        notices=_texts(given.notices),
    )


def _texts(given: Any) -> tuple[str, ...]:
    texts = tuple(given)
    if isinstance(given, str) or not all(isinstance(text, str) for text in texts):
        raise TypeError("words and notices are lists of texts")
    return texts


def search_failed(state: State, id: str, error: BaseException) -> Verdict:
    """Answer a search that failed inside: an error result, nothing is found (Q8)."""
    offer = state.span(id).offer
    return Verdict("search_failed", "search_failed", SEARCH, offer.get(SEARCH), offer, type(error).__name__)
