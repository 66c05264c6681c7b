"""What a model does to get at a tool that is searchable: the passes that it makes before the recorded one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from toolkit.engine.calls import Verdict
from toolkit.engine.profile import Profile
from toolkit.host import Host, Turn, text_of
from toolkit.replaying.prepared import PreparedPass, PreparedTurn
from toolkit.replaying.query_models import OPTIMISTIC, Seen, asked, query_model
from toolkit.replaying.system import System
from toolkit.replaying.trace import PassTrace
from toolkit.session import Call, Result
from toolkit.tool import SEARCH, compact_json


class Seeker:
    """The model's side of searching in one replay; it knows which schemas stand in the history.

    Attributes:
        fallbacks: Why own words were asked in place of the query model's, and how often.
    """

    def __init__(self, host: Host, session_id: str, system: System) -> None:
        self.host, self.session_id = host, session_id
        self.model = query_model(system.query_model)
        self.optimistic = system.query_model in OPTIMISTIC
        self.searching = system.searching
        self.fallbacks: Counter[str] = Counter()
        self._answered: dict[str, int] = {}
        self._read: dict[str, int] = {}

    def compact(self) -> None:
        """Forget what stood in the history."""
        self._answered.clear()

    def changed(self) -> None:
        """Note that tools, policy or history are no longer what answers were given over: all may be asked anew."""
        self._read.clear()

    def passes(self, turn: Turn, recorded: PreparedTurn, step: PreparedPass, number: int) -> list[PassTrace]:
        """Return the passes that the model makes before it calls the tool of a step's call, by number."""
        call = step.calls[number]
        if call.name in self.host.state.spans[turn.id].found:
            return []
        where = (self.session_id, self.host.state.turn_no, step.pass_no, number)
        made = self._stale(turn, step, call, where)
        for queries in self.searching.passes(self._unread(self._queries(recorded, step, call), where), *where):
            made.append(self._search(turn, step, queries))
            if any(call.name in one.answer for one in made[-1].searches):
                break
        return made

    def _queries(self, recorded: PreparedTurn, step: PreparedPass, call: Call) -> list[str]:
        called = call.name if self.optimistic else ""
        queries, why = asked(self.model, Seen(step.words, recorded.input, step.last_words, called, step.searched))
        if why:
            self.fallbacks[why] += 1
        return queries

    def _unread(self, queries: Sequence[str], where: tuple[str | int, ...]) -> list[str]:
        """Leave out the queries whose answers the model has read in this turn, but for what it asks all the same."""
        now, again = self.host.state.turn_no, self.searching.happens
        return [query for query in queries if self._read.get(query) != now or again("repeat", *where, query)]

    def _stale(self, turn: Turn, step: PreparedPass, call: Call, where: tuple[str | int, ...]) -> list[PassTrace]:
        """Return the pass that calls a tool by the schema of an earlier turn's search, where the model does that."""
        stands = self._answered.get(call.name, self.host.state.turn_no) < self.host.state.turn_no
        if not stands or self.host.state.profile.gate != "strict" or not self.searching.happens("stale", *where):
            return []
        verdict = turn.start_pass().call(call.name, call.arguments)
        answered = replace(call, result=Result(text_of(verdict)))
        return [PassTrace(step.pass_no, call=answered, refused=call.name)]

    def _search(self, turn: Turn, step: PreparedPass, queries: Sequence[str]) -> PassTrace:
        live, rules = turn.start_pass(), self.host.state.profile
        first, *beside = [_search_trace(step, query, live.search(query), rules) for query in queries]
        made = replace(first, beside=tuple(beside))
        self._read |= dict.fromkeys(queries, self.host.state.turn_no)
        if rules.schema_place != "definitions":
            now = self.host.state.turn_no
            self._answered |= {name: now for one in made.searches for name in one.answer}
        return made


def _search_trace(step: PreparedPass, query: str, verdict: Verdict, rules: Profile) -> PassTrace:
    answered = compact_json({"found": verdict.names}) if rules.schema_place == "definitions" else text_of(verdict)
    made = Call("", SEARCH, {"query": query}, "search", Result(answered))
    return PassTrace(step.pass_no, (), query, verdict.names, made)
