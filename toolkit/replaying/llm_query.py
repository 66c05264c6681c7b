"""Queries that a language model writes: any server that speaks OpenAI's chat completions."""

from __future__ import annotations

import json
import os
import re
import time
import urllib.error
import urllib.parse
import urllib.request
from dataclasses import dataclass
from functools import lru_cache
from http.client import HTTPException
from pathlib import Path
from typing import Any

from toolkit.errors import InputError
from toolkit.replaying.query_models import MOST_TRIES, NoQueryError, Seen, distinct
from toolkit.store import Store, content_key, kept

_INSTRUCTION = (
    "You are an assistant in the middle of a task. You are about to do the next step, and for it you need a tool that "
    "you do not have yet. Write the query that you would send to a search over tool names and descriptions: a few "
    "words for what the tool should do. Answer with up to three different queries, the best first, one a line, and "
    "nothing else."
)
_MOST_CHARACTERS = 4000
_LONGEST_QUERY = 300
_AGAIN = frozenset((408, 409, 425, 429, 500, 502, 503, 504))
_LISTED = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s*|^[\"'`]+|[\"'`]+$")
_THOUGHTS = re.compile(r"<think>.*?</think>", re.DOTALL)
_PROBE_SECONDS = 10.0
_MOST_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Llm:
    """Asks a model what it would search for, at temperature 0; an answer is kept on disk and never asked for twice.

    Args:
        endpoint: The server's base address, e.g. `http://localhost:8000/v1`.
        model: The model's name there.
        timeout: Seconds that an answer may take.
        retries: How often a request is made again after a timeout or an error of the server.
        key: The environment variable that holds the server's key, where it wants one.
        cache: The folder for answers; below `TOOLKIT_CACHE` if left out.

    Raises:
        InputError: An option is out of range, or the key's variable is not set.
    """

    endpoint: str
    model: str
    timeout: float = 30.0
    retries: int = 1
    key: str = ""
    cache: str = ""

    def __post_init__(self) -> None:
        address = urllib.parse.urlsplit(str(self.endpoint))
        if address.scheme not in ("http", "https") or not address.hostname:
            raise InputError("llm needs an endpoint that begins with http:// or https://.", hint=_EXAMPLE)
        if address.username or address.password or address.query:
            raise InputError("llm takes no secret in its endpoint.", hint="Name an environment variable with key=….")
        if not isinstance(self.model, str) or not self.model.strip():
            raise InputError(f"llm needs the name of a model, not {self.model!r}.", hint=_EXAMPLE)
        if isinstance(self.timeout, bool) or not isinstance(self.timeout, int | float) or self.timeout <= 0:
            raise InputError(f"llm needs a timeout above 0 seconds, not {self.timeout!r}.")
        if isinstance(self.retries, bool) or not isinstance(self.retries, int) or not 0 <= self.retries <= 10:
            raise InputError(f"llm needs retries from 0 to 10, not {self.retries!r}.")

    def __call__(self, seen: Seen) -> list[str]:
        """Return the queries that the model writes.

        Raises:
            NoQueryError: The server did not answer in time, or not with queries.
        """
        body = self._body(seen)
        key, store = content_key((self.endpoint.rstrip("/"), body.decode())), self._store()
        found = _kept(store.get([key]).get(key))
        if found is None:
            found = _queries(self._asked(body))
            store.put({key: json.dumps(found).encode()})
        return found

    def _asked(self, body: bytes) -> Any:
        """Return the server's answer; after several failures in a row nobody waits for it any more."""
        if _failures.get(self.endpoint, 0) >= _GIVEN_UP:
            raise NoQueryError(f"the model's server failed {_GIVEN_UP} times in a row and is not asked again")
        try:
            answer = self._answer(body)
        except NoQueryError:
            _failures[self.endpoint] = _failures.get(self.endpoint, 0) + 1
            raise
        _failures.pop(self.endpoint, None)
        return answer

    def probe(self) -> None:
        """Raise when the endpoint does not answer at all, before a run starts.

        Raises:
            InputError: It is down, or it refuses the key.
        """
        _probe(self.endpoint, self._key(), min(self.timeout, _PROBE_SECONDS))
        _failures.pop(self.endpoint, None)

    def _body(self, seen: Seen) -> bytes:
        parts = {"The task": seen.turn_input, "You said before": seen.last_words, "You say now": seen.words}
        told = "\n\n".join(f"{what}:\n{text[-_MOST_CHARACTERS:]}" for what, text in parts.items() if text.strip())
        messages = [{"role": "system", "content": _INSTRUCTION}, {"role": "user", "content": told or "(nothing yet)"}]
        request = {"model": self.model, "messages": messages, "temperature": 0}
        return json.dumps(request).encode("ascii")

    def _store(self) -> Store:
        return Store(Path(self.cache) / "answers.sqlite") if self.cache else kept("llm-queries", {})

    def _key(self) -> str:
        if self.key and self.key not in os.environ:
            raise InputError(f"the environment variable {self.key!r} is not set.", hint="It should hold the key.")
        return os.environ[self.key] if self.key else ""

    def _answer(self, body: bytes) -> Any:
        for left in reversed(range(self.retries + 1)):
            try:
                return _request(f"{self.endpoint.rstrip('/')}/chat/completions", self._key(), self.timeout, body)
            except urllib.error.HTTPError as error:
                if error.code not in _AGAIN or not left:
                    raise NoQueryError(f"the model's server answered with status {error.code}") from None
            except (OSError, HTTPException) as error:
                if not left:
                    raise NoQueryError(f"the model's server did not answer ({_why(error)})") from None
            except ValueError:
                raise NoQueryError("the model's server answered with what is no JSON") from None
            time.sleep(0.1 * 2 ** (self.retries - left))
        raise AssertionError("the last try returns or raises")

    def __repr__(self) -> str:
        return f"llm({self.endpoint!r}, {self.model!r})"


_GIVEN_UP = 5
_failures: dict[str, int] = {}
"""Endpoint → requests in a row that failed in this process; the next run's probe begins anew."""
_EXAMPLE = "For example: llm('http://localhost:8000/v1', 'qwen3')."


@lru_cache(maxsize=64)
def _probe(endpoint: str, key: str, timeout: float) -> None:
    try:
        _request(f"{endpoint.rstrip('/')}/models", key, timeout)
    except urllib.error.HTTPError as error:
        if error.code in (401, 403):
            hint = "Name the environment variable that holds the key with key=…."
            raise InputError(f"the endpoint {endpoint} refuses the key (status {error.code}).", hint=hint) from None
    except (OSError, HTTPException) as error:
        hint = "Start the server, or choose another --query-model."
        raise InputError(f"the endpoint {endpoint} does not answer ({_why(error)}).", hint=hint) from None
    except ValueError:
        return


def _request(url: str, key: str, timeout: float, body: bytes | None = None) -> Any:
    headers = {"Content-Type": "application/json", **({"Authorization": f"Bearer {key}"} if key else {})}
    with urllib.request.urlopen(urllib.request.Request(url, body, headers), timeout=timeout) as answer:
        return json.loads(answer.read(_MOST_BYTES))


def _why(error: Exception) -> str:
    """Return the kind of an error in words, never what was sent."""
    inner = getattr(error, "reason", error)
    if isinstance(inner, TimeoutError):
        return "timed out"
    return str(getattr(inner, "strerror", None) or type(inner).__name__)


def _queries(answer: Any) -> list[str]:
    """Return the lines of a completion as queries."""
    try:
        text = _THOUGHTS.sub("", answer["choices"][0]["message"]["content"])
        lines = [_LISTED.sub("", line.strip()).strip()[:_LONGEST_QUERY] for line in text.splitlines()]
    except (KeyError, IndexError, TypeError, AttributeError):
        raise NoQueryError("the model's server answered with no completion") from None
    queries = distinct(*lines)
    if not queries:
        raise NoQueryError("the model answered with no query")
    return queries


def _kept(value: bytes | None) -> list[str] | None:
    """Return a kept answer; None when there is none, or it is no list of queries."""
    try:
        found = json.loads(value or b"null")
    except ValueError:
        return None
    is_queries = isinstance(found, list) and 0 < len(found) <= MOST_TRIES and all(isinstance(one, str) for one in found)
    return found if is_queries else None
