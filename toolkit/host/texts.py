"""The host's own texts: the core tools' definitions, search results and refusals (B9, C4).

None of them names a tool outside the offer.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from typing import Any

from toolkit.engine.calls import Verdict
from toolkit.engine.offer import Offer
from toolkit.engine.ports import Answer
from toolkit.tool import SEARCH, Tool, compact_json, definition_text

Named = Callable[[str], str]

SEARCH_TOOL = Tool(
    SEARCH,
    "Finds tools that are not in this prompt. Say in a few words what you want to do. The answer holds each "
    "match with its description and parameters; a match may be called from your next reply on, until this turn ends.",
    {
        "type": "object",
        "properties": {
            "query": {"type": "string", "description": "What the tool should do, or its name."},
            "limit": {"type": "integer", "minimum": 1, "description": "How many matches to answer; 5 if left out."},
        },
        "required": ["query"],
    },
    annotations={"readOnlyHint": True},
)
CALL_TOOL = Tool(
    "tools_call",
    "Calls a tool that tools_search has found. Give its name and its arguments as the search answered them.",
    {
        "type": "object",
        "properties": {"name": {"type": "string"}, "arguments": {"type": "object"}},
        "required": ["name"],
    },
)
"""What a host declares beside `tools.search` where a model can only call what it was declared."""
UI_SHOW = Tool(
    "ui.show",
    "Places a panel with a title and text where the user sees it; it stays until it is hidden.",
    {
        "type": "object",
        "properties": {
            "id": {"type": "string", "description": "Name of the panel; an existing one is replaced."},
            "title": {"type": "string"},
            "text": {"type": "string", "description": "What the panel shows, as Markdown."},
        },
        "required": ["id", "text"],
    },
    deferred=True,
)
UI_HIDE = Tool(
    "ui.hide",
    "Takes a panel away that was placed before.",
    {
        "type": "object",
        "properties": {"id": {"type": "string", "description": "Name of the panel."}},
        "required": ["id"],
    },
    deferred=True,
)
UI_TOOLS = (UI_SHOW, UI_HIDE)

_REFUSALS = {
    "unknown_tool": "There is no tool of that name.",
    "denied": "This call is not permitted.",
    "not_found_yet": "Search for this tool first; it may be called in the reply after the search that answers it.",
    "unavailable": "The tool's server does not answer now.",
    "search_failed": "The search did not work this time.",
    "invalid_arguments": "The arguments do not fit the tool's parameters.",
}


def text_of(verdict: Verdict, named: Named = str) -> str:
    """Return what the model reads: a refusal, or a search's result; empty when a tool is to run.

    Args:
        verdict: What became of the call.
        named: A tool's name → the name by which the model calls it.
    """
    if verdict.answer is not None:
        return search_result(verdict.answer, verdict.offer, named)
    if verdict.reads in ("ok", "ask"):
        return ""
    return refusal(verdict.reads, verdict.name, verdict.detail, verdict.offer, named)


def refusal(reads: str, name: str, detail: str, offer: Offer, named: Named = str) -> str:
    """Return what the model reads when a call is refused (C3, C4)."""
    body: dict[str, Any] = {"error": reads, "message": _REFUSALS[reads]}
    if detail:
        body["detail"] = detail
    near = _suggestion(name, offer) if reads == "unknown_tool" else None
    if near:
        body["nearest"] = named(near)
    return compact_json(body)


def _suggestion(name: str, offer: Offer) -> str | None:
    names = [*offer.declared.names, *offer.searchable.names]
    close = difflib.get_close_matches(name, names, n=1, cutoff=0.6) if len(name) <= 200 else []
    return close[0] if close else None


def search_result(answer: Answer, offer: Offer, named: Named = str) -> str:
    """Return the text of a search result: every hit with all that a call needs (Q1), and the facts of Q10.

    One line a hit, compact JSON as in the prompt's definitions, then one line with the facts.
    """
    hits = filter(None, map(offer.searchable.by_name.get, answer.names))
    lines = [definition_text(tool if named is str else tool.renamed(named(tool.name))) for tool in hits]
    facts: Mapping[str, Any] = {
        "matched": answer.matched,
        "unmatched_words": list(answer.unmatched_words),
        "declared": [named(name) for name in answer.declared_matches if name != SEARCH],
        "down": list(answer.down),
    }
    lines.append(compact_json({key: value for key, value in facts.items() if value or key == "matched"}))
    return "\n".join(lines)
