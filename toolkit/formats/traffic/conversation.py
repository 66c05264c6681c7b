"""What a conversation is made of, whatever API it was written for."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from toolkit.session import Content
from toolkit.tool import Tool


@dataclass(frozen=True, slots=True)
class Piece:
    """One thing of a conversation; `kind` is system, user, text, reasoning, call or result.

    `returned` and `tools` are the names and the definitions that a search's result brought; `key` is what makes it
    the same piece when a later request repeats it.
    """

    kind: str
    content: Content = ""
    id: str | None = None
    name: str | None = None
    arguments: Any = None
    is_error: bool = False
    returned: tuple[str, ...] = ()
    tools: tuple[Tool, ...] = ()
    key: tuple[Any, ...] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "key", self._key())

    @property
    def search(self) -> bool:
        """Whether it is a call of a host's or a provider's own search, or what that found."""
        return self.name is not None and (self.name.startswith("tool_search") or self.name == "ToolSearch")

    def _key(self) -> tuple[Any, ...]:
        if self.kind == "call":
            return "call", self.id or self.name
        if self.kind == "result":
            return "result", self.id or self.name
        return self.kind, _plain(self.content)


def _plain(content: Content) -> str:
    if not isinstance(content, str):
        content = "".join(str(part.get("text", part.get("type"))) for part in content)
    return "".join(content.split())[:500]
