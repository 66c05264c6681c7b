"""The parts of a query that ask for something of their own: sentences and joined clauses."""

from __future__ import annotations

import re

from toolkit.search.terms.words import unspaced

_SENTENCE = re.compile(r"(?<=[.!?;])\s+|(?<=[。！？；])\s*|\n+")
_VERBS = (
    "analyze|book|calculate|can|check|compute|convert|could|create|find|generate|get|give|help|how|i|identify|list|make"
    "|please|plot|provide|recommend|retrieve|save|search|send|show|suggest|tell|what|when|where|which|who|would|write"
)
_JOINT = re.compile(
    r",?\s+(?:and then|and also|and finally|after that|as well as|then|also|finally|lastly|and|but|while|plus)\s+"
    rf"|,\s+(?=(?:{_VERBS})\b)",
    re.IGNORECASE,
)
_LEAST_WORDS = 3
_MOST = 10
_LONGEST = 6000


def clauses(query: str) -> tuple[str, ...]:
    """Return the clauses of a query, none when it is only one.

    A sentence is split at a conjunction where both sides have three words or more.

    >>> clauses("Show the weather in Rome. Then book a cheap hotel and send me the bill by mail")
    ('Show the weather in Rome', 'Then book a cheap hotel', 'send me the bill by mail')
    >>> clauses("salt and pepper")
    ()
    """
    sentences = (sentence.strip(" ,.;。；") for sentence in _SENTENCE.split(query[:_LONGEST]))
    parts = [part.strip(" ,.") for sentence in sentences for part in _joined(sentence)]
    found = tuple(dict.fromkeys(part for part in parts if " " in part or unspaced(part)))[:_MOST]
    return found if len(found) > 1 else ()


def _joined(sentence: str) -> list[str]:
    parts, start = [], 0
    for joint in _JOINT.finditer(sentence):
        left, right = sentence[start : joint.start()], sentence[joint.end() :]
        if min(len(left.split()), len(right.split())) >= _LEAST_WORDS:
            parts.append(left)
            start = joint.end()
    return [*parts, sentence[start:]]
