"""A picture costs what its vendor says of its size; one whose size cannot be read is counted at its least."""

from __future__ import annotations

import base64
import struct
from pathlib import Path
from typing import Any

import pytest

from toolkit.tokens.pictures import dimensions, media, size
from toolkit.tokens.wire import request


def png(width: int, height: int) -> bytes:
    return b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", width, height)


def gif(width: int, height: int) -> bytes:
    return b"GIF89a" + struct.pack("<HH", width, height)


def jpeg(width: int, height: int) -> bytes:
    app, table = b"\xff\xe0" + struct.pack(">H", 16) + bytes(14), b"\xff\xc4" + struct.pack(">H", 4) + bytes(2)
    return b"\xff\xd8" + app + table + b"\xff\xc2" + struct.pack(">HBHH", 17, 8, height, width) + bytes(12)


def webp(width: int, height: int) -> bytes:
    lossless = (width - 1) | (height - 1) << 14
    return b"RIFF" + bytes(4) + b"WEBPVP8L" + bytes(4) + b"\x2f" + struct.pack("<I", lossless) + bytes(8)


def url(data: bytes) -> str:
    return "data:image/png;base64," + base64.b64encode(data).decode()


@pytest.mark.parametrize("make", [png, gif, jpeg, webp])
def test_the_size_stands_in_the_head_of_every_kind(make: Any) -> None:
    assert dimensions(make(1024, 512)) == (1024, 512)
    assert size(url(make(33, 77))) == (33, 77)


def test_the_size_of_a_local_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "a b.png").write_bytes(png(640, 480))
    assert size((tmp_path / "a b.png").as_uri()) == size(str(tmp_path / "a b.png")) == (640, 480)


@pytest.mark.parametrize(
    "source", ["https://example.com/a.png", "data:image/png;base64,????", "QUJD", "", b"x", "/none.png"]
)
def test_what_cannot_be_read_has_no_size(source: Any) -> None:
    assert size(source) is None


def cost(model: str, found: bytes, provider: str = "openai", **more: Any) -> Any:
    piece = {"type": "image_url", "image_url": {"url": url(found), **more}}
    asked = request({"messages": [{"role": "user", "content": [piece]}]}, "chat", provider, model)
    return media(asked.messages[0].parts[0], provider, model)


@pytest.mark.parametrize(
    ("model", "picture", "more", "tokens"),
    [
        ("gpt-4o", png(1024, 1024), {}, 85 + 4 * 170),
        ("gpt-4o", png(2048, 4096), {}, 85 + 6 * 170),
        ("gpt-4o", png(4096, 4096), {"detail": "low"}, 85),
        ("gpt-4o-mini", png(500, 500), {}, 2833 + 5667),
        ("gpt-4.1-mini", png(1024, 1024), {}, 1659),
        ("gpt-4.1-mini", png(1800, 2400), {}, 2353),
        ("o1", png(512, 512), {}, 75 + 150),
    ],
)
def test_openai_counts_tiles_or_patches(model: str, picture: bytes, more: dict[str, str], tokens: int) -> None:
    assert cost(model, picture, **more).tokens == tokens


def test_anthropic_counts_the_area() -> None:
    assert cost("claude-sonnet-4-5", png(1000, 1000), "anthropic").tokens == 1333
    assert cost("claude-sonnet-4-5", png(8000, 8000), "anthropic").tokens == 1600


def test_google_counts_tiles_of_two_thirds_of_the_shorter_side() -> None:
    assert cost("gemini-2.5-flash", png(384, 384), "google").tokens == 258
    assert cost("gemini-2.5-flash", png(960, 540), "google").tokens == 6 * 258


def test_a_picture_behind_an_address_is_not_countable() -> None:
    piece = {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}
    asked = request({"messages": [{"role": "user", "content": [piece]}]}, "chat", "openai", "gpt-4o")
    assert media(asked.messages[0].parts[0], "openai", "gpt-4o").high is None
