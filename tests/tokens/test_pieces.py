"""Texts and tools are counted once and remembered."""

from __future__ import annotations

from pathlib import Path

import pytest

from toolkit.tokens.counters import counter
from toolkit.tokens.pieces import Pieces
from toolkit.tokens.providers.openai import OpenAICounter
from toolkit.tokens.providers.openai_family import named
from toolkit.tokens.request import Count, Definition
from toolkit.tokens.vocabulary.tables import count_text
from toolkit.tool import Tool

TOOLS = [Tool("builtin.read", "Reads.", {"type": "object"}), Tool("mcp.git.log", "Logs.")]


def test_a_text_costs_its_words_without_the_frame_of_a_message(tmp_path: Path) -> None:
    found = Pieces(counter(None, None, "gpt-4o"), tmp_path)
    assert found.text("hello world") == 2 and found.text("") == 0


def test_a_list_of_tools_is_counted_once_and_then_read_from_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cold = Pieces(counter(None, None, "gpt-4o"), tmp_path).definitions(TOOLS)

    def refuse(self: OpenAICounter, tool: Tool | Definition) -> Count:
        raise AssertionError("counted again")

    monkeypatch.setattr(OpenAICounter, "definition", refuse)
    assert Pieces(OpenAICounter("gpt-4o", "chat", named("4")), tmp_path).definitions(TOOLS) == cold


def test_counts_of_other_models_or_tools_are_kept_apart(tmp_path: Path) -> None:
    one, other = (Pieces(counter(None, None, name), tmp_path) for name in ("gpt-4o", "claude-sonnet-4-5"))
    assert one.definitions(TOOLS) != other.definitions(TOOLS)
    assert len(one.definitions(TOOLS[:1])) == 1


def test_a_kept_file_that_was_cut_short_is_made_again(tmp_path: Path) -> None:
    found = Pieces(counter(None, None, "gpt-4o"), tmp_path)
    counts = found.definitions(TOOLS)
    for path in tmp_path.iterdir():
        path.write_text("[1")
    assert Pieces(found.counter, tmp_path).definitions(TOOLS) == counts


def test_the_overhead_is_paid_once_and_only_with_tools(tmp_path: Path) -> None:
    found = Pieces(counter("anthropic", None, "claude-sonnet-4-5"), tmp_path)
    assert found.overhead(0) == 0 and found.overhead(1) == found.overhead(9) == 497
    assert count_text(found.name) > 0
