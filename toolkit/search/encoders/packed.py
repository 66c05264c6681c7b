"""BERT encoders over many texts at once: all tokens of a batch in one matrix, nothing padded.

Linear layers and norms see each token by itself, so texts lie end to end in them; attention sees a text as a whole, so
it takes the texts of one length together. Sorted by length, these are few groups.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from toolkit.search.encoders.encoder import Vectors

TOKENS = 1024
"""About the tokens of a batch: enough to keep the multiplications busy, few enough for a processor's cache."""

_BLOCKS = ("attention.output.dense", "attention.output.LayerNorm", "intermediate.dense")
_LAST = ("output.dense", "output.LayerNorm")


def packs(model: Any) -> bool:
    """Return whether a sentence-transformers model is a BERT with GELU whose mean over tokens is normalised."""
    if [type(part).__name__ for part in model] != ["Transformer", "Pooling", "Normalize"]:
        return False
    config = model[0].auto_model.config
    plain = config.model_type == "bert" and config.hidden_act == "gelu" and not config.is_decoder
    return bool(plain and model[1].pooling_mode in ("mean", ("mean",), ["mean"]) and not model.default_prompt_name)


def packed(model: Any) -> Callable[[Sequence[str]], Vectors]:
    """Return what encodes texts (n,) to unit rows (n, d), each within 1e-6 of what `model.encode` gives."""
    layers = _layers(model[0].auto_model)

    def encode(texts: Sequence[str]) -> Vectors:
        import torch

        ids = _tokens(model, texts)
        found = np.zeros((len(texts), model[0].auto_model.config.hidden_size), dtype=np.float32)
        with torch.inference_mode():
            for rows in _batches([len(one) for one in ids]):
                found[rows] = _encoded(model[0].auto_model, layers, [ids[row] for row in rows])
        return found

    return encode


def _tokens(model: Any, texts: Sequence[str]) -> list[list[int]]:
    """Return the token ids of each text, cut where the model cuts."""
    given = {"truncation": True, "max_length": model.max_seq_length}
    stripped = [text.strip() for text in texts]
    found = model.tokenizer(stripped, **given, return_attention_mask=False, return_token_type_ids=False)
    ids: list[list[int]] = found["input_ids"]
    return ids


def _batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Yield the places of texts, short ones first, about `TOKENS` tokens at a time."""
    batch: list[int] = []
    size = 0
    for place in np.argsort(lengths, kind="stable").tolist():
        if batch and size + lengths[place] > TOKENS:
            yield batch
            batch, size = [], 0
        batch.append(place)
        size += lengths[place]
    if batch:
        yield batch


def _layers(bert: Any) -> list[tuple[Any, ...]]:
    """Return, of each layer, the joined weights of query, key and value, and its other blocks in order."""
    import torch

    found = []
    for layer in bert.encoder.layer:
        heads = [getattr(layer.attention.self, name) for name in ("query", "key", "value")]
        joined = (
            torch.cat([part.weight for part in heads]).detach(),
            torch.cat([part.bias for part in heads]).detach(),
        )
        found.append((joined, *(layer.get_submodule(name) for name in (*_BLOCKS, *_LAST))))
    return found


def _encoded(bert: Any, layers: Sequence[tuple[Any, ...]], ids: Sequence[Sequence[int]]) -> Any:
    """Return the unit mean of each text's last states (n, d); the texts are sorted by length."""
    import torch
    from torch.nn import functional

    lengths = [len(one) for one in ids]
    places = torch.cat([torch.arange(length) for length in lengths])
    table = bert.embeddings
    words = table.word_embeddings(torch.tensor([token for one in ids for token in one]))
    x = table.LayerNorm(words + table.position_embeddings(places) + table.token_type_embeddings.weight[0])
    groups = list(_groups(lengths))
    for joined, merged, first_norm, wide, narrow, last_norm in layers:
        mixed = _attended(functional.linear(x, *joined), groups, bert.config.num_attention_heads)
        x = first_norm(x + merged(mixed))
        x = last_norm(x + narrow(functional.gelu(wide(x))))
    sums = torch.zeros(len(ids), x.shape[1]).index_add_(0, torch.repeat_interleave(torch.tensor(lengths)), x)
    return functional.normalize(sums, dim=1).numpy()


def _groups(lengths: Sequence[int]) -> Iterator[tuple[slice, int]]:
    """Yield the rows of the texts of one length, and how many texts they are."""
    sizes, counts = np.unique(lengths, return_counts=True)
    ends = np.cumsum(sizes * counts).tolist()
    yield from zip(map(slice, [0, *ends], ends), counts.tolist(), strict=False)


def _attended(x: Any, groups: Sequence[tuple[slice, int]], heads: int) -> Any:
    """Return what attention makes of queries, keys and values side by side: (tokens, 3d) → (tokens, d)."""
    from torch.nn.functional import scaled_dot_product_attention

    width = x.shape[1] // 3
    found = x.new_empty(len(x), width)
    for rows, texts in groups:
        split = x[rows].view(texts, -1, 3, heads, width // heads).permute(2, 0, 3, 1, 4)
        found[rows] = scaled_dot_product_attention(*split).transpose(1, 2).reshape(-1, width)
    return found
