"""What a picture costs, by the vendors' published formulas, where its width and height can be read from the request.

Read are the first bytes of PNG, JPEG, GIF and WebP, from data URLs, base64 fields and local files. Any other picture,
and every sound, film or document, is not countable.
"""

from __future__ import annotations

import base64
import binascii
import math
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from toolkit.tokens.request import Count, Part, at_least
from toolkit.tokens.vocabulary.vocabulary import fit

READ = 1 << 20
"""Bytes of a picture that are read at most; its size stands near the beginning."""

Size = tuple[int, int]


def media(part: Part, provider: str, model: str) -> Count:
    """Return what a picture costs, never the tokens of its base64 text; a lower bound for any other medium.

    Args:
        part: The medium.
        provider: Whose formula holds: `openai`, `anthropic` or `google`.
        model: The name that is sent to the API.
    """
    found = readable(part)
    row = next((row for row in fit("pictures")[provider] if model.startswith(tuple(row["models"]))), None)
    if found is None or row is None:
        return at_least(1)
    tokens = RULES[row["rule"]](row, found, detail(part.raw or {}))
    half = math.ceil(tokens * row["spread"])
    return Count(tokens, "calibrated", tokens - half, tokens + half)


def tiles(row: Mapping[str, Any], found: Size, level: str) -> int:
    """OpenAI's tiles: at most 2048 × 2048, then at most 768 on the shorter side, in squares of 512."""
    if level == "low":
        return int(row["base"])
    width, height = _within(found, 2048, 2048)
    scale = min(1.0, 768 / min(width, height))
    return int(row["base"] + row["tile"] * math.ceil(width * scale / 512) * math.ceil(height * scale / 512))


def patches(row: Mapping[str, Any], found: Size, level: str) -> int:
    """OpenAI's patches of 32 × 32, at most 1,536 of them, times a factor of the model."""
    width, height, most = *found, row["most"]
    if math.ceil(width / 32) * math.ceil(height / 32) > most:
        scale = math.sqrt(32 * 32 * most / (width * height))
        across, down = width * scale / 32, height * scale / 32
        scale *= min(math.floor(across) / across, math.floor(down) / down) or 1.0
        width, height = round(width * scale), round(height * scale)
    covered = min(int(most), math.ceil(width / 32) * math.ceil(height / 32))
    return math.ceil(covered * float(row["factor"]))


def area(row: Mapping[str, Any], found: Size, level: str) -> int:
    """Anthropic's area: pixels through 750, after the longer side and the area were brought within bounds."""
    width, height = _within(found, row["side"], row["side"])
    return max(1, min(int(row["most"]), round(width * height / 750)))


def crops(row: Mapping[str, Any], found: Size, level: str) -> int:
    """Google's tiles: one up to 384 × 384, else squares of two thirds of the shorter side, 256 to 768 wide."""
    if max(found) <= 384:
        return int(row["tile"])
    unit = min(768, max(256, math.floor(min(found) / 1.5)))
    return int(row["tile"] * math.ceil(found[0] / unit) * math.ceil(found[1] / unit))


def fixed(row: Mapping[str, Any], found: Size, level: str) -> int:
    """The same for every picture."""
    return int(row["tile"])


RULES: dict[str, Callable[[Mapping[str, Any], Size, str], int]] = {
    "tiles": tiles,
    "patches": patches,
    "area": area,
    "crops": crops,
    "fixed": fixed,
}


def _within(found: Size, across: int, down: int) -> tuple[float, float]:
    scale = min(1.0, across / found[0], down / found[1])
    return found[0] * scale, found[1] * scale


# Reading


def readable(part: Part) -> Size | None:
    """Return width and height of a picture, None where they cannot be read."""
    return next(filter(None, map(size, sources(part.raw or {}))), None)


def detail(raw: Mapping[str, Any]) -> str:
    """Return the detail that a picture is asked to be seen in, `high` where none is named."""
    inner = raw.get("image_url")
    return str(raw.get("detail") or (inner.get("detail") if isinstance(inner, Mapping) else None) or "high")


def sources(raw: Mapping[str, Any]) -> Iterator[str | bytes]:
    """Yield where a piece's bytes may stand, in the forms of all APIs: URLs and base64."""
    for key in ("image_url", "url", "source", "image", "inlineData", "inline_data", "data", "bytes"):
        value = raw.get(key)
        if isinstance(value, Mapping):
            yield from sources(value)
        elif isinstance(value, (str, bytes)):
            yield value


def size(source: str | bytes) -> Size | None:
    """Return width and height of a picture in a data URL, base64, bytes or a local file; None if unreadable."""
    found = dimensions(source if isinstance(source, bytes) else _bytes(source))
    return found if found and all(found) else None


def _bytes(source: str) -> bytes:
    if source.startswith("data:"):
        return _decoded(source[source.find(",") + 1 :][: READ * 4 // 3])
    if source.startswith(("http:", "https:", "gs:", "s3:")):
        return b""
    if source.startswith(("file:", "/", "./", "~")) and len(source) < 4096:
        path = Path(unquote(urlsplit(source).path) if source.startswith("file:") else source).expanduser()
        if path.is_file():
            with path.open("rb") as file:
                return file.read(READ)
    return _decoded(source[: READ * 4 // 3])


def _decoded(text: str) -> bytes:
    text = text.replace("-", "+").replace("_", "/")
    try:
        return base64.b64decode(text[: len(text) // 4 * 4])
    except (binascii.Error, ValueError):
        return b""


def dimensions(data: bytes) -> Size | None:
    """Return width and height out of the head of a PNG, GIF, WebP or JPEG.

    >>> dimensions(bytes.fromhex("89504e470d0a1a0a0000000d494844520000002000000010"))
    (32, 16)
    """
    if data[:8] == b"\x89PNG\r\n\x1a\n" and len(data) >= 24:
        return _big(data[16:20]), _big(data[20:24])
    if data[:4] == b"GIF8" and len(data) >= 10:
        return _little(data[6:8]), _little(data[8:10])
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP" and len(data) >= 30:
        return _webp(data)
    return _jpeg(data) if data[:2] == b"\xff\xd8" else None


def _webp(data: bytes) -> Size | None:
    if data[12:16] == b"VP8X":
        return 1 + _little(data[24:27]), 1 + _little(data[27:30])
    if data[12:16] == b"VP8L":
        bits = _little(data[21:25])
        return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
    return _little(data[26:28]) & 0x3FFF, _little(data[28:30]) & 0x3FFF


def _jpeg(data: bytes) -> Size | None:
    """Walk the segments to the frame header, whose kinds are C0 to CF but for tables and arithmetic marks."""
    at = 2
    while at + 9 <= len(data) and data[at] == 0xFF:
        kind = data[at + 1]
        if 0xC0 <= kind <= 0xCF and kind not in (0xC4, 0xC8, 0xCC):
            return _big(data[at + 7 : at + 9]), _big(data[at + 5 : at + 7])
        at += 2 if kind == 0xFF or 0xD0 <= kind <= 0xD8 else 2 + _big(data[at + 2 : at + 4])
    return None


def _big(data: bytes) -> int:
    return int.from_bytes(data, "big")


def _little(data: bytes) -> int:
    return int.from_bytes(data, "little")
