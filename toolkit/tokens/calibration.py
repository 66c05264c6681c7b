"""Counts brought in line with a user's own bills: an offset and a scale by provider, API and model, kept on disk.

Where a serving template is not known, ten billed requests say more than any rule. A calibration is fitted robustly
(the median of slopes, the median of what is left over) and its band holds what was left over.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from itertools import combinations
from pathlib import Path
from statistics import median
from typing import Any

from toolkit.store import cache_folder, write_whole
from toolkit.tokens.check import Judged, judge
from toolkit.tokens.request import METHODS, Count, Definition, Request, TokenCounter, shown
from toolkit.tool import Tool

LEAST, ENOUGH = 3, 10
"""Rows without which nothing is fitted, and rows that are enough."""

SCALE = (0.4, 2.5)
"""The least and the most that a scale may be; outside, only an offset is fitted."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """What is added to `scale` times a count, for one provider, API and model.

    Attributes:
        rows: How many bills it was fitted on.
        spread, slack: Half-width of the band, as a share of the count and in tokens.
    """

    provider: str
    api: str
    model: str
    offset: float
    scale: float
    rows: int
    spread: float
    slack: int

    def fits(self, provider: str, api: str, model: str) -> bool:
        """Return whether it is for a counter asked for so; what is not said fits."""
        said = ((provider, self.provider), (api, self.api))
        return model == self.model and all(not asked or asked == own for asked, own in said)

    def apply(self, count: Count, whole: bool = False) -> Count:
        """Return a count in line with the bills; the offset comes once, with the whole request or its base."""
        tokens = round(self.scale * count.tokens + self.offset * whole)
        half = math.ceil(abs(tokens) * self.spread) + self.slack * whole
        method = max("calibrated", count.method if count.method == METHODS[-1] else "billed", key=METHODS.index)
        return Count(tokens, method, max(0, tokens - half), None if count.high is None else tokens + half)


@dataclass(frozen=True, slots=True)
class CalibratedCounter:
    """Counts as another counter does, brought in line with bills."""

    inner: TokenCounter
    by: Calibration

    @property
    def name(self) -> str:
        return f"{self.inner.name}, calibrated on {self.by.rows} bills ({self.by.scale:g} × + {self.by.offset:g})"

    @property
    def remainder(self) -> str:
        return self.inner.remainder

    def base(self) -> Count:
        return self.by.apply(self.inner.base(), whole=True)

    def message(
        self, role: str, text: str = "", calls: Sequence[tuple[str, str]] = (), results: Sequence[tuple[str, str]] = ()
    ) -> Count:
        return self.by.apply(self.inner.message(role, text, calls, results))

    def definition(self, tool: Tool | Definition) -> Count:
        return self.by.apply(self.inner.definition(tool))

    def tools_overhead(self, n_tools: int, has_system: bool = True) -> Count:
        return self.by.apply(self.inner.tools_overhead(n_tools, has_system))

    def count(self, request: Request) -> Count:
        return self.by.apply(self.inner.count(request), whole=True)

    def breakdown(self, request: Request) -> dict[str, Count]:
        """Return the inner counter's parts, and what the calibration adds as a part of its own."""
        parts = self.inner.breakdown(request)
        more = self.count(request).tokens - sum(part.tokens for part in parts.values())
        return shown(parts | {"calibration": Count(more, "calibrated", more, more)})


def fitted(rows: Iterable[Mapping[str, Any]], counter_for: Callable[[Request], TokenCounter]) -> list[Calibration]:
    """Return a calibration for each provider, API and model with rows enough; one that is exact already has none.

    Args:
        rows: Requests with billed usage, in the form of `toolkit count --check`.
        counter_for: Counts without calibrations.
    """
    groups: dict[tuple[str, str, str], list[Judged]] = {}
    for one in judge(rows, counter_for)[0]:
        groups.setdefault((one.provider, one.api, one.model), []).append(one)
    wrong = {key: some for key, some in groups.items() if any(one.count.tokens != one.billed for one in some)}
    return [_fit(key, some) for key, some in sorted(wrong.items()) if len(some) >= LEAST]


def _fit(key: tuple[str, str, str], rows: Sequence[Judged]) -> Calibration:
    pairs = [(one.count.tokens, one.billed) for one in rows]
    slopes = [(b[1] - a[1]) / (b[0] - a[0]) for a, b in combinations(pairs, 2) if abs(b[0] - a[0]) > 0.2 * a[0]]
    scale = median(slopes) if len(slopes) >= LEAST else 1.0
    scale = round(scale, 4) if SCALE[0] <= scale <= SCALE[1] else 1.0
    offset = round(median(bill - scale * count for count, bill in pairs), 1)
    missed = sorted(abs(bill - offset - scale * count) for count, bill in pairs)
    worst = missed[math.ceil(0.95 * len(missed)) - 1] * (1 + LEAST / len(missed))
    typical = median(bill for _, bill in pairs)
    spread = round(worst / typical / 2, 4)
    return Calibration(*key, offset, scale, len(pairs), spread, math.ceil(worst - spread * pairs[0][1]) + 1)


# On disk


def kept() -> list[Calibration]:
    """Return the calibrations that are kept; a file that cannot be read holds none."""
    try:
        return [Calibration(**row) for row in json.loads(_path().read_text("utf-8"))]
    except (OSError, ValueError, TypeError):
        return []


def keep(new: Sequence[Calibration]) -> None:
    """Keep calibrations in the place of older ones for the same provider, API and model."""
    keys = {(one.provider, one.api, one.model) for one in new}
    old = [one for one in kept() if (one.provider, one.api, one.model) not in keys]
    _path().parent.mkdir(parents=True, exist_ok=True)
    write_whole(_path(), json.dumps([asdict(one) for one in (*old, *new)], indent=1).encode())
    _known.cache_clear()


def calibrated(found: TokenCounter, provider: str, api: str, model: str) -> TokenCounter:
    """Return the counter in line with the bills that a calibration was fitted on, itself where there is none."""
    by = next((one for one in _known(_path()) if one.fits(provider, api, model)), None)
    return CalibratedCounter(found, by) if by else found


@lru_cache(maxsize=8)
def _known(path: Path) -> tuple[Calibration, ...]:
    return tuple(kept())


def _path() -> Path:
    return cache_folder() / "calibrations.json"
