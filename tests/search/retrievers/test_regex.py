import time

import pytest

from toolkit.search.retrievers.regex import InvalidPatternError, Regex, SlowPatternError
from toolkit.tool import Tool

TOOLS = [Tool("shelf_scan", "Scans a shelf."), Tool("bell", "Rings on the shelf."), Tool("door")]


def test_a_match_in_the_name_comes_before_one_in_the_description() -> None:
    assert Regex(TOOLS).rank("SHELF").names == ("shelf_scan", "bell")


def test_an_invalid_pattern_is_an_error_that_names_the_cause() -> None:
    with pytest.raises(InvalidPatternError, match="shelf") as caught:
        Regex(TOOLS).rank("[shelf")
    assert caught.value.code == "invalid_pattern"


def test_a_pattern_that_backtracks_ends_in_time() -> None:
    began = time.process_time()
    with pytest.raises(SlowPatternError):
        Regex([Tool("siren", "a" * 60 + "!")]).rank("(a|a)+(a|a)+(a+)+$")
    assert time.process_time() - began < 1
