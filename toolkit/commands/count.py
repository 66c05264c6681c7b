"""`toolkit count`: tokens of requests by the provider's own rules, and how they compare with what was billed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, Optional

import typer

from toolkit.commands.output import print_json, print_table, tell_problems
from toolkit.errors import InputError
from toolkit.formats.files import Problem, Record, find_files, records
from toolkit.formats.importing import UNREADABLE
from toolkit.prices.known import check_model
from toolkit.tokens.calibration import ENOUGH, LEAST, fitted, keep
from toolkit.tokens.check import EXCLUSIONS, check, judge
from toolkit.tokens.counters import counter_for, notes, uncalibrated
from toolkit.tokens.models import facts
from toolkit.tokens.odd import oddities
from toolkit.tokens.request import Request
from toolkit.tokens.wire import request

NAME = "count"
_CHECKED = ("provider", "api", "model", "n", "tool_sets", "exact", "within_1pct", "mean_pct", "median_pct", "p90_pct")


def command(
    files: Annotated[list[Path], typer.Argument(help="Requests: .json (a body), .jsonl, .jsonl.gz, folders.")],
    model: Annotated[Optional[str], typer.Option(help="The model, where the request names none.")] = None,
    provider: Annotated[Optional[str], typer.Option(help="Who serves it, e.g. openai, anthropic, google.")] = None,
    api: Annotated[
        Optional[str], typer.Option(help="chat, responses, messages, gemini…; else read off the body.")
    ] = None,
    compare: Annotated[bool, typer.Option("--check", help="Compare with the billed usage in the file.")] = False,
    calibrate: Annotated[
        bool, typer.Option("--calibrate", help="Fit counts to the billed usage in the file, and keep what was fitted.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Print a list of rows as JSON instead of a table.")] = False,
) -> None:
    """Count the prompt tokens of requests, each with its method and the band that the bill lies in.

    With --check the file holds rows with `request`, `provider`, `api`, `model` and billed `usage`; the table says
    how often the count was exact, how far off it was, and how often the band covered the bill. With --calibrate such
    rows teach the counter of their provider, API and model an offset and a scale, which every command uses from then
    on; ten rows are enough. What was fitted is kept in the cache folder, in calibrations.json.

    Example: toolkit count request.json --provider openai --model gpt-5
    """
    if compare:
        _check(files, json)
        return
    if calibrate:
        _calibrate(files, json)
        return
    if model and (said := check_model(model, provider, api)):
        typer.echo(f"note: {said}", err=True)
    problems: list[Problem] = []
    rows = [row for path in find_files(files) for row in _counted(path, model, provider, api, problems)]
    tell_problems(problems)
    if not rows:
        raise InputError("no request could be read.", hint="Expected a JSON body with messages, input or contents.")
    if json:
        print_json(rows)
        return
    columns = list(dict.fromkeys(column for row in rows for column in row if column != "notes"))
    print_table([*columns, "notes"], [[row.get(column, 0) for column in (*columns, "notes")] for row in rows])


def _counted(
    path: Path, model: str | None, provider: str | None, api: str | None, problems: list[Problem]
) -> Iterator[dict[str, Any]]:
    import msgspec

    for record in _records(path, problems):
        try:
            row = msgspec.json.decode(record.data)
            asked = _request(row, model, provider, api)
        except (*UNREADABLE, InputError) as error:
            problems.append(Problem(record.path, record.line, "bad_request", f"this is no request: {error}"))
            continue
        problems += [Problem(record.path, record.line, "odd_request", odd) for odd in oddities(asked)]
        yield {"file": f"{record.path}:{record.line}", **_row(asked)}


def _records(path: Path, problems: list[Problem]) -> Iterator[Record]:
    """Yield the records of a file; one without any is told."""
    found, before = records(path, problems), len(problems)
    first = next(found, None)
    if first is not None:
        yield first
        yield from found
    elif len(problems) == before:
        problems.append(Problem(str(path), 0, "empty", "the file holds no record."))


def _request(row: Any, model: str | None, provider: str | None, api: str | None) -> Request:
    if not isinstance(row, Mapping):
        raise InputError(f"an object was expected, {type(row).__name__} came.")
    wrapped = row.get("request")
    body = wrapped if isinstance(wrapped, Mapping) else row
    known = row if body is wrapped else {}
    kind = api or known.get("api") or _api_of(body)
    if not _asks(body):
        hint = f"Expected {', '.join(_ASKING[:3])} or the like{_other(row)}."
        raise InputError("it holds nothing that a model is asked.", hint=hint)
    return request(body, kind, provider or known.get("provider") or "", model or known.get("model") or "")


def _asks(body: Mapping[str, Any]) -> bool:
    """Whether a body holds what a model is asked; tools alone are a request where they name the model."""
    asked = any(isinstance(body.get(key), str | list | Mapping) for key in _ASKING)
    return asked or (isinstance(body.get("tools"), list) and isinstance(body.get("model"), str))


_ASKING = (
    *("messages", "input", "contents", "prompt", "system", "instructions", "previous_response_id"),
    *("systemInstruction", "system_instruction", "generateContentRequest", "chat_history", "conversation"),
)


def _other(row: Mapping[str, Any]) -> str:
    """Say which command is for what came in place of a request."""
    if {"steps", "turns", "trajectory", "agent", "sessionId", "type"} & row.keys():
        return "; what sessions hold says toolkit inspect"
    tool = {"tools", "input_schema", "inputSchema", "parameters"} & row.keys() or {"name", "description"} <= row.keys()
    return "; what a catalog costs says toolkit catalog cost" if tool else ""


def _api_of(body: Mapping[str, Any]) -> str:
    """Read the API off a request's keys."""
    if "contents" in body:
        return "gemini"
    if "input" in body:
        return "responses"
    tools = body.get("tools")
    anthropic = "system" in body or "max_tokens_to_sample" in body
    if isinstance(tools, list) and tools and isinstance(tools[0], Mapping):
        anthropic = anthropic or "input_schema" in tools[0]
    model = str(body.get("model", ""))
    return "messages" if anthropic or ("/" not in model and facts(model).counter == "anthropic") else "chat"


def _row(asked: Request) -> dict[str, Any]:
    found = counter_for(asked)
    count = found.count(asked)
    return {
        "api": asked.api,
        "model": asked.model or "(none)",
        "tokens": count.tokens,
        "low": count.low,
        "high": count.high,
        "method": count.method,
        **{name: part.tokens for name, part in found.breakdown(asked).items()},
        "notes": " ".join((*notes(found), *asked.opaque)),
    }


def _billed(files: list[Path]) -> list[dict[str, Any]]:
    """Return the rows of requests with what was billed for them; what is none is told.

    Raises:
        InputError: There is none.
    """
    import msgspec

    rows: list[dict[str, Any]] = []
    problems: list[Problem] = []
    for record in (one for path in find_files(files) for one in _records(path, problems)):
        try:
            rows.append(_bill(msgspec.json.decode(record.data)))
        except (*UNREADABLE, InputError) as error:
            problems.append(Problem(record.path, record.line, "bad_row", f"this is no billed request: {error}"))
    tell_problems(problems)
    if not rows:
        raise InputError("no billed request could be read.", hint="Expected request, api and usage a row.")
    return rows


def _bill(row: Any) -> dict[str, Any]:
    """Return a row with its API; InputError says what it lacks."""
    if not isinstance(row, Mapping):
        raise InputError(f"an object was expected, {type(row).__name__} came.")
    body = row.get("request")
    if not isinstance(body, Mapping):
        raise InputError("it has no request.", hint=f"Expected request, api and usage{_other(row)}.")
    if not isinstance(row.get("usage") or {}, Mapping):
        raise InputError("its usage is no object.", hint="Expected usage.input_total, the billed prompt tokens.")
    return {**row, "api": row.get("api") or _api_of(body)}


def _calibrate(files: list[Path], json: bool) -> None:
    rows = _billed(files)
    found = fitted(rows, lambda asked: uncalibrated(asked.provider, asked.api, asked.model))
    if not found:
        hint = f"A provider, API and model needs {LEAST} rows that can be judged; one that is exact needs none."
        raise InputError("nothing to calibrate.", hint=hint)
    keep(found)
    table = [asdict(one) for one in found]
    if json:
        print_json(table)
        return
    print_table(list(table[0]), [list(row.values()) for row in table])
    few = [one.model for one in found if one.rows < ENOUGH]
    if few:
        typer.echo(f"fitted on fewer than {ENOUGH} bills, so with a wide band: {', '.join(few)}", err=True)


def _check(files: list[Path], json: bool) -> None:
    rows = _billed(files)
    table = check(rows, counter_for)
    left_out = judge(rows, counter_for)[1]
    for reason, number in left_out.most_common():
        typer.echo(f"left out: {number} × {reason}: {EXCLUSIONS[reason]}", err=True)
    if json:
        print_json(table)
        return
    shown = [{**row, "model": row["model"][:40]} for row in table]
    print_table((*_CHECKED, "covered"), [[row[key] for key in (*_CHECKED, "covered")] for row in shown])
