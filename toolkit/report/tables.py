"""Tables of the leaderboard, as people read them: on a terminal, in a notebook, in a report."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from html import escape
from typing import Any

import pandas as pd

from toolkit.errors import counted

HEADINGS = (
    "system",
    "prompt tokens/turn",
    "with fallback/turn",
    "ratio to all [95 %]",
    "uncached/turn",
    "search trips/turn",
    "selector trips",
    "served",
    "searched",
    "missed",
    "blocked",
    "comparable turns",
    "USD",
    "USD with fallback",
    "regret [95 %]",
)


def rows(summary: pd.DataFrame) -> list[tuple[str, ...]]:
    """Return the leaderboard as texts, one tuple a system, under `HEADINGS`."""
    return [_row({str(key): value for key, value in row.items()}) for row in summary.to_dict("records")]


def _row(row: Mapping[str, Any]) -> tuple[str, ...]:
    turns, calls = max(row["turns"], 1), row["calls"]
    return (
        row["system"] + (f" ({'; '.join(said)})" if (said := [*marks(row)]) else ""),
        f"{row['prompt_tokens_per_turn']:,.0f}",
        f"{row['prompt_tokens_with_fallback'] / turns:,.0f}",
        _interval(row["prompt_ratio"], row["prompt_ratio_low"], row["prompt_ratio_high"]),
        f"{row['uncached_prompt_tokens'] / turns:,.0f}",
        _spread(row, "search_trips", lambda trips: f"{trips / turns:.2f}"),
        f"{row['selector_trips']:,}",
        _share(row["served"], calls),
        f"{row['searched']:,}",
        _spread(row, "missed", "{:,}".format),
        f"{row['blocked']:,}",
        _share(row["comparable_turns"], row["turns"]),
        _money(row["cost_usd"]),
        _spread(row, "cost_with_fallback_usd", _money),
        _regret(*(row.get(f"regret{end}", float("nan")) for end in ("", "_low", "_high"))),
    )


def marks(row: Mapping[str, Any]) -> Iterator[str]:
    """Yield what must be known of a row before it is compared with others."""
    if row["bound"]:
        yield "bound"
    if row.get("passes_over_window"):
        yield f"does not fit (window {row['window']:,.0f})"
    if failed := row.get("failed_turns"):
        yield f"failed {failed:,} of {row['turns']:,} turns"
    if asked := row.get("query_fallbacks"):
        yield f"own words in place of {asked:,} queries"
    if fell := row.get("retriever_fallbacks"):
        yield f"retriever fell back in {fell:,} of {row['turns']:,} turns"


def _spread(row: Mapping[str, Any], name: str, shown: Callable[[Any], str]) -> str:
    """Return a figure, and the least and the most of it over the query models where they differ."""
    value, low, high = (shown(row.get(key, row[name])) for key in (name, f"{name}_min", f"{name}_max"))
    return value if low == high else f"{value} ({low}–{high})"


def _interval(value: float, low: float, high: float) -> str:
    return f"{value:.3f} [{low:.3f}, {high:.3f}]" if low == low else f"{value:.3f} (too few sessions)"


def _regret(value: float, low: float, high: float) -> str:
    """Return how much more than `oracle_cost` it costs; a dash where nobody knows."""
    if value != value:
        return "–"
    return f"{value:.1%} [{low:.1%}, {high:.1%}]" if low == low else f"{value:.1%} (too few sessions)"


def _share(part: int, whole: int) -> str:
    return f"{part:,} ({part / whole:.0%})" if whole else f"{part:,}"


def _money(value: float) -> str:
    return f"{value:,.4g}" if value == value else "–"


def caption(about: Mapping[str, Any]) -> str:
    """Return the line that says what the figures are of: data, counter, queries, prices, seed."""
    systems = about.get("systems") or [{}]
    queries = _queries(about)
    priced = "; ".join(f"{model}: {source}" for model, source in about["prices"].items()) or NO_PRICE
    windows = ", ".join(f"{model} {_tokens(size)}" for model, size in about.get("windows", {}).items()) or "unknown"
    missing = about["definitions"].get("missing", 0)
    profile = about.get("profile", "reference")
    assumed = ", ".join(about.get("profile_assumes", ()))
    host = f" Host profile: {profile}{f' (assumed: {assumed})' if assumed else ''}." if profile != "reference" else ""
    bound = f" {counted(missing, 'session')} without schemas: their tokens are a lower bound." if missing else ""
    return (
        f"{counted(about['sessions'], 'session')}, {counted(about['catalog_tools'], 'tool')} around.{_fitted(about)} "
        f"Tokens: {about['counter']} ({about['counter_method']}).{bound}{host} "
        f"Queries: {queries}; retriever: {systems[0].get('retriever', '')}. "
        f"Cache: {about['cache']}. Prices: {priced}. "
        f"Context window: {windows}. {_sorted(about)}{_charged(about)}"
        f"Intervals: bootstrap-t over tasks, seed {about['seed']}."
    )


def notes(about: Mapping[str, Any]) -> list[str]:
    """Return what a reader must know beside the figures: what hangs on the fallback, what the set cannot tell."""
    return [one for one in (about.get("by_fallback", ""), *about.get("limits", ())) if one]


def _charged(about: Mapping[str, Any]) -> str:
    """Return which share of a fallback counts, where it is not all."""
    share = about.get("fallback", 1.0)
    return "" if share == 1 else f"Of each fallback {share:.0%} is charged. "


NO_PRICE = "no price known; --model NAME (in Python model=NAME) counts and prices for a model, e.g. gpt-5"
SORTED = {"cost_with_fallback_usd": "USD with fallback", "prompt_tokens_with_fallback": "with fallback/turn"}
"""What a leaderboard is sorted by → the heading that it stands under."""


def _tokens(size: int | str) -> str:
    return f"{size:,}" if isinstance(size, int) else size


def _sorted(about: Mapping[str, Any]) -> str:
    by = SORTED.get(about.get("sorted_by", ""))
    return f"Sorted by {by}, what does not fit or always failed last. " if by else ""


def _queries(about: Mapping[str, Any]) -> str:
    """Return the main query model, those that the spread is over, and how the model searches."""
    main, *also = about.get("query_models") or sorted({one.get("query_model", "") for one in about["systems"]})
    spread = f" (in brackets the least and the most with {', '.join((main, *also))})" if also else ""
    way = about.get("searching", "steady")
    return f"{main}{spread}{f'; searching: {way}' if way != 'steady' else ''}"


def _fitted(about: Mapping[str, Any]) -> str:
    """Return which other sessions the selectors that learn were fitted on, where any were."""
    fit = about.get("fitted_on")
    if not fit:
        return ""
    who = ", ".join(fit["selectors"]) or "nothing"
    return (
        f" Fitted on {counted(fit['sessions'], 'other session')} (by {fit['by']}, sha256 {fit['sha256'][:12]}): {who}."
    )


def text_table(summary: pd.DataFrame, about: Mapping[str, Any]) -> str:
    """Return the leaderboard for a terminal."""
    lines = [HEADINGS, *rows(summary)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(HEADINGS))]
    first, *rest = ("  ".join(_aligned(line, widths)) for line in lines)
    return "\n".join(
        (
            first.rstrip(),
            "-" * min(len(first), sum(widths) + 2 * len(widths)),
            *map(str.rstrip, rest),
            "",
            caption(about),
            *(f"- {note}" for note in notes(about)),
        )
    )


def _aligned(line: tuple[str, ...], widths: list[int]) -> Iterable[str]:
    for index, (text, width) in enumerate(zip(line, widths, strict=True)):
        yield text.ljust(width) if index == 0 else text.rjust(width)


def html_table(summary: pd.DataFrame, about: Mapping[str, Any]) -> str:
    """Return the leaderboard for a notebook or a page; foreign text is escaped."""
    head = "".join(f"<th>{escape(text)}</th>" for text in HEADINGS)
    cell = "<td style='white-space:nowrap'>{}</td>".format
    body = "".join("<tr>" + "".join(cell(escape(text)) for text in row) + "</tr>" for row in rows(summary))
    also = "".join(f"<li>{escape(one)}</li>" for one in notes(about))
    note = f"<p class='caption'>{escape(caption(about))}</p>" + (f"<ul class='caption'>{also}</ul>" if also else "")
    return f"<table class='leaderboard'><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{note}"
