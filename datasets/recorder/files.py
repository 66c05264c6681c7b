"""Writing the data set: the same content gives the same bytes, and a file is there whole or not at all."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any


def json_lines(rows: Iterable[Any]) -> bytes:
    """Return rows as JSONL, compact, keys in the order they came."""
    return "".join(json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n" for row in rows).encode()


def gzipped(content: bytes) -> bytes:
    """Return content compressed without a name and a time of its own."""
    packed = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", fileobj=packed, mtime=0, compresslevel=9) as file:
        file.write(content)
    return packed.getvalue()


def write(path: Path, content: bytes) -> str:
    """Write a file in one go and return its sha256."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.part")
    draft.write_bytes(content)
    os.replace(draft, path)
    return hashlib.sha256(content).hexdigest()
