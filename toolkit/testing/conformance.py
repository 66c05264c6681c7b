"""Plays conformance vectors on a host and says rule by rule what it does otherwise."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from toolkit.testing.judge import first_difference
from toolkit.testing.rule_vectors import RULES, Vector
from toolkit.testing.stdio import HostBrokenError, StdioHost

GIVE_UP = 3
NOT_RUN = "not played: the host broke too often in a row"


@dataclass(frozen=True, slots=True)
class Finding:
    """What came of one vector: `difference` is None when the host did all as expected."""

    id: str
    rules: tuple[str, ...]
    title: str
    difference: str | None


def check(
    vectors: Iterable[Vector], command: Sequence[str], time_limit: float = 10.0, give_up: int = GIVE_UP
) -> Iterator[Finding]:
    """Yield what came of each vector, played on the host that a command starts.

    A host that breaks fails the vector and is started again for the next; after `give_up` such
    vectors in a row the rest counts as failed and is not played.

    Raises:
        InputError: The command cannot be started.
    """
    host, broken = StdioHost(command, time_limit), 0
    try:
        for vector in vectors:
            difference, broke = (NOT_RUN, True) if broken >= give_up else _played(vector, host.ask)
            broken = broken + 1 if broke else 0
            yield Finding(vector["id"], tuple(vector["rules"]), vector["title"], difference)
    finally:
        host.close()


def _played(vector: Vector, ask: Callable[[str, Mapping[str, Any]], dict[str, Any]]) -> tuple[str | None, bool]:
    """Return the first difference, and whether the host broke."""
    try:
        return first_difference(vector, ask), False
    except HostBrokenError as error:
        return str(error), True


def by_rule(findings: Sequence[Finding]) -> list[dict[str, Any]]:
    """Return a row for each rule that a vector is about: its vectors, how many passed and failed, and each failure."""
    rows = (_row(rule, [one for one in findings if rule in one.rules]) for rule in RULES)
    return [row for row in rows if row["vectors"]]


def _row(rule: str, findings: Sequence[Finding]) -> dict[str, Any]:
    failed = [one for one in findings if one.difference is not None]
    first = f"{failed[0].id}, {failed[0].title}: {failed[0].difference}" if failed else None
    return {
        "rule": rule,
        "vectors": len(findings),
        "passed": len(findings) - len(failed),
        "failed": len(failed),
        "first_difference": first,
        "failures": [{"id": one.id, "title": one.title, "difference": one.difference} for one in failed],
    }
