"""One call over all coordinates: one tidy frame, bad cells told, good ones kept."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.builders import BRANCH, call, said, session, tool, turn
from toolkit import grid
from toolkit.errors import InputError
from toolkit.experiment.comparison import study as comparing
from toolkit.experiment.comparison.grid import Grid, spread
from toolkit.experiment.comparison.options import study
from toolkit.experiment.comparison.study import measure
from toolkit.experiment.growing import nested
from toolkit.selectors import resolve
from toolkit.tool import Catalog

pytest.importorskip("pandas")
MANY = [session(turn("create a branch", said("", call(BRANCH.name))), id=f"s{n}") for n in range(2)]
SEA = Catalog(tool(f"mcp.sea.tide_{n}", f"Says how high tide {n} is.") for n in range(9))


def made(*selectors: Any, **options: Any) -> Grid:
    asked = {"retrievers": ["lexical"], "progress": False, **options}
    return grid(MANY, selectors or ["lazy"], **asked)


def test_one_row_a_cell_and_system_with_its_coordinates() -> None:
    found = made("lazy", catalog=SEA, sizes=[0, 4, 9], query_models=["own_words", "turn_input"], models=["gpt-5", None])
    mine = found.frame[found.frame["system"] == "lazy"]
    places = ["catalog", "tools_around", "query_model", "model"]
    assert len(mine) == 12 == len(mine[places].drop_duplicates())
    assert set(mine["tools_around"]) == {0, 4, 9} and set(mine["model"]) == {"gpt-5", ""}
    assert found.about["cells"] == 12 and repr(found) == f"Grid(12 cells, {len(found.frame)} rows)"
    assert found.problems == ()


def test_a_cell_is_what_compare_gives_alone() -> None:
    cell = made("lazy", catalog=SEA, sizes=[9], models=["gpt-5"]).frame
    alone = measure(
        MANY, study(["lazy"], catalog=Catalog(SEA), retriever="lexical", model="gpt-5", progress=False)
    ).summary
    assert cell[list(alone.columns)].drop(columns="query_model").equals(alone.drop(columns="query_model"))


def test_each_size_holds_the_smaller_ones_and_the_seed_draws() -> None:
    drawn = nested(SEA, [9, 2, 5], 0)
    assert list(drawn) == [2, 5, 9] and [len(one) for one in drawn.values()] == [2, 5, 9]
    names = [{one.name for one in catalog} for catalog in drawn.values()]
    assert names[0] < names[1] < names[2]
    assert nested(SEA, [5], 0) == {5: drawn[5]} != nested(SEA, [5], 1)


def test_catalogs_can_be_given_by_name() -> None:
    found = made(catalogs={"none": [], "sea": SEA})
    assert set(zip(found.frame["catalog"], found.frame["tools_around"], strict=True)) == {("none", 0), ("sea", 9)}


def test_each_k_is_put_into_selectors_that_leave_it_open() -> None:
    found = made("lexical", "lexical(k=2)", "lazy", ks=[1, 3])
    of = dict(zip(found.frame["system"], found.frame["k"], strict=True))
    assert [of["lexical(k=1)"], of["lexical(k=2)"], of["lexical(k=3)"]] == [1, 2, 3] and of["lazy"] != of["lazy"]
    ours = lambda visible, host: ()  # noqa: E731
    assert list(spread([ours, "lazzy", "lazy | lexical"], [1, 2])) == [ours, "lazzy", "lazy | lexical"]


def test_a_bad_cell_is_told_and_the_others_go_on() -> None:
    found = made("lazy", "lazzy", query_models=["own_words", "own"], profiles=["reference"])
    assert set(found.frame["query_model"]) == {"own_words"} and "lazy" in set(found.frame["system"])
    assert [one.code for one in found.problems] == ["bad_selector", "bad_cell"]
    assert "Did you mean 'lazy'" in found.problems[0].message and "'own'" in found.problems[1].message
    assert repr(found).endswith("1 cells failed)")


def test_selectors_that_learn_are_fitted_in_each_cell_or_told_to_be_unfitted() -> None:
    many = [session(turn(f"task {n}", said("", call(BRANCH.name))), id=f"s{n}") for n in range(4)]
    given: dict[str, Any] = {"retrievers": ["lexical"], "progress": False, "ks": [1, 2]}
    found = grid(many, ["frequent"], fit=0.5, fit_by="order", **given)
    assert set(found.frame["sessions"]) == {2} and found.frame["system"].str.startswith("frequent(k=").sum() == 2
    assert [one.code for one in grid(many, ["lazy", "frequent"], **given).problems] == ["bad_selector"] * 2


def test_a_selector_that_learns_has_one_name_in_all_cells_whatever_it_learnt_there() -> None:
    many = [session(turn(f"task {n}", said("", call(BRANCH.name))), id=f"s{n}") for n in range(4)]
    given: dict[str, Any] = {"retrievers": ["lexical"], "progress": False, "catalog": SEA, "sizes": [0, 9]}
    frame = grid(many, ["expected_cost", "frequent(k=2)"], fit=0.5, fit_by="order", **given).frame
    names = [repr(resolve(spec)) for spec in ("expected_cost", "frequent(k=2)")]
    assert frame["system"].value_counts()[names].tolist() == [2, 2]
    assert frame.loc[frame["system"] == "frequent(k=2)", "selector"].str.contains("usage=<2 sessions").all()


def test_what_is_kept_is_not_run_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = made("lazy", catalog=SEA, sizes=[0, 4], out=tmp_path)
    kept = set((tmp_path / "parts").iterdir())
    assert kept
    ran: list[Any] = []
    whole = comparing.run
    monkeypatch.setattr(comparing, "run", lambda todo, *more: (ran.extend(todo), whole(todo, *more)))
    again = made("lazy", catalog=SEA, sizes=[0, 4], out=tmp_path)
    assert ran == [] and again.frame.equals(first.frame)
    made("lazy", catalog=SEA, sizes=[0, 4, 9], out=tmp_path)
    assert ran and kept < set((tmp_path / "parts").iterdir())


def test_wrong_calls_are_errors() -> None:
    with pytest.raises(InputError, match="nothing could be measured: selector 'lazzy'"):
        made("lazzy")
    with pytest.raises(InputError, match="between 0 and 9"):
        made(catalog=SEA, sizes=[10])
    with pytest.raises(InputError, match="Give one or the other"):
        made(catalog=SEA, catalogs={})
    with pytest.raises(InputError, match="no option 'wokers'"):
        made(wokers=2)


def test_the_picture_has_a_line_a_selector_and_says_what_differs() -> None:
    pytest.importorskip("matplotlib").use("Agg")
    from toolkit.experiment.comparison.grid_plot import cost_against_size

    found = made(catalog=SEA, sizes=[0, 4], models=["gpt-5"], query_models=["own_words", "turn_input"])
    ax = cost_against_size(found)
    labels = [line.get_label() for line in ax.lines]
    assert labels[:2] == ["lazy, own_words", "lazy, turn_input"] and labels.count("all") == 1
    assert list(ax.lines[0].get_xdata()) == [0, 4] and ax.get_xlabel() == "tools around the recorded ones"
    with pytest.raises(InputError, match="draw prompt_tokens"):
        cost_against_size(made(catalog=SEA, sizes=[0, 4]))
    assert len(cost_against_size(made(catalog=SEA, sizes=[0, 4]), "prompt_tokens").lines) > 1


def test_a_selector_has_the_same_colour_in_every_picture_whichever_is_cheaper_there() -> None:
    pytest.importorskip("matplotlib").use("Agg")
    from toolkit.experiment.comparison.grid_plot import cost_against_size

    found = made("lazy", "recent")
    turned = replace(found, frame=found.frame[::-1].reset_index(drop=True))
    pictures = [cost_against_size(one, "prompt_tokens") for one in (found, turned)]
    colours = [{line.get_label(): line.get_color() for line in ax.lines} for ax in pictures]
    assert colours[0] == colours[1] and colours[0]["lazy"] != colours[0]["recent"]


def test_the_picture_goes_by_decades_where_the_largest_figures_would_hide_the_others() -> None:
    pytest.importorskip("matplotlib").use("Agg")
    from toolkit.experiment.comparison.grid_plot import cost_against_size

    found = made("lazy", "recent")
    numbers = [1_000.0] * len(found.frame)
    drawn = lambda least: replace(found, frame=found.frame.assign(prompt_tokens=[least, *numbers[1:]]))  # noqa: E731
    assert cost_against_size(drawn(20.0), "prompt_tokens").get_yscale() == "linear"
    assert cost_against_size(drawn(1.0), "prompt_tokens").get_yscale() == "log"
