import subprocess
import sys

import pytest

from toolkit.errors import InputError, UnknownNameError
from toolkit.search import Lexical, default_retriever, known_retrievers, register, retriever
from toolkit.tool import Tool


def test_a_spec_names_a_retriever_with_its_options() -> None:
    built = retriever("lexical(min_coverage=0.5)")([Tool("a")])
    assert isinstance(built, Lexical) and built.min_coverage == 0.5


def test_an_unknown_name_is_refused_with_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="lexical") as caught:
        retriever("lexcal")
    assert caught.value.nearest == "lexical"


def test_an_option_that_a_retriever_does_not_take_is_refused_with_those_that_it_takes() -> None:
    for spec, says in (("lexical(min_cover=1)", "min_cover"), ("dense('minilm', 'a', 'b')", "too many")):
        with pytest.raises(InputError, match=says) as caught:
            retriever(spec)
        assert caught.value.hint and "It takes: " in caught.value.hint


def test_a_path_names_any_constructor() -> None:
    assert isinstance(retriever("toolkit.search.retrievers.lexical:Lexical")([]), Lexical)


def test_a_path_that_cannot_be_imported_is_refused() -> None:
    with pytest.raises(InputError, match="nowhere"):
        retriever("nowhere.mod:Name")


def test_a_registered_constructor_is_found_by_name() -> None:
    register("mine")(Lexical)
    assert "mine" in known_retrievers()
    assert repr(retriever("mine(min_coverage=0.2)")) == "mine(min_coverage=0.2)"
    assert repr(retriever("dense(multilingual)")) == "dense('multilingual')"


def test_the_default_is_one_that_is_known() -> None:
    assert default_retriever() in known_retrievers()


def test_the_package_imports_nothing_heavy() -> None:
    code = (
        "import sys, toolkit.search, toolkit.search.answer;"
        "print([m for m in ('numpy', 'scipy', 'torch', 'sentence_transformers', 'tiktoken') if m in sys.modules])"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"
