"""How often a counter agrees with the bill: rows of requests with billed usage, in the form of `billed-usage`."""

from __future__ import annotations

import gzip
import json
from collections import Counter as Tally
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import mean, quantiles
from typing import Any

from toolkit.errors import InputError
from toolkit.tokens.media import uncountable
from toolkit.tokens.models import facts
from toolkit.tokens.pictures import readable
from toolkit.tokens.request import Count, Request, TokenCounter
from toolkit.tokens.wire import request

Row = Mapping[str, Any]
MAY_2025 = datetime(2025, 5, 1, tzinfo=UTC).timestamp()
HOSTED_OUTPUT = frozenset((
    "web_search_call", "file_search_call", "code_interpreter_call", "image_generation_call", "mcp_call",
    "mcp_list_tools", "tool_search_call", "server_tool_use", "mcp_tool_use", "shell_call",
))  # fmt: skip
EXCLUSIONS = {
    "no usage": "the row carries no billed prompt tokens",
    "server history": "part of the prompt lies on the server (previous_response_id, a stored prompt)",
    "opaque history": "replayed reasoning, signatures or hosted calls, billed but unreadable",
    "media": "pictures whose size cannot be read, sound or files",
    "hosted tool": "the provider may run something within the pass, and bills what comes back",
    "citations": "sources are cited, and what that costs is not known",
    "several passes": "a setting makes the provider sample more than once and bill every pass",
    "before May 2025": "OpenAI Responses then added a constant to every request that has a tools key",
    "parallel answer": "gpt-4o and gpt-4.1 on Responses under-report the prompt when they answer with several calls",
}
"""Why a row's usage is not a function of its request; such rows are counted apart and never judged."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A row that was counted: what was billed, what was predicted."""

    provider: str
    api: str
    model: str
    toolset: str
    billed: int
    count: Count

    @property
    def error(self) -> float:
        """The absolute error as a share of the bill."""
        return abs(self.count.tokens - self.billed) / max(self.billed, 1)


def load_rows(path: str | Path) -> list[Row]:
    """Return the rows of a JSONL file, gzipped or not."""
    path = Path(path)
    data = path.read_bytes()
    try:
        text = (gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data).decode("utf-8")
        return [json.loads(line) for line in text.split("\n") if line.strip()]
    except (OSError, EOFError, ValueError) as error:
        raise InputError(f"{path.name} is no JSONL: {error}.") from error


def exclusion(row: Row, asked: Request) -> str | None:
    """Return why the row's usage is not a function of its request, a key of `EXCLUSIONS`, or None."""
    if not (row.get("usage") or {}).get("input_total"):
        return "no usage"
    kinds = Tally(str(item.get("type")) for item in _items(row.get("output")))
    searching = [tool.kind for tool in asked.tools if "tool_search" in tool.kind]
    reasons = [reason for reason, thing in uncountable(asked) if thing not in searching]
    media = [part for message in asked.messages for part in message.of_kind("media")]
    reasons += ["media"] * any(readable(part) is None for part in media)
    reasons += ["hosted tool"] * bool(HOSTED_OUTPUT & set(kinds))
    if reasons:
        return min(reasons, key=list(EXCLUSIONS).index)
    return _openai_artefact(row, asked, kinds["function_call"])


def _openai_artefact(row: Row, asked: Request, calls: int) -> str | None:
    if row.get("api") != "responses":
        return None
    if "tools" in row["request"] and (row.get("created") or MAY_2025) < MAY_2025:
        return "before May 2025"
    if calls > 1 and "parallel_answer" in facts(asked.model).notes:
        return "parallel answer"
    return None


def _items(output: Any) -> Iterator[Row]:
    return (item for item in (output if isinstance(output, list) else [output]) if isinstance(item, Mapping))


def judge(rows: Iterable[Row], counter_for: Callable[[Request], TokenCounter]) -> tuple[list[Judged], Tally[str]]:
    """Count every row that can be judged.

    Returns:
        The judged rows, and how many were left out for which reason of `EXCLUSIONS`.
    """
    judged, left_out = [], Tally[str]()
    for row in rows:
        asked = request(row["request"], row["api"], row.get("provider") or "", row.get("model") or "")
        reason = exclusion(row, asked)
        if reason:
            left_out[reason] += 1
            continue
        count = counter_for(asked).count(asked)
        billed = int(row["usage"]["input_total"])
        judged.append(Judged(asked.provider, asked.api, asked.model, str(row.get("toolset")), billed, count))
    return judged, left_out


def check(rows: Iterable[Row], counter_for: Callable[[Request], TokenCounter]) -> list[dict[str, Any]]:
    """Return the table of `toolkit count --check`: one row a (provider, api), then one a (provider, api, model).

    Columns: `provider, api, model, n, tool_sets, exact, within_1pct, mean_pct, median_pct, p90_pct, covered`;
    `exact`, `within_1pct` and `covered` are shares, errors are percent of the bill.
    """
    judged, _ = judge(rows, counter_for)
    groups: dict[tuple[str, str, str], list[Judged]] = {}
    for one in judged:
        groups.setdefault((one.provider, one.api, ""), []).append(one)
        groups.setdefault((one.provider, one.api, one.model), []).append(one)
    order = sorted(groups, key=lambda key: (bool(key[2]), key))
    return [dict(zip(("provider", "api", "model"), key, strict=True)) | summary(groups[key]) for key in order]


def summary(judged: list[Judged]) -> dict[str, Any]:
    """Return the shares and errors of some judged rows."""
    errors = sorted(one.error for one in judged)
    deciles = quantiles(errors, n=10, method="inclusive") if len(errors) > 1 else errors * 9
    return {
        "n": len(judged),
        "tool_sets": len({one.toolset for one in judged}),
        "exact": _share(one.billed == one.count.tokens for one in judged),
        "within_1pct": _share(error <= 0.01 for error in errors),
        "mean_pct": round(100 * mean(errors), 3),
        "median_pct": round(100 * deciles[4], 3),
        "p90_pct": round(100 * deciles[8], 3),
        "covered": _share(one.count.covers(one.billed) for one in judged),
    }


def _share(flags: Iterable[bool]) -> float:
    held = list(flags)
    return round(sum(held) / len(held), 4)
