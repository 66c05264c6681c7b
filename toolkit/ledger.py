"""From a trace to token rows: for each pass what its prompt held, bucket by bucket, and what of it was new.

The order of a prompt is tools, system, messages. The messages of a pass are those of the pass before
and more, unless the history was compacted; so the longest prefix that two passes share is the whole
earlier prompt when both declare the same, else the leading definitions that are the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from toolkit.engine.offer import Offer
from toolkit.engine.state import Basis
from toolkit.prompt_cache.rules import IDEAL, CacheRules
from toolkit.prompt_cache.session import PrefixCache, shared_definitions
from toolkit.replaying.script_tokens import Counter, PassTokens, ScriptTokens, TurnTokens
from toolkit.replaying.search_billing import TEXTS_ONLY, SearchBilling
from toolkit.replaying.trace import PassTrace, Trace, TurnTrace
from toolkit.tool import SEARCH, Tool


class PassRow(NamedTuple):
    """The tokens of one pass; the first six columns add up to `prompt_tokens`.

    `cached_prompt_tokens` is the longest prefix shared with the session's previous pass, whatever a
    provider's minimum or lifetime may be. `fallback_prompt_tokens` is what the same pass would read
    with every visible tool declared, once for each of its calls that was missed or blocked.

    `cache_read_tokens`, `cache_write_tokens` and `cache_break` (why less was read than could be) follow
    the provider's own cache rules. Where the recording has billed usage and what it declared,
    `anchored_prompt_tokens` is the bill plus the predicted difference.
    """

    session_id: str
    system: str
    turn_no: int
    pass_no: int
    kind: str
    system_tokens: int
    declared_tokens: int
    search_tool_tokens: int
    history_tokens: int
    search_history_tokens: int
    input_tokens: int
    prompt_tokens: int
    cached_prompt_tokens: int
    uncached_prompt_tokens: int
    output_tokens: int
    fallback_passes: int
    fallback_prompt_tokens: int
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    cache_break: str = ""
    billed_prompt_tokens: int | None = None
    anchored_prompt_tokens: int | None = None


def ledger(
    tokens: ScriptTokens,
    trace: Trace,
    counter: Counter,
    rules: CacheRules = IDEAL,
    billing: SearchBilling = TEXTS_ONLY,
) -> list[PassRow]:
    """Return the rows of a trace, one a pass, in order.

    Args:
        tokens: The recording's own tokens.
        trace: What the replay produced.
        counter: Who counts.
        rules: The provider's prompt cache.
        billing: What the host's tool search costs beyond the texts of its calls and results.
    """
    return list(_Ledger(tokens, trace, counter, rules, billing).rows())


@lru_cache(maxsize=256)
def _offer_tokens(offer: Offer, counter: Counter) -> tuple[int, int]:
    """Return the tokens of the declared definitions, and of `tools.search` beside them."""
    search = sum(counter.definition(tool) for tool in offer.declared if tool.name == SEARCH)
    return sum(map(counter.definition, offer.declared)) - search + counter.overhead(len(offer.declared)), search


@lru_cache(maxsize=256)
def _visible_tokens(basis: Basis, counter: Counter) -> int:
    visible = (tool for tool in basis.roster.tools if tool.name in basis.visible and tool.name != SEARCH)
    tools = list(visible)
    return sum(map(counter.definition, tools)) + counter.overhead(len(tools))


class _Ledger:
    """Goes through a trace once, keeping what the history has grown to."""

    def __init__(
        self, tokens: ScriptTokens, trace: Trace, counter: Counter, rules: CacheRules, billing: SearchBilling
    ) -> None:
        self.tokens, self.trace, self.counter, self.billing = tokens, trace, counter, billing
        self.cache = PrefixCache(rules, counter.definition, tokens.system)
        self.messages = 0
        self.history = self.searches = 0
        self.offer: Offer | None = None
        self.appended: tuple[Tool, ...] = ()
        self.appended_before: tuple[Tool, ...] = ()
        self.prompt = 0
        self.compacted = False

    def rows(self) -> Iterator[PassRow]:
        for number, (turn, tokens) in enumerate(zip(self.trace.turns, self.tokens.turns, strict=True), 1):
            self._compact(tokens.compacts)
            self.history += tokens.before
            if self.trace.profile.found_until == "turn":
                self.appended = ()
            yield from self._turn(number, turn, tokens)
            self.history += tokens.input + tokens.after

    def _compact(self, happened: bool) -> None:
        if happened:
            self.history = self.searches = self.messages = 0
            self.compacted = True
            self.cache.compact()
            if self.trace.profile.found_until == "compaction":
                self.appended = ()

    def _turn(self, number: int, turn: TurnTrace, tokens: TurnTokens) -> Iterator[PassRow]:
        self.messages += 1
        recorded = iter(tokens.passes)
        opened: PassTokens | None = None
        for one in turn.passes:
            if opened is None:
                opened = next(recorded)
                self._compact(opened.compacts)
                self.history += opened.before
            if one.is_search:
                called = sum(self.counter.text(search.call_text) for search in one.searches)
                if self.billing.own_pass:
                    yield self._row(number, turn, one, tokens.input, called, opened)
                else:
                    yield self._inside(number, one, called)
                self._searched(turn.offer, one, called)
            elif one.refused:
                called = self.counter.text(one.call_text)
                yield self._row(number, turn, one, tokens.input, called, opened)
                self.searches += called + self.counter.text(one.result_text)
                self.messages += 2
            else:
                yield self._row(number, turn, one, tokens.input, opened.reply + opened.hidden, opened)
                self.history += opened.reply + opened.results
                self.messages += opened.messages
                opened = None

    def _searched(self, offer: Offer, one: PassTrace, called: int) -> None:
        """Put a pass's searches and their answers into the history."""
        self.searches += called
        self.messages += 1 + len(one.searches)
        for search in one.searches:
            self.searches += self.counter.text(search.result_text)
            self.searches += self.billing.trip + len(search.answer) * self.billing.found
            self._append(offer, search)

    def _append(self, offer: Offer, one: PassTrace) -> None:
        """Put found definitions behind the declared ones, where the host's profile has them."""
        if self.trace.profile.schema_place == "definitions":
            new = (offer.searchable_by_name[name] for name in one.answer if name in offer.searchable_by_name)
            self.appended = tuple(dict.fromkeys((*self.appended, *new)))

    def _row(
        self, number: int, turn: TurnTrace, one: PassTrace, given: int, output: int, recorded: PassTokens
    ) -> PassRow:
        declared, search_tool = _offer_tokens(turn.offer, self.counter)
        search_tool = self.billing.prefix(own_definition=search_tool) if search_tool else 0
        declared += sum(map(self.counter.definition, self.appended))
        messages = self.history + self.searches + given
        prompt = self.tokens.system + declared + search_tool + messages
        cached = self._shared(turn.offer, declared + search_tool)
        failed = sum(call.fate in ("missed", "blocked") for call in one.calls)
        fallback = (
            failed * (prompt - declared - search_tool + _visible_tokens(turn.basis, self.counter)) if failed else 0
        )
        front = turn.offer.declared + self.appended if self.appended else turn.offer.declared
        head = declared + search_tool + self.tokens.system
        use = self.cache.use(front, head, prompt, self.messages, recorded.at)
        billed = recorded.billed if one.kind == "recorded" else None
        self.offer, self.prompt, self.compacted = turn.offer, prompt, False
        self.appended_before = self.appended
        return PassRow(
            self.trace.session_id,
            self.trace.system,
            number,
            one.pass_no,
            one.kind,
            self.tokens.system,
            declared,
            search_tool,
            self.history,
            self.searches,
            given,
            prompt,
            cached,
            prompt - cached,
            output,
            failed,
            fallback,
            use.read,
            use.write,
            use.cause or "",
            billed,
            self._anchored(billed, recorded.declared, declared + search_tool),
        )

    def _inside(self, number: int, one: PassTrace, output: int) -> PassRow:
        """Return the row of a search that ran inside the pass that asked: its prompt is not billed again."""
        who = (self.trace.session_id, self.trace.system, number, one.pass_no, "search")
        return PassRow(*who, 0, 0, 0, 0, 0, 0, 0, 0, 0, output, 0, 0)

    def _anchored(self, billed: int | None, then: int | None, now: int) -> int | None:
        """Return the bill plus the predicted difference, where the recording says what was declared."""
        return None if billed is None or then is None else billed + now - then + self.searches

    def _shared(self, offer: Offer, definitions: int) -> int:
        """Return the tokens of the longest prefix shared with the previous pass."""
        before = self.offer
        if before is None:
            return 0
        same = before is offer or before.declared == offer.declared or before.definitions == offer.definitions
        if same and self.appended == self.appended_before:
            return definitions + self.tokens.system if self.compacted else self.prompt
        old, new = before.declared + self.appended_before, offer.declared + self.appended
        return shared_definitions(old, new, self.counter.definition)
