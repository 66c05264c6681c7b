"""A learned low-rank change of an encoder's weights, in a plain data file with its card.

Hu et al. (2021), "LoRA: Low-Rank Adaptation of Large Language Models": a layer's weights plus the
product of two thin matrices. Added once when the model is loaded, so encoding costs nothing more.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toolkit.errors import InputError

FORMAT = "selector-toolkit adapter 1"
PACKAGED = Path(__file__).with_name("adapter.npz")
_REFIT = "Fit it again: toolkit encoder-fit --catalog FILE --queries FILE --out FILE.npz."
Matrix = NDArray[np.float16]


@dataclass(frozen=True, slots=True)
class Adapter:
    """Changes of an encoder's linear layers: weights (o, i) become weights + up @ down.

    Attributes:
        base: sha256 of the weights that it changes.
        changes: Layer → (down (r, i), up (o, r)).
        card: What it was fitted on, and how.
    """

    base: str
    changes: Mapping[str, tuple[Matrix, Matrix]]
    card: Mapping[str, Any] = field(default_factory=dict)


def load_adapter(path: str | Path) -> Adapter:
    """Return the adapter of a file; nothing in it is ever run.

    Raises:
        InputError: There is no such file, or it is none, or of another version.
    """
    try:
        with np.load(path, allow_pickle=False) as arrays:
            head = json.loads(str(arrays["head"]))
            changes = {name: (arrays[f"{name}.down"], arrays[f"{name}.up"]) for name in head["layers"]}
            found, base, card = head["format"], str(head["base"]), head["card"]
    except Exception as error:  # a damaged file fails in many ways, and nothing but reading is in here
        raise InputError(f"{path} is no adapter: {error!r}.", hint=_REFIT) from error
    for name, (down, up) in changes.items():
        if down.ndim != 2 or up.ndim != 2 or len(down) != up.shape[1] or not _finite(down, up):
            raise InputError(f"{path} has no two finite matrices for {name}.", hint=_REFIT)
    if found != FORMAT:
        raise InputError(f"{path} has the format {found!r}, expected {FORMAT!r}.", hint=_REFIT)
    return Adapter(base, changes, card)


def _finite(*arrays: NDArray[Any]) -> bool:
    return all(array.dtype.kind == "f" and bool(np.isfinite(array).all()) for array in arrays)


def save_adapter(adapter: Adapter, path: str | Path) -> None:
    """Write an adapter; the same adapter gives the same bytes."""
    head = {"format": FORMAT, "base": adapter.base, "layers": list(adapter.changes), "card": adapter.card}
    arrays: dict[str, Any] = {"head": np.array(json.dumps(head, ensure_ascii=False, sort_keys=True))}
    for name, (down, up) in adapter.changes.items():
        arrays |= {f"{name}.down": down.astype(np.float16), f"{name}.up": up.astype(np.float16)}
    body = BytesIO()
    np.savez(body, allow_pickle=False, **arrays)
    Path(path).write_bytes(body.getvalue())
