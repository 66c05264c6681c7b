"""Which records of a log that is a tree were left behind when a person went back and wrote something else."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple


class Node(NamedTuple):
    """A record's id, the id of the record before it, and whether it is a person's prompt, or anything said at all."""

    id: str
    parent: Any
    is_prompt: bool
    is_spoken: bool


def left_behind(nodes: Iterable[Node]) -> tuple[set[str], int]:
    """Return the ids of branches that were left, and how many: of two prompts after one message the later counts.

    Records that say nothing (progress, hooks, settings) are passed through on the way up. A prompt without a message
    before it (a new root, or one that is not in the file) leaves nothing behind. What fans out otherwise is kept.
    """
    nodes = tuple(nodes)
    above = {node.id: node.parent for node in nodes}
    spoken = {node.id for node in nodes if node.is_spoken}
    prompts: dict[str, list[str]] = {}
    for node in nodes:
        at = _message_before(node, above, spoken) if node.is_prompt else None
        if at is not None:
            prompts.setdefault(at, []).append(node.id)
    left = {id for ids in prompts.values() for id in ids[:-1]}
    dead: set[str] = set()
    for node in nodes:
        if node.id in left or (isinstance(node.parent, str) and node.parent in dead):
            dead.add(node.id)
    return dead, len(left)


def _message_before(node: Node, above: dict[str, Any], spoken: set[str]) -> str | None:
    at, seen = node.parent, {node.id}
    while isinstance(at, str) and at in above and at not in seen:
        if at in spoken:
            return at
        seen.add(at)
        at = above[at]
    return None
