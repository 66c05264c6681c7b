"""Runs case files, each kind with its own checker."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from tests.cases import cache_cases, index_cases, lifecycle_cases, search_cases, token_cases
from toolkit.errors import InputError

Case = Mapping[str, Any]
CHECKERS: Mapping[str, Callable[[Case], list[str]]] = {
    "lifecycle": lifecycle_cases.check,
    "cache": cache_cases.check,
    "search": search_cases.check,
    "index": index_cases.check,
    "tokens": token_cases.check,
}


def read_cases(path: str | Path) -> Iterator[Case]:
    """Yield the cases of a file, one JSON object a line.

    Raises:
        InputError: A line is no case.
    """
    for number, line in enumerate(Path(path).read_bytes().splitlines(), 1):
        if line.strip():
            try:
                case = msgspec.json.decode(line)
            except msgspec.DecodeError as error:
                raise InputError(f"{path}:{number} is no JSON: {error}.") from error
            if not isinstance(case, dict) or not {"id", "kind", "input", "expected"} <= case.keys():
                raise InputError(f"{path}:{number} is no case.", hint="Expected id, kind, input, expected.")
            yield case


def check(case: Case) -> list[str] | None:
    """Return what failed in a case, or None when its kind is not known here."""
    checker = CHECKERS.get(str(case["kind"]))
    if checker is None:
        return None
    try:
        return checker(case)
    except Exception as error:
        return [f"{type(error).__name__}: {error}"]


def main(argv: Sequence[str]) -> int:
    """Check every case of the files; say what failed; return the exit status."""
    counts = {"passed": 0, "failed": 0, "left out": 0}
    for path in argv:
        for case in read_cases(path):
            failures = check(case)
            counts["left out" if failures is None else "failed" if failures else "passed"] += 1
            for failure in failures or ():
                sys.stdout.write(f"FAILED {case['id']} ({case['kind']}): {failure}\n")
    if counts["left out"]:
        sys.stdout.write(f"{counts['left out']} of kinds not known here were left out.\n")
    sys.stdout.write(f"{counts['passed']} passed, {counts['failed']} failed\n")
    return 1 if counts["failed"] else 0
