"""Runs case files: `python -m toolkit.testing.cases FILE…` ends with `N passed, N failed`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import msgspec

from toolkit.errors import InputError

Case = Mapping[str, Any]
CHECKERS = {
    "lifecycle": "toolkit.testing.lifecycle_cases",
    "cache": "toolkit.testing.cache_cases",
    "search": "toolkit.testing.search_cases",
    "index": "toolkit.testing.search_cases",
    "tokens": "toolkit.testing.token_cases",
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
    module = CHECKERS.get(str(case["kind"]))
    if module is None:
        return None
    checker: Callable[[Case], list[str]] = import_module(module).check
    try:
        return checker(case)
    except Exception as error:
        return [f"{type(error).__name__}: {error}"]


def main(argv: Sequence[str]) -> int:
    """Check every case of the files; say what failed; return the exit status."""
    counts = {"passed": 0, "failed": 0, "left out": 0}
    if not argv or argv[0] in ("-h", "--help"):
        sys.stdout.write(f"{__doc__}\nExample: python -m toolkit.testing.cases tests/cases/open_cases.jsonl\n")
        return 0 if argv else 2
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


if __name__ == "__main__":
    try:
        raise SystemExit(main(sys.argv[1:]))
    except (InputError, OSError) as error:
        sys.stderr.write(f"{error}\n")
        raise SystemExit(2) from error
