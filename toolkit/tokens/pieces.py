"""Counts of texts and tools as plain integers, each made once: in memory, and for tools on disk by digest."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from uuid import uuid4

from toolkit.store import cache_folder
from toolkit.tokens.request import TokenCounter
from toolkit.tool import Tool

FORMAT = 2
"""Raised when a rule changes, so that counts made under the old one are forgotten."""


class Pieces:
    """What a ledger asks, answered by a token counter.

    Args:
        counter: The counter of a provider, API and model.
        folder: Where counts of tools are kept between runs; the toolkit's cache folder by default.
    """

    def __init__(self, counter: TokenCounter, folder: str | Path | None = None) -> None:
        self.counter = counter
        self.folder = Path(folder) if folder is not None else cache_folder() / "counts"
        self._texts: dict[str, int] = {"": 0}
        self._tools: dict[Tool, int] = {}
        self._framed = counter.message("user").tokens

    @property
    def name(self) -> str:
        """What every result calls this counter."""
        return self.counter.name

    def text(self, text: str) -> int:
        """Return the tokens of a text, the frame of a message left out."""
        known = self._texts.get(text)
        if known is None:
            known = self._texts[text] = self.counter.message("user", text).tokens - self._framed
        return known

    def definition(self, tool: Tool) -> int:
        """Return the tokens that declaring the tool adds."""
        known = self._tools.get(tool)
        if known is None:
            known = self._tools[tool] = self.counter.definition(tool).tokens
        return known

    def overhead(self, n_tools: int, has_system: bool = True) -> int:
        """Return the tokens that any declared tool adds once."""
        return self.counter.tools_overhead(n_tools, has_system).tokens

    def definitions(self, tools: Iterable[Tool]) -> list[int]:
        """Return the tokens of each definition; a list that was counted before is read from disk."""
        tools = list(tools)
        path = self.folder / f"{self._digest(tools)}.json"
        counts = _read(path, len(tools))
        if counts is None:
            counts = [self.definition(tool) for tool in tools]
            _write(path, counts)
        self._tools.update(zip(tools, counts, strict=True))
        return counts

    def _digest(self, tools: Sequence[Tool]) -> str:
        content = hashlib.sha256(f"{FORMAT}\0{self.name}\0".encode())
        texts = [text for tool in tools for text in (tool.name, tool.description, tool.schema_text)]
        content.update("\0".join(texts).encode("utf-8", "surrogatepass"))
        return content.hexdigest()


def _read(path: Path, size: int) -> list[int] | None:
    """The kept counts, or None when there are none or the file was cut short."""
    try:
        counts = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return None
    return counts if isinstance(counts, list) and len(counts) == size else None


def _write(path: Path, counts: list[int]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(f".{uuid4().hex}.part")
    part.write_text(json.dumps(counts))
    os.replace(part, path)
