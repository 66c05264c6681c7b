"""What OpenAI bills for a prompt, as rules: chat completions and Responses, four families of models.

Source: billed usage of public recordings (`docs/token-rules.md`, OpenAI), checked row by row in `benchmarks/tokens.py`.
A message costs 3 + its role + its words. Tool definitions are one TypeScript-like block (`typescript.py`); in chat
completions it stands in the system message, in Responses apart from it. A call and its result are one pair.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from toolkit.tokens.media import banded, hosted_tool, runs_in_pass, unbounded
from toolkit.tokens.pictures import media
from toolkit.tokens.providers import typescript
from toolkit.tokens.providers.openai_family import Family
from toolkit.tokens.providers.parallel import LATIN, answers, exchanges, several
from toolkit.tokens.request import (
    Count,
    Definition,
    Message,
    Part,
    Request,
    arguments_text,
    doubted,
    exact,
    shown,
    total,
)
from toolkit.tokens.vocabulary.vocabulary import remembered
from toolkit.tool import Tool

LONG = 60_000
"""Letters from which prompts were seen to be some tokens off."""

_BLOCK = ("function", "custom")


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
        return remembered(self.rules.encoding)(text)

    # Pieces

    def base(self) -> Count:
        return self._counted(self.rules.primer if self.chat else self.rules.primer_responses)

    def message(
        self, role: str, text: str = "", calls: Sequence[tuple[str, str]] = (), results: Sequence[tuple[str, str]] = ()
    ) -> Count:
        """Return the tokens of one message; calls and results are (tool name, text) pairs."""
        words = self._words(role, text) if text or not (calls or results) else 0
        return self._counted(words + self._calls(calls) + self._results(results, self.chat and len(results) > 1))

    def definition(self, tool: Tool | Definition) -> Count:
        one = Definition.of(tool)
        if one.kind == "custom":
            return self._custom(one)
        if one.kind != "function":
            return hosted_tool(one)
        written = typescript.function(one.name, one.description, one.schema)
        return self._counted(self.tokens(typescript.BETWEEN + written))

    def _custom(self, tool: Definition) -> Count:
        """A tool that takes any text; a grammar stands with it."""
        rules, form = self.rules, (tool.raw or {}).get("format")
        grammar = str(form.get("definition") or (form.get("grammar") or {}).get("definition") or "") if form else ""
        tokens = self.tokens(typescript.BETWEEN + typescript.freeform(tool.name, tool.description)) + rules.custom
        tokens += (rules.grammar + self.tokens(grammar.strip()) if grammar else 0) + 9 * self.chat
        sure = rules.assistant and not self.chat
        return banded(tokens, 0.0 if sure else 0.1, "calibrated" if sure else "estimate", 2 if sure else 15)

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
        block = [one for one in map(_searching, request.tools) if one.kind in _BLOCK and not one.deferred]
        hosted = [one for one in map(_searching, request.tools) if one.kind not in _BLOCK]
        in_system = self.chat and bool(block or request.output_schema) and _opens_with_system(request)
        system, others = _split(request.messages)
        head = self._system(system, in_system)
        return shown({
            "base": self.base(),
            "system": self._counted(head),
            "messages": self._counted(self._history(others)),
            "tools": self._tools(block, request, in_system) + self._counted(self._choice(request)),
            "hosted": total(map(hosted_tool, hosted)),
            "output_schema": self._counted(self._schema(request, in_system)),
            "images": total(media(part, "openai", self.model) for m in request.messages for part in m.of_kind("media")),
            "doubt": self._doubt(request, others),
            "unbounded": unbounded(request),
        })  # fmt: skip

    def _tools(self, block: Sequence[Definition], request: Request, in_system: bool) -> Count:
        described = bool(block and block[0].kind == "function" and block[0].description)
        searching = self.rules.searching * any(one.kind == "tool_search" for one in request.tools)
        overhead = self.tools_overhead(len(block), in_system, described) + self._counted(searching if block else 0)
        return overhead + total(map(self.definition, block))

    def _doubt(self, request: Request, messages: Sequence[Message]) -> Count:
        """What the rules were seen to miss, or what they were never seen with."""
        rules, found = self.rules, exact(0)
        replies = [calls for calls, _ in exchanges(messages, self.chat) if len(calls) > 1]
        if replies and not rules.assistant and not rules.none:
            found += doubted(12 * len(replies), 12 * len(replies))
        if replies and self.chat and any(LATIN.search(part.text) for m in messages for part in m.of_kind("result")):
            found += doubted(8, 8)
        if any(self._before(m.text) != m.text for m in request.messages[:1]):
            found += doubted(1, 1)
        if sum(len(part.text) for m in request.messages for part in m.parts) > LONG:
            found += doubted(4, 4)
        if any(typescript.doubtful(tool.schema) for tool in request.tools if tool.kind == "function"):
            found += doubted(2, 1)
        return found

    def _choice(self, request: Request) -> int:
        rules, choice = self.rules, request.tool_choice
        free = choice in ("auto", "required") or not request.tools
        named = 0 if free else rules.none if choice == "none" else rules.named and rules.named + self.tokens(choice)
        return named + (0 if request.parallel or not request.tools else rules.alone if free else 1)

    def _words(self, role: str, text: str, name: str = "") -> int:
        tokens = 3 + self.tokens(role) + self.tokens(text) + (self.tokens(f":{name}") if name else 0)
        return tokens + (self.rules.assistant if role == "assistant" else 0)

    def _system(self, system: Sequence[Message], holds_block: bool) -> int:
        """The blank line before the block is often one token with the full stop before it."""
        tokens = sum(self._words(m.role, m.text, m.name) for m in system)
        if not holds_block:
            return tokens
        text = system[0].text
        return tokens + self.tokens(self._before(text) + "\n\n") - self.tokens(text)

    def _before(self, text: str) -> str:
        """What stands before the block: Harmony strips white space at its end."""
        return text.rstrip() if self.rules.assistant else text

    # History

    def _history(self, messages: Sequence[Message]) -> int:
        """Words, and calls with their results; in chat several calls of one reply are one text, and so are results."""
        names = {part.id: part.name for message in messages for part in message.of_kind("call")}
        tokens = sum(self._words(m.role, m.text, m.name) for m in messages if m.text or not _bare(m))
        for calls, results in exchanges(messages, self.chat):
            made = [(names.get(part.id) or part.name, part.text) for part in results]
            tokens += self._calls([(one.name, one.text) for one in calls]) + self._with_id(calls)
            tokens += self._results(made, self.chat and len(made) > 1)
        return tokens

    def _with_id(self, calls: Sequence[Part]) -> int:
        more = self.rules.pair_with_id - self.rules.responses_pair
        return 0 if self.chat else more * sum(bool((part.raw or {}).get("id")) for part in calls)

    def _calls(self, calls: Sequence[tuple[str, str]]) -> int:
        """The calls of one reply, what their results cost beyond the text among it."""
        rules, more = self.rules, len(calls) > 1
        if more and self.chat:
            return self.tokens(several(calls)) + rules.chat_parallel
        texts = sum(self.tokens(f"functions.{name}") + self.tokens(self._arguments(text)) for name, text in calls)
        pairs = len(calls) * (rules.chat_pair if self.chat else rules.responses_pair)
        return texts + pairs + (rules.several - rules.fewer * (len(calls) - 2) if more and rules.several else 0)

    def _arguments(self, text: str) -> str:
        return arguments_text(text) if self.chat else text

    def _results(self, results: Sequence[tuple[str, str]], listed: bool) -> int:
        """What calls were answered; of several calls in chat, one JSON list without names."""
        if listed:
            return self.tokens(answers(results)) if results else 0
        names = (name if self.chat else f"functions.{name}" for name, _ in results)
        return sum(map(self.tokens, names)) + sum(self.tokens(text) for _, text in results)

    # Structured answers

    def _schema(self, request: Request, in_system: bool) -> int:
        form = request.output_schema
        if form is None:
            return 0
        name, note, schema = str(form.get("name") or ""), form.get("description"), form.get("schema") or form
        rules = self.rules
        tokens = sum(map(self.tokens, (name, typescript.answer_schema(schema), typescript.comment(note))))
        if not self.chat:
            return tokens + rules.schema_responses
        answers = 4 * sum(bool(m.text) for m in request.messages if m.role == "assistant")
        if request.tools or in_system:
            return answers + tokens + (rules.schema_tools if request.tools else rules.schema_system)
        again = self.tokens(name) if rules.schema_name else 0
        return answers + self.tokens(typescript.answer_format(name, note, schema)) + rules.schema_alone + again


def _bare(message: Message) -> bool:
    return bool(message.of_kind("call", "result", "opaque"))


def _searching(tool: Definition) -> Definition:
    """A tool search that the client runs is a function of that name."""
    if tool.kind != "tool_search" or runs_in_pass(tool):
        return tool
    return replace(tool, name="tool_search", kind="function")


def _opens_with_system(request: Request) -> bool:
    return bool(request.messages) and request.messages[0].role in ("system", "developer")


def _split(messages: Sequence[Message]) -> tuple[list[Message], list[Message]]:
    system = [m for m in messages if m.role in ("system", "developer")]
    return system, [m for m in messages if m.role not in ("system", "developer")]
