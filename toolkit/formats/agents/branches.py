"""Which records of a log that is a tree were left behind when a person went back and wrote something else."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from typing import Any


def left_behind(above: Mapping[str, Any], prompts: Iterable[str], spoken: Container[str]) -> tuple[set[str], int]:
    """Return the ids of branches that were left, and how many: of two prompts after one message the later counts.

    Records that say nothing (progress, hooks, settings) are passed through on the way up. A prompt without a message
    before it (a new root, or one that is not in the file) leaves nothing behind. What fans out otherwise is kept.

    Args:
        above: The id of the record before each, by a record's own id, in the order of the log.
        prompts: The ids of what a person wrote.
        spoken: The ids of records that say anything at all.
    """
    after: dict[str, list[str]] = {}
    for id in dict.fromkeys(prompts):
        at = _message_before(id, above, spoken)
        if at is not None:
            after.setdefault(at, []).append(id)
    left = {id for ids in after.values() for id in ids[:-1]}
    dead = set(left)
    for id, parent in above.items() if left else ():
        if isinstance(parent, str) and parent in dead:
            dead.add(id)
    return dead, len(left)


def _message_before(id: str, above: Mapping[str, Any], spoken: Container[str]) -> str | None:
    at, seen = above[id], {id}
    while isinstance(at, str) and at in above and at not in seen:
        if at in spoken:
            return at
        seen.add(at)
        at = above[at]
    return None
