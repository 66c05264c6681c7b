"""A small learned ranker: orders the hybrid's best candidates anew, from a plain data file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toolkit.errors import InputError
from toolkit.search.learned.features import FEATURES, Signals, candidates, features
from toolkit.search.retrievers.fusion import Scores, squashed

FORMAT = "selector-toolkit ranker 1"
_REFIT = "Fit it again: toolkit rank-fit --catalog FILE --queries FILE --out FILE.json."


@dataclass(frozen=True, slots=True)
class Ranker:
    """A linear score over `FEATURES`, added to the hybrid's own.

    Attributes:
        weights: One for each feature (f,).
        card: What it was fitted on, how, and how well it does on data that it never saw.
    """

    weights: NDArray[np.float64]
    card: Mapping[str, Any] = field(default_factory=dict)

    def scores(self, signals: Signals) -> Scores:
        """Return a score between 0 and 1 for each tool (n,): the best `DEPTH` by the ranker, above all others."""
        at = candidates(signals)
        found = squashed(signals.fused) / 2
        found[at] = 0.5 + squashed(features(signals, at) @ self.weights) / 2
        return np.round(found, 8)

    def __repr__(self) -> str:
        return f"<ranker of {self.card.get('queries', 0)} queries>"


def load_ranker(path: str | Path) -> Ranker:
    """Return the ranker of a file.

    Raises:
        InputError: There is no such file, or it is of another version or of other features.
    """
    return _loaded(Path(path), Path(path).stat().st_mtime_ns if Path(path).is_file() else 0)


@lru_cache(maxsize=8)
def _loaded(path: Path, changed: int) -> Ranker:
    try:
        row = json.loads(path.read_text("utf-8"))
        found, names = row["format"], row["features"]
        weights = np.array(row["weights"], dtype=np.float64)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path} is no ranker: {error!r}.", hint=_REFIT) from error
    if found != FORMAT:
        raise InputError(f"{path} has the format {found!r}, expected {FORMAT!r}.", hint=_REFIT)
    if names != list(FEATURES) or weights.shape != (len(FEATURES),) or not np.isfinite(weights).all():
        raise InputError(f"{path} was fitted on other features than this version's {len(FEATURES)}.", hint=_REFIT)
    return Ranker(weights, row.get("card", {}))


def save_ranker(ranker: Ranker, path: str | Path) -> None:
    """Write a ranker as JSON, its card inside; the same ranker gives the same bytes."""
    row = {"format": FORMAT, "card": ranker.card, "features": FEATURES, "weights": ranker.weights.round(6).tolist()}
    Path(path).write_text(json.dumps(row, indent=1, ensure_ascii=False, sort_keys=True) + "\n", "utf-8")
