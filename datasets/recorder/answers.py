"""Earlier answers in later words: `${x.path|filter}` in texts and arguments of a script.

A path goes through the answer's JSON; without one the whole text is meant. Filters:

    hm          09:30          time of an ISO moment
    day         Tuesday        its weekday
    date        10 March       its day and month
    sha         7f3a2b1        the first seven characters
    lines       12             how many lines
    first, last                the first, the last line
    re:PATTERN                 the first group of the first match
    money       1,234.50       a number with two decimals
    comma       1234,50        the same as it is written in German
    count       3              how many entries a list has
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable
from datetime import datetime
from typing import Any

from recorder.errors import RecordError

TEMPLATE = re.compile(r"\$\{((?:[^{}]|\{[^{}]*\})*)\}")


def _moment(value: Any) -> datetime:
    return datetime.fromisoformat(str(value))


def _lines(value: Any) -> list[str]:
    return [line for line in str(value).splitlines() if line.strip()]


FILTERS: dict[str, Callable[[Any], Any]] = {
    "hm": lambda value: f"{_moment(value):%H:%M}",
    "day": lambda value: f"{_moment(value):%A}",
    "date": lambda value: f"{_moment(value).day} {_moment(value):%B}",
    "sha": lambda value: str(value)[:7],
    "lines": lambda value: len(_lines(value)),
    "first": lambda value: _lines(value)[0],
    "last": lambda value: _lines(value)[-1],
    "money": lambda value: f"{float(value):,.2f}",
    "comma": lambda value: f"{float(value):.2f}".replace(".", ","),
    "count": len,
}


def parsed(text: str) -> Any:
    """Return an answer as data: JSON, else a Python literal (some servers print one), else the text itself.

    >>> parsed('{"a": 1}'), parsed("[{'b': 2}]"), parsed("just words")
    ({'a': 1}, [{'b': 2}], 'just words')
    """
    for read in (json.loads, ast.literal_eval):
        try:
            return read(text)
        except (ValueError, SyntaxError):
            continue
    return text


def fill(value: Any, kept: dict[str, str]) -> Any:
    """Return a text, list or mapping with every `${…}` replaced by what it names.

    >>> fill("at ${t.datetime|hm}", {"t": '{"datetime": "2026-03-10T09:30:00+01:00"}'})
    'at 09:30'
    """
    if isinstance(value, dict):
        return {key: fill(one, kept) for key, one in value.items()}
    if isinstance(value, list):
        return [fill(one, kept) for one in value]
    if not isinstance(value, str):
        return value
    whole = TEMPLATE.fullmatch(value)
    return _look_up(whole[1], kept) if whole else TEMPLATE.sub(lambda match: str(_look_up(match[1], kept)), value)


def _look_up(expression: str, kept: dict[str, str]) -> Any:
    path, *filters = expression.split("|")
    name, *keys = path.strip().split(".")
    if name not in kept:
        raise RecordError(f"a script uses ${{{expression}}}, but no call before it kept {name!r}.")
    value: Any = parsed(kept[name]) if keys else kept[name]
    try:
        for key in keys:
            value = value[int(key)] if isinstance(value, list) else value[key]
        for one in filters:
            value = _filtered(value, one.strip())
    except (KeyError, IndexError, ValueError, TypeError, re.error) as error:
        raise RecordError(f"${{{expression}}} does not fit the answer {kept[name][:300]!r}: {error!r}") from error
    return value


def _filtered(value: Any, name: str) -> Any:
    if name.startswith("re:"):
        match = re.search(name[3:], str(value), re.MULTILINE)
        if match is None:
            raise ValueError(f"no match for {name[3:]!r}")
        return match[1]
    return FILTERS[name](value)
