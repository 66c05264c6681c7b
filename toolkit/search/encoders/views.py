"""The texts of a tool that are embedded, each with its weight."""

from __future__ import annotations

from collections.abc import Collection

from toolkit.search.terms.compounds import pieces, vocabulary
from toolkit.search.terms.texts import parameters, split_name
from toolkit.search.terms.words import raw_words, word_parts
from toolkit.tool import Tool

PARAMETERS = 0.3
RECIPE = f"views-2 parameters={PARAMETERS}"
NAME_IN_WHOLE, NAME_IN_CLAUSE = 0.1, 0.6
_LONGEST = (1500, 600, 200)


def views(tool: Tool) -> tuple[str, ...]:
    """Return a tool's views: name with description, name with parameters, name.

    >>> views(Tool("mcp.git.showLog", "Shows it.", {"properties": {"maxCount": {}}}))
    ('show log: Shows it.', 'show log: max count', 'show log')
    """
    name = spoken(split_name(tool)[1], vocabulary(tool.description))
    full = f"{name}: {tool.description}" if tool.description else name
    names = ", ".join(spoken(parameter) for parameter in dict.fromkeys(parameters(tool)[0]))
    texts = (full, f"{name}: {names}" if names else full, name)
    return tuple(text[:most] for text, most in zip(texts, _LONGEST, strict=True))


def spoken(name: str, known: Collection[str] = ()) -> str:
    """Return a name as words, glued ones taken apart with known words.

    >>> spoken("getUserIDs"), spoken("airquality", {"quality", "air"})
    ('get user ids', 'air quality')
    """
    parts = (part for word in raw_words(name) for part in word_parts(word))
    return " ".join(piece for part in parts for piece in pieces(part, known) or (part,))
