"""Of a tree of records, only what a person went back from is left behind."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from toolkit.formats.agents.branches import left_behind


def test_of_two_prompts_after_one_message_the_later_counts_with_what_follows_it() -> None:
    above = {"a": None, "b": "a", "c": "b", "d": "b", "e": "d"}
    assert left_behind(above, ["a", "c", "d"], {"a", "b", "c", "d", "e"}) == ({"c"}, 1)


def test_a_prompt_that_a_log_repeats_is_one_prompt_and_stays() -> None:
    above = {"a": None, "b": "a", "c": "b"}
    assert left_behind(above, ["a", "c", "a", "c"], {"a", "b", "c"}) == (set(), 0)


@given(st.lists(st.integers(0, 30), max_size=12))
def test_what_comes_once_more_changes_nothing(parents: list[int]) -> None:
    above = {str(n): str(parent) if parent < n else None for n, parent in enumerate(parents)}
    prompts = [id for id in above if int(id) % 2 == 0]
    assert left_behind(above, prompts * 2, set(above)) == left_behind(above, prompts, set(above))
