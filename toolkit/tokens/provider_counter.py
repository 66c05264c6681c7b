"""A provider's own counting rules, as the ledger asks for them."""

from __future__ import annotations

from collections.abc import Sequence

from toolkit.session import Call, text_of
from toolkit.tokens.counters import counter
from toolkit.tokens.pieces import Pieces
from toolkit.tokens.request import Count
from toolkit.tool import Tool


class ProviderCounter:
    """Counts by the rules of a model's provider, each text and each tool once.

    Args:
        model: The model whose requests are counted.
        provider, api: Where it is served, when that changes the rules.
    """

    def __init__(self, model: str, provider: str = "", api: str = "") -> None:
        self._counter = counter(provider or None, api or None, model)
        self._pieces = Pieces(self._counter)
        self._tools: dict[int, tuple[Tool, int]] = {}

    @property
    def name(self) -> str:
        """What every result calls this counter."""
        return self._counter.name

    @property
    def method(self) -> str:
        """How far a count of a request with tools can be trusted: `exact-rules`, `calibrated` or `estimate`."""
        return self.sample.method

    @property
    def sample(self) -> Count:
        """The count of a request with one small tool: its band is that of the counter."""
        base = self._counter.base() + self._counter.message("user", "hello")
        return base + self._counter.tools_overhead(1) + self._counter.definition(Tool("look", "Looks.", {}))

    def text(self, text: str) -> int:
        """Return the tokens of a text, the frame of a message left out."""
        return self._pieces.text(text)

    def definition(self, tool: Tool) -> int:
        """Return the tokens that declaring the tool adds to a prompt."""
        known = self._tools.get(id(tool))
        if known is None:
            known = self._tools[id(tool)] = (tool, self._pieces.definition(tool))
        return known[1]

    def message(self, role: str, text: str, calls: Sequence[Call] = ()) -> int:
        """Return the tokens of a message in the history: its words, its calls, and what they were answered."""
        if not text and not calls:
            return 0
        made = [(call.name, call.arguments_text) for call in calls]
        said = self._counter.message(role, text, made).tokens
        results = [(call.name, text_of(call.result.content)) for call in calls if call.result is not None]
        return said + (self._counter.message("tool", "", (), results).tokens if results else 0)

    def base(self) -> int:
        """Return the tokens of every request, beside its messages."""
        return self._counter.base().tokens

    def overhead(self, tools: int) -> int:
        """Return the tokens that come once with the first declared tool."""
        return self._counter.tools_overhead(tools).tokens if tools else 0
