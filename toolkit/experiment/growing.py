"""Recorded sessions in hosts of growing size: the same work among ever more tools that it does not need."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from random import Random

from toolkit.errors import InputError
from toolkit.replaying.prepared import prepare
from toolkit.session import Session
from toolkit.tool import Catalog, Tool

LADDER = (20, 30, 45, 60, 90, 120, 180, 240, 360, 480)
"""The sizes that are measured when none are given, as far as there are tools."""


def pool_of(sessions: Iterable[Session], around: Iterable[Tool] = ()) -> Catalog:
    """Return what hosts grow from: a catalog's tools, then those of all the sessions, each name once."""
    return Catalog((*around, *(tool for session in sessions for tool in session.catalog)))


def sizes_in(pool: Catalog, wanted: Sequence[int] = ()) -> tuple[int, ...]:
    """Return the catalog sizes to measure: those that are wanted, else a ladder up to all there is.

    Raises:
        InputError: A wanted size is no positive number, or larger than the pool.
    """
    most = len(pool)
    if any(size < 1 for size in wanted):
        raise InputError(f"a catalog size must be at least 1, not {min(wanted)}.")
    if wanted and max(wanted) > most:
        hint = "Give more of them with --catalog FILE, or smaller --sizes."
        raise InputError(f"size {max(wanted)} needs more tools: the sessions and catalogs hold {most}.", hint=hint)
    return tuple(sorted(set(wanted) or {*(size for size in LADDER if size < most), min(most, LADDER[-1])}))


def grown(session: Session, pool: Catalog, size: int, seed: int) -> Session:
    """Return a session whose host has `size` tools: what it calls and the host's own first, then a seeded draw.

    The draw takes the session's other tools first and the pool's after them. Each size holds the smaller ones. A
    size below what the session calls and what is the host's own leaves it with these.
    """
    called = {name for turn in prepare(session).turns for name in turn.called}
    kept = [tool for tool in session.catalog if tool.name in called or tool.server is None]
    own = [tool for tool in session.catalog if tool not in kept]
    others = [tool for tool in pool if tool.name not in session.catalog]
    random = Random(f"{seed}:{session.id}")
    random.shuffle(own)
    random.shuffle(others)
    return replace(session, catalog=Catalog((*kept, *(*own, *others)[: max(0, size - len(kept))])))


def nested(pool: Catalog, sizes: Sequence[int], seed: int) -> dict[int, Catalog]:
    """Return size → so many tools of a pool, drawn by the seed; each size holds the smaller ones.

    Raises:
        InputError: A size is negative, or larger than the pool.
    """
    if sizes and not 0 <= min(sizes) <= max(sizes) <= len(pool):
        wrong = min(sizes) if min(sizes) < 0 else max(sizes)
        raise InputError(f"a size must lie between 0 and {len(pool)}, the tools there are, not {wrong}.")
    drawn = list(pool)
    Random(seed).shuffle(drawn)
    return {size: Catalog(drawn[:size]) for size in sorted(set(sizes))}
