"""What a recording must not hold: this machine's paths and ports, and moments that change from run to run."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

SITE = "http://intranet.example"
WORKSPACE = "/workspace"
FILE_MOMENT = "Thu Mar 05 2026 08:40:00 GMT+0000 (Coordinated Universal Time)"
CHANGING = (
    (re.compile(r"^((?:created|modified|accessed): ).*$", re.MULTILINE), rf"\g<1>{FILE_MOMENT}"),
    (re.compile(r"(['\"]modified['\"]: )[\d.]+"), r"\g<1>1772700000.0"),
)


@dataclass(frozen=True, slots=True)
class Scrubber:
    """Translates between what is written in the file and what is true on this machine."""

    workspace: str
    site: str

    def real(self, value: Any) -> Any:
        """Return arguments as the servers need them."""
        return self._swapped(value, ((WORKSPACE, self.workspace), (SITE, self.site)))

    def shown(self, text: str) -> str:
        """Return an answer as it may be written down."""
        text = str(self._swapped(text, ((self.workspace, WORKSPACE), (self.site, SITE))))
        for pattern, instead in CHANGING:
            text = pattern.sub(instead, text)
        return text

    def _swapped(self, value: Any, pairs: tuple[tuple[str, str], ...]) -> Any:
        if isinstance(value, dict):
            return {key: self._swapped(one, pairs) for key, one in value.items()}
        if isinstance(value, list):
            return [self._swapped(one, pairs) for one in value]
        if isinstance(value, str):
            for old, new in pairs:
                value = value.replace(old, new)
        return value


def words_of(parts: list[dict[str, Any]]) -> str:
    """Return the parts of an MCP answer as text; media are named, not kept."""
    return "\n".join(_words(part) for part in parts)


def _words(part: dict[str, Any]) -> str:
    kind = part["type"]
    if kind == "text":
        return str(part["text"])
    if kind in ("image", "audio"):
        return f"[{kind}: {part['mimeType']}, {len(part['data']) * 3 // 4} bytes]"
    if kind == "resource":
        inner = part["resource"]
        return str(inner.get("text") or f"[{inner['uri']}: {inner.get('mimeType', 'binary')}]")
    return f"[{part.get('name', kind)}]({part.get('uri', '')})"
