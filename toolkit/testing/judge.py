"""Whether a host's outcome is the one that a conformance vector expects (PROTOCOL.md, "What is compared")."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

Outcome = Mapping[str, Any]
Ask = Callable[[str, Mapping[str, Any]], Outcome]
Check = Callable[[str, Any, Outcome, dict[str, tuple[Any, Any]]], str | None]
_SETS = frozenset(("searchable", "withheld", "notices", "declared_matches", "down"))


def first_difference(vector: Mapping[str, Any], ask: Ask) -> str | None:
    """Play a vector's steps on a host; tell the first outcome that is not as expected, or None."""
    seen: dict[str, tuple[Any, Any]] = {}
    start = ask("start", {"config": vector["config"]})
    wrong = _difference(vector.get("start", {}), start, seen)
    if wrong or "error" in vector.get("start", {}):
        return f"start: {wrong}" if wrong else None
    for place, step in enumerate(vector["steps"], 1):
        wrong = _difference(step["expect"], ask("apply", {"event": step["event"]}), seen)
        if wrong:
            return f"step {place}, {_shown(step['event'])}: {wrong}"
    ask("end", {})
    return None


def _shown(event: Mapping[str, Any]) -> str:
    rest = " ".join(_json(value) for key, value in event.items() if key != "op" and value not in (None, ""))
    text = f"{event['op']} {rest}".rstrip()
    return text if len(text) <= 160 else f"{text[:159]}…"


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _difference(expect: Outcome, outcome: Outcome, seen: dict[str, tuple[Any, Any]]) -> str | None:
    """Return what is wrong with an outcome: only the keys that are expected count."""
    if not isinstance(outcome, Mapping):
        return f"an object was expected, {_json(outcome)[:80]} came"
    if "error" in outcome and "error" not in expect:
        return f"error {outcome['error']!r}: {outcome.get('text', '')}".rstrip(": ")
    for key, wanted in expect.items():
        check: Check = _CHECKS.get(key, _value)
        wrong = check(key, wanted, outcome, seen)
        if wrong:
            return wrong
    return None


def _value(key: str, wanted: Any, outcome: Outcome, seen: Any) -> str | None:
    came = outcome.get(key)
    if key in _SETS and isinstance(came, list):
        wanted, came = sorted(wanted, key=_json), sorted(came, key=_json)
    same = type(came) is type(wanted) and came == wanted
    return None if same else f"{key}: expected {_json(wanted)}, got {_json(came) if key in outcome else 'nothing'}"


def _text(key: str, wanted: Mapping[str, list[str]], outcome: Outcome, seen: Any) -> str | None:
    """Check what the model reads, where the host tells it."""
    text = outcome.get("text")
    if not isinstance(text, str):
        return None
    missing = [part for part in wanted.get("has", ()) if part not in text]
    leaked = [part for part in wanted.get("lacks", ()) if part in text]
    return f"text: lacks {missing}, must not hold {leaked}: {text!r}" if missing or leaked else None


def _definitions(
    key: str, wanted: Mapping[str, str | None], outcome: Outcome, seen: dict[str, tuple[Any, Any]]
) -> str | None:
    """Check definitions: the same JSON with the same order of keys, and the same text whenever it is the same (B6)."""
    came = outcome.get("definitions")
    if not isinstance(came, Mapping) or came.keys() != wanted.keys():
        return f"definitions: expected those of {sorted(wanted)}, got {_json(came)[:200]}"
    for name, text in wanted.items():
        if text is not None and _ordered(came[name]) != _ordered(text):
            return f"definitions: {name!r}: expected {text}, got {came[name]}"
        before, now = seen.get(name, (text, came[name]))
        if before == text and now != came[name]:
            return f"definitions: {name!r} is the same, its bytes are not: {now} became {came[name]}"
        seen[name] = (text, came[name])
    return None


def _ordered(text: Any) -> Any:
    """Return a JSON text with objects as lists of pairs, so that the order of keys counts."""
    try:
        return json.loads(text, object_pairs_hook=lambda pairs: ["object", *map(list, pairs)])
    except (TypeError, ValueError):
        return ("no JSON", text)


_CHECKS: dict[str, Check] = {"text": _text, "definitions": _definitions}
