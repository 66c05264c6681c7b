"""A diagnosis as tables for a terminal, as one self-contained page, and as a folder of files."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolkit.errors import counted
from toolkit.experiment.diagnosis.diagnose import Diagnosis
from toolkit.experiment.diagnosis.host_toml import host_toml, saving_words
from toolkit.report.run_folder import write, write_about
from toolkit.store import whole

if TYPE_CHECKING:
    import pandas as pd

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Section:
    """One table of a diagnosis: what it answers, its headings, its rows, and how many of them there are in all."""

    title: str
    about: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    of: int

    @property
    def left_out(self) -> int:
        return self.of - len(self.rows)


def sections(found: Diagnosis, most: int = 10) -> list[Section]:
    """Return the four tables, the worst rows first, at most so many of each."""
    weight, reach, stay, defer = found.dead_weight, found.unfindable, found.must_stay, found.servers
    k = found.about["k"]
    return [
        _section("Dead weight by server", _BY_SERVER, by_server(weight), _server_weight, most),
        _section("Dead weight by tool", _BY_TOOL, weight, _tool_weight, most),
        _section("Needed, but not to be found", _REACH.format(k=k), reach, _tool_reach, most),
        _section("Tools that should stay declared", _STAY, stay, _tool_stay, most),
        _section("Servers worth deferring", _DEFER, defer, _server_defer, max(most, 20)),
    ]


_BY_SERVER = "Declared and never called: what that cost over the recorded passes, prompt cache included."
_BY_TOOL = "The same, tool by tool, the costliest first."
_REACH = "Called in the recordings, and no query that was or would have been asked ranks it among the first {k}."
_STAY = "Searching for them, with the fallback for what is not found, costs more than declaring them; an estimate."
_DEFER = "Each server deferred alone, its pinned tools declared, in replays against declaring everything."

Shown = Callable[[Row], dict[str, str]]


def _section(title: str, about: str, frame: pd.DataFrame, shown: Shown, most: int) -> Section:
    rows = [shown({str(key): value for key, value in row.items()}) for row in frame.head(most).to_dict("records")]
    headings = tuple(rows[0]) if rows else ()
    return Section(title, about, headings, tuple(tuple(row.values()) for row in rows), len(frame))


def by_server(weight: pd.DataFrame) -> pd.DataFrame:
    """Return dead weight summed up by server, the costliest first."""
    sums = weight.groupby("server", sort=False)[["tokens", "tokens_paid", "usd_paid"]].sum()
    sums.insert(0, "tools", weight.groupby("server", sort=False).size())
    return sums.reset_index().sort_values(["usd_paid", "server"], ascending=[False, True], kind="stable")


def _server_weight(row: Row) -> dict[str, str]:
    counts = {"server": str(row["server"]), "tools never used": f"{row['tools']:,}"}
    return {**counts, "tokens/pass": f"{row['tokens']:,}", **_paid(row)}


def _tool_weight(row: Row) -> dict[str, str]:
    told = {"tool": str(row["name"]), "in sessions": f"{row['sessions']:,}", "tokens/pass": f"{row['tokens']:,}"}
    return {**told, **_paid(row)}


def _paid(row: Row) -> dict[str, str]:
    return {"tokens paid": f"{row['tokens_paid']:,}", "USD paid": f"{row['usd_paid']:.4f}"}


def _tool_reach(row: Row) -> dict[str, str]:
    rank = row["best_rank"]
    return {
        "tool": str(row["name"]),
        "turns": str(row["needed_turns"]),
        "best rank": f"{rank:.0f}" if rank is not None and rank == rank else "none",
        "queries": f"{row['queries']} {row['queries_from']}",
        "best query": _short(row["best_query"], 60),
        "why": str(row["why"]),
        "hint": str(row["hint"]),
    }


def _tool_stay(row: Row) -> dict[str, str]:
    return {
        "tool": str(row["name"]),
        "used in turns": f"{row['used_turns']} of {row['turns']} ({row['used_share']:.1%})",
        "stays from": f"{row['break_even_share']:.1%}",
        "declared USD": f"{row['declare_usd']:.4f}",
        "searched USD": f"{row['search_usd']:.4f}",
        "why": str(row["why"]),
    }


def _server_defer(row: Row) -> dict[str, str]:
    pins = len([name for name in str(row["pins"]).split(", ") if name])
    return {
        "server": str(row["server"]),
        "tools used": f"{row['used_tools']} of {row['tools']}",
        "tokens/pass": f"{row['tokens']:,}",
        "pinned": str(pins),
        "saves USD": f"{row['alone_saves_usd']:.4f}",
        "saves prompt tokens": f"{row['alone_saves_prompt_tokens']:,}",
        "search trips": f"{row['alone_search_trips']:,}",
        "missed": str(row["alone_missed"]),
        "defer": "yes" if row["defer"] else "no",
    }


def _short(text: Any, most: int) -> str:
    line = " ".join(str(text).split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


def notes(found: Diagnosis) -> Iterator[str]:
    """Yield what the figures are of, and how far they can be trusted."""
    about = found.about
    around = f", {counted(about['around'], 'tool')} around theirs" if about["around"] else ""
    yield f"{', '.join(counted(about[f'{what}s'], what) for what in ('session', 'turn', 'tool'))}{around}."
    yield f"Tokens: {about['counter']}. Prices: {about['model']}, {about['prices']}. Profile {about['profile']}."
    yield f"Search: {about['retriever']}; queries: recorded ones, else {about['query_model']}."
    if missing := about["definitions"].get("missing", 0):
        yield (
            f"{missing} sessions lack schemas or descriptions: what declaring costs is a lower bound, so a server may "
            "be worth deferring that is not named here; and tools are searched by what is known of them, often only "
            "the name, so more of them look out of reach than are."
        )


def records(found: Diagnosis) -> list[dict[str, Any]]:
    """Return every row of every table, each with the table it stands in, and the TOML as the last."""
    tables = {"dead_weight": found.dead_weight, "unfindable": found.unfindable, "must_stay": found.must_stay}
    rows = [_record(name, row) for name, frame in tables.items() for row in frame.to_dict("records")]
    rows += [_record("servers", row) for row in found.servers.to_dict("records")]
    rows += [_record("saving", saving.row()) for saving in found.savings]
    return [*rows, {"table": "toml", "text": host_toml(found)}]


def _record(table: str, row: Mapping[Any, Any]) -> dict[str, Any]:
    return {"table": table, **{str(key): value for key, value in row.items()}}


def page(found: Diagnosis) -> str:
    """Return the diagnosis as one self-contained HTML page."""
    from jinja2 import Environment, PackageLoader

    from toolkit.experiment.diagnosis.plot import picture

    environment = Environment(loader=PackageLoader("toolkit.report", "templates"), autoescape=True)
    text: str = environment.get_template("diagnose.html").render(
        sections=sections(found, 40),
        savings=[saving_words(saving) for saving in found.savings],
        notes=list(notes(found)),
        toml=host_toml(found),
        picture=picture(found),
        problems=found.problems[:50],
        more_problems=max(0, len(found.problems) - 50),
        about=found.about,
    )
    return text


def save(found: Diagnosis, folder: Path) -> Path:
    """Write `run.toml`, `diagnose.html`, `diagnose.toml` and a CSV a table, each whole or not at all."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("weight", "findable", "staying", "servers"):
        frame: pd.DataFrame = getattr(found, name)
        with whole(folder / f"{name}.csv") as draft:
            frame.to_csv(draft, index=False)
    write_about(folder, found.about, "diagnose")
    write(folder / "diagnose.toml", host_toml(found))
    write(folder / "diagnose.html", page(found))
    return folder
