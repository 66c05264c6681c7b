"""The packaged adapter, fitted again: fetches what it is fitted on, fits it, and writes the file.

    python benchmarks/adapter.py --out adapter.npz          # some 10 CPU minutes, and 2 MB from the package index

Then, on sets that it never saw: python benchmarks/search.py --data ../shared/data --retriever dense
--retriever 'dense(tools)'.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

ROUNDS = 1
OWN = ("work", "plugins", "functions", "web", "industries")
REQUESTS = Path(__file__).resolve().parents[1] / "datasets" / "tool-requests"


def toolkit(*arguments: str) -> None:
    """Run a command of the toolkit, and end where it fails."""
    done = subprocess.run([sys.executable, "-m", "toolkit", *arguments])
    if done.returncode:
        sys.exit(done.returncode)


def fit(public: Path, out: Path) -> None:
    """Fit the adapter on a fetched public set and the requests of this repository."""
    options: list[str] = []
    for folder in (public, *(REQUESTS / name for name in OWN)):
        options += ["--catalog", str(folder / "tools.jsonl"), "--queries", str(folder / "queries.jsonl")]
    toolkit("encoder-fit", *options, "--rounds", str(ROUNDS), "--out", str(out))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    with TemporaryDirectory() as folder:
        public = Path(folder) / "bfcl-single"
        toolkit("datasets", "fetch", "bfcl-single", "--out", str(public))
        fit(public, given.out)


if __name__ == "__main__":
    main()
