"""Learning an adapter: an encoder is drawn so that a query lies near its right tools and far from their neighbours.

Each batch holds pairs of one catalog; a pair's wrong tools are the right ones of the other pairs
(van den Oord et al. 2018, InfoNCE). Only thin matrices beside the weights are learned.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from toolkit.errors import InputError
from toolkit.search.encoders.lora import Adapter
from toolkit.search.encoders.models import MINILM_SHA256, load_sentence_transformer, minilm_folder
from toolkit.search.encoders.views import views
from toolkit.tool import Tool

_VIEW_SHARES = (0.7, 0.15, 0.15)
_QUERY_PIECES, _TOOL_PIECES = 64, 96
_DECAY = 0.01
Step = Callable[[Iterable[Any]], Iterable[Any]]


@dataclass(frozen=True, slots=True)
class Settings:
    """How an adapter is learned.

    Attributes:
        rank: Width of the thin matrices.
        rounds: How often each pair is seen.
        batch: Pairs a step.
        rate: Greatest learning rate; it rises over the first tenth and falls to 0.
        temperature: What cosines are divided by before the softmax.
        strength: Share of the learned change that is kept.
        seed: Of the start, the batches and the views.
    """

    rank: int = 8
    rounds: int = 1
    batch: int = 32
    rate: float = 4e-4
    temperature: float = 0.05
    strength: float = 1.0
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Lessons:
    """Queries over one catalog and the places of their right tools in it."""

    name: str
    views: tuple[tuple[str, ...], ...]
    queries: tuple[tuple[str, frozenset[int]], ...]

    @classmethod
    def of(cls, name: str, tools: Sequence[Tool], pairs: Iterable[tuple[str, frozenset[str]]]) -> Lessons:
        """Return the lessons of (query, ids of right tools); ids that no tool has and blank queries are left out."""
        places = {tool.id: place for place, tool in enumerate(tools)}
        right = ((query, frozenset(places[id] for id in gold if id in places)) for query, gold in pairs)
        kept = ((query, gold) for query, gold in right if gold and query.strip())
        return cls(name, tuple(map(views, tools)), tuple(kept))


def adapted(lessons: Sequence[Lessons], settings: Settings, card: Mapping[str, Any], progress: Step = iter) -> Adapter:
    """Return an adapter of MiniLM, learned on one thread; the same input gives the same on one machine.

    Args:
        lessons: One for each catalog.
        settings: How it is learned.
        card: What the file shall say of itself beside the settings.
        progress: Wraps the steps, to show a bar.

    Raises:
        InputError: No catalog has two pairs, so that no batch has a wrong tool.
    """
    import torch

    torch.manual_seed(settings.seed)
    batches = list(_batches(lessons, settings))
    if not batches:
        hint = "Give more queries with gold, over one catalog."
        raise InputError("nothing to learn: no catalog has two pairs of a query and its right tool.", hint=hint)
    model = load_sentence_transformer(str(minilm_folder()))
    layers = _thin_layers(model[0].auto_model, settings.rank)
    _learn(model, [part for layer in layers.values() for part in (layer.down, layer.up)], batches, settings, progress)
    changes = {name: _kept(layer, settings.strength) for name, layer in layers.items()}
    pairs = sum(len(gold) for lesson in lessons for _, gold in lesson.queries)
    return Adapter(MINILM_SHA256, changes, {**card, "pairs": pairs, "settings": asdict(settings)})


def _learn(model: Any, weights: list[Any], batches: Sequence[Batch], settings: Settings, progress: Step) -> None:
    """Change the weights by one step a batch."""
    import torch

    optimizer = torch.optim.AdamW(weights, lr=settings.rate, weight_decay=_DECAY)
    shape = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: _share(step, len(batches)))
    for batch in progress(batches):
        optimizer.zero_grad()
        _loss(model, batch, settings.temperature).backward()
        optimizer.step()
        shape.step()


@dataclass(frozen=True, slots=True)
class Batch:
    """Queries, a text of a right tool for each, and which other texts are right too (b, b)."""

    queries: list[str]
    tools: list[str]
    right: Any


def _batches(lessons: Sequence[Lessons], settings: Settings) -> Iterator[Batch]:
    """Yield the batches of all rounds, those of all catalogs mixed."""
    rng = np.random.default_rng(settings.seed)
    drawn = []
    for lesson in lessons:
        pairs = [(query, place) for query, (_, gold) in enumerate(lesson.queries) for place in sorted(gold)]
        for _ in range(settings.rounds):
            order = rng.permutation(len(pairs)).tolist()
            starts = range(0, len(order), settings.batch)
            drawn += [(lesson, [pairs[i] for i in order[at : at + settings.batch]]) for at in starts]
    for at in rng.permutation(len(drawn)).tolist():
        lesson, pairs = drawn[at]
        if len(pairs) > 1:
            yield _batch(lesson, pairs, rng)


def _batch(lesson: Lessons, pairs: Sequence[tuple[int, int]], rng: np.random.Generator) -> Batch:
    queries = [lesson.queries[query] for query, _ in pairs]
    shown = rng.choice(len(_VIEW_SHARES), len(pairs), p=_VIEW_SHARES).tolist()
    texts = [lesson.views[place][view] for (_, place), view in zip(pairs, shown, strict=True)]
    right = np.array([[place in gold for _, place in pairs] for _, gold in queries])
    return Batch([text for text, _ in queries], texts, right)


def _share(step: int, steps: int) -> float:
    """Return the share of the greatest learning rate at a step."""
    return min(1.0, (step + 1) / max(1, steps // 10)) * (1 - step / steps)


def _loss(model: Any, batch: Batch, temperature: float) -> Any:
    """Return the mean cross-entropy of each pair among the wrong ones of its row, and half that of its column."""
    import torch

    cosines = _encoded(model, batch.queries, _QUERY_PIECES) @ _encoded(model, batch.tools, _TOOL_PIECES).T
    own = torch.arange(len(batch.queries))
    also = torch.tensor(batch.right)
    also[own, own] = False
    scores = (cosines / temperature).masked_fill(also, -1e4)
    entropy = torch.nn.functional.cross_entropy
    return entropy(scores, own) + 0.5 * entropy(scores.T, own)


def _encoded(model: Any, texts: list[str], pieces: int) -> Any:
    """Return the unit vectors of texts (n, d), cut to so many word pieces, with their gradients."""
    import torch

    clean = [text.encode("utf-8", "replace").decode() for text in texts]
    given = model.tokenizer(clean, padding=True, truncation=True, max_length=pieces, return_tensors="pt")
    mask = given["attention_mask"][..., None].float()
    hidden = model[0].auto_model(**given).last_hidden_state
    return torch.nn.functional.normalize((hidden * mask).sum(1) / mask.sum(1), dim=1)


def _thin_layers(network: Any, rank: int) -> dict[str, Any]:
    """Put thin matrices beside every linear layer of a network, freeze the rest, and return them by name."""
    import torch

    network.requires_grad_(False)
    thin = _thin_kind()
    parts = [(name, part) for name, part in network.named_modules() if "pooler" not in name]
    found = {name: thin(part, rank) for name, part in parts if isinstance(part, torch.nn.Linear)}
    for name, part in found.items():
        parent, _, leaf = name.rpartition(".")
        setattr(network.get_submodule(parent), leaf, part)
    return found


def _thin_kind() -> Any:
    """Return the class of a linear layer with thin matrices beside it; torch is imported no earlier."""
    import torch

    class Thin(torch.nn.Module):  # type: ignore[misc, unused-ignore]
        def __init__(self, whole: Any, rank: int) -> None:
            super().__init__()
            self.whole = whole
            self.down = torch.nn.Parameter(torch.randn(rank, whole.in_features) / math.sqrt(whole.in_features))
            self.up = torch.nn.Parameter(torch.zeros(whole.out_features, rank))

        def forward(self, given: Any) -> Any:
            return self.whole(given) + 2 * (given @ self.down.T) @ self.up.T

    return Thin


def _kept(layer: Any, strength: float) -> tuple[Any, Any]:
    down, up = layer.down.detach().numpy(), layer.up.detach().numpy()
    return down.astype(np.float16), (2 * strength * up).astype(np.float16)
