"""From text to terms: one Unicode tokenizer for index and query.

Text is normalised (NFKC), split at separators, camel humps and acronym runs, folded and lightly
stemmed; the compound stays beside its parts. Scripts without spaces become character bigrams.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import lru_cache
from itertools import chain
from string import punctuation

_WORD = re.compile(r"[^\W_]+(?:[_\-'’]+[^\W_]+)*")
_ASCII_WORD = re.compile(r"[A-Za-z0-9]+(?:[_\-']+[A-Za-z0-9]+)*")
_CLITIC = re.compile(r"['’][^_\-]*")
_LOWER, _UPPER = "a-z0-9à-öø-ÿα-ωа-я", "A-ZÀ-ÖØ-ÞΑ-ΩА-Я"
_HUMP = re.compile(rf"(?<=[{_LOWER}])(?=[{_UPPER}])|(?<=[{_UPPER}])(?=[{_UPPER}][{_LOWER}])(?![{_UPPER}]s\b)")
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\U00020000-\U0003134f"
)
_RUNS = re.compile(rf"[{_UNSPACED}]+|[^{_UNSPACED}]+")
_IS_UNSPACED = re.compile(rf"[{_UNSPACED}]")
_SUFFIXES = (
    *((suffix, 4) for suffix in ("ating", "ated", "ation", "ator", "ate")),
    *(("ing", 3), ("ed", 3), ("ion", 4), ("er", 4), ("or", 4)),
)
_ENDINGS = tuple(suffix for suffix, _ in _SUFFIXES)
_VOWEL = re.compile(r"[aeiouy]")
_OUTSIDE = re.sub("[-_']", "", punctuation).encode()
_SIGNS = bytes.maketrans(_OUTSIDE, b" " * len(_OUTSIDE))
_LONGEST = 64
_MOST_RUNS = 1 << 16

_STOP_WORDS = """
    a about after all also am an and any are as at be been before being both but by can could did do does doing for
    from had has have having he her here him his how i if in into is it its itself just let like me more most my need
    no nor not of off on once only or other our ours out over own please same she should so some such than that the
    their them then there these they this those through to too under until up us very want was we were what when
    where which while who whom why will with would you your yours e g etc s t d ll m re ve
"""
STOP_WORDS = frozenset(_STOP_WORDS.split())


def raw_words(text: str) -> list[str]:
    """Return the words of `text` as they were written, NFKC-normalised.

    >>> raw_words("addSupplier, the mayor's list_all")
    ['addSupplier', 'the', "mayor's", 'list_all']
    """
    return _ASCII_WORD.findall(text) if text.isascii() else _WORD.findall(unicodedata.normalize("NFKC", text))


class Memo(dict[str, tuple[str, ...]]):
    """What `find` makes of short runs of text without spaces, each found once: they come back often.

    A plain dict, since it looks up in half the time that an `lru_cache` takes; full, it starts anew.
    """

    def __init__(self, find: Callable[[str], tuple[str, ...]]) -> None:
        self.find = find

    def __missing__(self, run: str) -> tuple[str, ...]:
        found = self.find(run)
        if len(run) <= _LONGEST:
            if len(self) >= _MOST_RUNS:
                self.clear()
            self[run] = found
        return found

    def all_of(self, text: str) -> list[str]:
        """Return what is found in each run of `text`, in order."""
        return list(chain.from_iterable(map(self.__getitem__, runs(text))))


def runs(text: str) -> list[str]:
    """Return what stands between the spaces and signs of `text`: no word crosses them.

    >>> runs("(e.g. add_suppliers, the mayor's)")
    ['e', 'g', 'add_suppliers', 'the', "mayor's"]
    """
    return (text.encode().translate(_SIGNS).decode() if text.isascii() else text).split()


def terms(text: str) -> list[str]:
    """Return the terms of `text`, in order: every word's parts, and after them its compound.

    >>> terms("addSuppliers to HTTPServer")
    ['add', 'suppli', 'addsuppli', 'to', 'http', 'serv', 'httpserv']
    """
    return _terms.all_of(text)


def content_terms(text: str) -> list[str]:
    """Return the terms of `text` without stop words."""
    return _content_terms.all_of(text)


def _terms_of(run: str) -> tuple[str, ...]:
    word = run.strip(punctuation)
    if word.isascii() and word.isalpha() and (word.islower() or word[1:].islower() or word.isupper()):
        return (stem(word.lower()),)
    if word.isascii() and word.replace("_", "").isalnum():
        return word_terms(word)
    return tuple(chain.from_iterable(map(word_terms, raw_words(run))))


_OWN = ("er", "ers", "or", "ors", "ion", "ions")
"""Endings that make a word of its own out of a stop word: a letter is no `let`, a helper no `help`."""


def _content_terms_of(run: str) -> tuple[str, ...]:
    found, word = _terms_of(run), run.strip(punctuation).lower()
    if STOP_WORDS.isdisjoint(found) or (len(found) == 1 and word.endswith(_OWN) and word not in STOP_WORDS):
        return found
    return tuple(term for term in found if term not in STOP_WORDS)


_terms = Memo(_terms_of)
_content_terms = Memo(_content_terms_of)


def word_terms(word: str) -> tuple[str, ...]:
    """Return the terms of one raw word: parts, then the compound if there are several."""
    parts = word_parts(word)
    stems = map(stem, parts) if word.isascii() else chain.from_iterable(map(_part_terms, parts))
    return (*stems, stem("".join(parts))) if len(parts) > 1 else tuple(stems)


@lru_cache(maxsize=1 << 16)
def word_parts(word: str) -> tuple[str, ...]:
    """Return the folded parts of one raw word.

    >>> word_parts("parseXMLFiles"), word_parts("bed-time"), word_parts("userIDs")
    (('parse', 'xml', 'files'), ('bed', 'time'), ('user', 'ids'))
    """
    if word.isascii() and word.isalpha() and word.islower():
        return (word,)
    whole = _CLITIC.sub("", word) if "'" in word or "’" in word else word
    spaced = whole.replace("-", " ").replace("_", " ")
    return tuple((spaced if spaced.islower() else _HUMP.sub(" ", spaced)).casefold().split())


def _part_terms(part: str) -> list[str]:
    if part.isascii() or not _IS_UNSPACED.search(part):
        return [stem(part)]
    return [term for run in _RUNS.findall(part) for term in (_bigrams(run) if _IS_UNSPACED.match(run) else [stem(run)])]


def _bigrams(run: str) -> list[str]:
    return [run[i : i + 2] for i in range(len(run) - 1)] or [run]


@lru_cache(maxsize=1 << 16)
def stem(word: str) -> str:
    """Return a light English stem: plural, -ing, -ed, -er, -or, -ion and a last e go; of a long word, of its start."""
    word = word[:_LONGEST]
    if not (word.isascii() and word.isalpha()):
        return word
    single = _singular(word) if word[-1] == "s" else word
    return _without_suffix(single) if single.endswith(_ENDINGS) else _settled(single)


def _singular(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "shes", "ches", "xes", "zes")):
        return word[:-2]
    if word.endswith("s") and len(word) > 2 and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def _without_suffix(word: str) -> str:
    for suffix, least in _SUFFIXES:
        stem = word[: -len(suffix)]
        if word.endswith(suffix) and len(stem) >= least and _VOWEL.search(stem):
            return _settled(stem)
    return _settled(word)


def _settled(stem: str) -> str:
    if len(stem) > 3 and stem[-1] == stem[-2] and stem[-1] not in "lsz":
        stem = stem[:-1]
    if len(stem) > 3 and stem[-1] == "e":
        stem = stem[:-1]
    return stem[:-1] + "i" if stem[-1] == "y" and len(stem) > 2 else stem


def unspaced(text: str) -> bool:
    """Return whether `text` holds a script that is written without spaces."""
    return not text.isascii() and _IS_UNSPACED.search(text) is not None


def fold(text: str) -> str:
    """Return `text` NFKC-normalised and case-folded."""
    return (text if text.isascii() else unicodedata.normalize("NFKC", text)).casefold()
