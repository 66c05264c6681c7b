"""The hybrid retriever: what a query means and which words it holds, weighed together."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import asdict, replace

import numpy as np
from numpy.typing import NDArray

from toolkit.errors import MissingExtraError
from toolkit.search.encoders.encoder import Encoder, EncoderError
from toolkit.search.encoders.models import available
from toolkit.search.learned.features import Signals
from toolkit.search.learned.ranker import Ranker, load_ranker
from toolkit.search.ranking import Ranking, Reason
from toolkit.search.retrievers.chances import chances
from toolkit.search.retrievers.dense import FLOOR, Dense
from toolkit.search.retrievers.fusion import Scores, Weights, fused, squashed, weighted, with_servers
from toolkit.search.retrievers.fusion import weights as weights_of
from toolkit.search.retrievers.lexical import Lexical, single_terms
from toolkit.search.terms.clauses import clauses
from toolkit.search.terms.verbs import offered, wanted
from toolkit.specs import format as format_spec
from toolkit.tool import Tool

ENCODERS = {"tools": 1.0, "multilingual": 0.35}
UNAVAILABLE = "semantic_unavailable"


class Hybrid:
    """Fuses dense and lexical scores of a query and of its clauses.

    Without an encoder, or when one fails, it is the lexical retriever and says so in `notices`.

    Args:
        tools: The tools to index.
        encoders: Names or encoders (see `Dense`); by default those of `ENCODERS` that are installed.
        ranker: A file of `toolkit rank-fit`, or the ranker itself, which orders the best candidates anew.
        weights: Fields of `Weights` that differ from the default.

    Raises:
        InputError: The file of a ranker or an adapter is none, or is of another version; or a weight is no number.
        UnknownNameError: There is no weight of that name.
    """

    def __init__(
        self, tools: Sequence[Tool], *encoders: str | Encoder, ranker: str | Ranker | None = None, **weights: float
    ) -> None:
        self.ranker = load_ranker(ranker) if isinstance(ranker, str) else ranker
        self.weights = weights_of(weights)
        self.notices: tuple[str, ...] = ()
        self.lexical = Lexical(tools)
        self.places = self.lexical.places
        self.encoders = encoders or tuple(name for name in ENCODERS if available(name))
        self.dense = self._dense(tools)
        self._servers = np.unique([tool.source for tool in self.places.tools], return_inverse=True)[1]
        self._verbs = np.array([offered(tool) for tool in self.places.tools], dtype=np.int64)

    def _dense(self, tools: Sequence[Tool]) -> tuple[Dense, ...]:
        try:
            built = tuple(Dense(tools, encoder) for encoder in self.encoders)
        except (EncoderError, MissingExtraError):
            built = ()
        self.notices = () if built else (UNAVAILABLE,)
        return built

    def rank(self, query: str, among: Collection[str] | None = None, k: int = 10) -> Ranking:
        """Return the best tools for `query`; see `Retriever`. Scores lie between 0 and 1.

        A tool matches when it holds a term of the query or is near enough in meaning (`FLOOR`).
        """
        mask = self.places.mask(among)
        if not self.dense or not len(self.places):
            return self.lexical.rank(query, among, k)
        try:
            ranking = self._ranked(query, mask, k)
        except EncoderError:
            self.notices = (UNAVAILABLE,)
            return self.lexical.rank(query, among, k)
        self.notices = tuple(dict.fromkeys(notice for dense in self.dense for notice in dense.notices))
        return ranking

    def explain(self, query: str, name: str, among: Collection[str] | None = None) -> tuple[Reason, ...]:
        """Return what words add to the lexical score of `name`, and the cosine of each encoder."""
        place = self.places.position(name)
        cosines = [(repr(dense.encoder), float(dense.similarities([query])[0, place])) for dense in self.dense]
        near = tuple(Reason("", f"cosine {encoder}", cosine) for encoder, cosine in cosines)
        return near + self.lexical.explain(query, name, among)

    def _ranked(self, query: str, mask: NDArray[np.bool_] | None, k: int) -> Ranking:
        """Return the best tools by score, zero for what does not match, each with its chance to be a right one."""
        inside = np.arange(len(self.places)) if mask is None else np.flatnonzero(mask)
        if not len(inside):
            return Ranking()
        signals = self.signals(query, mask, self.ranker is not None)
        scores = squashed(signals.fused) if self.ranker is None else self.ranker.scores(signals)
        found = np.zeros(len(self.places))
        found[inside] = np.where(signals.matched, scores, 0.0)
        best = self.places.best(found, k)
        at = np.searchsorted(inside, np.array([self.places.position(name) for name in best.names], dtype=np.int64))
        words = max(len(single_terms(query[:2000])), 1)
        near, points = signals.dense.max(axis=0)[at], signals.lexical[0][at] / words
        return replace(best, chances=tuple(chances(near, points, signals.fused[at]).tolist()))

    def signals(self, query: str, mask: NDArray[np.bool_] | None = None, for_ranker: bool = True) -> Signals:
        """Return what is known of a query over the tools in tie order, those within `mask` only.

        What fusion does not need (`tools`, `names`) is left out unless it is for a ranker.
        """
        inside = np.arange(len(self.places)) if mask is None else np.flatnonzero(mask)
        texts = (query, *clauses(query))
        lexical = np.stack([self.lexical.scores(text, mask) for text in texts])[:, inside]
        cosines = [dense.similarities(texts)[:, inside] for dense in self.dense]
        dense = self._mean(cosines)
        raised = with_servers(dense, self._servers[inside], self.weights.server)
        conflicts = self._conflicts(texts)[:, inside]
        rows = weighted(raised, lexical, conflicts, self.weights)
        return Signals(
            query=query,
            tools=tuple(self.places.tools[i] for i in inside.tolist()) if for_ranker else (),
            fused=fused(rows, raised, self.weights),
            rows=rows,
            lexical=lexical,
            dense=raised,
            servers=raised[0] - dense[0],
            conflicts=conflicts[0],
            names=self._mean([dense.near_names(query)[inside] for dense in self.dense]) if for_ranker else raised[0],
            encoders={repr(one.encoder): part[0] for one, part in zip(self.dense, cosines, strict=True)},
            matched=(lexical.max(axis=0) > 0) | (dense.max(axis=0) >= FLOOR),
        )

    def _mean(self, parts: Sequence[Scores]) -> Scores:
        """Return the mean of one array an encoder, by their weights."""
        weights = [ENCODERS.get(repr(dense.encoder), 1.0) for dense in self.dense]
        scaled = [weight * part for weight, part in zip(weights, parts, strict=True)]
        mean: Scores = np.add.reduce(scaled) / sum(weights)
        return mean

    def _conflicts(self, texts: Sequence[str]) -> Scores:
        """Return 1 where a tool's verbs exclude the text's (t, n)."""
        wishes = np.array([wanted(text) for text in texts])[:, None]
        return np.asarray((wishes > 0) & (self._verbs > 0) & (wishes & self._verbs == 0), dtype=np.float64)

    def __repr__(self) -> str:
        changed = {key: value for key, value in asdict(self.weights).items() if value != getattr(Weights(), key)}
        return format_spec("hybrid", changed)
