"""A query as real models write it: a few words that carry meaning, without what surrounds them.

How recorded models write (`benchmarks/queries.py` prints it again). 283 searches of livemcpbench, whose host asks for
a server and a task: the task is 9 words in the median (eight in ten have 6 to 12) and begins with a verb, the server
4 words; seven in ten join wordings by a comma or "or". 37 queries in 32 searches of OpenAI's and Anthropic's hosts:
2 words in the median, nine in ten at most 7, never a sentence; one in six searches asks two queries at once.
Hence 12 words by default, beyond which the recall came no nearer to the recorded one (.062 away, 9 words .110, 16
words .056, on one half of livemcpbench's sessions), and `short_phrase(words=3)` for the terser kind.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from toolkit.errors import InputError
from toolkit.replaying.query_models import Seen, distinct, own_words
from toolkit.search.terms.words import STOP_WORDS

_LONGEST = 6000
_SENTENCE = re.compile(r"(?<=[.!?:;])\s+|(?<=[。！？：；])|\n+")
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_NAMES = re.compile(r"`[^`]*`|https?://\S+|(?:/[\w.\-]+){2,}/?|\b\w+_\w+\b|\b\w*\d[\w.\-]*\b")
"""Names in code, addresses, paths, identifiers, figures: arguments, or what only a declared tool could have taught."""

_ASKING_WORDS = """
    tool tools function functions server servers find look looking search searching start started starting try trying
    use used using need right appropriate available specific different another approach first next now also step some
    several one can option options task help complete continue request requested see user better best let's lets i'll
    i've good great perfect excellent ok okay sorry
"""
_UNTOLD = STOP_WORDS | frozenset(_ASKING_WORDS.split())


@dataclass(frozen=True, slots=True)
class ShortPhrase:
    """Asks in the last words that carry meaning: of the pass, then of the turn's input, then of what was said last.

    Whole sentences are taken from the end for as long as they fit. Left out are stop words, the words in which a model
    says that it searches, and names: a model that has yet to find a tool does not know what it is called.

    >>> ShortPhrase()(Seen("Great! Now let me get the trending repositories with `list_trending`:", "What's new?"))
    ['get trending repositories', 'new']
    """

    words: int = 12

    def __post_init__(self) -> None:
        if not isinstance(self.words, int) or self.words < 1:
            raise InputError(f"short_phrase needs words of at least 1, not {self.words!r}.")

    def __call__(self, seen: Seen) -> list[str]:
        phrases = distinct(*(self._phrase(text) for text in (seen.words, seen.turn_input, seen.last_words)))
        return phrases or own_words(seen)

    def _phrase(self, text: str) -> str:
        kept: list[str] = []
        for sentence in reversed(_SENTENCE.split(_NAMES.sub(" ", text[-_LONGEST:]))):
            known = {word.casefold() for word in kept}
            more = [word for word in _telling(sentence) if word.casefold() not in known]
            if kept and len(kept) + len(more) > self.words:
                break
            kept = more + kept
        return " ".join(kept[: self.words])

    def __repr__(self) -> str:
        return f"short_phrase(words={self.words})"


def _telling(sentence: str) -> Iterator[str]:
    """Yield the words of a sentence that carry meaning, each once."""
    told = set(_UNTOLD)
    for word in _WORD.findall(sentence):
        folded = word.casefold().replace("’", "'")
        if len(folded) > 1 and folded not in told and folded.partition("'")[0] not in STOP_WORDS:
            told.add(folded)
            yield word
