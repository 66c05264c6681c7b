"""The proxy over the SDK's own transports, in front of real servers: one dies, lists change, clients stay apart."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

from tests.hosts.running import SECRET, hosting, script, until
from toolkit import load_sessions
from toolkit.hosts.changes import Change
from toolkit.hosts.config import ServerConfig
from toolkit.replaying.rerun import rerun
from toolkit.serving.over_http import listening, serve_http
from toolkit.serving.proxy import SESSION_KEY, STORM_SECONDS, TURN_KEY, Proxy
from toolkit.serving.proxy_session import ProxySettings
from toolkit.serving.running import opened

ALL, LAZY = ProxySettings("all", "lexical"), ProxySettings("lazy", "lexical")
TOKEN = "a-token-of-the-test"


def silent(event: str, **facts: Any) -> None:
    """Take an event of the log that nobody reads."""


@asynccontextmanager
async def proxied(
    settings: ProxySettings, *servers: ServerConfig, mode: Any = "auto", hear: Any = None, **more: Any
) -> AsyncIterator[tuple[Client, Proxy]]:
    """Yield a client in the same process, and the proxy that it talks to."""
    options = {"log": silent, "retry_after": (), **more}
    async with opened(hosting(*servers), settings, **options) as proxy:
        client = Client(proxy.server, mode=mode, message_handler=hear)
        async with client:
            yield client, proxy


def play(scenario: Callable[[], Awaitable[None]]) -> None:
    async def timed() -> None:
        with anyio.fail_after(120):
            await scenario()

    anyio.run(timed)


async def called(client: Client, name: str, /, meta: Any = None, **arguments: Any) -> tuple[bool, str]:
    """Return whether a call failed, and the text of its answer."""
    answer = await client.call_tool(name, arguments, **({"meta": meta} if meta else {}))
    return bool(answer.is_error), "\n".join(part.text for part in answer.content)


async def listed(client: Client, **more: Any) -> list[str]:
    return [tool.name for tool in (await client.list_tools(**more)).tools]


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_client_searches_and_calls_through(mode: Any) -> None:
    async def scenario() -> None:
        async with proxied(LAZY, script("plain"), script("paged"), mode=mode) as (client, _):
            assert await listed(client) == ["tools_search", "tools_call"]
            failed, text = await called(client, "mcp__plain__add", a=1, b=2)
            assert failed and json.loads(text)["error"] == "not_found_yet"
            _, found = await called(client, "tools_search", query="add two numbers")
            assert json.loads(found.splitlines()[0])["name"] == "mcp__plain__add"
            assert await called(client, "tools_call", name="mcp.plain.add", arguments={"a": 1, "b": 2}) == (False, "3")
            assert await called(client, "mcp__plain__add", a=1, b=4) == (False, "5")

    play(scenario)


def test_one_upstream_that_dies_leaves_the_others_alive_and_goes_from_the_list() -> None:
    async def scenario() -> None:
        async with proxied(ALL, script("plain", called="mortal"), script("plain"), script("quits")) as (client, _):
            before = await listed(client)
            failed, text = await called(client, "mcp__mortal__die")
            assert failed and "mortal" in text
            assert await called(client, "mcp__plain__add", a=1, b=2) == (False, "3")
            failed, text = await called(client, "mcp__mortal__add", a=1, b=2)
            assert failed and json.loads(text)["error"] == "unavailable"
            after = await listed(client)
            assert [name for name in before if "mortal" not in name] == after != before

    play(scenario)


def test_an_upstream_that_is_killed_and_comes_back_is_callable_in_the_same_turn() -> None:
    async def scenario() -> None:
        server = script("handshake")
        async with proxied(ALL, server, retry_after=[0.05] * 5) as (client, proxy):
            before = await listed(client)
            _, process = await called(client, "mcp__handshake__grow", q="")
            os.kill(int(process), signal.SIGKILL)
            await until(lambda: proxy.upstream.reports[0].state != "ok")
            await until(lambda: proxy.upstream.reports[0].state == "ok")
            _, again = await called(client, "mcp__handshake__grow", q="")
            assert int(again) != int(process) and "mcp__handshake__grow" in before

    play(scenario)


def test_an_upstream_that_is_slow_costs_its_own_call_alone() -> None:
    async def scenario() -> None:
        async with proxied(ALL, script("plain", called="slow", tool_timeout_sec=0.3), script("plain")) as (client, _):
            answers: dict[str, tuple[bool, str]] = {}

            async def ask(name: str, **arguments: Any) -> None:
                answers[name] = await called(client, name, **arguments)

            async with anyio.create_task_group() as group:
                group.start_soon(lambda: ask("mcp__slow__wait", seconds=60))
                group.start_soon(lambda: ask("mcp__plain__add", a=1, b=2))
            assert answers["mcp__plain__add"] == (False, "3")
            assert answers["mcp__slow__wait"][0] and "0.3 s" in answers["mcp__slow__wait"][1]

    play(scenario)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_list_that_grows_is_told_and_shown_when_it_is_asked_for(mode: Any) -> None:
    async def scenario() -> None:
        heard: list[Any] = []

        async def hear(message: Any) -> None:
            heard.append(type(message).__name__)

        async with proxied(ALL, script("plain"), mode=mode, hear=hear) as (client, proxy):
            before = await listed(client)
            await called(client, "mcp__plain__grow")
            await until(lambda: any(one.session.changed for one in proxy.clients.values()))
            if mode == "legacy":
                assert client.server_capabilities.tools.list_changed
                await until(lambda: "ToolListChangedNotification" in heard)
            assert {*await listed(client)} - {*before} == {"mcp__plain__extra"}

    play(scenario)


def test_a_storm_of_changes_is_told_once() -> None:
    async def scenario() -> None:
        heard: list[str] = []

        async def hear(message: Any) -> None:
            heard.append(type(message).__name__)

        async with proxied(ALL, script("plain"), mode="legacy", hear=hear) as (client, proxy):
            await listed(client)
            for _ in range(500):
                proxy.heard(Change("plain", "tools", proxy.upstream.reports[0].tools))
            await anyio.sleep(STORM_SECONDS * 4)
            assert heard.count("ToolListChangedNotification") == 1
            assert await called(client, "mcp__plain__add", a=1, b=2) == (False, "3")

    play(scenario)


def test_fifty_calls_at_once_each_get_their_own_answer() -> None:
    async def scenario() -> None:
        async with proxied(ALL, script("plain")) as (client, _):
            sums: dict[int, str] = {}

            async def add(number: int) -> None:
                sums[number] = (await called(client, "mcp__plain__add", a=number, b=1))[1]

            async with anyio.create_task_group() as group:
                for number in range(50):
                    group.start_soon(add, number)
            assert sums == {number: str(number + 1) for number in range(50)}

    play(scenario)


def test_a_client_that_says_where_turns_begin_gets_a_selection_for_them() -> None:
    async def scenario() -> None:
        async with proxied(ProxySettings("semantic(k=1)", "lexical"), script("plain")) as (client, _):
            assert "mcp__plain__add" in await listed(client, meta={TURN_KEY: "add two numbers"})
            assert "mcp__plain__wait" in await listed(client, meta={TURN_KEY: "answer late"})

    play(scenario)


@asynccontextmanager
async def over_http(*servers: ServerConfig) -> AsyncIterator[str]:
    """Yield the URL of a proxy that is served on a free port."""
    listener = listening("127.0.0.1", 0)
    async with opened(hosting(*servers), LAZY, silent) as proxy, anyio.create_task_group() as group:
        group.start_soon(serve_http, proxy, listener, TOKEN)
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/mcp"
        group.cancel_scope.cancel()


@asynccontextmanager
async def client_of(url: str, mode: Any = "auto") -> AsyncIterator[Client]:
    head = {"Authorization": f"Bearer {TOKEN}"}
    async with httpx2.AsyncClient(headers=head, timeout=60) as http:
        client = Client(streamable_http_client(url, http_client=http), mode=mode)
        async with client:
            yield client


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_what_one_http_client_found_is_not_found_for_another(mode: Any) -> None:
    async def scenario() -> None:
        async with over_http(script("plain")) as url, client_of(url, mode) as one, client_of(url, mode) as other:
            mine, theirs = {SESSION_KEY: "one"}, {SESSION_KEY: "other"}
            await called(one, "tools_search", mine, query="add two numbers")
            assert await called(one, "mcp__plain__add", mine, a=1, b=2) == (False, "3")
            failed, text = await called(other, "mcp__plain__add", theirs, a=1, b=2)
            assert failed and json.loads(text)["error"] == "not_found_yet"

    play(scenario)


@pytest.mark.parametrize("head", [{}, {"Authorization": "Bearer wrong"}, {"Authorization": TOKEN}])
def test_http_without_the_token_is_refused(head: dict[str, str]) -> None:
    async def scenario() -> None:
        async with over_http(script("plain")) as url, httpx2.AsyncClient() as http:
            body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
            answer = await http.post(url, json=body, headers=head)
            assert answer.status_code == 401 and "tools" not in answer.text

    play(scenario)


def test_a_page_of_another_site_cannot_use_a_loopback_proxy() -> None:
    async def scenario() -> None:
        async with over_http(script("plain")) as url, httpx2.AsyncClient() as http:
            head = {"Authorization": f"Bearer {TOKEN}", "Origin": "http://evil.example", "Host": "evil.example"}
            answer = await http.post(url, json={"jsonrpc": "2.0", "id": 1, "method": "tools/list"}, headers=head)
            assert answer.status_code in (403, 421)

    play(scenario)


def served(folder: Path, *more: str) -> StdioServerParameters:
    """Return how a host starts the command in front of two servers, one of which has a secret."""
    config = folder / "host.toml"
    one = script("plain")
    config.write_text(
        f'[tools]\nselector = "lazy"\n[mcp_servers.plain]\ncommand = "{one.command}"\nargs = ["{one.args[0]}"]\n'
        f'env = {{ SECRET_KEY = "{SECRET}" }}\n[mcp_servers.gone]\ncommand = "no-such-command"\n',
        encoding="utf-8",
    )
    command = ["-m", "toolkit", "serve", "--config", str(config), "--retriever", "lexical", *more]
    return StdioServerParameters(command=sys.executable, args=command, env={**os.environ})


def test_the_command_s_recording_runs_again_and_no_secret_is_in_what_it_writes(tmp_path: Path) -> None:
    async def scenario() -> None:
        server = served(tmp_path, "--record", str(tmp_path / "kept"), "--log", str(tmp_path / "log"))
        with (tmp_path / "said").open("w") as said:
            async with Client(stdio_client(server, errlog=said)) as client:
                await called(client, "tools_search", query="fail and quote")
                assert (await called(client, "tools_call", name="mcp.plain.fail", arguments={}))[0]
                assert (await called(client, "tools_search", query=f"what opens with {SECRET}?"))[1]

    play(scenario)
    (path,) = (tmp_path / "kept").iterdir()
    (read,) = load_sessions(path)
    assert rerun([read]).differences == () and rerun([read]).verdicts
    assert "gone: not_found" in (tmp_path / "said").read_text("utf-8")
    assert SECRET not in (tmp_path / "log").read_text("utf-8") + (tmp_path / "said").read_text("utf-8")
    events = [json.loads(line)["event"] for line in (tmp_path / "log").read_text("utf-8").splitlines()]
    assert events == ["offer", "search", "call", "search", "end"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--policy", "mcp.*"], "PATTERN=allow"),
        (["--policy", "mcp.*=maybe"], "PATTERN=allow"),
        (["--selector", "lazi"], "lazy"),
        (["--config", "no-such-file.toml"], "no-such-file.toml"),
        (["--retriever", "lexica"], "lexical"),
    ],
)
def test_wrong_options_end_it_before_any_server_is_started(tmp_path: Path, options: list[str], said: str) -> None:
    server = served(tmp_path, *options)
    ran = subprocess.run([server.command, *server.args], capture_output=True, text=True, timeout=60, input="")
    assert ran.returncode == 2 and said in ran.stderr and "Traceback" not in ran.stderr
    assert "plain:" not in ran.stderr


def test_a_port_that_is_taken_is_told(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        server = served(tmp_path, "--http", str(taken.getsockname()[1]))
        ran = subprocess.run([server.command, *server.args], capture_output=True, text=True, timeout=60)
    assert ran.returncode == 2 and "cannot listen on 127.0.0.1" in ran.stderr
