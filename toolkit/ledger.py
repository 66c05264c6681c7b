"""From a trace to token rows: for each pass what its prompt held, bucket by bucket, and what of it was new.

The order of a prompt is tools, system, messages. The messages of a pass are those of the pass before and more, unless
the history was compacted: then none of them counts as sent before, only what stands in front of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

from toolkit.engine.offer import Offer
from toolkit.engine.state import Basis
from toolkit.prompt_cache.cache import PromptCache, Segment
from toolkit.prompt_cache.rules import IDEAL, CacheRules
from toolkit.replaying.prepared import Counter, Prepared, PreparedPass, PreparedTurn
from toolkit.replaying.search_billing import TEXTS_ONLY, SearchBilling
from toolkit.replaying.trace import BLOCKED, MISSED, PassTrace, Trace, TurnTrace
from toolkit.tool import SEARCH, Tool


class PassRow(NamedTuple):
    """The tokens of one pass; the first six token columns add up to `prompt_tokens`.

    `cached_prompt_tokens` is the longest prefix shared with any earlier pass of the session, whatever a
    provider's minimum or lifetime may be. `fallback_prompt_tokens` is what the same pass would read with every
    visible tool declared, once where it calls a tool that was missed or blocked and not known by an earlier fallback
    of its turn; `fallback_passes` is 1 then.

    `cache_read_tokens`, `cache_write_tokens` and `cache_break` (why less was read than could be) follow
    the provider's own cache rules. Where the recording has billed usage and what it declared,
    `anchored_prompt_tokens` is the bill plus the predicted difference.
    """

    session_id: str
    system: str
    turn_no: int
    pass_no: int
    kind: str
    system_tokens: int = 0
    declared_tokens: int = 0
    search_tool_tokens: int = 0
    history_tokens: int = 0
    search_history_tokens: int = 0
    input_tokens: int = 0
    prompt_tokens: int = 0
    cached_prompt_tokens: int = 0
    uncached_prompt_tokens: int = 0
    output_tokens: int = 0
    fallback_passes: int = 0
    fallback_prompt_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    cache_break: str = ""
    billed_prompt_tokens: int | None = None
    anchored_prompt_tokens: int | None = None
    window: int | None = None

    @property
    def over_window(self) -> bool:
        """True when the prompt is larger than the model's context window, where that is known: it cannot be sent."""
        return self.window is not None and self.prompt_tokens > self.window


def ledger(
    prepared: Prepared,
    trace: Trace,
    counter: Counter,
    rules: CacheRules = IDEAL,
    billing: SearchBilling = TEXTS_ONLY,
    warm: bool = False,
) -> list[PassRow]:
    """Return the rows of a trace, one a pass, in order.

    Args:
        prepared: The recording and its own tokens.
        trace: What the replay produced.
        counter: Who counts, the same that prepared it.
        rules: The provider's prompt cache.
        billing: What the host's tool search costs beyond the texts of its calls and results.
        warm: Other sessions keep the declared definitions in the cache.
    """
    return list(_Ledger(prepared, trace, counter, PromptCache(rules, warm), billing).rows())


class _Front(NamedTuple):
    """What stands before the messages: its tokens, those of `tools.search` apart, and its definitions as segments.

    `overhead` is what comes once with the first definition; `declared` has it in.
    """

    declared: int
    search: int
    tools: tuple[Segment, ...]
    overhead: int


@lru_cache(maxsize=256)
def _front(offer: Offer, counter: Counter, billing: SearchBilling, system: bool) -> _Front:
    own = sum(counter.definition(tool) for tool in offer.declared if tool.name == SEARCH)
    search = billing.prefix(own_definition=own) if own else 0
    tools = tuple(
        _defined(tool, search if tool.name == SEARCH and own else counter.definition(tool)) for tool in offer.declared
    )
    overhead = counter.overhead(len(tools), system)
    return _Front(sum(one.tokens for one in tools) - search + overhead, search, tools, overhead)


def _defined(tool: Tool, tokens: int) -> Segment:
    return Segment((tool.name, tool.description, tool.schema_text), tokens, "tools")


@lru_cache(maxsize=256)
def visible_tokens(basis: Basis, counter: Counter, system: bool) -> int:
    """Return the tokens of all visible tools declared, as a fallback does; `system` says whether a text stands by."""
    visible = (tool for tool in basis.catalog.tools if tool.name in basis.visible and tool.name != SEARCH)
    tools = list(visible)
    return sum(map(counter.definition, tools)) + counter.overhead(len(tools), system)


class _Ledger:
    """Goes through a trace once, keeping what the history has grown to."""

    def __init__(
        self, prepared: Prepared, trace: Trace, counter: Counter, cache: PromptCache, billing: SearchBilling
    ) -> None:
        self.prepared, self.trace, self.counter, self.billing = prepared, trace, counter, billing
        self.cache = cache
        self.history = self.searches = self.said = 0
        self.declared_tokens = self.search_tokens = 0
        self.appended: tuple[Tool, ...] = ()
        self.declared: tuple[Offer, tuple[Tool, ...]] | None = None
        self.known: set[str] = set()
        self.has_system = bool(prepared.session.system)

    def rows(self) -> Iterator[PassRow]:
        for number, (turn, recorded) in enumerate(zip(self.trace.turns, self.prepared.turns, strict=True), 1):
            if recorded.compacts:
                self._compact()
            self._say(recorded.before_tokens, len(recorded.before))
            self.history += recorded.before_tokens
            self._say(recorded.input_tokens)
            if self.trace.profile.found_until == "turn":
                self.appended = ()
            yield from self._turn(number, turn, recorded)
            self._say(recorded.after_tokens, len(recorded.after))
            self.history += recorded.input_tokens + recorded.after_tokens

    def _say(self, tokens: int, messages: int = 1) -> None:
        """Send new messages from now on; none is ever the same as another."""
        if messages:
            self.said += 1
            self.cache.say(Segment(self.said, tokens, "messages", messages))

    def _compact(self) -> None:
        self.history = self.searches = 0
        self.cache.drop()
        if self.trace.profile.found_until == "compaction":
            self.appended = ()

    def _turn(self, number: int, turn: TurnTrace, recorded: PreparedTurn) -> Iterator[PassRow]:
        self.known.clear()
        following = iter(recorded.passes)
        opened: PreparedPass | None = None
        for one in turn.passes:
            if opened is None:
                opened = self._opened(next(following), recorded.input_tokens)
            output = opened.reply_tokens + opened.hidden_tokens if one.kind == "recorded" else self._called(one)
            if one.is_search and not self.billing.own_pass:
                yield self._inside(number, one, output)
            else:
                yield self._row(number, turn, one, recorded.input_tokens, output, opened)
            if one.is_search:
                self._searched(turn.offer, one)
            elif one.refused:
                self._joined(self._history_of(one), 2)
            else:
                self.history += opened.reply_tokens + opened.results_tokens
                self._say(opened.reply_tokens + opened.results_tokens, opened.messages)
                opened = None

    def _called(self, one: PassTrace) -> int:
        """Return the tokens of the calls of a pass that the recording does not have, as the message that they are."""
        if one.is_search and self.billing.hosted:
            return sum(self.counter.text(made.call_text) for made in one.searches)
        return self.counter.message("assistant", "", [replace(call, result=None) for call in one.made])

    def _history_of(self, one: PassTrace) -> int:
        """Return the tokens of such a pass in the history: its message, and that of its answers."""
        if one.is_search and self.billing.hosted:
            texts = (text for made in one.searches for text in (made.call_text, made.result_text))
            return sum(map(self.counter.text, texts)) + self.billing.trip * len(one.searches)
        return self.counter.message("assistant", "", one.made)

    def _opened(self, recorded: PreparedPass, given: int) -> PreparedPass:
        """Put what joined the history before a recorded pass into it; a compaction leaves the turn's input."""
        if recorded.compacts:
            self._compact()
            self._say(given)
        self._say(recorded.before_tokens, len(recorded.before))
        self.history += recorded.before_tokens
        return recorded

    def _joined(self, tokens: int, messages: int) -> None:
        """Put what only this system's replay says into the history."""
        self.searches += tokens
        self._say(tokens, messages)

    def _searched(self, offer: Offer, one: PassTrace) -> None:
        """Put a pass's searches and their answers into the history."""
        found = self.billing.found * sum(len(search.answer) for search in one.searches)
        self._joined(self._history_of(one) + found, 1 + len(one.searches))
        for search in one.searches:
            self._append(offer, search)

    def _append(self, offer: Offer, one: PassTrace) -> None:
        """Put found definitions behind the declared ones, where the host's profile has them."""
        if self.trace.profile.schema_place == "definitions":
            new = (offer.searchable.by_name[name] for name in one.answer if name in offer.searchable.by_name)
            self.appended = tuple(dict.fromkeys((*self.appended, *new)))

    def _declare(self, offer: Offer) -> None:
        """Put what a pass declares before its messages, and what was found before it behind that."""
        if self.declared is not None and self.declared[0] is offer and self.declared[1] == self.appended:
            return
        declared, search, tools, overhead = _front(offer, self.counter, self.billing, self.has_system)
        appended = [_defined(tool, self.counter.definition(tool)) for tool in self.appended]
        self.cache.declare((*tools, *appended, Segment("", self.prepared.system_tokens + overhead, "system")))
        self.declared_tokens = declared + sum(one.tokens for one in appended)
        self.search_tokens = search
        self.declared = (offer, self.appended)

    def _row(
        self, number: int, turn: TurnTrace, one: PassTrace, given: int, output: int, recorded: PreparedPass
    ) -> PassRow:
        self._declare(turn.offer)
        definitions = self.declared_tokens + self.search_tokens
        use = self.cache.send(recorded.at)
        failed = self._failed(one)
        again = use.tokens - definitions + visible_tokens(turn.basis, self.counter, self.has_system) if failed else 0
        billed = recorded.billed if one.kind == "recorded" else None
        return PassRow(
            session_id=self.trace.session_id,
            system=self.trace.system,
            turn_no=number,
            pass_no=one.pass_no,
            kind=one.kind,
            system_tokens=self.prepared.system_tokens,
            declared_tokens=self.declared_tokens,
            search_tool_tokens=self.search_tokens,
            history_tokens=self.history,
            search_history_tokens=self.searches,
            input_tokens=given,
            prompt_tokens=use.tokens,
            cached_prompt_tokens=use.shared,
            uncached_prompt_tokens=use.tokens - use.shared,
            output_tokens=output,
            fallback_passes=int(failed),
            fallback_prompt_tokens=again,
            cache_read_tokens=use.read,
            cache_write_tokens=use.write,
            cache_break=use.cause or "",
            billed_prompt_tokens=billed,
            anchored_prompt_tokens=self._anchored(billed, recorded.declared_tokens, definitions),
        )

    def _failed(self, one: PassTrace) -> bool:
        """Say whether a pass pays a fallback, after which what it called is known until the turn ends."""
        failed = {call.name for call in one.calls if call.fate in (MISSED, BLOCKED)} - self.known
        self.known |= failed
        return bool(failed)

    def _inside(self, number: int, one: PassTrace, output: int) -> PassRow:
        """Return the row of a search that ran inside the pass that asked: its prompt is not billed again."""
        return PassRow(self.trace.session_id, self.trace.system, number, one.pass_no, "search", output_tokens=output)

    def _anchored(self, billed: int | None, then: int | None, now: int) -> int | None:
        """Return the bill plus the predicted difference, where the recording says what was declared."""
        return None if billed is None or then is None else billed + now - then + self.searches
