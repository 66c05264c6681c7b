"""How likely a ranked tool is a right one: a logistic fit of absolute evidence, the same scale for every query.

Fitted on queries of seven open sets over their own catalogs and over those of the others (`docs/search.md`).
"""

from __future__ import annotations

import numpy as np

from toolkit.search.retrievers.fusion import Scores

BASE, COSINE, POINTS, GAP = -5.548, 8.688, 0.052, -5.286


def chances(cosines: Scores, points: Scores, fused: Scores) -> Scores:
    """Return the chance (k,), rounded to four places, that each of the best tools is right; it never rises.

    A tool is at least as likely as any that ranks below it, so that no order changes.

    Args:
        cosines: The best cosine of the query or a clause with each tool, best tool first (k,).
        points: Lexical points a word of the query (k,).
        fused: Scores by which the tools are ranked (k,).
    """
    if not len(fused):
        return np.zeros(0)
    gap = (fused[0] - fused) / max(abs(float(fused[0])), 1e-6)
    found = 1 / (1 + np.exp(-np.clip(BASE + COSINE * cosines + POINTS * points + GAP * gap, -30, 30)))
    falling: Scores = np.maximum.accumulate(found[::-1])[::-1].round(4)
    return falling
