"""What Anthropic bills for a prompt: tools, system, messages, and a hidden prompt as soon as there is a tool.

Source: billed usage of public recordings (`docs/token-rules.md`, Anthropic). Counted with the vocabulary that the
family really has, a definition is one wrapped JSON object with ordinary spacing, a call is XML with one element an
argument, and what is left over is one constant a family (`fits/anthropic.json`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from toolkit.tokens.media import banded, cited, hosted_tool, unbounded
from toolkit.tokens.models import facts
from toolkit.tokens.parts import document_text
from toolkit.tokens.pictures import media
from toolkit.tokens.request import Count, Definition, Message, Part, Request, at_least, doubted, exact, shown, total
from toolkit.tokens.vocabulary.vocabulary import Vocabulary, fit, vocabulary
from toolkit.tool import Tool

MARK = "antml:"
"""The prefix of the elements in which Claude writes a call."""

MESSAGE = 3
"""What each message after the first costs beyond its words."""

REFERENCE = 10
"""What a found definition costs beyond its text."""

SCHEMA = 82
"""What the schema of a structured answer costs beyond its text, which is indented by two."""

ELSEWHERE = 0.04
"""More band at other hosts than Anthropic's own, which may add words of theirs."""

CITED, CITED_EACH = 480, 80
"""What search results with citations cost at least beyond their texts: once, and each."""

SEARCH_TOOL = {"bm25": 188, "regex": 214}
"""The definition of the hosted search tool (`docs/token-rules.md`, Anthropic)."""


@dataclass(frozen=True, slots=True)
class Family:
    """The constants of one family of models, out of `fits/anthropic.json`.

    Attributes:
        system: More for a system message beside tools that the model may use as it likes.
        search: More for the hosted tool search.
    """

    frame: int
    auto: int
    any: int
    named: int
    pair: int
    parallel: int
    thinking: int
    deferred: int
    system: int
    search: int
    spread: float


@lru_cache(maxsize=64)
def family(model: str) -> Family:
    """Return the family of a Claude model; that of Claude 4.5 for a name nobody knows.

    >>> family("claude-sonnet-4-5-20250929").auto, family("us.anthropic.claude-sonnet-4-20250514-v1:0").auto
    (497, 314)
    """
    told = facts(model)
    rules = told.rules if told.counter == "anthropic" else "claude-4.5"
    row = next(row for row in fit("anthropic")["families"] if row["name"] == rules)
    return Family(**{key: row[key] for key in row if key != "name"})


@dataclass(frozen=True, slots=True)
class AnthropicCounter:
    """Counts for Anthropic's Messages API, and for Claude wherever else its own rendering is kept."""

    model: str
    rules: Family
    words: Vocabulary
    provider: str = "anthropic"
    remainder: str = "a token or two where texts meet; several calls in one reply"

    @property
    def name(self) -> str:
        return f"{self.provider}/messages/{self.model} ({self.words.actual})"

    # Pieces

    def base(self) -> Count:
        return exact(self.rules.frame - MESSAGE)

    def message(
        self, role: str, text: str = "", calls: Sequence[tuple[str, str]] = (), results: Sequence[tuple[str, str]] = ()
    ) -> Count:
        """Return the tokens of one message; calls and results are (tool name, text) pairs."""
        tokens = self.words.count(text) + (0 if role in ("system", "developer") else MESSAGE)
        return self._banded(tokens + self._calls(calls) + sum(map(self._result, (text for _, text in results))))

    def definition(self, tool: Tool | Definition) -> Count:
        one = Definition.of(tool)
        if one.kind.startswith("tool_search_tool"):
            return self._banded(SEARCH_TOOL["regex" if "regex" in one.kind else "bm25"] + self.rules.search)
        if one.deferred:
            return exact(0)
        if one.kind in ("function", "custom"):
            return self._banded(self.words.count(tool_text(one)))
        return typed(one) or hosted_tool(one)

    def tools_overhead(self, n_tools: int, has_system: bool = True, choice: str = "auto") -> Count:
        """Return the hidden prompt, whose length depends on `tool_choice`; 0 when nothing is declared."""
        rules = self.rules
        plain = {"auto": rules.auto, "none": rules.auto, "required": rules.any}.get(choice)
        tokens = rules.named + self.words.count(choice) if plain is None else plain
        return self._banded(tokens if n_tools else 0)

    # Whole requests

    def count(self, request: Request) -> Count:
        return total(self.breakdown(request).values())

    def breakdown(self, request: Request) -> dict[str, Count]:
        """Return the count by part: `base`, `system`, `tools`, `messages`, and what else there is."""
        system = [m for m in request.messages if m.role in ("system", "developer")]
        others = [m for m in request.messages if m.role not in ("system", "developer")]
        overhead = self.tools_overhead(len(request.tools), bool(system), request.tool_choice)
        return shown({
            "base": exact(self.rules.frame - MESSAGE + self._settings(request)),
            "system": self._banded(sum(self.words.count(m.text) for m in system)),
            "tools": overhead + total(map(self.definition, request.tools)) + self._joined(request, bool(system)),
            "messages": self._banded(sum(map(self._one, others)) + self._found(request)),
            "output_schema": self._schema(request),
            "images": total(media(part, "anthropic", self.model) for m in others for part in m.of_kind("media")),
            "citations": self._cited(request),
            "documents": total(map(_document, (part for m in request.messages for part in m.parts))),
            "doubt": total(doubted(20, 20) for m in others if len(m.of_kind("call")) > 1),
            "unbounded": unbounded(request),
        })  # fmt: skip

    def _banded(self, tokens: int) -> Count:
        spread = self.rules.spread + self.words.spread + (0.0 if self.provider == "anthropic" else ELSEWHERE)
        return banded(tokens, spread, "calibrated" if self.words.real else "estimate")

    def _joined(self, request: Request, has_system: bool) -> Count:
        """What tools cost together: a token beside a system message at first; an editor alone has no hidden prompt."""
        kinds = [tool.kind for tool in request.tools]
        editor_alone = len(kinds) == 1 and kinds[0].startswith("text_editor_")
        if editor_alone and "editor_alone" in facts(self.model).notes:
            size = typed(request.tools[0])
            less = self.rules.auto + (size.tokens if size else 0) - fit("anthropic")["editor_alone"]
            return Count(-less, "estimate", -less - 10, 0)
        called = any(message.of_kind("call") for message in request.messages)
        plain = has_system and bool(kinds) and request.tool_choice == "auto" and not called
        return self._banded(self.rules.system * (plain and self.provider == "anthropic"))

    def _cited(self, request: Request) -> Count:
        """Search results whose citations are on, at least; their texts are counted with the messages."""
        pieces = [one for m in request.messages for part in m.parts for one in cited(part)]
        found = sum(one.get("type") == "search_result" for one in pieces)
        return at_least(CITED + CITED_EACH * found) if found else exact(0)

    def _one(self, message: Message) -> int:
        calls = [(part.name, part.text) for part in message.of_kind("call")]
        results = sum(self._result(part.text) for part in message.of_kind("result"))
        return MESSAGE + self.words.count(message.text) + self._calls(calls) + results

    def _calls(self, calls: Sequence[tuple[str, str]]) -> int:
        """Parallel calls cost what the same calls one after another would, messages included, and a constant."""
        if not calls:
            return 0
        alone = sum(self.words.count(call_text(name, text)) + self.rules.pair for name, text in calls)
        return alone + (2 * MESSAGE * (len(calls) - 1) + self.rules.parallel if len(calls) > 1 else 0)

    def _result(self, text: str) -> int:
        return self.words.count(f"<function_results>\n{text}\n</function_results>")

    def _found(self, request: Request) -> int:
        """Definitions that a search of our own found: their references are expanded where they stand."""
        by_name = {tool.name: tool for tool in request.tools}
        names = [name for m in request.messages for part in m.of_kind("result") for name in references(part)]
        return sum(REFERENCE + self.words.count(tool_text(by_name[name])) for name in names if name in by_name)

    def _settings(self, request: Request) -> int:
        """What thinking costs, what a deferred tool does to the hidden prompt, what a prefilled answer saves."""
        raw = request.raw or {}
        more = raw.get("additionalModelRequestFields") or {}
        asked = raw.get("thinking") or more.get("thinking") or more.get("reasoning_config") or {}
        thinks = asked.get("type") == "enabled" or bool(raw.get("reasoning"))
        prefilled = bool(request.messages) and request.messages[-1].role == "assistant"
        deferred = any(tool.deferred for tool in request.tools)
        return self.rules.thinking * thinks + self.rules.deferred * deferred - MESSAGE * prefilled

    def _schema(self, request: Request) -> Count:
        form = request.output_schema
        if form is None:
            return exact(0)
        text = json.dumps(form.get("schema") or form, ensure_ascii=False, indent=2)
        tokens = self.words.count(text) + SCHEMA
        return self._banded(tokens) if self.provider == "anthropic" else banded(tokens, 0.4, "estimate", 50)


def typed(tool: Definition) -> Count | None:
    """Return what a type of tool of Anthropic's own that the client runs costs, None for any other."""
    rows = (
        row for row in fit("anthropic")["typed"] if tool.kind == row["type"] or tool.kind.startswith(row["type"] + "_")
    )
    row = next(rows, None)
    return Count(row["tokens"], row["method"], row["low"], row["high"]) if row else None


def _document(part: Part) -> Count:
    """What stands around the words of documents and search results was never seen."""
    inner = (part.raw or {}).get("content")
    found = [one for one in (part.raw, *(inner if isinstance(inner, list) else ())) if isinstance(one, Mapping)]
    n = sum(one.get("type") in ("document", "search_result") and bool(document_text(one)) for one in found)
    return Count(0, "estimate" if n else "exact-rules", 0, 60 * n)


def references(result: Part) -> list[str]:
    """Return the names that a search result refers to, instead of words."""
    content = (result.raw or {}).get("content")
    items = content if isinstance(content, list) else []
    found = (one for one in items if isinstance(one, Mapping) and one.get("type") == "tool_reference")
    return [str(one.get("tool_name")) for one in found]


def tool_text(tool: Definition) -> str:
    r"""Return a definition as it stands in the prompt; an empty description is left out.

    >>> tool_text(Definition("now", "", {"type": "object"}))
    '<function>{"name": "now", "parameters": {"type": "object"}}</function>\n'
    """
    head: dict[str, Any] = {"description": tool.description} if tool.description else {}
    body = head | {"name": tool.name, "parameters": {} if tool.schema is None else tool.schema}
    examples = (tool.raw or {}).get("input_examples")
    if examples:
        body["input_examples"] = examples
    return f"<function>{json.dumps(body, ensure_ascii=False)}</function>\n"


def call_text(name: str, arguments: str) -> str:
    """Return a call as it stands in the history: an element an argument, text bare, all else as JSON."""
    rows = "".join(f'<{MARK}parameter name="{key}">{value}</{MARK}parameter>\n' for key, value in _pairs(arguments))
    call = f'<{MARK}invoke name="{name}">\n{rows}</{MARK}invoke>\n'
    return f"<{MARK}function_calls>\n{call}</{MARK}function_calls>"


def _pairs(arguments: str) -> list[tuple[str, str]]:
    try:
        parsed = json.loads(arguments or "{}")
    except ValueError:
        parsed = {"arguments": arguments}
    if not isinstance(parsed, Mapping):
        parsed = {"arguments": parsed}
    return [(key, _bare(value)) for key, value in parsed.items()]


def _bare(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def counter(model: str, provider: str = "anthropic") -> AnthropicCounter:
    """Return the counter of a Claude model."""
    return AnthropicCounter(model, family(model), vocabulary(facts(model).vocabulary), provider)
