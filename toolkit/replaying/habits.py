"""How a model goes about searching: how often it asks again, gives up, or calls what it should find first.

By default it is steady: it asks up to three times and never errs, so that a replay is the same for every seed. The
`models` way has rates, and draws that hang on seed, session, turn, pass and call alone: every system meets the same
luck, and nothing depends on the order in which sessions are run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import partial
from hashlib import blake2b

from toolkit import specs
from toolkit.errors import InputError
from toolkit.plugins import Registry
from toolkit.replaying.query_models import MOST_TRIES

RATES = ("reformulate", "stale", "parallel", "repeat")


@dataclass(frozen=True, slots=True)
class Searching:
    """The rates at which a model searches; the defaults are those of the steady one.

    Attributes:
        reformulate: After a miss, the share that asks again in other words; the rest gives up on the tool.
        stale: The share that first calls a tool directly whose schema still stands in the history from an earlier
            turn's search. It is refused (T2), costs a pass, and then the tool is searched for. Played where the host
            refuses such calls (gate `strict`) and keeps found schemas in the history.
        parallel: The share of first searches that asks in two wordings in one pass.
        tries: The most searches for a tool, up to the three that a query model gives.
        seed: Another one draws anew.
        repeat: The share of queries that are asked once more although their answer was read in this turn already,
            with no tool, policy or history changed since. None by default: the answer stands in the history.
    """

    reformulate: float = 1.0
    stale: float = 0.0
    parallel: float = 0.0
    tries: int = MOST_TRIES
    seed: int = 0
    repeat: float = 0.0

    def __post_init__(self) -> None:
        for name in RATES:
            rate = getattr(self, name)
            if isinstance(rate, bool) or not isinstance(rate, int | float) or not 0 <= rate <= 1:
                raise InputError(f"searching needs a {name} from 0 to 1, not {rate!r}.")
        if isinstance(self.tries, bool) or not isinstance(self.tries, int) or not 1 <= self.tries <= MOST_TRIES:
            raise InputError(f"searching needs tries from 1 to {MOST_TRIES}, not {self.tries!r}.")
        if isinstance(self.seed, bool) or not isinstance(self.seed, int):
            raise InputError(f"searching needs a seed that is a whole number, not {self.seed!r}.")

    def happens(self, rate: str, *where: str | int) -> bool:
        """Draw whether what a rate is of happens at a place, the same whenever it is asked.

        >>> STEADY.happens("stale", "session", 1), Searching(stale=1).happens("stale", "session", 1)
        (False, True)
        """
        share: float = getattr(self, rate)
        if share in (0, 1):
            return share == 1
        key = "\0".join(map(str, (self.seed, rate, *where))).encode("utf-8", "surrogatepass")
        drawn = int.from_bytes(blake2b(key, digest_size=8).digest()) / 2**64
        return drawn < share

    def passes(self, queries: Sequence[str], *where: str | int) -> list[Sequence[str]]:
        """Return the queries of each pass that the model would make until it finds a tool or gives up.

        >>> STEADY.passes(["a", "b"]), Searching(parallel=1).passes(["a", "b", "c"]), Searching(0.0).passes(["a", "b"])
        ([['a'], ['b']], [['a', 'b'], ['c']], [['a']])
        """
        left = queries[: self.tries]
        first = 2 if len(left) > 1 and self.happens("parallel", *where) else 1
        made = [left[:first]] if left else []
        for number, query in enumerate(left[first:], 1):
            if not self.happens("reformulate", *where, number):
                break
            made.append([query])
        return made

    def __repr__(self) -> str:
        if self == STEADY:
            return "steady"
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return specs.format("models", {name: v for name, v in values.items() if v != getattr(MODELS, name)})


STEADY = Searching()
MODELS = Searching(reformulate=0.85, stale=0.98, parallel=0.16)
"""As recorded models search.

Livemcpbench (95 runs of one model, 283 searches, one to a pass): of 155 searches whose answer was not used, 132 (85 %)
were followed by another, 17 by a call to a tool it had, 6 by the end; nine in ten rows of searches are three or fewer.
A tool of an older search was called directly 178 times and searched for again 4 times (98 %): that host allows it and
each run is one turn, so for a host that refuses it `stale` is the most that it can be (9 of 531 calls, .017, were to a
tool that no search had answered at all). None of the 283 asked what its run had been answered before: `repeat` is 0.
OpenAI's and Anthropic's hosts: 5 of 32 searches (16 %) hold two queries.
`benchmarks/queries.py` prints them again.
"""
WAYS = Registry("way of searching", "toolkit.searching", wants="a class or a part of one that builds a Searching")
WAYS.built_in.update(
    steady=partial(Searching, reformulate=STEADY.reformulate),
    models=partial(Searching, **{rate: getattr(MODELS, rate) for rate in RATES}),
)


def searching(spec: str | Searching) -> Searching:
    """Return how a model searches: `steady`, `models`, or `models` with rates of one's own.

    Raises:
        UnknownNameError: The spec has another name.
        InputError: It cannot be read, or a rate is unknown or out of range.

    >>> searching("models(stale=0.1)")
    models(stale=0.1)
    >>> searching("steady") == STEADY
    True
    """
    way: Searching = WAYS.make(*specs.parse(spec)) if isinstance(spec, str) else spec
    return way
