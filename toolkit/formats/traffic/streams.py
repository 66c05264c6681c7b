"""Responses that came as streams of events, put together as the API would have answered without streaming."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from toolkit.formats.importing import UNREADABLE, parsed
from toolkit.formats.pieces import rows, table

Event = dict[str, Any]


def assembled(body: Any) -> Any:
    r"""Return a response's body as a value; the events of a stream become one response.

    >>> assembled('data: {"choices": [{"delta": {"content": "a"}}]}\n\ndata: [DONE]\n')["choices"][0]["message"]
    {'role': 'assistant', 'content': 'a', 'tool_calls': []}
    """
    value = parsed(body)
    if isinstance(value, str) and "data:" in value:
        events = list(events_of(value))
        return together(events) if events else value
    if isinstance(value, list) and value and all(isinstance(one, dict) and _is_event(one) for one in value):
        return together(value)
    return value


def events_of(text: str) -> Iterator[Event]:
    """Yield the objects on the `data:` lines of an event stream; what is none (`[DONE]`, a cut line) is passed over."""
    for line in text.splitlines():
        if not line.startswith("data:"):
            continue
        try:
            value = msgspec.json.decode(line[5:].strip())
        except (*UNREADABLE, UnicodeEncodeError):
            continue
        if isinstance(value, dict):
            yield value


def _is_event(row: Event) -> bool:
    kind = row.get("type")
    if "candidates" in row or "usageMetadata" in row:
        return True
    if isinstance(kind, str):
        return kind.startswith(("response.", "message_", "content_block_")) or kind == "ping"
    return any("delta" in choice for choice in rows(row.get("choices")))


def together(events: list[Event]) -> Event:
    """Return the one response that a stream's events make."""
    kinds = {str(event.get("type")) for event in events}
    if any(kind.startswith("response.") for kind in kinds):
        return _responses(events)
    if any(kind.startswith(("message_", "content_block_")) for kind in kinds):
        return _anthropic(events)
    if any("candidates" in event or "usageMetadata" in event for event in events):
        return _gemini(events)
    if any("choices" in event for event in events):
        return _chat(events)
    return next((event for event in events if "error" in event), events[-1])


def _responses(events: list[Event]) -> Event:
    """A Responses stream ends with the whole response; where it was cut, the items that were done."""
    whole = [table(event.get("response")) for event in events if isinstance(event.get("response"), dict)]
    body = {**whole[-1]} if whole else {}
    if not body.get("output"):
        done = (event for event in events if event.get("type") == "response.output_item.done")
        body["output"] = [event["item"] for event in done if isinstance(event.get("item"), dict)]
    return {**body, "object": "response"}


def _anthropic(events: list[Event]) -> Event:
    body: Event = {"type": "message", "role": "assistant", "content": []}
    blocks: dict[Any, Event] = {}
    for event in events:
        if event.get("type") == "message_start":
            body |= {key: value for key, value in table(event.get("message")).items() if key != "content"}
        elif event.get("type") == "content_block_start":
            blocks[event.get("index")] = dict(table(event.get("content_block")))
        elif event.get("type") == "content_block_delta":
            _grow(blocks.setdefault(event.get("index"), {"type": "text"}), table(event.get("delta")))
        elif event.get("type") == "message_delta":
            told = {key: value for key, value in table(event.get("usage")).items() if value is not None}
            body["usage"] = {**table(body.get("usage")), **told}
        elif event.get("type") == "error":
            body["error"] = event.get("error")
    body["content"] = [_ended(block) for block in blocks.values()]
    return body


def _grow(block: Event, delta: Event) -> None:
    for key, into in (("text", "text"), ("thinking", "thinking"), ("partial_json", "json")):
        if isinstance(delta.get(key), str):
            block[into] = str(block.get(into) or "") + delta[key]


def _ended(block: Event) -> Event:
    text = block.pop("json", None)
    return block if text is None else {**block, "input": text}


def _gemini(events: list[Event]) -> Event:
    parts: list[Any] = []
    body: Event = {}
    for event in events:
        body |= {key: value for key, value in event.items() if key != "candidates" and value is not None}
        for candidate in rows(event.get("candidates"))[:1]:
            parts += _joined(rows(table(candidate.get("content")).get("parts")), parts)
    return {**body, "candidates": [{"content": {"role": "model", "parts": parts}}]}


def _joined(new: list[Event], parts: list[Any]) -> list[Event]:
    """Return the parts that are new, their texts put onto the last one where it is the same kind of text."""
    left: list[Event] = []
    for part in new:
        last = left[-1] if left else parts[-1] if parts else None
        if last is not None and "text" in last and "text" in part and last.get("thought") == part.get("thought"):
            last["text"] = str(last["text"]) + str(part["text"])
        else:
            left.append(dict(part))
    return left


def _chat(events: list[Event]) -> Event:
    body: Event = {}
    message: Event = {"role": "assistant", "content": "", "tool_calls": []}
    calls: dict[Any, Event] = {}
    for event in events:
        body |= {key: value for key, value in event.items() if key != "choices" and value is not None}
        for choice in rows(event.get("choices"))[:1]:
            delta = table(choice.get("delta"))
            message["content"] += _string(delta.get("content"))
            if thought := _string(delta.get("reasoning_content")) or _string(delta.get("reasoning")):
                message["reasoning_content"] = message.get("reasoning_content", "") + thought
            for piece in rows(delta.get("tool_calls")):
                _grow_call(calls, piece)
    return {**body, "choices": [{"message": {**message, "tool_calls": list(calls.values())}}]}


def _grow_call(calls: dict[Any, Event], piece: Event) -> None:
    """Add a fragment to its call: by index; a fragment of an unknown index that names nothing goes to the last call."""
    function = table(piece.get("function"))
    index = piece.get("index", len(calls))
    begins = bool(piece.get("id")) and index in calls and calls[index]["id"] not in (None, piece["id"])
    if begins:
        index = (index, piece["id"])
    if index not in calls and not piece.get("id") and not function.get("name") and calls:
        index = next(reversed(calls))
    call = calls.setdefault(index, {"id": None, "type": "function", "function": {"name": "", "arguments": ""}})
    call["id"] = call["id"] or piece.get("id")
    inner = call["function"]
    inner["name"] = inner["name"] or _string(function.get("name"))
    inner["arguments"] += _string(function.get("arguments"))


def _string(value: Any) -> str:
    return value if isinstance(value, str) else ""


def is_stream(head: bytes) -> bool:
    """Whether a file begins as an event stream of a model's API."""
    lines = [line for line in head[:4096].splitlines() if line.strip()][:3]
    return bool(lines) and all(line.startswith((b"data:", b"event:", b"id:", b":")) for line in lines)
