"""What OpenAI bills for a prompt, as rules: chat completions and Responses, four families of models.

Source: billed usage of public recordings (`token-accounting.md` 1.1), checked row by row in `benchmarks/tokens.py`.
A message costs 3 + its role + its words. Tool definitions are one TypeScript-like block (`typescript.py`); in chat
completions it stands in the system message, in Responses apart from it. A call and its result are one pair.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from toolkit.tokens.media import banded, hosted_tool, media, opaque
from toolkit.tokens.providers import typescript
from toolkit.tokens.request import Count, Definition, Message, Part, Request, arguments_text, exact, total
from toolkit.tokens.vocabulary.tables import count_text
from toolkit.tool import Tool, compact_json


@dataclass(frozen=True, slots=True)
class Family:
    """The constants in which the families differ, in tokens.

    Attributes:
        primer, primer_responses: Opens the reply: in chat completions, in Responses.
        assistant: More for each earlier assistant message (Harmony's channel marker).
        block_in_system, block_alone, block_in_responses: What the tool block costs beyond its text: in the
            system message, in a message of its own, in the Responses API.
        described: More when the first function has a description.
        chat_pair, responses_pair: A call and its result beyond their texts.
        pair_with_id: The pair when the call's item carries an `id` (Responses).
        several: More for two calls in one reply; every further one costs 6 less than alone (Harmony).
        named, none, alone: `tool_choice` with a name (its tokens apart), `none`, and no parallel calls.
        schema_chat, schema_responses: A structured answer's schema beyond its text.
    """

    encoding: str
    primer: int
    primer_responses: int
    assistant: int
    block_in_system: int
    block_alone: int
    block_in_responses: int
    described: int
    chat_pair: int
    responses_pair: int
    pair_with_id: int
    several: int
    named: int
    none: int
    alone: int
    schema_chat: int
    schema_responses: int


FOUR = Family("o200k_base", 3, 3, 0, -1, 3, -3, 0, 12, 9, 12, 0, 7, 1, 17, 14, 7)
CLASSIC = Family("cl100k_base", 3, 2, 0, -1, 3, -3, 0, 12, 9, 12, 0, 6, 1, 17, 14, 7)
HARMONY = Family("o200k_base", 2, 2, 2, 83, 84, 2, 1, 17, 15, 18, 10, 0, 0, 13, 10, 6)
HARMONY_54 = Family("o200k_base", 2, 2, 2, 83, 84, 2, 1, 17, 18, 18, 10, 0, 0, 13, 10, 6)
REASONING = Family("o200k_base", 2, 2, 0, 3, 4, 0, 0, 17, 12, 15, 10, 0, 0, 13, 10, 6)
FAMILIES: tuple[tuple[tuple[str, ...], Family], ...] = (
    (("gpt-5-chat",), FOUR),
    (("gpt-5.4", "gpt-5.6"), HARMONY_54),
    (("gpt-5", "codex", "gpt-6"), HARMONY),
    (("o1", "o3", "o4"), REASONING),
    (("gpt-4o", "gpt-4.", "chatgpt"), FOUR),
    (("gpt-4", "gpt-3.5"), CLASSIC),
)
"""Beginnings of model names → family; the first that fits."""


def family(model: str) -> Family | None:
    """Return the family of an OpenAI model, or None when the name is not one of theirs.

    >>> family("gpt-4.1-mini") is FOUR, family("gpt-4-0613") is CLASSIC, family("llama-3") is None
    (True, True, True)
    """
    name = model.rpartition("/")[2].removeprefix("openai.").removeprefix("databricks-")
    return next((found for starts, found in FAMILIES if name.startswith(starts)), None)


@dataclass(frozen=True, slots=True)
class OpenAICounter:
    """Counts by OpenAI's rules. `api` is `chat` or `responses`; `spread` is the band's share at other hosts."""

    model: str
    api: str
    rules: Family
    spread: float = 0.0
    provider: str = "openai"
    remainder: str = (
        "±1 token where the system message ends in a letter or the first function has no description; "
        "several calls in one reply"
    )

    @property
    def name(self) -> str:
        return f"{self.provider}/{self.api}/{self.model}"

    @property
    def chat(self) -> bool:
        return self.api == "chat"

    def _counted(self, tokens: int) -> Count:
        if not self.spread:
            return exact(tokens)
        return banded(tokens, self.spread, "calibrated" if self.spread <= 0.1 else "estimate", 3)

    def tokens(self, text: str) -> int:
        return count_text(text, self.rules.encoding)

    # Pieces

    def base(self) -> Count:
        return self._counted(self.rules.primer if self.chat else self.rules.primer_responses)

    def message(
        self, role: str, text: str = "", calls: Sequence[tuple[str, str]] = (), results: Sequence[tuple[str, str]] = ()
    ) -> Count:
        """Return the tokens of one message; calls and results are (tool name, text) pairs."""
        words = self._words(role, text) if text or not (calls or results) else 0
        return self._counted(words + self._calls(calls) + sum(self._result(*one) for one in results))

    def definition(self, tool: Tool | Definition) -> Count:
        one = Definition.of(tool)
        if one.kind != "function":
            return hosted_tool(one, "openai")
        written = typescript.function(one.name, one.description, one.schema)
        return self._counted(self.tokens(typescript.BETWEEN + written))

    def tools_overhead(self, n_tools: int, has_system: bool = True, described: bool = True) -> Count:
        """Return the fixed cost of the block, 0 when nothing is declared."""
        if not n_tools:
            return self._counted(0)
        frame = self.tokens(typescript.HEAD) + self.tokens(typescript.TAIL) - 1
        rules, more = self.rules, self.rules.described * described
        if not self.chat:
            return self._counted(frame + more + rules.block_in_responses)
        return self._counted(frame + more + (rules.block_in_system if has_system else rules.block_alone))

    # Whole requests

    def count(self, request: Request) -> Count:
        return total(self.breakdown(request).values())

    def breakdown(self, request: Request) -> dict[str, Count]:
        """Return the count by part: `base`, `system`, `messages`, `tools`, and what else there is."""
        functions = [one for one in request.tools if one.kind == "function" and not one.deferred]
        hosted = [one for one in request.tools if one.kind != "function"]
        in_system = self.chat and bool(functions or request.output_schema) and _opens_with_system(request)
        system, others = _split(request.messages)
        head = sum(self._words(m.role, m.text, m.name) for m in system) + self._joint(system, in_system)
        parts = {
            "base": self.base(),
            "system": self._counted(head),
            "messages": self._counted(self._history(others)),
            "tools": self._tools(functions, request, in_system) + self._counted(self._choice(request)),
            "hosted": total(hosted_tool(one, "openai") for one in hosted),
            "output_schema": self._counted(self._schema(request, in_system)),
            "images": total(media(part, "openai") for m in request.messages for part in m.of_kind("media")),
            "opaque": total(opaque(part) for m in request.messages for part in m.of_kind("opaque")),
        }
        return {name: count for name, count in parts.items() if count.high or name in ("base", "messages", "tools")}

    def _tools(self, functions: Sequence[Definition], request: Request, in_system: bool) -> Count:
        described = bool(functions and functions[0].description)
        return self.tools_overhead(len(functions), in_system, described) + total(map(self.definition, functions))

    def _choice(self, request: Request) -> int:
        rules, choice = self.rules, request.tool_choice
        free = choice in ("auto", "required") or not request.tools
        named = 0 if free else rules.none if choice == "none" else rules.named and rules.named + self.tokens(choice)
        return named + (0 if request.parallel or not request.tools else rules.alone if free else 1)

    def _words(self, role: str, text: str, name: str = "") -> int:
        tokens = 3 + self.tokens(role) + self.tokens(text) + (self.tokens(f":{name}") if name else 0)
        return tokens + (self.rules.assistant if role == "assistant" else 0)

    def _joint(self, system: Sequence[Message], holds_block: bool) -> int:
        """The blank line before the block: often one token with the full stop before it."""
        text = system[0].text if holds_block else ""
        return self.tokens(text + "\n\n") - self.tokens(text) if holds_block else 0

    def _history(self, messages: Sequence[Message]) -> int:
        """The messages; in Responses, calls that follow each other are parallel."""
        names = {part.id: part.name for message in messages for part in message.of_kind("call")}
        tokens = sum(self._one(message, names) for message in messages)
        for calling, group in groupby(messages, key=lambda m: bool(m.of_kind("call"))):
            calls = [[part for part in message.of_kind("call")] for message in group] if calling else []
            if not self.chat:
                calls = [[part for parts in calls for part in parts]]
            for parts in calls:
                tokens += self._calls([(one.name, one.text) for one in parts]) + self._with_id(parts)
        return tokens

    def _one(self, message: Message, names: Mapping[str, str]) -> int:
        text, results = message.text, message.of_kind("result")
        bare = bool(message.of_kind("call", "result", "opaque"))
        tokens = self._words(message.role, text, message.name) if text or not bare else 0
        return tokens + sum(self._result(names.get(part.id) or part.name, part.text) for part in results)

    def _with_id(self, calls: Sequence[Part]) -> int:
        more = self.rules.pair_with_id - self.rules.responses_pair
        return 0 if self.chat else more * sum("id" in (part.raw or {}) for part in calls)

    def _calls(self, calls: Sequence[tuple[str, str]]) -> int:
        """The calls of one reply, what their results cost beyond the text among it."""
        rules, several = self.rules, len(calls) > 1
        if several and self.chat and not rules.assistant:
            return self.tokens(_parallel(calls)) + 14
        texts = sum(self.tokens(f"functions.{name}") + self.tokens(self._arguments(text)) for name, text in calls)
        pairs = len(calls) * (rules.chat_pair if self.chat else rules.responses_pair)
        more = rules.several - 6 * (len(calls) - 2) - self.chat if several and rules.several else 0
        return texts + pairs + more

    def _arguments(self, text: str) -> str:
        return arguments_text(text) if self.chat and not self.rules.assistant else text

    def _result(self, name: str, text: str) -> int:
        short = self.chat and not self.rules.assistant
        return self.tokens(name if short else f"functions.{name}") + self.tokens(text)

    def _schema(self, request: Request, in_system: bool) -> int:
        form = request.output_schema
        if form is None:
            return 0
        schema = _without(form.get("schema") or form, {"additionalProperties", "required"})
        tokens = self.tokens(str(form.get("name") or "")) + self.tokens(compact_json(schema))
        tokens += self.tokens(typescript.comment(form.get("description")))
        if not self.chat:
            return tokens + self.rules.schema_responses
        tokens += 4 * sum(message.role == "assistant" for message in request.messages)
        return tokens + self.rules.schema_chat - in_system * (1 if self.rules.assistant else 4)


def _opens_with_system(request: Request) -> bool:
    return bool(request.messages) and request.messages[0].role in ("system", "developer")


def _split(messages: Sequence[Message]) -> tuple[list[Message], list[Message]]:
    system = [m for m in messages if m.role in ("system", "developer")]
    return system, [m for m in messages if m.role not in ("system", "developer")]


def _parallel(calls: Sequence[tuple[str, str]]) -> str:
    uses = [{"recipient_name": f"functions.{name}", "parameters": _parsed(text)} for name, text in calls]
    return json.dumps({"tool_uses": uses}, ensure_ascii=False)


def _parsed(text: str) -> Any:
    try:
        return json.loads(text or "{}")
    except ValueError:
        return text


def _without(schema: Any, keys: set[str]) -> Any:
    """`schema` without the keys that cost nothing; names of properties are no keys."""
    if isinstance(schema, list):
        return [_without(one, keys) for one in schema]
    if not isinstance(schema, Mapping):
        return schema
    return {key: _kept(key, value, keys) for key, value in schema.items() if key not in keys}


def _kept(key: str, value: Any, keys: set[str]) -> Any:
    if key in ("properties", "$defs", "definitions") and isinstance(value, Mapping):
        return {name: _without(one, keys) for name, one in value.items()}
    return _without(value, keys)
