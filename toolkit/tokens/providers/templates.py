"""Exact counts for any model whose chat template is at hand: the template is rendered here and its text counted.

What matters for an open-weight model is the template that serves it (`docs/token-rules.md`, open models); give the
one of the host, in Jinja as it lies in a `tokenizer_config.json`. Rendering is sandboxed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from toolkit.errors import InputError, need
from toolkit.tokens.request import Count, Definition, Message, Request
from toolkit.tokens.vocabulary.vocabulary import Vocabulary, vocabulary
from toolkit.tool import Tool

DAY = "2025-01-01"
"""The day that templates which ask for one are given: counts must not depend on the clock."""


@dataclass(frozen=True, slots=True)
class ChatTemplateCounter:
    """Counts by rendering a chat template.

    Args:
        model: A name for results.
        source: The template's Jinja text.
        words: The model's vocabulary.
        specials: Texts that are one token each, such as `<|im_start|>`.
    """

    model: str
    source: str
    words: Vocabulary
    specials: tuple[str, ...] = ()
    remainder: str = "pieces are differences of renderings: a token or two where texts meet"

    @property
    def name(self) -> str:
        return f"template/{self.model} ({self.words.actual})"

    def base(self) -> Count:
        return self._counted(self._size([]))

    def message(
        self, role: str, text: str = "", calls: Sequence[tuple[str, str]] = (), results: Sequence[tuple[str, str]] = ()
    ) -> Count:
        """Return what one more message adds; calls and results are (tool name, text) pairs."""
        body: dict[str, Any] = {"role": role, "content": text}
        if calls:
            body["tool_calls"] = [_call(f"c{at}", *one) for at, one in enumerate(calls)]
        rows = [body] if text or calls or not results else []
        rows += [{"role": "tool", "name": name, "content": words} for name, words in results]
        before = [{"role": "user", "content": "a"}]
        return self._counted(self._size(before + rows) - self._size(before))

    def definition(self, tool: Tool | Definition) -> Count:
        one, before = _tool(Definition.of(tool)), [{"role": "user", "content": "a"}]
        return self._counted(self._size(before, [one, one]) - self._size(before, [one]))

    def tools_overhead(self, n_tools: int, has_system: bool = True) -> Count:
        if not n_tools:
            return self._counted(0)
        tool, before = Definition("f", "d", {"type": "object", "properties": {}}), [{"role": "user", "content": "a"}]
        added = self._size(before, [_tool(tool)]) - self._size(before)
        return self._counted(added - self.definition(tool).tokens)

    def count(self, request: Request) -> Count:
        tools = [_tool(one) for one in request.tools if not one.deferred]
        return self._counted(self._size([row for m in request.messages for row in _rows(m)], tools))

    def breakdown(self, request: Request) -> dict[str, Count]:
        """Return the count by part: `messages`, and `tools` as the difference that they make."""
        rows = [row for message in request.messages for row in _rows(message)]
        messages = self._size(rows)
        tools = self.count(request).tokens - messages
        return {"messages": self._counted(messages), "tools": self._counted(tools)}

    def _counted(self, tokens: int) -> Count:
        half = round(abs(tokens) * self.words.spread)
        return Count(tokens, "exact-rules" if self.words.real else "estimate", tokens - half, tokens + half)

    def _size(self, messages: list[dict[str, Any]], tools: list[dict[str, Any]] | None = None) -> int:
        text = rendered(self.source, messages, tools)
        if not self.specials:
            return self.words.count(text)
        pattern = re.compile("|".join(map(re.escape, sorted(self.specials, key=len, reverse=True))))
        return len(pattern.findall(text)) + sum(map(self.words.count, pattern.split(text)))


def counter(model: str, source: str, vocabulary_name: str, specials: Sequence[str] = ()) -> ChatTemplateCounter:
    """Return the counter of a chat template.

    >>> source = "{% for m in messages %}<s>{{ m.role }}: {{ m.content }}{% endfor %}"
    >>> counter("m", source, "o200k_base", ["<s>"]).message("user", "hello world").tokens
    5
    """
    return ChatTemplateCounter(model, source, vocabulary(vocabulary_name), tuple(specials))


def rendered(source: str, messages: list[dict[str, Any]], tools: list[dict[str, Any]] | None = None) -> str:
    """Return the prompt that a chat template makes of messages and tools.

    Raises:
        InputError: The template is no Jinja, or it refuses the messages.
    """
    need("jinja2", "jinja2, which renders chat templates,")
    from jinja2.exceptions import TemplateError
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    world = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)
    world.filters["tojson"] = _tojson
    world.globals |= {"raise_exception": _refuse, "strftime_now": lambda form: DAY}
    try:
        template = world.from_string(source)
        return str(template.render(messages=messages, tools=tools or None, add_generation_prompt=True))
    except TemplateError as error:
        raise InputError(f"the chat template could not be rendered: {error}.") from error


def _tojson(value: Any, indent: int | None = None) -> str:
    return json.dumps(value, ensure_ascii=False, indent=indent)


def _refuse(message: str) -> str:
    raise InputError(f"the chat template refuses these messages: {message}")


def _rows(message: Message) -> list[dict[str, Any]]:
    results = message.of_kind("result")
    calls = [_call(part.id, part.name, part.text) for part in message.of_kind("call")]
    rows: list[dict[str, Any]] = [{"role": "tool", "name": part.name, "content": part.text} for part in results]
    if not results or message.text or calls:
        rows.insert(0, {"role": message.role, "content": message.text, **({"tool_calls": calls} if calls else {})})
    return rows


def _call(join: str, name: str, arguments: str) -> dict[str, Any]:
    try:
        parsed = json.loads(arguments or "{}")
    except ValueError:
        parsed = arguments
    return {"id": join, "type": "function", "function": {"name": name, "arguments": parsed}}


def _tool(tool: Definition) -> dict[str, Any]:
    schema: Mapping[str, Any] = tool.schema if isinstance(tool.schema, Mapping) else {}
    function = {"name": tool.name, "description": tool.description, "parameters": schema}
    return {"type": "function", "function": function}
