"""The compiled vocabulary counts what `ctok` counts."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("ctok")
pytest.importorskip("tokenizers")

from ctok import token_count

from toolkit.tokens.vocabulary.claude import _plain, counting

VERSIONS = ("3.0", "4.7", "4.8")
ODD = [
    "it's 5's '80s x's", "a 's b ['s] (s)", " a", "  a", "a\n\n\n", "\n",
    "don't DON'T Don'T can't've", "ABC ABCD aBC GaN I",
    "café naïve's ﬁ", "a\u0301b \u0301x", "it\u2019s a\u2019s", "日本語 text 中文's", "😀 and 👩‍👩‍👧 x",
    "\ufdd0x\ufdd1", "A\x1fV b\x1f's c'\x1fs",
    "९९ ٣٤٥ 5½ x²",
    "\x00a\x01b", "a" * 5000, "1" * 500, "ϴΘ ẞ İstanbul",
    "Привет, мир's", "\t\tif (x){\n  return `y`;\n}\n",
]  # fmt: skip


def by_ctok(text: str, version: str) -> int:
    return int(token_count(text, version)) - int(token_count("a", version)) + 1


@pytest.mark.parametrize("version", VERSIONS)
def test_odd_texts_cost_what_they_cost_by_ctok(version: str) -> None:
    count = counting(version)
    assert {text: count(text) for text in ODD} == {text: by_ctok(text, version) for text in ODD}


pieces = st.sampled_from(
    ["the ", "Tool", "USA's", "'s", "'", " ", "\n", "_", "é", "\u0301", "(", "2024", "—", "字", "😀", '": "']
)
texts = st.lists(pieces, min_size=1, max_size=12).map("".join) | st.text(min_size=1, max_size=30)


@given(texts, st.sampled_from(VERSIONS))
def test_any_text_costs_what_it_costs_by_ctok(text: str, version: str) -> None:
    kept = text.encode("utf-8", "replace").decode()
    assert counting(version)(kept) == by_ctok(kept, version)


def test_the_compiled_vocabulary_is_kept_and_damage_is_repaired(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOOLKIT_CACHE", str(tmp_path))
    first = counting("4.8")("Some words, counted.")
    (kept,) = (tmp_path / "vocabularies").iterdir()
    kept.write_text("{damaged")
    assert counting("4.8")("Some words, counted.") == first and len(kept.read_text()) > 100_000


def test_without_the_compiled_form_ctok_counts_itself() -> None:
    assert _plain("4.7")("Some words, counted.") == by_ctok("Some words, counted.", "4.7")
