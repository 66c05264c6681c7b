"""Asking a selector once, within its time, and falling back to S1 when it fails (`docs/semantics.md` S2, S7)."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from time import monotonic

from toolkit.engine.boundary import Boundary
from toolkit.engine.offer import Made, Offer, as_selection, default_offer, make_offer
from toolkit.engine.ports import Selector
from toolkit.engine.view import HostView, Ranker, Scored
from toolkit.toolset import ToolSet

Choice = tuple[Offer, tuple[str, ...], dict[str, str]]
RANKING = 60.0
"""Seconds of ranking in one choice that are not counted against a selector."""


def choose(
    boundary: Boundary, selector: Selector | None, view: Callable[[], HostView], time_limit: float | None
) -> Choice:
    """Return the offer of a boundary, the notices it caused, and a detail for each that has one.

    A selector whose attribute `static` is true looks at the told set alone: it is asked once for
    each told set, and the offer is shared by every session.
    """
    told = boundary.span.told
    if (selector is None or getattr(selector, "static", False)) and boundary.span.parent is None:
        return _static_choice(told, selector)
    return choice(told, selector, view, time_limit)


@lru_cache(maxsize=256)
def _static_choice(told: ToolSet, selector: Selector | None) -> Choice:
    return choice(told, selector, HostView, None)


def choice(told: ToolSet, selector: Selector | None, view: Callable[[], HostView], time_limit: float | None) -> Choice:
    """Return the offer over what is told, the notices that it caused, and why a selector failed (S2, S7)."""
    if selector is None:
        return *default_offer(told), {}
    try:
        made = _within(time_limit, lambda seen: make_offer(told, as_selection(selector(told, seen))), view())
    except _FailedError as failed:
        offer, caused = default_offer(told)
        return offer, ("selector_failed", *caused), {"selector_failed": str(failed)}
    return *made, {}


class _FailedError(Exception):
    """What a selector raised, told in words; a foreign error may fail even at saying what it is."""

    def __init__(self, error: BaseException) -> None:
        try:
            super().__init__(f"{type(error).__name__}: {error}")
        except BaseException:
            super().__init__(type(error).__name__)


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


def _within(seconds: float | None, function: Callable[[HostView], Made], view: HostView) -> Made:
    """Call the function; give up waiting after `seconds` of its own (the thread is left to itself).

    What it has the host rank does not count, up to `RANKING` seconds. Whatever it raises is its failure;
    only what interrupts the thread of the host passes on.
    """
    if seconds is None:
        try:
            return function(view)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            raise _FailedError(error) from None
    ranker = _TimedRanker(view._ranker)
    outcome: list[Made | _FailedError] = []

    def run() -> None:
        try:
            outcome.append(function(replace(view, _ranker=ranker)))
        except BaseException as error:
            outcome.append(_FailedError(error))

    thread = threading.Thread(target=run, daemon=True, name="selector")
    end = monotonic() + seconds
    thread.start()
    while thread.is_alive():
        left = end + min(ranker.seconds, RANKING) - monotonic()
        if left <= 0:
            raise _FailedError(TimeoutError(f"no answer within {seconds:g} s"))
        thread.join(left)
    if isinstance(outcome[0], _FailedError):
        raise outcome[0]
    return outcome[0]
