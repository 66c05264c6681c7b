"""Names written as one word (`airqualityforecast`), taken apart with the words of the tool's own text."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import chain

from toolkit.search.terms.words import raw_words, runs, word_parts

_SMALL_WORDS = "add all and api app by check data find for from get id in info is key list new of on search set the to"
_ENDING_WORDS = "able ally ance ated ator ence ings ment ness ship sion ting tion tional wise"
_SMALL, _ENDINGS = frozenset(_SMALL_WORDS.split()), frozenset(_ENDING_WORDS.split())
_LEAST, _LEAST_PIECE = 7, 4


def vocabulary(text: str) -> frozenset[str]:
    """Return the words of a text, three letters or longer, each with and without a plural s."""
    long = [part for part in _parts(text) if len(part) > 2]
    return frozenset((*long, *(part[:-1] if part[-1] == "s" else part + "s" for part in long)))


def _parts(text: str) -> Iterator[str]:
    """Yield the folded parts of a text's words."""
    plain = text.isascii() and "'" not in text
    return chain.from_iterable(map(word_parts, runs(text) if plain else raw_words(text)))


def pieces(part: str, known: Collection[str]) -> tuple[str, ...]:
    """Return the words that a glued part is made of, none when it is one word.

    All pieces are known words; else a known word stands at its start or end and leaves four letters or more.

    >>> known = vocabulary("Provides air quality forecasts")
    >>> pieces("airqualityforecast", known), pieces("qualityindex", known), pieces("quality", known)
    (('air', 'quality', 'forecast'), ('quality', 'index'), ())
    """
    if len(part) < _LEAST or part in known or not part.isalpha():
        return ()
    return _whole(part, known) or _at_edge(part, known)


def _whole(part: str, known: Collection[str]) -> tuple[str, ...]:
    for cut in range(len(part) - 2, 1, -1):
        head, rest = part[:cut], part[cut:]
        if head in known or head in _SMALL:
            if rest in known or rest in _SMALL:
                return head, rest
            if further := _whole(rest, known):
                return head, *further
    return ()


def _at_edge(part: str, known: Collection[str]) -> tuple[str, ...]:
    for size in range(len(part) - _LEAST_PIECE, _LEAST_PIECE - 1, -1):
        for head, rest in ((part[:size], part[size:]), (part[-size:], part[:-size])):
            if head in known and rest not in _ENDINGS:
                inner = pieces(rest, known) or (rest,)
                return (head, *inner) if part.startswith(head) else (*inner, head)
    return ()


def unglued(name: str, text: str) -> list[str]:
    """Return the pieces of all glued parts of a name, with the words of a folded text.

    >>> unglued("airQuality_weatherforecast", "forecasts of the weather")
    ['weather', 'forecast']
    """
    glued = [part for part in _parts(name) if len(part) >= _LEAST and _may_be_glued(part, text)]
    if not glued:
        return []
    starts = " ".join(glued)
    known = vocabulary(" ".join(run for run in runs(text) if run[:2] in starts or not run.isalnum()))
    return list(chain.from_iterable(pieces(part, known) for part in glued))


def _may_be_glued(part: str, text: str) -> bool:
    """Return whether taking a long part apart is worth a try; one that the text holds as it is stays whole."""
    return part not in text and (part[:2] in text or part[-_LEAST_PIECE:] in text)
