"""`toolkit encoder-fit`: adapt MiniLM to tool search, on queries with known right tools or on own sessions."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from toolkit.commands.options import Force
from toolkit.commands.output import check_file, print_json, print_table
from toolkit.commands.pairs import (
    CatalogFiles,
    LeftOut,
    Pairs,
    QueryFiles,
    SessionFiles,
    check_left_out,
    digests,
    read_pairs,
)
from toolkit.errors import InputError, need

NAME = "encoder-fit"


def command(
    out: Annotated[Path, typer.Option(help="Where the adapter is written: a name that ends in .npz.")],
    catalog: CatalogFiles = None,
    queries: QueryFiles = None,
    sessions: SessionFiles = None,
    leave_out: LeftOut = None,
    rounds: Annotated[int, typer.Option(min=1, help="How often each pair is seen.")] = 1,
    strength: Annotated[
        float, typer.Option(min=0, max=1, help="Share of the learned change that is kept; less changes less.")
    ] = 1.0,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the start and the batches.")] = 0,
    force: Force = False,
    json: Annotated[bool, typer.Option("--json", help="Print a list of rows as JSON instead of a table.")] = False,
) -> None:
    """Fit an adapter of MiniLM: a file under 2 MB that changes the encoder's weights when it is loaded.

    About four CPU seconds a batch of 32 pairs. With --leave-out, dense search before and after is measured on what was
    not fitted. The file holds data only, and says what it was fitted on.

    Example: toolkit encoder-fit --catalog tools.jsonl --queries queries.jsonl --out mine.npz
    """
    need("sentence_transformers")
    from tqdm import tqdm

    from toolkit.search.encoders.lora import save_adapter
    from toolkit.search.learned.lora_fit import Lessons, Settings, adapted

    _check(out)
    check_file(out, b".npy", force)
    given = list(read_pairs(catalog, queries, sessions))
    fitted, tested = _parted(given, leave_out or ())
    card = {
        "data": digests(catalog, queries, sessions),
        "sets": list(dict.fromkeys(pairs.name for pairs in fitted)),
        "left_out": list(leave_out or ()),
    }
    lessons = [Lessons.of(pairs.name, pairs.tools, pairs.queries) for pairs in fitted]
    settings = Settings(rounds=rounds, strength=strength, seed=seed)
    save_adapter(adapted(lessons, settings, card, lambda steps: tqdm(steps, unit=" batches", disable=None)), out)
    rows = [_measured(pairs, out) for pairs in tested]
    if json:
        print_json(rows)
        return
    if rows:
        print_table(list(rows[0]), [list(row.values()) for row in rows])
    typer.echo(
        f'Written: {out}. Use it as --retriever "hybrid({str(out)!r}, \'multilingual\')" or "dense({str(out)!r})".'
    )


def _check(out: Path) -> None:
    if out.suffix != ".npz":
        raise InputError(f"--out {out} does not end in .npz, by which an adapter is known.", hint=f"Say {out}.npz.")
    if out.is_dir():
        raise InputError(f"--out {out} is a folder; a file was expected.", hint="Give another name.")
    if not out.absolute().parent.is_dir():
        raise InputError(f"there is no folder {out.absolute().parent}.", hint="Make it, or give another --out.")


def _parted(given: Sequence[Pairs], left_out: Sequence[str]) -> tuple[list[Pairs], list[Pairs]]:
    """Return what is fitted and what is only tested."""
    check_left_out(left_out, (pairs.name for pairs in given))
    fitted = [pairs for pairs in given if pairs.name not in left_out]
    if not fitted:
        raise InputError("nothing to fit: no query is left.", hint="Give --catalog and --queries, or --sessions.")
    return fitted, [pairs for pairs in given if pairs.name in left_out]


def _measured(pairs: Pairs, out: Path) -> dict[str, Any]:
    """Return nDCG@10 of dense search without and with the adapter, on pairs that it was not fitted on."""
    from toolkit.experiment.ranking.rank_eval import Query, runs

    queries = [Query(str(number), text, gold) for number, (text, gold) in enumerate(pairs.queries)]
    before, after = runs(pairs.tools, queries, ["dense", f"dense({str(out)!r})"])
    plain, adapted = float(before.ndcg.mean()), float(after.ndcg.mean())
    return {
        "set": pairs.name,
        "queries": len(before.queries),
        "before": plain,
        "after": adapted,
        "gain": adapted - plain,
    }
