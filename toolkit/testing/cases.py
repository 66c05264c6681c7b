"""Runs case files: `python -m toolkit.testing.cases FILE…` ends with `N passed, N failed`.

What checks the cases is not in the package but in the tests of its repository.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib import import_module

from toolkit.errors import InputError, ToolkitError

_RUNNERS = "tests.cases.running"


def main(argv: Sequence[str]) -> int:
    """Check every case of the files; say what failed; return the exit status."""
    if not argv or argv[0] in ("-h", "--help"):
        sys.stdout.write(f"{__doc__}\nExample: python -m toolkit.testing.cases tests/cases/open_cases.jsonl\n")
        return 0 if argv else 2
    try:
        return _runner()(argv)
    except (ToolkitError, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return 2


def _runner() -> Callable[[Sequence[str]], int]:
    try:
        run: Callable[[Sequence[str]], int] = import_module(_RUNNERS).main
    except ModuleNotFoundError as error:
        if error.name is None or not _RUNNERS.startswith(error.name):
            raise
        raise InputError(
            "what checks the cases is not at hand: it is in the tests of the repository, not in the package.",
            hint="Run this from the folder of the repository that holds `tests`.",
        ) from error
    return run


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
