"""What a replay asks of a counter, in plain integers: each text and each definition counted once, and kept here.

Nothing else in the toolkit keeps what a definition costs. A definition is kept by its value, so whoever holds an
equal tool gets the same count; texts are kept on disk too, by digest (`vocabulary/kept_counts.py`).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from functools import lru_cache
from typing import Any

from toolkit.session import Call, text_of
from toolkit.tokens.counters import counter
from toolkit.tokens.providers.texts import TextsOnly
from toolkit.tokens.request import Count, TokenCounter
from toolkit.tool import Tool


class Counter:
    """Counts by the rules of one provider, API and model.

    Args:
        rules: Who counts; texts alone by default.
    """

    def __init__(self, rules: TokenCounter | None = None) -> None:
        self.rules: TokenCounter = TextsOnly() if rules is None else rules
        self._texts: dict[str, int] = {"": 0}
        self._tools: dict[Tool, int] = {}
        self._messages: dict[tuple[Any, ...], int] = {}
        self._framed = self.rules.message("user").tokens

    @property
    def name(self) -> str:
        """What every result calls this counter."""
        return self.rules.name

    @property
    def method(self) -> str:
        """How far a count of a request with tools can be trusted: `exact-rules`, `calibrated` or `estimate`."""
        return self.sample.method

    @property
    def sample(self) -> Count:
        """The count of a request with one small tool: its band is that of the counter."""
        base = self.rules.base() + self.rules.message("user", "hello")
        return base + self.rules.tools_overhead(1) + self.rules.definition(Tool("look", "Looks.", {}))

    def text(self, text: str) -> int:
        """Return the tokens of a text, the frame of a message left out."""
        known = self._texts.get(text)
        if known is None:
            known = self._texts[text] = self.rules.message("user", text).tokens - self._framed
        return known

    def definition(self, tool: Tool) -> int:
        """Return the tokens that declaring the tool adds to a prompt."""
        known = self._tools.get(tool)
        if known is None:
            known = self._tools[tool] = self.rules.definition(tool).tokens
        return known

    def definitions(self, tools: Iterable[Tool]) -> int:
        """Return the tokens of several definitions together, without what comes once with the first."""
        return sum(map(self.definition, tools))

    def message(self, role: str, text: str, calls: Sequence[Call] = ()) -> int:
        """Return the tokens of a message in the history: its words, its calls, and what they were answered."""
        return self.said(role, text, calls) + self.results(calls)

    def said(self, role: str, text: str, calls: Sequence[Call] = ()) -> int:
        """Return the tokens of a message's words and calls, without what the calls were answered."""
        made = tuple((call.name, call.arguments_text) for call in calls)
        return self._counted(role, text, made, ()) if text or made else 0

    def results(self, calls: Sequence[Call]) -> int:
        """Return the tokens of what the calls of one message were answered."""
        answered = tuple((call.name, text_of(call.result.content)) for call in calls if call.result is not None)
        return self._counted("tool", "", (), answered) if answered else 0

    def _counted(self, *message: Any) -> int:
        known = self._messages.get(message)
        if known is None:
            known = self._messages[message] = self.rules.message(*message).tokens
        return known

    def base(self) -> int:
        """Return the tokens of every request, beside its messages."""
        return self.rules.base().tokens

    def overhead(self, tools: int, system: bool = True) -> int:
        """Return the tokens that come once with the first declared tool, beside a system message or without one."""
        return self.rules.tools_overhead(tools, system).tokens if tools else 0


def counter_of(model: str | None = None, provider: str = "", api: str = "") -> Counter:
    """Return what counts a model's requests by its provider's own rules, or texts alone without a model.

    Whoever asks for the same rules in a process shares what is counted.

    Args:
        model: The name that is sent to the API.
        provider: Who serves it, when that changes the rules.
        api: By which API, when that does.
    """
    rules = counter(provider or None, api or None, model) if model else TextsOnly()
    return _shared(rules) if isinstance(rules, Hashable) else Counter(rules)


_shared = lru_cache(maxsize=8)(Counter)
