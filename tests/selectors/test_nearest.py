"""`semantic(k)`, `lexical(k)`, `hybrid(k)` declare the tools nearest to the input, and leave all others searchable."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

from tests.builders import LOG, MAIL, READ, TOOLS
from tests.selectors.views import Ranker, split, view
from toolkit.errors import InputError, MissingExtraError
from toolkit.selectors import resolve

needs_models = pytest.mark.skipif(find_spec("sentence_transformers") is None, reason="needs the extra `embed`")


@needs_models
def test_the_k_nearest_are_declared_and_everything_is_searchable() -> None:
    ranker = Ranker(MAIL.name, LOG.name, READ.name)
    assert split("semantic(k=2)", view("write to Ann", ranker=ranker)) == (
        {MAIL.name, LOG.name},
        {one.name for one in TOOLS},
    )
    assert ranker.asked == [("write to Ann", 2, "dense")]


@needs_models
def test_a_turn_without_words_is_ranked_by_the_last_input_that_had_some() -> None:
    ranker = Ranker(MAIL.name)
    split("semantic", view(" ", "oldest", "newest", "", ranker=ranker))
    assert ranker.asked == [("newest", 8, "dense")]


@needs_models
def test_a_session_without_words_leaves_everything_searchable() -> None:
    assert split("semantic", view("")) == (set(), {one.name for one in TOOLS})


@needs_models
@pytest.mark.parametrize(
    "spec", ["semantic(k=0)", "semantic(k=-1)", "semantic(k=2.5)", "semantic(k=True)", "semantic(x)"]
)
def test_a_k_that_is_no_whole_number_of_at_least_1_is_refused(spec: str) -> None:
    with pytest.raises(InputError, match="whole number of at least 1"):
        resolve(spec)


def test_without_the_models_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("toolkit.errors.find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"selector-toolkit\[embed\]"):
        resolve("semantic")


@needs_models
def test_its_repr_is_the_expression_that_builds_it() -> None:
    assert resolve(repr(resolve("semantic(3)"))) == resolve("semantic(k=3)")


@pytest.mark.parametrize("name", ["lexical", "hybrid"])
def test_each_ranks_with_the_retriever_of_its_name_and_is_written_by_it(name: str) -> None:
    ranker = Ranker(MAIL.name)
    split(f"{name}(k=3)", view("write to Ann", ranker=ranker))
    assert ranker.asked == [("write to Ann", 3, name)]
    assert repr(resolve(name)) == f"{name}(k=8)" and resolve(name) == resolve(f"{name}(8)") != resolve(f"{name}(9)")
