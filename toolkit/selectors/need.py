"""How likely a turn is to call each tool: what a selector sees, as numbers, and a logistic model over them.

Evidence adds up in log odds: how well the tool and its server match the input, how often it was used
earlier in the session, how often earlier sessions used it, what usually follows the last turn's tools.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from toolkit.engine import HostView
from toolkit.selectors.ranked import latest_words
from toolkit.selectors.usage import Usage
from toolkit.tool import Tool
from toolkit.toolset import ToolSet, toolset

Floats = NDArray[np.float64]
SPREAD = 0.3
"""Shape of the gamma distribution of use: most tools are never used, few often."""
DEPTH = 1000
"""How deep the ranking is read; beyond, tools count as unranked."""
FEATURES = (
    "constant",
    "rank",
    "score",
    "server_rank",
    "used",
    "times_used",
    "used_last_turn",
    "server_used",
    "builtin",
    "rivals",
    "tool_rate",
    "server_rate",
    "tool_known",
    "server_known",
    "follows",
)
"""Columns of the evidence.

`rank` is −log2 of the tool's place for the input, `score` its score there, `server_rank` −log2 of the place of
its server's best tool. `used`, `times_used` (log2), `used_last_turn` and `server_used` look at the session so far.
`rivals` is log2 of the host's own tools, for a tool that is none of them. The rest comes from earlier sessions:
log2 rates of the tool against its server and of the server against the usual tool, whether they were used at
all, and log2 of how much likelier the tool is after the last turn's; 0 without earlier sessions.
"""
NO_USAGE = Usage()


@dataclass(frozen=True)
class Arrays:
    """A told set as arrays: tools in canonical order, their servers numbered."""

    told: ToolSet
    place: Mapping[str, int]
    server: NDArray[np.intp]
    servers: tuple[str, ...]
    builtin: Floats
    rivals: Floats


def _arrays(known: ToolSet) -> Arrays:
    sources = [tool.source for tool in known]
    servers, server = np.unique(np.array(sources, dtype=object), return_inverse=True)
    builtin = np.fromiter((name.startswith("builtin.") for name in known.names), dtype=float, count=len(known))
    rivals = np.log2(1 + builtin.sum()) * (1 - builtin)
    return Arrays(known, known.place, server, tuple(servers), builtin, rivals)


def arrays(told: Sequence[Tool]) -> Arrays:
    """Return a told set as arrays."""
    return toolset(told).derived(_arrays)


def _rates(told: ToolSet, usage: Usage) -> Floats:
    """Return what earlier sessions say of each tool, (n, 4): two log2 rates, and whether it and its server were used.

    Uses are Poisson, and rates gamma around the mean of their kind: a count of nothing says less of one tool
    than of a server with fifty.
    """
    known = told.derived(_arrays)
    uses = np.array([usage.in_turns.get(name, 0) for name in told.names], dtype=float)
    if not uses.any():
        return np.zeros((len(uses), 4))
    usual = uses.mean()
    sizes = np.bincount(known.server, minlength=len(known.servers))
    by_server = np.bincount(known.server, uses, len(known.servers))
    server = ((by_server + SPREAD) / (sizes * usual + SPREAD))[known.server]
    tool = (uses + SPREAD) / (server * usual + SPREAD)
    return np.stack([np.log2(tool), np.log2(server), uses > 0, (by_server > 0)[known.server]], axis=1)


def evidence(told: Sequence[Tool], host: HostView, usage: Usage = NO_USAGE) -> Floats:
    """Return what speaks for each tool in this turn, (n, len(FEATURES)), tools in canonical order."""
    known = arrays(told)
    size = len(known.place)
    ranked, score = _ranks(known, host)
    best = np.full(len(known.servers), float(ranked.max(initial=1)))
    np.minimum.at(best, known.server, ranked)
    count, last = _session_use(known, host)
    rows = np.empty((size, len(FEATURES)))
    rows[:, 0] = 1
    rows[:, 1] = -np.log2(ranked)
    rows[:, 2] = score
    rows[:, 3] = -np.log2(best)[known.server]
    rows[:, 4] = count > 0
    rows[:, 5] = np.log2(1 + count)
    rows[:, 6] = last
    rows[:, 7] = (np.bincount(known.server, count, len(known.servers)) > 0)[known.server]
    rows[:, 8] = known.builtin
    rows[:, 9] = known.rivals
    rows[:, 10:14] = known.told.derived(_rates, usage)
    rows[:, 14] = _follows(known, host, usage)
    return rows


def _ranks(known: Arrays, host: HostView) -> tuple[Floats, Floats]:
    """Return the place of each tool for the input, from 1, and its score; the unranked share the middle place left."""
    ranking = host.ranking(latest_words(host), DEPTH)
    size = len(known.place)
    rank, score = np.full(size, (len(ranking) + size) / 2 + 1), np.zeros(size)
    found = [(known.place[name], value) for name, value in ranking if name in known.place]
    at = [place for place, _ in found]
    rank[at], score[at] = np.arange(1, len(at) + 1), [value for _, value in found]
    return rank, score


def _session_use(known: Arrays, host: HostView) -> tuple[Floats, Floats]:
    """Return in how many earlier turns of the session each tool was called, and whether in the last."""
    count, last = np.zeros(len(known.place)), np.zeros(len(known.place))
    for number, turn in enumerate(host.earlier, 1):
        for name in set(turn.calls):
            at = known.place.get(name)
            if at is not None:
                count[at] += 1
                last[at] = number == len(host.earlier)
    return count, last


def _follows(known: Arrays, host: HostView, usage: Usage) -> Floats:
    """Return log2 of how much likelier each tool is after the last turn's tools than at any time."""
    found = np.zeros(len(known.place))
    before = set(host.earlier[-1].calls) if host.earlier and usage.turns else ()
    for name in before:
        times = usage.followed.get(name, 0)
        for then, together in usage.after.get(name, {}).items():
            at = known.place.get(then)
            if at is not None:
                base = usage.in_turns.get(then, 0) / usage.turns
                found[at] = max(found[at], np.log2((together + 2 * base) / (times + 2) / max(base, 1e-9)))
    return found


def probability(rows: Floats, weights: Sequence[float] | Floats) -> Floats:
    """Return the probability of each row of evidence under a logistic model, (n,)."""
    return np.asarray(1 / (1 + np.exp(-np.clip(rows @ np.asarray(weights), -40, 40))))


TEXT = np.array([name in ("rank", "score", "server_rank") for name in FEATURES])
"""Which evidence comes from the words of the input."""


@dataclass(frozen=True, slots=True)
class Chance:
    """How evidence becomes a probability: a logistic model, blurred by one that does not look at the input.

    An input may say nothing of a tool that it needs. So with the share `blur` the probability is that of use
    alone, and no tool is ruled out because its text ranks low.

    Attributes:
        weights: Of `FEATURES`.
        plain: The same without the evidence of words, whose weights are 0.
        blur: Share of `plain`, from 0 to 1.
    """

    weights: tuple[float, ...]
    plain: tuple[float, ...]
    blur: float

    def __call__(self, rows: Floats) -> Floats:
        """Return the probability of each row of evidence, (n,)."""
        sharp, plain = probability(rows, self.weights), probability(rows, self.plain)
        return np.asarray((1 - self.blur) * sharp + self.blur * plain)


_BLURS = (0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5)


def fit_chance(rows: Floats, happened: Floats, times: Floats, start: Chance) -> Chance:
    """Return the chance that explains best what happened; see `fit_weights` for the arrays."""
    weights = fit_weights(rows, happened, times, start.weights)
    plain = fit_weights(np.where(TEXT, 0.0, rows), happened, times, start.plain)
    sharp, dull = probability(rows, weights), probability(rows, plain)

    def loss(blur: float) -> float:
        mixed = (1 - blur) * sharp + blur * dull
        return -float((times * np.log(np.where(happened > 0, mixed, 1 - mixed))).sum())

    return Chance(tuple(weights.tolist()), tuple(plain.tolist()), min(_BLURS, key=loss))


def fit_weights(rows: Floats, happened: Floats, times: Floats, start: Sequence[float], pull: float = 1.0) -> Floats:
    """Return the weights of a logistic model by damped Newton steps, pulled towards `start`.

    Args:
        rows: Evidence (n, f).
        happened: 1 where it happened, else 0, (n,).
        times: How many rows each row stands for, (n,).
        start: Weights (f,) that hold without any data.
        pull: Strength of the pull (a Gaussian prior's precision), above 0.
    """
    prior = np.asarray(start, dtype=float)
    weights, least = prior.copy(), _loss(rows, happened, times, prior, prior, pull)
    for _ in range(100):
        guess = probability(rows, weights)
        slope = rows.T @ (times * (guess - happened)) + pull * (weights - prior)
        curve = (rows * (times * guess * (1 - guess))[:, None]).T @ rows + pull * np.eye(len(prior))
        step = np.linalg.solve(curve, slope)
        while (loss := _loss(rows, happened, times, weights - step, prior, pull)) > least and np.abs(step).max() > 1e-9:
            step = step / 2
        if np.abs(step).max() <= 1e-9:
            break
        weights, least = weights - step, loss
    return weights


def _loss(rows: Floats, happened: Floats, times: Floats, weights: Floats, prior: Floats, pull: float) -> float:
    """Return minus the log likelihood, and the pull's share."""
    odds = rows @ weights
    missed = (times * (np.logaddexp(0, odds) - happened * odds)).sum()
    return float(missed + pull / 2 * ((weights - prior) ** 2).sum())
