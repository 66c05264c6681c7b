"""Counting texts alone: no provider's framing, every distinct text tokenised once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial

from toolkit.session import Call, call_text, text_of
from toolkit.tokens.vocabulary.tables import DEFAULT, count_text
from toolkit.tokens.vocabulary.vocabulary import remembered
from toolkit.tool import Tool, definition_text


class TextCounter:
    """Counts tokens of texts with a public vocabulary.

    A definition counts as the compact JSON of `toolkit.tool.definition_text`, a call as that of
    `toolkit.session.call_text`, everything else as its words. What a provider adds around
    them is not in it: an estimate, good for comparing systems, not for matching a bill.

    Args:
        encoding: A tiktoken vocabulary.
        keep: Keep the counts on disk for later runs, by digest.
    """

    method = "estimate"

    def __init__(self, encoding: str = DEFAULT, keep: bool = True) -> None:
        self.encoding, self.keep = encoding, keep
        self._counts: dict[str, int] = {}
        self._tools: dict[int, tuple[Tool, int]] = {}

    @property
    def name(self) -> str:
        """What every result calls this counter."""
        return f"tiktoken/{self.encoding} (texts only)"

    def text(self, text: str) -> int:
        """Return the tokens of a text."""
        count = self._counts.get(text)
        if count is None:
            kept = remembered(self.encoding) if self.keep else partial(count_text, encoding_name=self.encoding)
            count = self._counts[text] = kept(text)
        return count

    def texts(self, texts: Iterable[str]) -> int:
        """Return the tokens of several texts together."""
        return sum(map(self.text, texts))

    def definition(self, tool: Tool) -> int:
        """Return the tokens that declaring the tool adds to a prompt."""
        known = self._tools.get(id(tool))
        if known is None:
            known = self._tools[id(tool)] = (tool, self.text(definition_text(tool)))
        return known[1]

    def message(self, role: str, text: str, calls: Sequence[Call] = ()) -> int:
        """Return the tokens of a message in the history: its words, its calls, and what they were answered."""
        answers = (text_of(call.result.content) for call in calls if call.result is not None)
        return self.texts((text, *map(call_text, calls), *answers))

    def base(self) -> int:
        """Return the tokens of every request beside its messages: no framing is counted."""
        return 0

    def overhead(self, tools: int) -> int:
        """Return the tokens that come once with the first declared tool: no framing is counted."""
        return 0

    def definitions(self, tools: Iterable[Tool]) -> int:
        return sum(map(self.definition, tools))
