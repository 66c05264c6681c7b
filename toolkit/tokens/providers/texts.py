"""Texts alone, with a public vocabulary and no provider's framing: good for comparing systems, not for a bill."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

from toolkit.tokens.request import Count, Definition, Request, total
from toolkit.tokens.vocabulary.tables import DEFAULT, count_text
from toolkit.tokens.vocabulary.vocabulary import Vocabulary, remembered
from toolkit.tool import Tool, compact_json, definition_text


@dataclass(frozen=True, slots=True)
class TextsOnly:
    """Counts a definition and a call as their compact JSON, and everything else as its words."""

    words: Vocabulary = field(default_factory=lambda: public())
    remainder: str = "all that a provider adds around the texts"

    @property
    def name(self) -> str:
        return f"tiktoken/{self.words.name} (texts only)"

    def base(self) -> Count:
        return self._estimate()

    def message(
        self, role: str, text: str = "", calls: Sequence[tuple[str, str]] = (), results: Sequence[tuple[str, str]] = ()
    ) -> Count:
        """Return the tokens of one message; calls and results are (tool name, text) pairs."""
        return self._estimate(text, *(call_text(*one) for one in calls), *(words for _, words in results))

    def definition(self, tool: Tool | Definition) -> Count:
        if isinstance(tool, Definition):
            tool = Tool(tool.name, tool.description, tool.schema)
        return self._estimate(definition_text(tool))

    def tools_overhead(self, n_tools: int, has_system: bool = True) -> Count:
        return self._estimate()

    def count(self, request: Request) -> Count:
        return total(self.breakdown(request).values())

    def breakdown(self, request: Request) -> dict[str, Count]:
        """Return the count by part: `messages` and `tools`."""
        texts = [one.text for message in request.messages for one in message.parts if one.kind != "call"]
        calls = [call_text(one.name, one.text) for message in request.messages for one in message.of_kind("call")]
        return {"messages": self._estimate(*texts, *calls), "tools": total(map(self.definition, request.tools))}

    def _estimate(self, *texts: str) -> Count:
        tokens = sum(map(self.words.count, texts))
        return Count(tokens, "estimate", tokens, tokens)


def public(encoding: str = DEFAULT, keep: bool = True) -> Vocabulary:
    """Return one of tiktoken's vocabularies; `keep` keeps its counts on disk for later runs, by digest."""
    return Vocabulary(encoding, encoding, remembered(encoding) if keep else partial(count_text, encoding_name=encoding))


def call_text(name: str, arguments: str) -> str:
    """Return a call as compact JSON of its name and arguments; arguments that are no JSON object are text.

    >>> call_text("f", '{"a":1}'), call_text("f", "half {")
    ('{"name":"f","arguments":{"a":1}}', '{"name":"f","arguments":"half {"}')
    """
    body = arguments if _is_object(arguments) else compact_json(arguments)
    return f'{compact_json({"name": name})[:-1]},"arguments":{body}}}'


def _is_object(text: str) -> bool:
    try:
        return text.startswith("{") and isinstance(json.loads(text), dict)
    except ValueError:
        return False
