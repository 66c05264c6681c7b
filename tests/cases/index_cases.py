"""Checks case files of the kind `index`: caches, missing models and odd vectors, with stub encoders."""

from __future__ import annotations

import math
import multiprocessing
import sqlite3
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tests.search.stubs import StubEncoder, fresh_cache
from toolkit.search.encoders.encoder import Identity, LazyModel
from toolkit.search.encoders.kept_vectors import tool_vectors
from toolkit.search.encoders.views import RECIPE, views
from toolkit.search.retrievers.dense import Dense
from toolkit.search.retrievers.hybrid import Hybrid
from toolkit.tool import Tool

Json = Mapping[str, Any]


def check(case: Json) -> list[str]:
    """Return what failed in an `index` case, one line each; none when it passed."""
    with fresh_cache():
        began = time.monotonic()
        outcome = _play(case["input"])
        outcome["seconds"] = time.monotonic() - began
    return [line for key, wanted in case["expected"].items() for line in _compared(key, wanted, outcome)]


def _play(given: Json) -> dict[str, Any]:
    for key, play in _PLAYS.items():
        if key in given:
            return play(given)
    return _missing_model(given)


def _tools(given: Json) -> list[Tool]:
    return [Tool(row["name"], row.get("description"), row.get("input_schema")) for row in given["tools"]]


def _vectors(given: Json) -> dict[str, Any]:
    spoken = {name.replace("_", " "): vector for name, vector in given["vectors"].items()}
    encoder = StubEncoder(table={**spoken, "the query": given["query_vector"]}, dim=len(given["query_vector"]))
    dense = Dense([Tool(name) for name in given["vectors"]], encoder)
    scores = dense.similarities(["the query"])[0]
    order = np.argsort(-scores, kind="stable")[: given.get("k", 10)]
    return {"names": [dense.places.names[i] for i in order], "scores": scores.tolist()}


def _stale_cache(given: Json) -> dict[str, Any]:
    model, tools, old = given["model"], _tools(given), given["cache"]
    Dense(tools, StubEncoder(old["model"], old.get("dim", 4)))
    if model is None:
        return _missing_model(given)
    encoder = StubEncoder(model["id"], model["dim"])
    ranking = Hybrid(tools, encoder).rank(given["query"])
    return {"names": list(ranking.names), "rebuilt": bool(encoder.asked)}


def _missing_model(given: Json) -> dict[str, Any]:
    hybrid = Hybrid(_tools(given), "no/such/model")
    ranking = hybrid.rank(given["query"], k=given.get("k", 10))
    return {"names": list(ranking.names), "notices": list(hybrid.notices)}


def _changed(given: Json) -> dict[str, Any]:
    changes = given["change"]
    rows = [{**row, "description": changes.get(row["name"], row.get("description"))} for row in given["tools"]]
    tools, later = _tools(given), _tools({"tools": rows})
    encoder, counts = StubEncoder(), []
    for catalog in [tools, later][: given["builds"]]:
        before = len(encoder.asked)
        Dense(catalog, encoder)
        texts = {text for asked in encoder.asked[before:] for text in asked}
        counts.append(sum(bool(texts & set(views(tool)[:2])) for tool in catalog))
    return {"embed_calls": counts}


def _forked(given: Json) -> dict[str, Any]:
    hybrid = Hybrid([Tool("tide_read", "Reads the tide."), Tool("kiln_on", "Heats the oven.")])
    hybrid.rank("tide")
    with multiprocessing.get_context("fork").Pool(given.get("workers", 2)) as pool:
        answers = pool.map_async(_rank_in_child, [("tide",)] * 4).get(timeout=60)
    return {"names": answers[0]}


def _rank_in_child(arguments: tuple[str]) -> list[str]:
    tools = [Tool("tide_read", "Reads the tide."), Tool("kiln_on", "Heats the oven.")]
    return list(Hybrid(tools).rank(arguments[0]).names)


def _many_queries(given: Json) -> dict[str, Any]:
    loads: list[int] = []

    def load() -> Callable[[Sequence[str]], Any]:
        loads.append(1)
        return StubEncoder().encode

    encoder = LazyModel(Identity("counted", "counted"), load, "counted")
    for query in given["queries"]:
        Hybrid(_tools(given), encoder).rank(query)
    return {"model_loads": len(loads)}


def _header(given: Json) -> dict[str, Any]:
    Dense([Tool("tide_read")], StubEncoder())
    kept = tool_vectors(StubEncoder().identity, RECIPE)
    with sqlite3.connect(kept.store.path) as file:
        header = dict(file.execute("SELECT name, value FROM about")) | {"dim": len(kept.store.values()[0])}
    return {"header": sorted(set(given["header_fields"]) & header.keys()) == sorted(given["header_fields"])}


def _aliases(given: Json) -> dict[str, Any]:
    rebuilds = []
    for model in given["models"]:
        encoder = StubEncoder(model["id"], digest=model["fingerprint"])
        Dense([Tool("tide_read")], encoder)
        rebuilds.append(bool(encoder.asked))
    return {"rebuilds": rebuilds}


def _no_neighbour(given: Json) -> dict[str, Any]:
    encoder = StubEncoder(table={"": [math.nan] * 4}, dim=4)
    return {"hybrid": list(Hybrid(_tools(given), encoder).rank(given["query"]).names)}


_PLAYS: dict[str, Callable[[Json], dict[str, Any]]] = {
    "vectors": _vectors,
    "cache": _stale_cache,
    "change": _changed,
    "action": _forked,
    "queries": _many_queries,
    "header_fields": _header,
    "models": _aliases,
    "vector_ids": _no_neighbour,
}


def _compared(key: str, wanted: Any, outcome: Mapping[str, Any]) -> list[str]:
    if key in ("no_exception", "no_error") or key not in _CAME:
        return []
    came = _CAME[key](outcome, wanted)
    return [] if came == wanted else [f"{key}: expected {wanted!r}, got {came!r}"]


_CAME: dict[str, Callable[[Mapping[str, Any], Any], Any]] = {
    "result": lambda outcome, wanted: outcome["names"],
    "first": lambda outcome, wanted: next(iter(outcome["names"]), None),
    "hybrid_first": lambda outcome, wanted: next(iter(outcome["hybrid"]), None),
    "no_duplicates": lambda outcome, wanted: len(set(outcome["names"])) == len(outcome["names"]),
    "all_scores_finite": lambda outcome, wanted: all(map(math.isfinite, outcome["scores"])),
    "max_results": lambda outcome, wanted: wanted if len(outcome["names"]) <= wanted else len(outcome["names"]),
    "max_seconds": lambda outcome, wanted: wanted if outcome["seconds"] <= wanted else outcome["seconds"],
    "notices": lambda outcome, wanted: [code for code in wanted if code in outcome["notices"]],
    "embed_calls": lambda outcome, wanted: outcome["embed_calls"],
    "model_loads_max": lambda outcome, wanted: max(wanted, outcome["model_loads"]),
    "header_present": lambda outcome, wanted: outcome["header"],
    "rebuilds": lambda outcome, wanted: outcome["rebuilds"],
    "rebuilt": lambda outcome, wanted: outcome["rebuilt"],
    "empty": lambda outcome, wanted: not outcome["names"],
}
