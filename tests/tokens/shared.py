"""Where the recordings with billed usage lie, when they lie anywhere."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

DATA = Path(os.environ.get("TOOLKIT_SHARED_DATA") or Path(__file__).resolve().parents[3] / "shared" / "data")
RECORDINGS = DATA / "billed-usage" / "recordings.jsonl.gz"
needs_recordings = pytest.mark.skipif(not RECORDINGS.is_file(), reason="the recordings with billed usage are not here")
