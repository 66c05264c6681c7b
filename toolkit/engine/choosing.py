"""Asking a selector once, within its time, and falling back to S1 when it fails (`semantics.md` S2, S7)."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from time import monotonic
from typing import Any

from toolkit.engine.offer import Offer, as_selection, default_offer, make_offer
from toolkit.engine.state import Basis
from toolkit.engine.turns import Boundary
from toolkit.engine.view import HostView, Ranker, Scored
from toolkit.tool import Tool

Choice = tuple[Offer, tuple[str, ...], dict[str, str]]
RANKING = 60.0
"""Seconds of ranking in one choice that are not counted against a selector."""
Choose = Callable[[Sequence[Tool], HostView], Any]


def choose(
    boundary: Boundary, selector: Choose | None, view: Callable[[], HostView], time_limit: float | None
) -> Choice:
    """Return the offer of a boundary, the notices it caused, and a detail for each that has one.

    A selector whose attribute `static` is true looks at the told set alone: it is asked once for
    each told set, and the offer is shared by every session.
    """
    if (selector is None or getattr(selector, "static", False)) and boundary.span.parent is None:
        return _static_choice(boundary.basis, selector)
    return _choice(boundary.span.told, boundary.span.told_names, selector, view, time_limit)


@lru_cache(maxsize=256)
def _static_choice(basis: Basis, selector: Choose | None) -> Choice:
    return _choice(basis.told, basis.told_names, selector, HostView, None)


def _choice(
    told: tuple[Tool, ...],
    names: frozenset[str],
    selector: Choose | None,
    view: Callable[[], HostView],
    time_limit: float | None,
) -> Choice:
    if selector is None:
        return *default_offer(told, names), {}
    failed: dict[str, str] = {}
    try:
        selection = as_selection(_within(time_limit, selector, told, view()))
        offer, caused = make_offer(told, names, selection)
    except (Exception, SystemExit) as error:
        failed["selector_failed"] = _described(error)
        offer, caused = default_offer(told, names)
    return offer, (*failed, *caused), failed


class _TimedRanker:
    """A view's ranker that says how long it took: ranking is the host's time, a model may have to be loaded."""

    def __init__(self, ranker: Ranker) -> None:
        self.ranker, self.spent = ranker, 0.0
        self.since: float | None = None

    def __call__(self, query: str, k: int, retriever: str | None) -> Scored:
        self.since = start = monotonic()
        try:
            return self.ranker(query, k, retriever)
        finally:
            self.spent, self.since = self.spent + monotonic() - start, None

    @property
    def seconds(self) -> float:
        """Seconds of all rankings so far, the one that runs now too."""
        since = self.since
        return self.spent + (monotonic() - since if since is not None else 0.0)


def _within(seconds: float | None, function: Choose, told: tuple[Tool, ...], view: HostView) -> Any:
    """Call the function; give up waiting after `seconds` of its own (the thread is left to itself).

    What it has the host rank does not count, up to `RANKING` seconds.
    """
    if seconds is None:
        return function(told, view)
    outcome: dict[str, Any] = {}
    ranker = _TimedRanker(view._ranker)

    def run() -> None:
        try:
            outcome["value"] = function(told, replace(view, _ranker=ranker))
        except BaseException as error:
            outcome["error"] = error

    thread = threading.Thread(target=run, daemon=True, name="selector")
    end = monotonic() + seconds
    thread.start()
    while thread.is_alive():
        left = end + min(ranker.seconds, RANKING) - monotonic()
        if left <= 0:
            raise TimeoutError(f"no answer within {seconds:g} s")
        thread.join(left)
    if isinstance(outcome.get("error"), KeyboardInterrupt):  # its own: a person's never gets into a thread
        raise RuntimeError("it interrupted itself") from outcome["error"]
    if "error" in outcome:
        raise outcome["error"]
    return outcome["value"]


def _described(error: BaseException) -> str:
    """Return an error's kind and words; a foreign error may fail even at saying what it is."""
    try:
        return f"{type(error).__name__}: {error}"
    except Exception:
        return type(error).__name__
