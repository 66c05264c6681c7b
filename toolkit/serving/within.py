"""Work with a deadline: an answer comes in time, or the work is left to itself."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def within(seconds: float | None, work: Callable[[], T]) -> T:
    """Return what the work returns, or raise what it raises; None waits as long as it takes.

    Raises:
        TimeoutError: There is no answer after so many seconds; the thread that works is left to itself.
    """
    if seconds is None:
        return work()
    outcome: list[T] = []
    failure: list[BaseException] = []

    def run() -> None:
        try:
            outcome.append(work())
        except BaseException as error:
            failure.append(error)

    thread = threading.Thread(target=run, daemon=True, name="within")
    thread.start()
    thread.join(seconds)
    if failure:
        raise failure[0]
    if not outcome:
        raise TimeoutError(f"no answer within {seconds * 1000:g} ms")
    return outcome[0]
