"""Keeping the secrets of a host's file out of every text that we make and every log that the SDK writes."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from toolkit.hosts.config import ServerConfig

MASK = "***"
Redact = Callable[[str], str]
_SHORT, _PIECE = 6, 8
_NAMED = re.compile(r"(?i)((?:token|secret|passw(?:or)?d|credential|api[-_]?key)[^=\s]*[=\s]+)(\S+)")
_LOGGERS = ("mcp", "client", "httpx2", "httpcore2")


def redactor(*servers: ServerConfig) -> Redact:
    """Return a function that puts `***` for every secret of these servers, however it is written.

    Secrets are the values of `env` and `headers`, and the user part and query of `url`.

    >>> redactor(ServerConfig("s", command="x", env={"KEY": "abc-123"}))("401: key abc-123 is wrong")
    '401: key *** is wrong'
    """
    spellings = {way for server in servers for secret in _secrets(server) for way in _ways(secret)}
    if not spellings:
        return str
    pattern = re.compile("|".join(map(_pattern, sorted(spellings, key=len, reverse=True))))
    return lambda text: pattern.sub(MASK, text)


def _secrets(server: ServerConfig) -> Iterator[str]:
    """Yield the secret values, and the long words of those that have several."""
    for value in (*server.env.values(), *server.headers.values(), *_url_secrets(server.url or "")):
        if value.strip():
            yield value.strip()
            yield from (piece for piece in value.split() if len(piece) >= _PIECE)


def _url_secrets(url: str) -> Iterator[str]:
    parts = urlsplit(url)
    yield from (unquote(text) for text in (parts.username, parts.password) if text)
    yield from (value for _, value in parse_qsl(parts.query))
    yield from (text for text in (parts.query, parts.fragment) if text)


def _ways(secret: str) -> Iterable[str]:
    return (
        secret,
        json.dumps(secret)[1:-1],
        json.dumps(secret, ensure_ascii=False)[1:-1],
        repr(secret)[1:-1],
        quote(secret, safe=""),
    )


def _pattern(text: str) -> str:
    """A short secret counts as a whole word only, so that a text stays readable."""
    return re.escape(text) if len(text) >= _SHORT else rf"(?<!\w){re.escape(text)}(?!\w)"


def shown(server: ServerConfig) -> str:
    """Return where a server is, fit to be printed: its command line or its URL, secrets as `***`.

    >>> shown(ServerConfig("s", command="serve", args=("--token=abc", "fast"), env={"KEY": "k"}))
    'serve --token=*** fast, env KEY=***'
    """
    place = _shown_url(server.url) if server.url else _shown_command(server)
    given = {"env": server.env, "headers": server.headers}
    extra = [f", {what} " + " ".join(f"{key}={MASK}" for key in table) for what, table in given.items() if table]
    return place + "".join(extra)


def _shown_command(server: ServerConfig) -> str:
    line = redactor(server)(" ".join((server.command or "", *server.args)))
    return _NAMED.sub(rf"\1{MASK}", line)


def _shown_url(url: str) -> str:
    parts = urlsplit(url)
    user = f"{MASK}@" if "@" in parts.netloc else ""
    query = "?" + "&".join(f"{key}={MASK}" for key, _ in parse_qsl(parts.query, True)) if parts.query else ""
    return f"{parts.scheme}://{user}{parts.netloc.rpartition('@')[2]}{parts.path}{query}"


class _Filter(logging.Filter):
    """Rewrites a record without secrets; a traceback, which may quote a server's output, is left out."""

    def __init__(self, redact: Redact) -> None:
        super().__init__()
        self._redact = redact

    def filter(self, record: logging.LogRecord) -> bool:
        record.msg, record.args = self._redact(record.getMessage()), ()
        record.exc_info = record.exc_text = record.stack_info = None
        return True


@contextmanager
def discreet_logs(redact: Redact) -> Iterator[None]:
    """While this is open, what the SDK and its HTTP client log holds no secret and reaches only handlers that exist."""
    known = tuple(logging.root.manager.loggerDict)
    loggers = [logging.getLogger(name) for name in {*_LOGGERS, *known} if name.partition(".")[0] in _LOGGERS]
    mask, silence = _Filter(redact), logging.NullHandler()
    for logger in loggers:
        logger.addFilter(mask)
        logger.addHandler(silence)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeFilter(mask)
            logger.removeHandler(silence)
