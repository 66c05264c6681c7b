"""One request to a model and its response, whatever API it speaks, told apart by what the bodies hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from toolkit.formats.importing import parsed
from toolkit.formats.pieces import rows, table, text, tokens, usage_of
from toolkit.formats.traffic.conversation import Piece
from toolkit.formats.traffic.definitions import tools_of
from toolkit.formats.traffic.messages import pieces_of
from toolkit.formats.traffic.streams import assembled
from toolkit.session import Billed, text_of
from toolkit.tool import Tool

Body = Mapping[str, Any]
_SYSTEMS = ("system", "instructions", "systemInstruction", "system_instruction")
_HISTORIES = ("messages", "input", "contents")
_TOOLS = ("tools", "functions", "toolConfig")


@dataclass(frozen=True, slots=True)
class Exchange:
    """A request and its response.

    Args:
        history: What the request told, in order.
        reply: What the model answered; None where the response is not recorded.
        tools: What the request declared; None where that is not told.
        id: The response's own id.
        previous: The id of the response that the request goes on from.
        conversation: The conversation that the log names.
        group: What belongs together where there is neither history nor conversation: a trace.
        agent: The sub-agent that asked; empty for the main one.
        fault: The error that came in place of a reply.
    """

    history: tuple[Piece, ...] = ()
    reply: tuple[Piece, ...] | None = None
    tools: tuple[Tool, ...] | None = None
    model: str | None = None
    usage: Billed | None = None
    timestamp: str | None = None
    id: str | None = None
    previous: str | None = None
    conversation: str | None = None
    group: str = ""
    agent: str = ""
    fault: str | None = None


def is_request(body: Any) -> bool:
    """Whether a value is the body of a request to a model that chats."""
    if not isinstance(body, Mapping) or not any(isinstance(body.get(key), list | str) for key in _HISTORIES):
        return False
    if isinstance(body.get("contents"), list):
        return all(isinstance(one, Mapping) and "parts" in one for one in body["contents"])
    asks = isinstance(body.get("model"), str) or any(key in body for key in (*_TOOLS, "max_tokens", "instructions"))
    messages = body.get("messages")
    if isinstance(messages, list):
        return bool(messages) and all(isinstance(one, Mapping) and _is_message(one) for one in messages[:3])
    return asks and "input" in body and "encoding_format" not in body and not _embeds(body)


def _embeds(body: Body) -> bool:
    return any(word in str(body.get("model")) for word in ("embed", "moderation", "tts", "rerank"))


def _is_message(row: Body) -> bool:
    return (
        "role" in row or isinstance(row.get("kwargs"), Mapping) or row.get("type") in ("human", "ai", "system", "tool")
    )


def is_response(body: Any) -> bool:
    """Whether a value is the body of a model's response."""
    if not isinstance(body, Mapping):
        return False
    if isinstance(body.get("choices"), list) or isinstance(body.get("candidates"), list):
        return True
    if body.get("object") == "response" or isinstance(table(body.get("output")).get("message"), Mapping):
        return isinstance(body.get("output"), list | Mapping)
    return body.get("role") == "assistant" and body.get("type") == "message" and isinstance(body.get("content"), list)


def exchange_of(request: Any, response: Any, timestamp: str | None = None, status: Any = None) -> Exchange | None:
    """Return the exchange of two bodies (objects, JSON texts or event streams); None where no model was asked."""
    asked, answer = parsed(request), assembled(response)
    if not is_request(asked):
        asked = {}
    if not is_response(answer):
        fault = _fault(answer, status)
        if not asked or (fault is None and answer is not None):
            return None
        answer = {}
    else:
        fault = None
    return Exchange(
        history=history_of(asked),
        reply=reply_of(answer) if answer else None,
        tools=declared_by(asked, answer),
        model=text(answer.get("model")) or text(answer.get("modelVersion")) or text(asked.get("model")),
        usage=usage_in(answer),
        timestamp=timestamp,
        id=text(answer.get("id")) or text(answer.get("responseId")),
        previous=text(asked.get("previous_response_id")),
        conversation=_conversation(asked),
        fault=fault,
    )


def _conversation(asked: Body) -> str | None:
    value = asked.get("conversation")
    return text(table(value).get("id")) or text(value)


def _fault(answer: Any, status: Any) -> str | None:
    code = tokens(status)
    if code is not None and code >= 400:
        return f"status {code}"
    return "error" if isinstance(answer, Mapping) and (answer.get("error") or answer.get("type") == "error") else None


def history_of(asked: Body) -> tuple[Piece, ...]:
    """Return what a request told, its system prompt first."""
    system = next((asked[key] for key in _SYSTEMS if asked.get(key)), None)
    said = pieces_of(system, "system")
    whole = "\n".join(text_of(piece.content) for piece in said)
    key = next((key for key in _HISTORIES if asked.get(key)), None)
    return (*((Piece("system", whole),) if whole else ()), *(pieces_of(asked[key]) if key else ()))


def reply_of(answer: Body) -> tuple[Piece, ...]:
    """Return what a response says, the first choice of several."""
    for key in ("choices", "candidates"):
        if isinstance(answer.get(key), list):
            first = rows(answer[key])[:1]
            return pieces_of(
                [one.get("message") or one.get("content") or one.get("text") for one in first], "assistant"
            )
    value = answer.get("output") if "output" in answer else answer.get("content")
    return pieces_of(table(value).get("message") or value, "assistant")


def declared_by(asked: Body, answer: Body) -> tuple[Tool, ...] | None:
    """Return the tools of a request; a response repeats them for some APIs. None where neither is there."""
    for body in (asked, answer):
        given = [body[key] for key in _TOOLS if body.get(key)]
        if given:
            return tools_of(given)
    return () if asked else None


def usage_in(body: Body) -> Billed | None:
    """Return the usage of a response, under whatever names."""
    return usage_from(table(body.get("usage")) or table(body.get("usageMetadata")) or table(body.get("usage_metadata")))


_PROMPTS = (
    "prompt_tokens",
    "input_tokens",
    "promptTokenCount",
    "prompt_token_count",
    "inputTokens",
    "input",
    "promptTokens",
)
_DONE = (
    "completion_tokens",
    "output_tokens",
    "candidatesTokenCount",
    "candidates_token_count",
    "outputTokens",
    "output",
    "completionTokens",
)


def usage_from(row: Body) -> Billed | None:
    """Return a table of counts as usage: `prompt` takes in what was cached.

    >>> usage_from({"input_tokens": 2, "cache_read_input_tokens": 5, "output_tokens": 1})
    Billed(prompt=7, completion=1, cached=5, cache_write=None, cost_usd=None)
    >>> usage_from({"prompt_tokens": 7, "completion_tokens": 1, "prompt_tokens_details": {"cached_tokens": 5}})
    Billed(prompt=7, completion=1, cached=5, cache_write=None, cost_usd=None)
    """
    apart = _count(row, "cache_creation_input_tokens"), _count(row, "cache_read_input_tokens")
    if any(value is not None for value in apart):
        return usage_of(row.get("input_tokens"), *apart, row.get("output_tokens"))
    prompt, done = _count(row, *_PROMPTS), _count(row, *_DONE)
    thought = _count(row, "thoughtsTokenCount", "thoughts_token_count")
    if prompt is None and done is None:
        return None
    details = table(row.get("prompt_tokens_details")) or table(row.get("input_tokens_details"))
    details = details or table(row.get("input_token_details"))
    read = _count(details, "cached_tokens", "cache_read")
    read = (
        _count(row, "cachedContentTokenCount", "cached_content_token_count", "cachedInputTokens")
        if read is None
        else read
    )
    done = done if thought is None else (done or 0) + thought
    return Billed(prompt, done, read, _count(details, "cache_write_tokens", "cache_creation"))


def _count(row: Body, *names: str) -> int | None:
    return next((found for name in names if (found := tokens(row.get(name))) is not None), None)
