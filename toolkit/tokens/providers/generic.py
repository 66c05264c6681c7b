"""Estimates for every model that has no counter of its own: texts with its vocabulary, constants for its template.

The serving template matters, not the model (`docs/token-rules.md`, open models): constants are fitted by (provider,
family of models) where there were recordings, by family otherwise, and pooled for a name nobody knows
(`fits/templates.json`).
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from toolkit.errors import MissingExtraError
from toolkit.tokens.media import hosted_tool, unbounded
from toolkit.tokens.models import facts
from toolkit.tokens.pictures import media
from toolkit.tokens.request import Count, Definition, Message, Request, exact, shown, total
from toolkit.tokens.vocabulary.vocabulary import Vocabulary, fit, rough, vocabulary
from toolkit.tool import Tool


@dataclass(frozen=True, slots=True)
class Template:
    """The constants of a serving template, in tokens, and how far off they can be.

    Attributes:
        base: Every request. each: Every message. tools: As soon as there is a tool. tool: Every tool.
        pair: A call and its result. schema: The schema of a structured answer.
        spread: Half-width of the band as a share of the count; spread_tools more where there are tools.
        slack: Half-width in tokens; slack_tools more where there are tools.
        sure: Nine bills of ten of repositories that it was not fitted on were within a quarter or 30 tokens, so the
            band of a whole request is no wider.
    """

    base: float = 0.0
    each: float = 4.0
    tools: float = 40.0
    tool: float = 8.0
    pair: float = 12.0
    schema: float = 40.0
    spread: float = 0.1
    spread_tools: float = 0.4
    slack: float = 12.0
    slack_tools: float = 300.0
    sure: bool = False


@dataclass(frozen=True, slots=True)
class GenericCounter:
    """Counts with a band that should hold nine bills of ten."""

    provider: str
    model: str
    rules: Template
    words: Vocabulary
    remainder: str = "the serving template is not known: see the band"

    @property
    def name(self) -> str:
        return f"{self.provider or 'any'}/{self.model} (estimate, {self.words.actual})"

    # Pieces

    def base(self) -> Count:
        return self._banded(self.rules.base, self.rules.slack)

    def message(
        self, role: str, text: str = "", calls: Sequence[tuple[str, str]] = (), results: Sequence[tuple[str, str]] = ()
    ) -> Count:
        """Return the tokens of one message; calls and results are (tool name, text) pairs."""
        count = self.words.count
        tokens = self.rules.each + count(text) + sum(count(body) for _, body in results)
        return self._banded(tokens + sum(count(name) + count(body) + self.rules.pair for name, body in calls))

    def definition(self, tool: Tool | Definition) -> Count:
        one = Definition.of(tool)
        if one.kind != "function":
            return hosted_tool(one)
        return self._banded(self.rules.tool + self.words.count(definition_json(one)), spread=self.rules.spread_tools)

    def tools_overhead(self, n_tools: int, has_system: bool = True) -> Count:
        return self._banded(self.rules.tools, self.rules.slack_tools) if n_tools else exact(0)

    # Whole requests

    def count(self, request: Request) -> Count:
        found = total(self.breakdown(request).values())
        tokens, high = max(0, found.tokens), found.high
        half = max(math.ceil(tokens / 4), 30) if self.rules.sure else max(tokens, high or tokens)
        return Count(tokens, found.method, max(0, found.low, tokens - half), high and min(high, tokens + half))

    def breakdown(self, request: Request) -> dict[str, Count]:
        """Return the count by part: `base`, `tools`, `messages`, and what else there is."""
        everything = [part for message in request.messages for part in message.parts]
        declared = [tool for tool in request.tools if not tool.deferred]
        return shown({
            "base": self.base(),
            "tools": self.tools_overhead(len(declared)) + total(map(self.definition, declared)),
            "messages": total(map(self._one, request.messages)),
            "output_schema": self._schema(request),
            "images": total(media(part, "openai", self.model) for part in everything if part.kind == "media"),
            "unbounded": unbounded(request),
        })  # fmt: skip

    def _banded(self, tokens: float, slack: float = 0.0, spread: float = 0.0) -> Count:
        half = math.ceil(abs(tokens) * (self.rules.spread + spread + self.words.spread) + slack)
        return Count(round(tokens), "estimate", round(tokens) - half, round(tokens) + half)

    def _one(self, message: Message) -> Count:
        calls = [(part.name, part.text) for part in message.of_kind("call")]
        results = [(part.name, part.text) for part in message.of_kind("result")]
        return self.message(message.role, message.text, calls, results)

    def _schema(self, request: Request) -> Count:
        if request.output_schema is None:
            return exact(0)
        size = self.words.count(json.dumps(request.output_schema, ensure_ascii=False))
        return Count(round(self.rules.schema), "estimate", -size, round(self.rules.schema) + 2 * size + 120)


def definition_json(tool: Definition) -> str:
    """Return a definition as most open templates write it."""
    function = {"name": tool.name, "description": tool.description, "parameters": tool.schema}
    return json.dumps({"type": "function", "function": function}, ensure_ascii=False)


@lru_cache(maxsize=256)
def template(provider: str, family: str) -> Template:
    """Return the constants of a family of models at a provider, or at any, or of any model at all."""
    rows: Mapping[str, Mapping[str, Any]] = fit("templates")["templates"]
    return Template(**(rows.get(f"{provider}/{family}") or rows.get(f"*/{family}") or rows["*/any"]))


def counter(model: str, provider: str = "") -> GenericCounter:
    """Return the estimating counter of any model; it works, with a wider band, where no vocabulary can be had."""
    told = facts(model)
    try:
        words = vocabulary(told.vocabulary)
    except MissingExtraError:
        words = rough()
    return GenericCounter(provider, model, template(provider, told.family), words)
