"""Bodies of recorded HTTP traffic: base64, gzip, deflate and lists of base64 chunks, undone."""

from __future__ import annotations

import base64
import binascii
import gzip
import zlib
from typing import Any

from toolkit.errors import need
from toolkit.formats.importing import parsed


def body_text(value: Any, encoding: Any = None) -> Any:
    """Return a body as text, or as the value it already is.

    Args:
        value: Text, bytes, or a value that was parsed before.
        encoding: `base64` where the text is; it may be a JSON list of base64 chunks.
    """
    if encoding == "base64" and isinstance(value, str):
        chunks = parsed(value)
        chunks = chunks if isinstance(chunks, list) else [chunks]
        value = b"".join(_decoded(chunk) for chunk in chunks if isinstance(chunk, str))
    return _unpacked(value).decode("utf-8", "replace") if isinstance(value, bytes) else value


def _decoded(chunk: str) -> bytes:
    try:
        return base64.b64decode(chunk)
    except (binascii.Error, ValueError):
        return b""


def _unpacked(data: bytes) -> bytes:
    """Return what was compressed; bytes that cannot be unpacked stay."""
    try:
        if data[:2] == b"\x1f\x8b":
            return gzip.decompress(data)
        if data[:1] == b"\x78":
            return zlib.decompress(data)
        if data[:4] == b"\x28\xb5\x2f\xfd":
            need("zstandard")
            import zstandard

            return zstandard.ZstdDecompressor().decompressobj().decompress(data)
    except (OSError, EOFError, zlib.error, ValueError):
        return data
    return data
