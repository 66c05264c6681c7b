"""The families of OpenAI's models, and the constants in which they differ."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from toolkit.tokens.models import facts
from toolkit.tokens.vocabulary.vocabulary import fit


@dataclass(frozen=True, slots=True)
class Family:
    """The constants in which the families differ, in tokens (`fits/openai.json`).

    Attributes:
        primer, primer_responses: Opens the reply: in chat completions, in Responses.
        assistant: More for each earlier assistant message (Harmony's channel marker).
        block_in_system, block_alone, block_in_responses: What the tool block costs beyond its text: in the
            system message, in a message of its own, in the Responses API.
        described: More when the first function has a description.
        chat_pair, responses_pair: A call and its result beyond their texts.
        chat_parallel: Several calls in one reply and all their results beyond their texts, in chat completions.
        pair_with_id: The pair when the call's item carries an `id` (Responses).
        several: More for two calls in one reply (Responses); every further one costs `fewer` less than alone.
        named, none, alone: `tool_choice` with a name (its tokens apart), `none`, and no parallel calls.
        schema_tools, schema_system, schema_responses: A structured answer's schema beyond its name and text: in
            chat completions beside tools, in the system message, in Responses.
        schema_alone, schema_name: The block of a schema in a message of its own beyond its text, and whether its
            name is counted again.
        custom, grammar, searching: A tool that takes any text beyond its type, its grammar beyond its text; a tool
            search that the client runs beyond its function.
    """

    name: str
    encoding: str
    primer: int
    primer_responses: int
    assistant: int
    block_in_system: int
    block_alone: int
    block_in_responses: int
    described: int
    chat_pair: int
    chat_parallel: int
    responses_pair: int
    pair_with_id: int
    several: int
    fewer: int
    named: int
    none: int
    alone: int
    schema_tools: int
    schema_system: int
    schema_alone: int
    schema_name: bool
    schema_responses: int
    custom: int
    grammar: int
    searching: int


def family(model: str, provider: str = "") -> Family | None:
    """Return the family of an OpenAI model, or None when the name is not one of theirs.

    >>> [family(name).name for name in ("gpt-4.1-mini", "gpt-4-0613", "openai/gpt-5.4")], family("llama-3")
    (['4', 'classic', 'harmony-5.4'], None)
    """
    told = facts(f"{provider}/{model}" if provider else model)
    return named(told.rules) if told.counter == "openai" else None


@lru_cache(maxsize=16)
def named(name: str) -> Family:
    """Return a family by its name, out of `fits/openai.json`."""
    return next(Family(**row) for row in fit("openai")["families"] if row["name"] == name)
