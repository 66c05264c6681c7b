"""How well token counts agree with bills, and how fast they are; with `--fit` it makes the fitted files again.

    python benchmarks/tokens.py            # accuracy on the open recordings, each repository by the others; speed
    python benchmarks/tokens.py --fit      # writes toolkit/tokens/fits/{templates,vocabularies}.json
    python benchmarks/tokens.py --shipped  # with the constants as they are shipped

The recordings are looked for under `TOOLKIT_SHARED_DATA`, else `../shared/data`. What is fitted is fitted anew for each
repository, on the recordings of all the others.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import math
import os
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from statistics import median
from typing import Any

from toolkit.tokens.check import Judged, Row, exclusion, judge, load_rows, summary
from toolkit.tokens.counters import counter_for
from toolkit.tokens.models import facts
from toolkit.tokens.providers import anthropic, generic
from toolkit.tokens.providers.anthropic import AnthropicCounter
from toolkit.tokens.providers.generic import GenericCounter, Template
from toolkit.tokens.request import Request, TokenCounter
from toolkit.tokens.vocabulary.vocabulary import NAMES, loaded, vocabulary
from toolkit.tokens.wire import request

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("TOOLKIT_SHARED_DATA") or ROOT.parent / "shared" / "data")
RECORDINGS = DATA / "billed-usage" / "recordings.jsonl.gz"
FITS = ROOT / "toolkit" / "tokens" / "fits"
CATALOGS = [f"{name}/tools.jsonl.gz" for name in ("mcp-toolgym", "mcp-smithery", "mcp-vendor", "azure-mcp")]


def main(argv: Sequence[str]) -> int:
    """Run what the arguments ask for; return the exit status."""
    options = _options(argv)
    if not RECORDINGS.is_file():
        sys.stdout.write(f"skipped: no recordings under {DATA.name}; set TOOLKIT_SHARED_DATA\n")
        return 0
    rows = load_rows(RECORDINGS)
    if options.fit:
        _save("templates", templates_file(rows))
        _save("vocabularies", vocabularies_file(rows))
        return 0
    judged, left_out = judge(rows, counter_for) if options.shipped else by_repository(rows)
    _print_table(judged, left_out)
    _print_labels(judged)
    _print_lower_bounds(rows)
    for model in ("gpt-5", "claude-sonnet-4-5", "gemini-2.5-flash"):
        sys.stdout.write(speed(model) + "\n")
    return 0


def _options(argv: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fit", action="store_true", help="write the fitted files")
    parser.add_argument("--shipped", action="store_true", help="use the constants as they are shipped")
    return parser.parse_args(argv)


# Accuracy


def by_repository(rows: Sequence[Row]) -> tuple[list[Judged], Counter[str]]:
    """Judge the rows of each repository with constants fitted on the others."""
    judged: list[Judged] = []
    left_out: Counter[str] = Counter()
    for name in sorted({str(row.get("repo")) for row in rows}):
        held = [row for row in rows if str(row.get("repo")) == name]
        some, reasons = judge(held, refitted([row for row in rows if str(row.get("repo")) != name]))
        judged += some
        left_out += reasons
    return judged, left_out


def refitted(rows: Sequence[Row]) -> Callable[[Request], TokenCounter]:
    """Return counters whose constants come from these rows only; rules of OpenAI and Google have none."""
    fitted = templates(rows)
    hidden = hidden_prompts(rows)

    def found(asked: Request) -> TokenCounter:
        usual = counter_for(asked)
        if isinstance(usual, AnthropicCounter) and usual.provider == "anthropic":
            return replace(usual, rules=_with(usual.rules, hidden.get(usual.rules, {})))
        if isinstance(usual, GenericCounter):
            family = facts(asked.model).family
            row = fitted.get(f"{asked.provider}/{family}") or fitted.get(f"*/{family}") or fitted["*/any"]
            return replace(usual, rules=Template(**row))
        return usual

    return found


def _with(family: anthropic.Family, hidden: Mapping[str, int]) -> anthropic.Family:
    auto, some, named = (hidden.get(name, getattr(family, name)) for name in ("auto", "any", "named"))
    return replace(family, auto=auto, any=some, named=named)


def hidden_prompts(rows: Iterable[Row]) -> dict[anthropic.Family, dict[str, int]]:
    """Return the hidden tool prompts of each Claude family: the commonest remainder of requests without history."""
    seen: dict[tuple[anthropic.Family, str], Counter[int]] = defaultdict(Counter)
    for row, asked in _usable(rows):
        usual = counter_for(asked)
        if not isinstance(usual, AnthropicCounter) or usual.provider != "anthropic" or not asked.tools:
            continue
        name = {"auto": "auto", "none": "auto", "required": "any"}.get(asked.tool_choice, "named")
        if len([m for m in asked.messages if m.role != "system"]) == 1 and asked.output_schema is None:
            more = int(row["usage"]["input_total"]) - usual.count(asked).tokens
            seen[usual.rules, name][getattr(usual.rules, name) + more] += 1
    found: dict[anthropic.Family, dict[str, int]] = defaultdict(dict)
    for (family, name), amounts in seen.items():
        if sum(amounts.values()) >= 3:
            found[family][name] = amounts.most_common(1)[0][0]
    return found


def _usable(rows: Iterable[Row]) -> Iterable[tuple[Row, Request]]:
    for row in rows:
        asked = request(row["request"], row["api"], row.get("provider") or "", row.get("model") or "")
        if exclusion(row, asked) is None:
            yield row, asked


def _print_table(judged: Sequence[Judged], left_out: Counter[str]) -> None:
    groups: dict[tuple[str, str], list[Judged]] = defaultdict(list)
    for one in judged:
        groups[one.provider, one.api].append(one)
    columns = ["n", "tool_sets", "exact", "within_1pct", "mean_pct", "median_pct", "p90_pct", "covered"]
    sys.stdout.write(f"{'provider':14} {'api':16}" + "".join(f"{column:>12}" for column in columns) + "\n")
    for key, some in sorted(groups.items(), key=lambda item: -len(item[1])):
        row = summary(some)
        sys.stdout.write(f"{key[0]:14} {key[1]:16}" + "".join(f"{row[column]:>12}" for column in columns) + "\n")
    sys.stdout.write(f"left out: {dict(left_out.most_common())}\n")


def _print_labels(judged: Sequence[Judged]) -> None:
    """How often the band holds the bill, and how wide it is, by label and provider."""
    groups: dict[tuple[str, str], list[Judged]] = defaultdict(list)
    for one in judged:
        groups[one.count.method, "all"].append(one)
        groups[one.count.method, one.provider].append(one)
    sys.stdout.write("label, provider: n, covered, median half-width in % of the bill and in tokens\n")
    for key, some in sorted(groups.items(), key=lambda item: (item[0][0], -len(item[1]))):
        halves = [((one.count.high or one.count.tokens) - one.count.low) / 2 for one in some]
        shares = [100 * half / max(one.billed, 1) for half, one in zip(halves, some, strict=True)]
        covered = sum(one.count.covers(one.billed) for one in some) / len(some)
        sys.stdout.write(
            f"{key[0]:14} {key[1]:14} {len(some):5} {covered:7.3f} {median(shares):8.1f} {median(halves):8.0f}\n"
        )


def _print_lower_bounds(rows: Iterable[Row]) -> None:
    """How often the bill of what is not countable is no less than its lower bound."""
    held: list[bool] = []
    for row in rows:
        asked = request(row["request"], row["api"], row.get("provider") or "", row.get("model") or "")
        count = counter_for(asked).count(asked)
        billed = (row.get("usage") or {}).get("input_total")
        if billed and count.method == "not countable":
            held.append(count.low <= int(billed))
    sys.stdout.write(f"not countable: {len(held)}, bill at least the lower bound: {sum(held)}\n")


# Templates


@dataclass(frozen=True, slots=True)
class Shape:
    """What a request holds, in tokens of its own vocabulary and in numbers."""

    bill: int
    words: int
    messages: int
    tools: int
    definitions: int
    calls: int
    schema: bool
    toolset: str
    repo: str


def templates(rows: Iterable[Row]) -> dict[str, dict[str, float | bool]]:
    """Return the constants by `provider/family`, `*/family` and `*/any`: medians, one after the other."""
    shapes: dict[str, list[Shape]] = defaultdict(list)
    for row, asked in _usable(rows):
        if isinstance(counter_for(asked), GenericCounter):
            family = facts(asked.model).family
            for key in {f"{asked.provider}/{family}", f"*/{family}", "*/any"}:
                shapes[key].append(_shape(row, asked, family))
    found: dict[str, dict[str, float | bool]] = {}
    for key in sorted(shapes, key=lambda key: (key != "*/any", not key.startswith("*"), key)):
        if key == "*/any" or len(shapes[key]) > 1:
            known = found.get("*/" + key.split("/")[1]) or found.get("*/any") or {}
            found[key] = _rounded(_fitted(key, shapes[key], known)) | {"sure": _sure(key, shapes[key], known)}
    return found


def _sure(key: str, shapes: Sequence[Shape], known: Mapping[str, float]) -> bool:
    """Whether nine bills of ten are within a quarter or 30 tokens, each repository by the constants of the others."""
    held, repos = [], {one.repo for one in shapes}
    for name in repos:
        others = [one for one in shapes if one.repo != name]
        found = _fitted(key, others, known)
        some = [(_missed(one, found), one.bill) for one in shapes if one.repo == name]
        held += [abs(miss) <= max((bill - miss) / 4, 30) for miss, bill in some]
    return not key.startswith("*") and len(repos) > 2 and sum(held) >= 0.9 * len(held) >= 9


def _shape(row: Row, asked: Request, family: str) -> Shape:
    count = vocabulary(facts(asked.model).vocabulary).count
    parts = [part for message in asked.messages for part in message.parts]
    calls = [part for part in parts if part.kind == "call"]
    shown = [tool for tool in asked.tools if tool.kind == "function" and not tool.deferred]
    words = sum(count(message.text) for message in asked.messages)
    words += sum(count(part.text) for part in parts if part.kind == "result")
    words += sum(count(call.name) + count(call.text) for call in calls)
    definitions = sum(count(generic.definition_json(tool)) for tool in shown)
    billed, schema = int(row["usage"]["input_total"]), asked.output_schema is not None
    return Shape(
        billed, words, len(asked.messages), len(shown), definitions, len(calls), schema,
        str(row.get("toolset")), str(row.get("repo")),
    )  # fmt: skip


def _fitted(key: str, shapes: Sequence[Shape], known: Mapping[str, float]) -> dict[str, float]:
    start = {"base": 0.0, "each": 4.0, "tools": 40.0, "tool": 8.0, "pair": 12.0, "schema": 40.0}
    found = {name: known.get(name, amount) for name, amount in start.items()}
    _fit_messages(found, [one for one in shapes if not (one.tools or one.schema or one.calls)])
    _fit_tools(found, [one for one in shapes if one.tools and not one.calls])
    calls = [(_rest(one, found) - _tools(one, found)) / one.calls for one in shapes if one.calls]
    found["pair"] = max(-10.0, min(80.0, _median(calls, found["pair"])))
    schemas = [_rest(one, found) for one in shapes if one.schema and not one.tools]
    found["schema"] = _median(schemas, found["schema"])
    return found | _band(key, shapes, found)


def _fit_messages(found: dict[str, float], plain: Sequence[Shape]) -> None:
    single = [one.bill - one.words for one in plain if one.messages == 1]
    both = _median(single, found["base"] + found["each"])
    more = [(one.bill - one.words - both) / (one.messages - 1) for one in plain if one.messages > 1]
    found["each"] = max(0.0, _median(more, found["each"]))
    found["base"] = both - found["each"]


def _fit_tools(found: dict[str, float], some: Sequence[Shape]) -> None:
    first = [one for one in some if one.tools == 1 and not one.schema] or [one for one in some if one.tools == 1]
    many = [one for one in some if one.tools > 1]
    both = _median([_rest(one, found) - one.definitions for one in first], found["tools"] + found["tool"])
    each = [(_rest(one, found) - one.definitions - both) / (one.tools - 1) for one in many]
    if first or many:
        found["tool"] = max(-60.0, min(60.0, _median(each, found["tool"])))
        found["tools"] = both - found["tool"]


def _band(key: str, shapes: Sequence[Shape], found: Mapping[str, float]) -> dict[str, float]:
    """Half-widths that hold 95 % of the rows, and more where there are few rows or few tool sets."""
    few, pooled = 1 + 4 / max(len(shapes), 1), key.startswith("*")
    plain = [abs(_missed(one, found)) for one in shapes if not one.tools and not one.schema]
    tooled = [one for one in shapes if one.tools]
    missed = [abs(_missed(one, found)) - 0.05 * (one.bill - _missed(one, found)) for one in tooled]
    sets = len({one.toolset for one in tooled})
    floor = 90 if pooled or len(plain) < 6 else 40 if len(plain) < 12 else 20
    least = 700 if pooled or sets < 3 else 250 if sets < 6 else 60
    return {
        "spread": 0.12 if pooled else 0.05,
        "slack": round(min(max(floor, _most(plain) * few), 600)),
        "spread_tools": 0.3 if pooled or sets < 4 else 0.15,
        "slack_tools": round(min(max(least, _most(missed) * few), 1500)),
    }


def _rest(one: Shape, found: Mapping[str, float]) -> float:
    return one.bill - one.words - found["base"] - found["each"] * one.messages


def _tools(one: Shape, found: Mapping[str, float]) -> float:
    return one.definitions + found["tools"] + found["tool"] * one.tools if one.tools else 0.0


def _missed(one: Shape, found: Mapping[str, float]) -> float:
    return _rest(one, found) - _tools(one, found) - found["pair"] * one.calls - found["schema"] * one.schema


def _median(amounts: Sequence[float], otherwise: float) -> float:
    return float(median(amounts)) if amounts else otherwise


def _most(amounts: Sequence[float]) -> float:
    """The 95th percentile; of few amounts the largest."""
    return sorted(amounts)[math.ceil(0.95 * len(amounts)) - 1 if len(amounts) >= 40 else -1] if amounts else 0.0


def _rounded(constants: Mapping[str, float]) -> dict[str, float]:
    return {name: round(amount, 2) for name, amount in constants.items()}


# Fitted files


def templates_file(rows: Sequence[Row]) -> dict[str, Any]:
    """Return the file of template constants with its provenance."""
    return {
        "what": "Constants of serving templates by provider/family of models, * for any: the fields of Template.",
        "method": "medians, one constant after the other: request, message, tools, tool, call, schema; bands from the "
        "95th percentile of what is left over, wider where there are few rows or tool sets (benchmarks/tokens.py)",
        "rows": "billed-usage/recordings.jsonl.gz",
        "digest": _digest(RECORDINGS),
        "made": date.today().isoformat(),
        "templates": templates(rows),
    }


def vocabularies_file(rows: Sequence[Row]) -> dict[str, Any]:
    """Return the file of stand-ins with its provenance; it needs every vocabulary installed."""
    texts = sorted({*_definitions(), *_messages(rows)})
    counts = {}
    for name in NAMES:
        count = loaded(name)
        if count is not None:
            counts[name] = [count(text) for text in texts]
    sources = [{"file": name, "sha256": _digest(DATA / name)} for name in CATALOGS if (DATA / name).is_file()]
    return {
        "what": "What counts in place of a vocabulary whose package is missing: its count times scale; the relative "
        "error stays within spread on 95 % of the texts.",
        "method": "ratio of total tokens over tool definitions of public catalogs and messages of recordings",
        "made": date.today().isoformat(),
        "texts": len(texts),
        "sources": [*sources, {"file": "billed-usage/recordings.jsonl.gz", "part": "messages of every third row"}],
        "stand_ins": {name: _stand_ins(name, counts) for name in counts if name not in ("o200k_base", "cl100k_base")},
    }


def _stand_ins(name: str, counts: Mapping[str, Sequence[int]]) -> list[dict[str, Any]]:
    others = ["o200k_base", "cl100k_base"] + (["claude-2"] if name.startswith("claude-") else [])
    rows = [_stand_in(other, counts[name], counts[other]) for other in others if other in counts and other != name]
    return sorted(rows, key=lambda row: row["spread"])[:2]


def _stand_in(other: str, wanted: Sequence[int], had: Sequence[int]) -> dict[str, Any]:
    scale = sum(wanted) / sum(had)
    missed = [abs(scale * one - real) / max(real, 1) for real, one in zip(wanted, had, strict=True)]
    return {"with": other, "scale": round(scale, 4), "spread": round(_most(missed), 3)}


def _definitions() -> Iterable[str]:
    for name in CATALOGS:
        if (DATA / name).is_file():
            lines = gzip.decompress((DATA / name).read_bytes()).decode("utf-8").split("\n")
            for row in map(json.loads, filter(None, lines[::12])):
                body = {"description": row["description"], "name": row["name"], "parameters": row["input_schema"]}
                yield json.dumps(body, ensure_ascii=False)


def _messages(rows: Sequence[Row]) -> Iterable[str]:
    for row in rows[::3]:
        asked = request(row["request"], row["api"], row.get("provider") or "", row.get("model") or "")
        yield from (message.text for message in asked.messages if len(message.text) > 80)


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


def _save(name: str, content: Mapping[str, Any]) -> None:
    (FITS / f"{name}.json").write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", "utf-8")
    sys.stdout.write(f"wrote fits/{name}.json\n")


# Speed


SPEED = """
import gzip, json, sys, time
from toolkit.tokens.counter import counter_of
from toolkit.tool import Tool
rows = map(json.loads, filter(str.strip, gzip.open(sys.argv[2], "rt", encoding="utf-8")))
tools = [Tool(row["name"], row["description"], row["input_schema"], id=row["id"]) for row in rows]
started = time.process_time()
total = counter_of(sys.argv[1]).definitions(tools)
print(len(tools), total, time.process_time() - started)
"""


def speed(model: str) -> str:
    """Return how long a catalog of some thousand tools takes in a process of its own, cold and warm."""
    path = DATA / CATALOGS[0]
    if not path.is_file():
        return f"{model}: no catalog"
    with tempfile.TemporaryDirectory() as folder:
        command, world = [sys.executable, "-c", SPEED, model, str(path)], {**os.environ, "TOOLKIT_CACHE": folder}
        cold, warm = (subprocess.check_output(command, env=world, text=True).split() for _ in range(2))
    return (
        f"{model}: {cold[0]} tools, {cold[1]} tokens, cold {float(cold[2]):.2f} CPU s, warm {float(warm[2]):.2f} CPU s"
    )


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
