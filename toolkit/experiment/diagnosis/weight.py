"""What each tool's definition costs when every recorded pass declares it, and how often it was used."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from toolkit.experiment.diagnosis.replays import Replayed, Replays
from toolkit.ledger import PassRow
from toolkit.prices.price import Price
from toolkit.replaying.prepared import Prepared, is_search
from toolkit.session import Session
from toolkit.tool import Tool


@dataclass(slots=True)
class ToolUse:
    """One tool over all sessions.

    Attributes:
        tokens: What its definition adds to a pass that declares it.
        sessions, turns, passes: Where it was told.
        used_sessions, used_turns, calls: Where it was called.
        tokens_paid, usd_paid: Over all passes where it was told, the prompt cache's prices included.
    """

    name: str
    server: str
    described: bool = True
    tokens: int = 0
    sessions: int = 0
    turns: int = 0
    passes: int = 0
    used_sessions: int = 0
    used_turns: int = 0
    calls: int = 0
    tokens_paid: int = 0
    usd_paid: float = 0.0
    seen_in: set[str] = field(default_factory=set)

    def row(self) -> dict[str, Any]:
        """Return it as a row of a frame."""
        names = ("server", "name", "tokens", "sessions", "turns", "passes", "used_sessions", "used_turns", "calls")
        return {name: getattr(self, name) for name in (*names, "tokens_paid", "usd_paid")}


class Weights:
    """Adds sessions up, one after the other; what only searched for tools in the recorded host is left out."""

    def __init__(self, replays: Replays) -> None:
        self.replays = replays
        self.tools: dict[str, ToolUse] = {}

    def add(self, session: Session, found: Replayed) -> None:
        """Add a session that was replayed with everything declared."""
        made = self.replays.prepared(session)
        searchers = {call.name for call in session.calls() if is_search(call)}
        prices = _per_turn(found.rows, self.replays.bench.price)
        used_here: set[str] = set()
        for number, (turn, called) in enumerate(zip(found.trace.turns, _called(made), strict=True), 1):
            passes, usd_a_token = prices.get(number, (0, 0.0))
            for tool in turn.offer.declared:
                if tool.source != "core" and tool.name not in searchers:
                    use = self._use(tool, session.id)
                    use.turns += 1
                    use.passes += passes
                    use.tokens_paid += use.tokens * passes
                    use.usd_paid += use.tokens * usd_a_token
                    use.used_turns += tool.name in called
                    use.calls += called.count(tool.name)
                    used_here.update({tool.name} & set(called))
        for name in used_here:
            self.tools[name].used_sessions += 1

    def _use(self, tool: Tool, session: str) -> ToolUse:
        if tool.name not in self.tools:
            self.tools[tool.name] = ToolUse(tool.name, tool.server or tool.source)
        use = self.tools[tool.name]
        use.tokens = max(use.tokens, self.replays.bench.counter.definition(tool))
        use.described = bool(tool.description)
        use.sessions += session not in use.seen_in
        use.seen_in.add(session)
        return use


def _called(made: Prepared) -> Iterator[list[str]]:
    for turn in made.turns:
        yield [call.name for one in turn.passes for call in one.calls]


def _per_turn(rows: Iterable[PassRow], price: Price) -> dict[int, tuple[int, float]]:
    """Return turn → its passes, and the USD that a token of a definition cost over all of them."""
    sums: dict[int, tuple[int, float]] = {}
    for row in rows:
        passes, usd = sums.get(row.turn_no, (0, 0.0))
        sums[row.turn_no] = (passes + 1, usd + usd_of_a_definition(row, price))
    return sums


def usd_of_a_definition(row: PassRow, price: Price) -> float:
    """Return the USD of one token of the definitions in a pass.

    They stand at the front of a prompt: what was read from the cache is them first, then what was written to it.
    """
    whole = row.declared_tokens + row.search_tool_tokens
    if not whole:
        return 0.0
    read = min(row.cache_read_tokens, whole)
    written = min(row.cache_write_tokens, whole - read)
    rates = price.rates(row.prompt_tokens)
    return rates.cost(whole - read - written, read, written, 0) / whole
