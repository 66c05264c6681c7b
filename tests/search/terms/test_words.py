import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolkit.search.terms import words
from toolkit.search.terms.words import (
    _SUFFIXES,
    STOP_WORDS,
    Memo,
    _settled,
    _singular,
    content_terms,
    raw_words,
    stem,
    terms,
    word_parts,
    word_terms,
)


@pytest.mark.parametrize(
    ("word", "parts"),
    [
        ("addSupplier", ("add", "supplier")),
        ("add_supplier", ("add", "supplier")),
        ("add-supplier", ("add", "supplier")),
        ("ADDSUPPLIER", ("addsupplier",)),
        ("parseXMLFile", ("parse", "xml", "file")),
        ("userIDs", ("user", "ids")),
        ("s3Bucket", ("s3", "bucket")),
        ("mayor's", ("mayor",)),
        ("Straße", ("strasse",)),
    ],
)
def test_a_word_is_split_at_separators_humps_and_acronym_runs(word: str, parts: tuple[str, ...]) -> None:
    assert word_parts(word) == parts


@pytest.mark.parametrize(
    "family",
    [
        ["book", "books", "booking", "booked"],
        ["create", "creates", "created", "creating", "creator", "creation"],
        ["translate", "translation", "translator", "translating"],
        ["query", "queries"],
        ["run", "running", "runs"],
        ["box", "boxes"],
        ["id", "ids"],
    ],
)
def test_inflected_words_meet_in_one_term(family: list[str]) -> None:
    assert len({tuple(terms(word)) for word in family}) == 1


def test_the_compound_stays_beside_its_parts() -> None:
    assert set(terms("waterbed")) <= set(terms("water_bed"))


def test_a_script_without_spaces_becomes_bigrams() -> None:
    assert terms("借阅记录") == ["借阅", "阅记", "记录"]
    assert terms("帮") == ["帮"]


def test_full_width_letters_are_normalised() -> None:
    assert terms("ｌｉｓｔ") == terms("list")


@given(st.text())
def test_any_text_has_terms_that_are_folded_and_not_empty(text: str) -> None:
    assert all(term and term == term.casefold() for term in terms(text))


@given(st.text(), st.text())
def test_words_of_two_texts_are_the_words_of_both(left: str, right: str) -> None:
    assert raw_words(f"{left}\n{right}") == raw_words(left) + raw_words(right)


@given(st.text())
def test_terms_of_a_text_are_those_of_its_words_one_by_one(text: str) -> None:
    found = [term for word in raw_words(text) for term in word_terms(word)]
    assert terms(text) == found
    assert set(found) - STOP_WORDS <= set(content_terms(text)) <= set(found)


@given(st.text(alphabet="aeiouy bcdfgilmnorstxz", max_size=30))
def test_a_stem_is_that_of_trying_every_suffix(text: str) -> None:
    for word in text.split():
        singular = _singular(word)
        tried = [
            singular[: -len(s)] for s, least in _SUFFIXES if singular.endswith(s) and len(singular) - len(s) >= least
        ]
        assert stem(word) == _settled(next((one for one in tried if set(one) & set("aeiouy")), singular))


def test_a_long_word_is_stemmed_by_its_start() -> None:
    assert stem("kiln" * 100) == stem("kiln" * 16) and terms("kiln" * 100) == [stem("kiln" * 100)]


def test_a_memo_finds_a_short_run_once_and_keeps_no_long_one(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    memo = Memo(lambda run: asked.append(run) or (run,))
    assert list(memo.all_of("tide kiln tide")) == ["tide", "kiln", "tide"] and asked == ["tide", "kiln"]
    assert list(memo.all_of("x" * 5000)) == ["x" * 5000] and len(memo) == 2
    monkeypatch.setattr(words, "_MOST_RUNS", 2)
    assert list(memo.all_of("ink")) == ["ink"] and set(memo) == {"ink"}


@pytest.mark.parametrize(
    ("word", "terms"), [("letter", ["let"]), ("Letters.", ["let"]), ("helper", ["help"]), ("let", [])]
)
def test_a_word_that_only_stems_to_a_stop_word_is_none(word: str, terms: list[str]) -> None:
    assert content_terms(word) == terms
