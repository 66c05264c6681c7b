"""Claude's counts by `ctok`'s vocabulary, whose least-cost tiling a compiled `tokenizers` model does in its place.

A text costs the fewest pieces that tile its marked stream; a Unigram model in which every piece weighs the same finds
as few. It is built once and kept in the cache folder. No piece reaches over the border of a Latin word, so a text
costs what its words cost and what stands between them, and each of those is counted once.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import version as installed
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from toolkit.store import cache_folder, write_whole
from toolkit.tokens.vocabulary.tables import pieces

FORMAT = 1
"""Raised when a kept file is laid out otherwise."""

FILLER = "\ue0ff"
"""Stands for one token of a character that no piece covers; private letters are stripped from texts before."""

_SUFFIX = "(?:s|t|d|m|ll|re|ve)"
_WORD = re.compile(
    rf"(?<![^\W\d_])(?<![^\t\n\x20-\x7e])(?:(?<!')|(?!{_SUFFIX}(?![A-Za-z])))"
    rf"([A-Za-z]+(?:'{_SUFFIX}(?![^\W\d_])(?![^\t\n\x20-\x7e]))?)(?![^\W\d_])(?![^\t\n\x20-\x7e])"
)
"""A word of ASCII letters between printed ASCII; what an apostrophe may join to what stands before is none."""


def counting(version: str) -> Callable[[str], int]:
    """Return what counts a text with Claude's vocabulary of that version (`3.0`, `4.7`, `4.8`), framing left out."""
    cost = _tiling(version) if find_spec("tokenizers") else _plain(version)
    words, between = _Costs(cost), _Costs(lambda text: cost(f"a{text}a") - 2)
    before, after = _Costs(lambda text: cost(f"{text}a") - 1), _Costs(lambda text: cost(f"a{text}") - 1)

    def count(text: str) -> int:
        head, *parts = _WORD.split("".join(pieces(text)))
        if not parts:
            return cost(head) if head else 0
        inner = sum(map(words.__getitem__, parts[::2])) + sum(map(between.__getitem__, parts[1:-1:2]))
        return inner + (before[head] if head else 0) + (after[parts[-1]] if parts[-1] else 0)

    return count


class _Costs(dict[str, int]):
    """Costs of fragments, each worked out when it is first asked for; it starts anew when there are too many."""

    def __init__(self, cost: Callable[[str], int], most: int = 1 << 18) -> None:
        self.cost, self.most = cost, most

    def __missing__(self, text: str) -> int:
        if len(self) >= self.most:
            self.clear()
        found = self[text] = self.cost(text)
        return found


def _plain(version: str) -> Callable[[str], int]:
    """The cost of a text by `ctok` itself."""
    whole = import_module("ctok").token_count
    frame = int(whole("a", version)) - 1
    return lambda text: int(whole(text, version)) - frame


@dataclass(frozen=True, slots=True)
class _Kept:
    """A vocabulary as it is kept: the compiled model, and what `ctok` asks of its own to mark a text.

    Attributes:
        model: The tokenizer's JSON.
        units: The characters that are pieces.
        floor: UTF-8 pieces, in hex, that tile a character which is none.
    """

    model: str
    units: str
    floor: list[str]
    frame_bow: bool
    allcaps_min: int | None
    fold_quotes: bool


def _tiling(version: str) -> Callable[[str], int]:
    """The cost of a text: `ctok` marks it, the compiled model tiles it."""
    from tokenizers import Tokenizer

    engine, marks, signs = (import_module(f"ctok.{name}") for name in ("engine", "normalize", "constants"))
    kept = _kept_or_built(version)
    tile = Tokenizer.from_str(kept.model).model.tokenize
    covered, floor = frozenset(kept.units), engine.ByteFloor(kept.floor)
    fillers: dict[str, str] = {}

    def filled(stream: str) -> str:
        for sign in set(stream) - covered:
            if sign not in fillers:
                fillers[sign] = FILLER * floor.cost_char(signs.ESCAPED_MARKER_LITERALS.get(sign, sign))
            stream = stream.replace(sign, fillers[sign])
        return stream

    def cost(text: str) -> int:
        if text.isascii() and text.isalpha():
            return len(tile(_word(text, kept.allcaps_min, signs)))
        norm = marks.nfc(text, fold_quotes=kept.fold_quotes)
        stream = marks.stream_norm(norm, kept, raw_head_space=marks.raw_head_space(text))
        ends = len(norm) - len(norm.rstrip("\n"))
        tail = len(tile("\n" * (ends + 2))) - 1 if ends else 0
        return tail + (len(tile(filled(stream))) if stream else 0)

    return cost


def _word(text: str, allcaps_min: int | None, signs: Any) -> str:
    """The marked form of a word of ASCII letters: one capital at its head, or all, is a mark before it."""
    mark = ""
    if allcaps_min is not None and len(text) >= allcaps_min and text.isupper():
        mark = signs.CAPS_G
    elif text[0].isupper() and (len(text) == 1 or text[1:].islower()):
        mark = signs.SHIFT_G
    return f"{mark}{signs.BOW_G}{text.lower() if mark else text}{signs.EOW_G}"


def _kept_or_built(version: str) -> _Kept:
    path = cache_folder() / "vocabularies" / f"claude-{version}-ctok-{installed('ctok')}-{FORMAT}.json"
    try:
        return _Kept(**json.loads(path.read_bytes()))
    except (OSError, ValueError, TypeError):
        return _built(version, path)


def _built(version: str, path: Path) -> _Kept:
    from tokenizers import Tokenizer
    from tokenizers.models import Unigram

    main = import_module("ctok.main")
    family = main._family(version)
    document = main._document(main._pieces_file(family))
    tokens, about = document["tokens"], document["meta"] | dict(main.FAMILIES[family].meta)
    covering = {_parsed(piece) for group, some in tokens.items() if group != "bytes_fallback" for piece in some}
    covering |= {main.parse_marked(f"{piece}⟨eow⟩") for piece in tokens["contractions"]}
    compiled = Tokenizer(Unigram([(piece, -1.0) for piece in (*sorted(covering), FILLER)]))
    units = "".join(sorted(piece for piece in covering if len(piece) == 1))
    letters = (unit for unit in units if unit not in main.MARKER_GLYPHS)
    floor = sorted({*tokens["bytes_fallback"], *(letter.encode().hex() for letter in letters)})
    scalars = about.get("frame_bow", True), about["allcaps_min"], about["fold_quotes"]
    found = _Kept(compiled.to_str(), units, floor, *scalars)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, json.dumps({name: getattr(found, name) for name in _Kept.__slots__}).encode())
    return found


def _parsed(piece: str) -> str:
    """A piece of the document with its marks as the single letters that they are in a marked stream."""
    if "⟨" not in piece:
        return piece
    signs = import_module("ctok.constants")
    for atom, glyph in signs.ATOM_TO_GLYPH.items():
        piece = piece.replace(atom, glyph)
    return str(import_module("ctok.notation").parse_marked(piece)) if "⟨" in piece else piece
