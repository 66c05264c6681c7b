"""Queries of a language model, against a local server that is fine, slow, broken, mad, or not there."""

from __future__ import annotations

import json
import sqlite3
import threading
import zlib
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.builders import BRANCH, call, fates, queries, replayed, said, session, turn
from toolkit.errors import InputError
from toolkit.replaying import llm_query
from toolkit.replaying.llm_query import Llm
from toolkit.replaying.query_models import NoQueryError, Seen, asked, check_query_model, query_model

SEEN = Seen("Let me look it up.", "Where is my parcel?")
KEY = "TOOLKIT_TEST_KEY"


class Server(ThreadingHTTPServer):
    """A server whose answers are a list of (status, body), the last one stays; it waits while `go` is not set."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers: list[tuple[int, Any]] = [(200, completion("find a parcel"))]
        self.asked: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        self.go = threading.Event()
        self.go.set()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hung up is no news."""


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        self.server.keys.append(self.headers["Authorization"])
        self._send(*(self.server.answers[-1] if self.path == "/v1/models" else (404, {})))

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.asked.append({"path": self.path, **json.loads(body)})
        self.server.keys.append(self.headers["Authorization"])
        self._send(*(self.server.answers.pop(0) if len(self.server.answers) > 1 else self.server.answers[0]))

    def _send(self, status: int, body: Any) -> None:
        self.server.go.wait(10)
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:
        """Keep quiet."""


def completion(text: Any) -> dict[str, Any]:
    return {"choices": [{"message": {"role": "assistant", "content": text}}]}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setattr(llm_query.time, "sleep", lambda seconds: None)
    llm_query._probe.cache_clear()
    llm_query._failures.clear()
    query_model.cache_clear()
    with Server() as made:
        threading.Thread(target=made.serve_forever, args=(0.01,), daemon=True).start()
        yield made
        made.shutdown()


@pytest.fixture
def llm(server: Server, tmp_path: Path) -> Llm:
    return Llm(server.address, "small", timeout=5, cache=str(tmp_path / "kept"))


def test_a_model_is_asked_at_temperature_zero_with_what_was_seen_and_nothing_else(server: Server, llm: Llm) -> None:
    assert llm(SEEN) == ["find a parcel"]
    (request,) = server.asked
    assert (request["path"], request["model"], request["temperature"]) == ("/v1/chat/completions", "small", 0)
    told = request["messages"][-1]["content"]
    assert told == "The task:\nWhere is my parcel?\n\nYou say now:\nLet me look it up."
    assert server.keys == [None]


def test_the_called_tools_name_is_never_sent(server: Server, llm: Llm) -> None:
    llm(Seen("w", "i", "l", BRANCH.name, ("recorded",)))
    assert BRANCH.name not in json.dumps(server.asked) and "create_branch" not in json.dumps(server.asked)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("one\n\n two \nthree\nfour", ["one", "two", "three"]),
        ("1. one\n2) two\n- three", ["one", "two", "three"]),
        ('"one"\n`two`', ["one", "two"]),
        ("<think>\nhm\n</think>\none", ["one"]),
        ("one\none", ["one"]),
    ],
)
def test_the_lines_of_an_answer_are_its_queries(server: Server, llm: Llm, text: str, expected: list[str]) -> None:
    server.answers = [(200, completion(text))]
    assert llm(SEEN) == expected


def test_an_answer_is_kept_and_never_asked_for_twice(server: Server, llm: Llm) -> None:
    first = llm(SEEN)
    server.answers = [(500, {})]
    assert llm(SEEN) == first
    assert len(server.asked) == 1
    with pytest.raises(NoQueryError):
        llm(Seen("other words", ""))


def test_where_answers_cannot_be_kept_they_are_asked_for_again(server: Server, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    llm = Llm(server.address, "small", cache=str(tmp_path / "file" / "kept"))
    assert llm(SEEN) == llm(SEEN) == ["find a parcel"]
    assert len(server.asked) == 2


def test_another_model_or_server_has_answers_of_its_own(server: Server, llm: Llm) -> None:
    llm(SEEN)
    server.answers = [(200, completion("other"))]
    assert Llm(server.address, "large", cache=llm.cache)(SEEN) == ["other"]


@pytest.mark.parametrize("damage", [b"", b'["cut', b"{}", b"[]", b"[3]", b"\xff", None])
def test_a_kept_answer_that_is_damaged_is_asked_for_again(server: Server, llm: Llm, damage: bytes | None) -> None:
    llm(SEEN)
    (place,) = Path(llm.cache).iterdir()
    if damage is None:
        place.write_bytes(place.read_bytes()[:5000])
    else:
        with sqlite3.connect(place) as file:
            file.execute("UPDATE kept SET value = ?, sum = ?", (damage, zlib.crc32(damage)))
    assert llm(SEEN) == ["find a parcel"]
    assert len(server.asked) == 2


def test_an_error_of_the_server_is_tried_again(server: Server, llm: Llm) -> None:
    server.answers = [(503, {}), (200, completion("there"))]
    assert llm(SEEN) == ["there"]


@pytest.mark.parametrize(
    ("answer", "why", "times"),
    [
        ((500, {}), "status 500", 2),
        ((400, {}), "status 400", 1),
        ((200, b"<html>"), "no JSON", 1),
        ((200, b"\xff\xfe"), "no JSON", 1),
        ((200, {"choices": []}), "no completion", 1),
        ((200, []), "no completion", 1),
        ((200, completion(None)), "no completion", 1),
        ((200, completion(" \n ")), "no query", 1),
    ],
)
def test_an_answer_without_queries_is_told_and_not_kept(
    server: Server, llm: Llm, answer: Any, why: str, times: int
) -> None:
    server.answers = [answer]
    made, told = asked(llm, SEEN)
    assert made == ["Let me look it up.", "Where is my parcel?"]
    assert why in told and len(server.asked) == times
    assert not list(Path(llm.cache).glob("*"))


def test_a_server_that_keeps_failing_is_not_asked_for_ever_and_the_next_run_tries_again(
    server: Server, llm: Llm
) -> None:
    server.answers = [(400, {})]
    told = [asked(llm, Seen(f"words {n}", "input"))[1] for n in range(8)]
    assert len(server.asked) == 5
    assert "status 400" in told[4] and "5 times in a row" in told[5]
    server.answers = [(200, completion("there"))]
    assert "5 times in a row" in asked(llm, SEEN)[1]
    llm.probe()
    assert llm(SEEN) == ["there"]


def test_a_slow_answer_is_waited_for_no_longer_than_said(server: Server, llm: Llm, tmp_path: Path) -> None:
    server.go.clear()
    quick = Llm(server.address, "small", timeout=0.1, retries=1, cache=str(tmp_path))
    with pytest.raises(NoQueryError, match="timed out"):
        quick(SEEN)
    server.go.set()
    assert quick(SEEN) == ["find a parcel"]


def test_an_endpoint_that_is_up_passes_the_probe_whatever_it_lists(server: Server, llm: Llm) -> None:
    for answer in ((200, {"data": []}), (404, {}), (200, b"no json")):
        server.answers = [answer]
        llm_query._probe.cache_clear()
        llm.probe()
    assert len(server.keys) == 3 and not server.asked


def test_an_endpoint_that_is_down_is_told_before_the_run(server: Server) -> None:
    address = server.address
    server.shutdown()
    server.server_close()
    with pytest.raises(InputError, match="does not answer") as raised:
        check_query_model(f"llm('{address}', 'small')")
    assert address in str(raised.value) and "--query-model" in str(raised.value)


def test_a_key_comes_from_the_environment_and_stands_in_no_text(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(KEY, "s3cret")
    keyed = Llm(server.address, "small", key=KEY, cache=str(tmp_path))
    keyed.probe()
    keyed(SEEN)
    assert server.keys == ["Bearer s3cret"] * 2
    server.answers = [(401, {})]
    llm_query._probe.cache_clear()
    with pytest.raises(InputError, match="refuses the key") as raised:
        keyed.probe()
    assert asked(keyed, Seen("new", ""))[1] == "the model's server answered with status 401"
    kept = b"".join(one.read_bytes() for one in tmp_path.iterdir())
    assert "s3cret" not in f"{raised.value}{keyed!r}{kept}"


def test_a_key_that_is_not_set_is_told_before_the_run(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(KEY, raising=False)
    with pytest.raises(InputError, match=f"'{KEY}' is not set"):
        check_query_model(f"llm('{server.address}', 'small', key='{KEY}')")


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("llm('localhost:8000', 'm')", "begins with http"),
        ("llm('file:///etc/passwd', 'm')", "begins with http"),
        ("llm('http://user:pw@localhost/v1', 'm')", "no secret"),
        ("llm('http://localhost/v1', ' ')", "name of a model"),
        ("llm('http://localhost/v1', 'm', timeout=0)", "timeout above 0"),
        ("llm('http://localhost/v1', 'm', retries=-1)", "retries from 0"),
        ("llm('http://localhost/v1', 'm', time=3)", "Did you mean 'timeout'"),
        ("llm('http://localhost/v1')", "It takes: endpoint, model"),
    ],
)
def test_a_wrong_option_says_what_was_expected_and_repeats_no_secret(spec: str, says: str) -> None:
    with pytest.raises(InputError, match=says) as raised:
        query_model(spec)
    assert "pw" not in str(raised.value)


def test_a_replay_asks_what_the_model_writes_and_reports_how_often_it_could_not(server: Server, tmp_path: Path) -> None:
    server.answers = [(200, completion("create a branch")), (400, {})]
    spec = f"llm('{server.address}', 'small', cache={str(tmp_path)!r})"
    told: list[tuple[str, str]] = []
    one, other = (turn(words, said("", call(BRANCH.name))) for words in ("make me something", "make a branch"))
    recorded = session(one, other)
    trace = replayed(recorded, query_model=spec, report=lambda code, text: told.append((code, text)))
    assert queries(trace) == ["create a branch", "make a branch"]
    assert [fate for _, fate in fates(trace)] == ["searched", "searched"]
    assert told == [("no_query", "the model's server answered with status 400; 1 times own words were asked instead.")]
