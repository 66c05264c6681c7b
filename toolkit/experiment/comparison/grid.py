"""One call over catalog sizes, selectors and their k, profiles, query models, retrievers and models: one tidy frame."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from tqdm import tqdm

from toolkit import specs
from toolkit.errors import InputError, ToolkitError
from toolkit.experiment.comparison.options import DEFAULT_SELECTORS, Study, study
from toolkit.experiment.comparison.study import measure
from toolkit.experiment.fitting.learnt import can_fit
from toolkit.experiment.growing import nested
from toolkit.formats.files import Problem
from toolkit.replaying.system import BOUNDS, Setting, System
from toolkit.selectors import label
from toolkit.selectors.fitted import unlearnt
from toolkit.selectors.registry import options_of
from toolkit.session import Session
from toolkit.tool import Catalog, Tool

if TYPE_CHECKING:
    import pandas as pd

COORDINATES = ("catalog", "tools_around", "profile", "query_model", "retriever", "model")
"""What a cell is told by, beside the systems that are compared in it."""


@dataclass(frozen=True, repr=False)
class Grid:
    """What a grid measured.

    Attributes:
        frame: One row a cell and system: the columns of a leaderboard after the coordinates.
        problems: What was skipped or doubted: a cell that could not be measured is a `bad_cell` here, no row there.
        about: What the figures are of.
    """

    frame: pd.DataFrame
    problems: tuple[Problem, ...]
    about: Mapping[str, Any]

    def __repr__(self) -> str:
        cells, bad = self.about["cells"], sum(one.code == "bad_cell" for one in self.problems)
        return f"Grid({cells} cells, {len(self.frame)} rows{f', {bad} cells failed' if bad else ''})"


def grid(
    sessions: Iterable[Session],
    selectors: Sequence[Any] | None = None,
    *,
    ks: Sequence[int] = (),
    catalog: Iterable[Tool] | None = None,
    sizes: Sequence[int] = (),
    catalogs: Mapping[str, Iterable[Tool]] | None = None,
    profiles: Sequence[str] = ("reference",),
    query_models: Sequence[str] = ("own_words",),
    retrievers: Sequence[str | None] = (None,),
    models: Sequence[str | None] = (None,),
    **options: Any,
) -> Grid:
    """Compare selectors at every combination of what is given, and put all leaderboards into one frame.

    A cell that cannot be measured is a row in `problems`; the others go on. What was measured is kept in `out`, so
    that the same call, or one with more cells, goes on from there.

    Args:
        sessions: Recordings.
        selectors: Specs or functions; a default choice if None.
        ks: Each selector that takes a `k`, and whose spec gives none, stands once for each of these.
        catalog: Tools that stand around the recorded ones; with `sizes`, what these are drawn from.
        sizes: So many of the catalog's tools, drawn by the seed; each size holds the smaller ones, 0 is none.
        catalogs: Name → tools around the recorded ones, in place of `catalog` and `sizes`.
        profiles: Hosts' rules; this and the next three are the other coordinates, `compare` takes one of each.
        query_models: Where the counterfactual queries come from.
        retrievers: What `tools.search` ranks with.
        models: Whose prices count.
        options: Whatever else `compare` takes: `out`, `workers`, `seed`, `defer`, `fit`, `progress`, …

    Raises:
        InputError: Nothing could be measured, an option is not known, or a size is larger than the catalog.
    """
    recorded = tuple(sessions)
    asked = study(**options)
    around = _surroundings(catalog, sizes, catalogs, asked.execution.seed)
    cells = list(_cells(asked.setting, around, product(profiles, query_models, retrievers, models)))
    problems = list(getattr(sessions, "problems", ()))
    every = spread(DEFAULT_SELECTORS if selectors is None else selectors, ks)
    chosen = tuple(_known(every, asked.fit is not None, problems))
    with TemporaryDirectory() as kept:
        quiet = replace(asked.execution, out=asked.execution.out or Path(kept), progress=False)
        ready = replace(asked, selectors=chosen, execution=quiet)
        boards = _boards(recorded, cells, ready, problems, asked.execution.progress)
    return _grid(boards, len(cells), problems, chosen, asked.execution.seed)


def _surroundings(
    catalog: Iterable[Tool] | None, sizes: Sequence[int], catalogs: Mapping[str, Iterable[Tool]] | None, seed: int
) -> dict[str, Catalog | None]:
    """Return name → tools around the recorded ones."""
    if catalogs is not None:
        if catalog is not None or sizes:
            raise InputError("grid: catalogs were given, and a catalog or sizes too.", hint="Give one or the other.")
        return {name: Catalog(tools) for name, tools in catalogs.items()}
    whole = Catalog(catalog or ())
    if sizes:
        return {str(size): drawn if len(drawn) else None for size, drawn in nested(whole, sizes, seed).items()}
    return {str(len(whole)): whole if len(whole) else None}


def _cells(
    setting: Setting, around: Mapping[str, Catalog | None], places: Iterable[tuple[Any, ...]]
) -> Iterator[tuple[str, Setting]]:
    """Yield the cells, each the name of its catalog and its setting: a comparison of all selectors."""
    for (name, tools), (profile, query_model, retriever, model) in product(around.items(), places):
        where = {"profile": profile, "query_model": query_model, "retriever": retriever, "model": model}
        yield name, replace(setting, catalog=tools, **where)


def _place(catalog: str, setting: Setting) -> str:
    ranks_with, model = setting.retriever or "default retriever", setting.model or "no model"
    return f"catalog {catalog}, {setting.profile}, {setting.query_model}, {ranks_with}, {model}"


def spread(selectors: Iterable[Any], ks: Sequence[int]) -> Iterator[Any]:
    """Yield each selector, once for each k where its spec takes one and gives none.

    >>> list(spread(["lazy", "lexical", "lexical(k=3)"], [4, 8]))
    ['lazy', 'lexical(k=4)', 'lexical(k=8)', 'lexical(k=3)']
    """
    for one in selectors:
        open_k = isinstance(one, str) and one.replace("-", "_").isidentifier() and "k" in _options(one)
        yield from (specs.format(one, {"k": k}) for k in ks) if ks and open_k else (one,)


def _options(name: str) -> list[str]:
    try:
        return options_of(name)
    except ToolkitError:
        return []  # what is wrong with it is told where it is checked


def _known(selectors: Iterable[Any], fits: bool, problems: list[Problem]) -> Iterator[Any]:
    """Yield the selectors that can run, if need be after a fit; the others are noted."""
    for one in selectors:
        try:
            if not (fits and can_fit(one)):
                System(one).check()
        except ToolkitError as error:
            problems.append(Problem("", 0, "bad_selector", f"selector {one!r}, in every cell: {error}"))
        else:
            yield one


def _boards(
    recorded: Sequence[Session],
    cells: Sequence[tuple[str, Setting]],
    asked: Study,
    problems: list[Problem],
    progress: bool,
) -> list[pd.DataFrame]:
    """Measure cell by cell; what can be shared between cells comes from their kept parts."""
    boards = []
    for catalog, setting in tqdm(cells, desc="grid", unit="cell", disable=None if progress else True):
        try:
            found = measure(recorded, replace(asked, setting=setting))
        except ToolkitError as error:
            problems.append(Problem("", 0, "bad_cell", f"{_place(catalog, setting)}: {error}"))
            continue
        problems += found.problems
        boards.append(_placed(found.summary, catalog, setting))
    return boards


def _placed(board: pd.DataFrame, catalog: str, setting: Setting) -> pd.DataFrame:
    """Put the coordinates before a leaderboard; its bounds stand in the cell, whatever it searches with.

    A system has one name in all cells: what a selector learnt in one stands in the column `selector` alone.
    """
    first: dict[str, Any] = {
        "catalog": catalog,
        "tools_around": len(setting.catalog) if setting.catalog is not None else 0,
        "model": setting.model or "",
        "k": board["selector"].map(_k),
    }
    where = {"profile": setting.profile, "query_model": setting.query_model}
    placed = board.assign(system=board["system"].map(unlearnt), **first, **where)
    return placed[[*COORDINATES, "k", *(name for name in board if name not in COORDINATES)]]


def _k(selector: str) -> float:
    """Return the k of a selector's spec, NaN when it has none."""
    try:
        given = specs.parse(selector).kwargs.get("k")
    except InputError:
        given = None
    return float(given) if isinstance(given, int) else float("nan")


def _grid(
    boards: Sequence[pd.DataFrame], cells: int, problems: Sequence[Problem], chosen: Sequence[Any], seed: int
) -> Grid:
    import pandas as pd

    if not boards or not chosen:
        why = next((one.message for one in problems if one.code.startswith("bad_")), "there is no cell")
        raise InputError(f"nothing could be measured: {why}")
    about = {"cells": cells, "selectors": [label(one) for one in chosen], "seed": seed}
    return Grid(pd.concat(boards, ignore_index=True), tuple(dict.fromkeys(problems)), {**about, "bounds": list(BOUNDS)})
