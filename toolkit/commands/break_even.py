"""`toolkit break-even`: from which catalog size, and for how many turns, a selector begins to pay."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Optional

import typer

from toolkit.commands.options import Force, Json, Limit, Recorded, taking
from toolkit.commands.output import PICTURE, check_file, print_json, print_table, tell_problems
from toolkit.errors import InputError, counted, need

if TYPE_CHECKING:
    import pandas as pd

    from toolkit.experiment.break_even.study import BreakEven

NAME = "break-even"
HEADINGS = (
    "size",
    "system",
    "USD/turn with fallback",
    "ratio to all [95 %]",
    "without misses",
    "no cache",
    "trips/turn",
    "served",
    "pays for turns",
)


@taking("catalog", "model", "selectors", "profile", "retriever", "seed", "workers", model="gpt-5")
def command(
    sessions: Recorded,
    *,
    catalog: list[Path] | None,
    selectors: list[str] | None,
    sizes: Annotated[str, typer.Option(help="Catalog sizes, e.g. 20,60,120; a ladder up to all tools if empty.")] = "",
    plot: Annotated[Optional[Path], typer.Option(help="Write the figure (.png, .svg).")] = None,
    limit: Limit = None,
    force: Force = False,
    json: Json = False,
    **options: Any,
) -> None:
    """Replay sessions in hosts of growing size, and say where a selector begins to pay against `all`.

    Each session keeps the tools that it calls and the host's own; the rest of each size is drawn from its other tools,
    then from the catalogs and the other sessions. Tokens, prompt cache and prices are the model's. Without --selector,
    lazy and semantic(k=8) are set against `all`.

    Example: toolkit break-even datasets/mcp-servers/sessions.atif.jsonl.gz --model claude-sonnet-4-5 --sizes 20,60,96
    """
    need("pandas")
    from toolkit.commands.recorded import recorded
    from toolkit.experiment.break_even.study import SELECTORS, break_even

    wanted = _sizes(sizes)
    if plot is not None:
        check_file(plot, PICTURE, force)
    given, around = recorded(sessions, catalog, limit)
    found = break_even(given, selectors or SELECTORS, wanted, around or (), **options)
    tell_problems((*given.problems, *found.problems))
    if plot is not None:
        from toolkit.experiment.break_even.plot import save

        save(found, plot)
    if json:
        print_json(_records(found.summary))
        return
    _print(found)


def _sizes(text: str) -> tuple[int, ...]:
    """Read `20,60,120`."""
    try:
        return tuple(int(part) for part in text.replace(" ", "").split(",") if part)
    except ValueError as error:
        hint = "Give them like this: --sizes 20,60,120."
        raise InputError(f"catalog sizes are whole numbers between commas, not {text!r}.", hint=hint) from error


def _print(found: BreakEven) -> None:
    about = found.about
    print_table(HEADINGS, [_row(row) for row in _records(found.summary)])
    typer.echo()
    for row in _records(found.crossings):
        typer.echo(f"{row['system']}: " + "; ".join(_crossings(row)) + ".")
    typer.echo(
        f"\n{counted(about['sessions'], 'session')}, {counted(about['recorded_turns'], 'turn')}; "
        f"tools drawn by seed {about['seed']} out of {about['pool_tools']}.\n"
        f"Tokens: {about['counter']} ({about['counter_method']}). "
        f"Prices: {about['prices']}.\nCache: {about['cache']}. Profile {about['profile']}."
    )


def _records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    return [{str(key): value for key, value in row.items()} for row in frame.to_dict("records")]


def _row(row: Mapping[str, Any]) -> tuple[Any, ...]:
    low, high = row["with_fallback_ratio_low"], row["with_fallback_ratio_high"]
    interval = f" [{low:.2f}, {high:.2f}]" if low == low else ""
    ratios = (f"{row['with_fallback_ratio']:.2f}{interval}", f"{row['ratio']:.2f}", f"{row['no_cache_ratio']:.2f}")
    known = row["ratio"] == row["ratio"]
    return (
        row["size"],
        row["system"] if row["fits"] else f"{row['system']} (does not fit the context window)",
        f"{row['with_fallback_usd_per_turn']:.5f}" if row["fits"] else "–",
        *(ratios if known else ("–", "–", "–")),
        f"{row['search_trips_per_turn']:.2f}",
        f"{row['served_share']:.0%}",
        "" if row["system"] == "all" or not known else _turns(row),
    )


def _turns(row: Mapping[str, Any]) -> str:
    """The lengths of session that pay, with a plus where the recordings end before it stops paying."""
    first, last = float(row["pays_from_turn"]), float(row["pays_to_turn"])
    if first != first:
        return "none"
    return f"{first:.0f} to {last:.0f}" + ("+" if last == row["longest_session"] else "")


def _crossings(row: Mapping[str, Any]) -> Iterator[str]:
    for prefix, words in (
        ("with_fallback_", ""),
        ("", " where misses cost nothing"),
        ("no_cache_", " without a cache"),
    ):
        at = row[f"{prefix}pays_from_tools"]
        if at != at:
            yield f"does not pay up to {row['largest']:.0f} tools{words}"
        else:
            yield f"pays from {at:.0f} tools{' (the smallest size)' * (at == row['smallest'])}{words}"
