"""The table of files in a data set's card, kept true by the recorder."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

BEGIN, END = "<!-- files -->", "<!-- end of files -->"


def file_table(folder: Path) -> str:
    """Return a Markdown table of a folder's data files: name, bytes, sha256."""
    lines = ["| file | bytes | sha256 |", "| --- | --- | --- |"]
    for path in sorted(folder.glob("*.jsonl*")):
        content = path.read_bytes()
        lines.append(f"| `{path.name}` | {len(content)} | `{hashlib.sha256(content).hexdigest()}` |")
    return "\n".join(lines)


def update_card(folder: Path) -> None:
    """Put the present table of files into the folder's README.md, between its two marks."""
    card = folder / "README.md"
    if not card.exists():
        return
    text = card.read_text(encoding="utf-8")
    table = f"{BEGIN}\n{file_table(folder)}\n{END}"
    card.write_text(re.sub(f"{BEGIN}.*?{END}", lambda _: table, text, flags=re.DOTALL), encoding="utf-8")
