"""Calls of a history and what they were answered, reply by reply; several of one reply are one text for OpenAI."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from toolkit.tokens.request import Message, Part
from toolkit.tool import compact_json

LATIN = re.compile("[\x80-\xff]")


def exchanges(messages: Sequence[Message], by_message: bool) -> list[tuple[list[Part], list[Part]]]:
    """Return the calls of each reply with the results that answer them; results of unknown calls stand alone.

    Args:
        messages: Of a request, in order.
        by_message: A reply is a message; else calls that follow each other are one reply.
    """
    found: list[tuple[list[Part], list[Part]]] = []
    replies: dict[str, list[Part]] = {}
    following = False
    for message in messages:
        calls = message.of_kind("call")
        if calls and following and not by_message:
            found[-1][0].extend(calls)
        elif calls:
            found.append((calls, []))
        following = bool(calls)
        replies |= {part.id: found[-1][1] for part in calls}
        for part in message.of_kind("result"):
            (replies[part.id] if part.id in replies else _alone(found)).append(part)
    return found


def _alone(found: list[tuple[list[Part], list[Part]]]) -> list[Part]:
    found.append(([], []))
    return found[-1][1]


def _escaped(sign: re.Match[str]) -> str:
    """A degree sign in a list of results is billed as its escape; dashes and curly quotes are not."""
    return f"\\u{ord(sign[0]):04x}"


def several(calls: Sequence[tuple[str, str]]) -> str:
    """Return several calls of one reply as the one call that they are."""
    uses = [
        {"recipient_name": f"functions.{name}", "parameters": _read((name, text or "{}"))[0]} for name, text in calls
    ]
    return compact_json({"tool_uses": uses})


def _read(result: tuple[str, str]) -> tuple[Any, str]:
    """A text as JSON and as it is; one that is no JSON twice as it is."""
    try:
        return json.loads(result[1]), result[1]
    except ValueError:
        return result[1], result[1]


def answers(results: Sequence[tuple[str, str]]) -> str:
    """Return what several calls were answered: one JSON list, objects and arrays as they are, any other text quoted.

    >>> answers([("f", '{"a":1}'), ("f", "done"), ("f", "7")])
    '[{"a": 1}, "done", "7"]'
    """
    read = [value if isinstance(value, (dict, list)) else text for value, text in map(_read, results)]
    return LATIN.sub(_escaped, json.dumps(read, ensure_ascii=False))
