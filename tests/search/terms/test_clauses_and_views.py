import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolkit.search.encoders.views import views
from toolkit.search.retrievers.dense import unmarked
from toolkit.search.terms.clauses import clauses
from toolkit.search.terms.compounds import pieces, unglued, vocabulary
from toolkit.search.terms.texts import fields
from toolkit.search.terms.words import raw_words, word_parts
from toolkit.tool import Tool


@pytest.mark.parametrize(
    ("query", "parts"),
    [
        ("Find cheap flights to Rome and book a hotel there", ("Find cheap flights to Rome", "book a hotel there")),
        ("Compare Apple and Microsoft", ()),
        ("查询天气。预订酒店房间。", ("查询天气", "预订酒店房间")),
        ("List the issues. Then close the first one.", ("List the issues", "Then close the first one")),
    ],
)
def test_a_query_is_split_where_both_sides_can_stand_alone(query: str, parts: tuple[str, ...]) -> None:
    assert clauses(query) == parts


def test_a_glued_name_is_taken_apart_by_the_words_of_its_own_description() -> None:
    assert views(Tool("leaguestandings", "Standings of a football league."))[2] == "league standings"
    assert not pieces("leadership", vocabulary("leaders meet"))


@given(st.text(alphabet="tides -'", max_size=14), st.text(alphabet="tides -'.", max_size=40))
def test_a_name_is_taken_apart_as_with_all_words_of_the_text(name: str, text: str) -> None:
    parts = [part for word in raw_words(name) for part in word_parts(word) if part not in text]
    tried = [part for part in parts if part[:2] in text or part[-4:] in text]
    assert unglued(name, text) == [piece for part in tried for piece in pieces(part, vocabulary(text))]


def test_a_tool_without_any_text_has_views() -> None:
    assert views(Tool("x")) == ("x", "x", "x")


def test_placeholders_are_not_embedded_but_a_query_of_nothing_else_is() -> None:
    assert unmarked("list disks in <group>") == "list disks in  "
    assert unmarked("<group>") == "<group>"


def test_nested_parameters_and_enum_values_are_searched() -> None:
    schema = {"properties": {"a": {"items": {"properties": {"b": {"enum": ["red", 1], "description": "paint"}}}}}}
    found = fields(Tool("t", "", schema))
    assert (found.parameters, found.details) == ("a b", "paint red")
