"""Running units of work one after the other, or in several processes."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import replace
from functools import lru_cache
from itertools import groupby
from multiprocessing import get_context

from toolkit.errors import InputError
from toolkit.experiment.comparison.run import Done, Runner, Unit
from toolkit.replaying.system import Setting


def run(todo: Sequence[Unit], workers: int, done: Callable[[Done], None]) -> None:
    """Run units, in this process or in several, and hand each over as soon as it is done.

    Raises:
        InputError: A selector cannot be sent to another process.
    """
    if workers <= 1 or len(todo) <= 1:
        runner = Runner()
        for unit in todo:
            done(runner.run(unit))
        return
    _check_sendable(todo)
    batches = _batches(todo, workers)
    with ProcessPoolExecutor(min(workers, len(batches)), mp_context=get_context("spawn")) as pool:
        try:
            for future in as_completed([pool.submit(_run_apart, batch) for batch in batches]):
                for one in future.result():
                    done(one)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _batches(todo: Sequence[Unit], workers: int) -> list[list[Unit]]:
    """Return what goes to a worker at once: units over the same sessions, which share scripts and counts.

    Where there are too few of these for all workers, each unit goes alone.
    """
    batches = [list(batch) for _, batch in groupby(todo, key=lambda unit: [session.id for session in unit.sessions])]
    return batches if len(batches) >= 2 * workers else [[unit] for unit in todo]


def _check_sendable(todo: Sequence[Unit]) -> None:
    for selector in {unit.system.name: unit.system.selector for unit in todo}.values():
        try:
            pickle.dumps(selector)
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            hint = "Put it into a module of its own, or use one worker."
            raise InputError(f"the selector {selector!r} cannot be sent to a worker: {error}.", hint=hint) from error


_apart: Runner | None = None


def _run_apart(batch: Sequence[Unit]) -> list[Done]:
    """Run units in a worker; equal settings are one in all batches, so that their catalog is indexed once."""
    global _apart
    _apart = _apart or Runner()
    return [_apart.run(replace(unit, setting=_known(unit.setting))) for unit in batch]


@lru_cache(maxsize=8)
def _known(setting: Setting) -> Setting:
    return setting
