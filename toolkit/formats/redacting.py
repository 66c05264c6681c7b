"""Sessions without what tells whose they are: secrets, addresses, home folders, user names; counted, never shown."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from functools import partial
from typing import Any

from toolkit.tool import Catalog, Tool

_KINDS: dict[str, re.Pattern[str]] = {
    "key": re.compile(
        r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)"
        r"|\b(?:sk|pk|rk)-[A-Za-z0-9_-]{16,}|\b(?:sk|pk|rk)_(?:live|test)_[A-Za-z0-9]{10,}"
        r"|\bgh[pousr]_[A-Za-z0-9]{20,}|\bgithub_pat_[A-Za-z0-9_]{20,}|\bglpat-[A-Za-z0-9_-]{16,}"
        r"|\bxox[abprs]-[A-Za-z0-9-]{10,}|\b(?:AKIA|ASIA)[A-Z0-9]{16}\b|\bAIza[A-Za-z0-9_-]{30,}|\bya29\.[\w.-]{20,}"
        r"|\bhf_[A-Za-z0-9]{20,}|\bnpm_[A-Za-z0-9]{30,}|\bpypi-[A-Za-z0-9_-]{30,}"
        r"|\beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]*",
        re.DOTALL,
    ),
    "token": re.compile(
        r"(?i)\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]{12,}"
        r"|((?:access|auth|refresh|id)?[_-]?token|secret(?:[_-]?access)?(?:[_-]?key)?|passw(?:or)?d|pwd|api[_-]?key"
        r"|private[_-]?key|client[_-]?secret|credentials?)([\"']?\s*[:=]\s*[\"']?)(?!\s)[^\s\"',;&<>]{4,}"
    ),
    "url_login": re.compile(r"(?<=://)[^/\s:@]+:[^/\s@]+(?=@)"),
    "email": re.compile(r"[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}"),
    "home": re.compile(r"(/home/|/Users/|[A-Za-z]:\\+Users\\+)(?!user\b)([^/\\\s\"'<>|:]+)"),
}
_SECRET_KEY = re.compile(
    r"(?i)(?:.*[_-])?(?:token|secret|passw(?:or)?d|api[_-]?key|authorization|credentials?|private[_-]?key|cookie)$"
)


class Redactor:
    """Replaces secrets in whatever it is given; the same text is replaced the same way.

    Names of users that stand in home folders are replaced wherever they stand after that, as words of their own.
    """

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.names: set[str] = set()

    def text(self, value: str) -> str:
        """Return a text without secrets."""
        for kind, pattern in _KINDS.items():
            value = pattern.sub(partial(self._mask, kind), value)
        return self._named(value) if self.names else value

    def learn(self, value: Any) -> None:
        """Take the user names of the home folders in a value, before anything is replaced."""
        if isinstance(value, str):
            self.names.update(found[2] for found in _KINDS["home"].finditer(value) if len(found[2]) > 3)
        else:
            for inner in _inside(value):
                self.learn(inner)

    def clean(self, value: Any, key: str = "") -> Any:
        """Return a value of any shape without secrets; a value whose key says that it is one is masked whole."""
        if isinstance(value, str):
            return self._whole(value) if key and value and _SECRET_KEY.match(key) else self.text(value)
        if isinstance(value, Catalog):
            return Catalog(map(self.clean, value))
        if isinstance(value, Tool):
            return self._tool(value)
        if is_dataclass(value) and not isinstance(value, type):
            return replace(value, **{f.name: self.clean(getattr(value, f.name)) for f in fields(value)})
        if isinstance(value, Mapping):
            return {self.text(str(name)): self.clean(inner, str(name)) for name, inner in value.items()}
        return type(value)(self.clean(inner) for inner in value) if isinstance(value, list | tuple) else value

    def _tool(self, tool: Tool) -> Tool:
        said, schema = self.text(tool.description), self.text(tool.schema_text)
        if (said, schema) == (tool.description, tool.schema_text):
            return tool
        return Tool(tool.name, said, schema or None, tool.source, tool.deferred, tool.annotations_text or None, tool.id)

    def _whole(self, value: str) -> str:
        self.counts["token"] += 1
        return "<token>"

    def _mask(self, kind: str, found: re.Match[str]) -> str:
        self.counts[kind] += 1
        if kind == "home":
            return f"{found[1]}user"
        if kind == "token" and found[1]:
            return f"{found[1]} <token>"
        if kind == "token":
            return f"{found[2]}{found[3]}<token>"
        return f"<{kind}>"

    def _named(self, value: str) -> str:
        pattern = "|".join(re.escape(name) for name in sorted(self.names, key=len, reverse=True))
        value, times = re.subn(rf"(?<![A-Za-z0-9])(?:{pattern})(?![A-Za-z0-9])", "user", value)
        if times:
            self.counts["user_name"] += times
        return value


def _inside(value: Any) -> list[Any]:
    if isinstance(value, Mapping):
        return [*value, *value.values()]
    if isinstance(value, Catalog):
        return list(value)
    if isinstance(value, Tool):
        return [value.description, value.schema_text]
    if is_dataclass(value) and not isinstance(value, type):
        return [getattr(value, one.name) for one in fields(value)]
    return list(value) if isinstance(value, list | tuple) else []
