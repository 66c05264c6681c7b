"""Kept servers feed a host: their tools, their changes, their death in mid-turn and their return (B2, B4)."""

from __future__ import annotations

import os
import signal
import threading
import time

import anyio
import pytest

from tests.hosts.running import gone, hosting, over_http, script, until
from toolkit import Host
from toolkit.errors import UnknownNameError
from toolkit.hosts.changes import Change, Mailbox, feeding
from toolkit.hosts.config import ServerConfig
from toolkit.hosts.mcp_servers import McpServers
from toolkit.tool import Tool

NUMBERS, WORDS = {"a": 20, "b": 22}, {"q": ""}


def test_a_server_that_dies_in_mid_call_is_unavailable_and_the_others_go_on() -> None:
    async def scenario() -> None:
        host = Host([])
        servers = hosting(script("handshake", called="mortal"), script("handshake", deferred=True), script("quits"))
        async with McpServers(servers, feeding(host), retry_after=()) as running:
            assert [one.state for one in running.reports] == ["ok", "ok", "ended"]
            assert host.state.down == {"quits"}
            turn = host.start_turn("grow")
            assert turn.declared == ("tools.search", "mcp.mortal.die", "mcp.mortal.grow")
            assert turn.searchable == ("mcp.handshake.die", "mcp.handshake.grow")
            request = turn.start_pass()
            assert request.call("mcp.mortal.grow", WORDS).code == "ok"
            died = await running.call("mortal", "die")
            assert died.code == "unavailable" and "'mortal'" in died.text
            assert request.call("mcp.mortal.grow", WORDS).code == "unavailable"
            assert "mcp.mortal.grow" in turn.declared
            assert (await running.call("mortal", "grow", WORDS)).code == "unavailable"
            assert (await running.call("handshake", "grow", WORDS)).code == "ok"
            after = host.start_turn("again")
            assert after.declared == ("tools.search",)
            assert "mcp.handshake.grow" in after.searchable
            assert {tool.source for tool in running.tools} == {"mcp:handshake"}

    anyio.run(scenario)


def test_a_killed_server_that_comes_back_within_the_turn_is_callable_again() -> None:
    async def scenario() -> None:
        host, heard = Host([]), list[Change]()

        def listen(change: Change) -> None:
            heard.append(change)
            change.apply(host)

        async with McpServers(hosting(script("handshake")), listen, retry_after=[0.05] * 5) as running:
            turn = host.start_turn("call")
            process = int((await running.call("handshake", "grow", WORDS)).text)
            os.kill(process, signal.SIGKILL)
            await until(lambda: any(change.kind == "up" for change in heard))
            assert turn.start_pass().call("mcp.handshake.grow", WORDS).code == "ok"
            again = await running.call("handshake", "grow", WORDS)
            assert again.code == "ok" and int(again.text) != process
        kinds = [change.kind for change in heard]
        assert kinds.index("tools") < kinds.index("down") < kinds.index("up")
        assert kinds.count("down") == kinds.count("up") == 1

    anyio.run(scenario)


def test_changed_lists_are_heard_over_every_transport_and_wait_for_the_boundary() -> None:
    async def scenario() -> None:
        with over_http() as (url, _):
            host = Host([])
            web = ServerConfig("web", url=url, startup_timeout_sec=60)
            async with McpServers(hosting(script("plain"), script("handshake"), web), feeding(host)) as running:
                turn = host.start_turn("grow")
                for name in ("plain", "handshake", "web"):
                    assert (await running.call(name, "grow", WORDS if name == "handshake" else None)).code == "ok"
                late = {"mcp.plain.extra", "mcp.handshake.late", "mcp.web.extra"}
                await until(lambda: late <= {tool.name for tool in running.tools})
                assert not late & set(turn.declared)
                assert late <= set(host.start_turn("next").declared)

    anyio.run(scenario)


def test_a_server_over_http_that_is_killed_in_mid_call_is_unavailable() -> None:
    async def scenario() -> None:
        with over_http() as (url, process):
            host = Host([])
            web = ServerConfig("web", url=url, startup_timeout_sec=60)
            async with McpServers(hosting(web), feeding(host), retry_after=()) as running:
                turn = host.start_turn("wait")

                async def kill() -> None:
                    await anyio.sleep(0.3)
                    process.kill()

                async with anyio.create_task_group() as group:
                    group.start_soon(kill)
                    answer = await running.call("web", "wait", {"seconds": 50})
                assert answer.code == "unavailable"
                assert turn.start_pass().call("mcp.web.wait", {"seconds": 1}).code == "unavailable"
                assert host.start_turn("next").declared == ()

    anyio.run(scenario)


def test_a_call_has_a_time_limit_and_an_error_of_its_own_and_neither_ends_the_server() -> None:
    async def scenario() -> None:
        async with McpServers(hosting(script("plain", tool_timeout_sec=3))) as running:
            late = await running.call("plain", "wait", {"seconds": 50})
            assert late.code == "timed_out" and "3 s" in late.text
            assert (await running.call("plain", "fail")).code == "error"
            assert (await running.call("plain", "add", {"a": "x"})).code == "error"
            assert (await running.call("plain", "add", NUMBERS)).text == "42"
            with pytest.raises(UnknownNameError, match="plain"):
                await running.call("plane", "add", NUMBERS)

    anyio.run(scenario)


def test_an_error_inside_the_context_comes_out_as_it_is_and_ends_the_servers() -> None:
    seen: list[int] = []

    async def scenario() -> None:
        async with McpServers(hosting(script("handshake"))) as running:
            seen.append(int((await running.call("handshake", "grow", WORDS)).text))
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        anyio.run(scenario)
    assert gone(seen[0])


def test_a_mailbox_hands_changes_to_a_host_in_another_thread_in_order() -> None:
    mailbox, tool = Mailbox(), Tool("mcp.s.t", "", {})
    told = [Change("s", "tools", (tool,)), Change("s", "down"), Change("s", "up"), Change("s", "tools", ())]

    def server() -> None:
        for change in told:
            mailbox(change)
            time.sleep(0.001)

    thread = threading.Thread(target=server)
    thread.start()
    thread.join()
    host = Host([])
    assert mailbox.deliver(host) == 4 and mailbox.deliver(host) == 0
    assert host.state.down == frozenset() and host.start_turn("x").declared == ()
