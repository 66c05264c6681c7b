"""Listing once: every way in which a server can answer or fail is reported, and the others go on."""

from __future__ import annotations

import asyncio
import importlib.util
import logging

import pytest

from tests.hosts.running import SECRET, hosting, over_http, script
from toolkit.errors import MissingExtraError
from toolkit.hosts.config import ServerConfig
from toolkit.hosts.mcp_reports import ServerReport, ServersListing
from toolkit.hosts.mcp_servers import McpServers, list_tools

TOLD: list[str] = []


@pytest.fixture(scope="module")
def listing() -> ServersListing:
    servers = (
        script("handshake"),
        script("handshake", "--endless", called="endless"),
        script("handshake", "--broken", called="broken"),
        script("rubbish", startup_timeout_sec=4),
        script("rubbish", "--once", called="babbler"),
        script("mute", startup_timeout_sec=1.5),
        script("quits"),
        script("handshake", called="disabled", enabled=False),
        ServerConfig("absent", "no-such-command-anywhere"),
        ServerConfig("nobody", url=f"http://user:{SECRET}@127.0.0.1:9/mcp"),
    )
    return list_tools(hosting(*servers), lambda report: TOLD.append(report.name))


def report(listing: ServersListing, name: str) -> ServerReport:
    return next(one for one in listing.reports if one.name == name)


def test_reports_stand_in_the_order_of_the_file_and_each_server_is_told_of(listing: ServersListing) -> None:
    names = [one.name for one in listing.reports]
    assert names[0] == "handshake" and names[-1] == "nobody"
    assert sorted(TOLD) == sorted(set(names) - {"disabled"})


@pytest.mark.parametrize(
    ("name", "state", "words"),
    [
        ("endless", "failed", "same next page twice"),
        ("broken", "failed", "not what the protocol says"),
        ("rubbish", "rubbish", "no JSON-RPC: 'starting with key *** ...'"),
        ("babbler", "rubbish", "it ended. It printed on standard output"),
        ("mute", "timed_out", "within 1.5 s (startup_timeout_sec)"),
        ("quits", "ended", "cannot log in with ***"),
        ("absent", "not_found", "'no-such-command-anywhere'"),
        ("nobody", "ended", "nothing answers at http://***@127.0.0.1:9/mcp"),
    ],
)
def test_a_server_that_fails_is_reported(listing: ServersListing, name: str, state: str, words: str) -> None:
    found = report(listing, name)
    assert (found.state, found.tools) == (state, ())
    assert words in found.error
    assert found in listing.failed


@pytest.mark.parametrize(("name", "state", "tools"), [("handshake", "ok", 2), ("disabled", "off", 0)])
def test_the_others_are_listed_whole(listing: ServersListing, name: str, state: str, tools: int) -> None:
    found = report(listing, name)
    assert (found.state, len(found.tools), found.error) == (state, tools, "")


def test_all_pages_over_every_transport_are_named_flagged_and_in_canonical_order() -> None:
    with over_http() as (url, _):
        web = ServerConfig("web", url=url, headers={"Authorization": f"Bearer {SECRET}"}, startup_timeout_sec=60)
        lost = ServerConfig("lost", url=url.replace("/mcp", f"/nothing?key={SECRET}"), startup_timeout_sec=60)
        listing = list_tools(hosting(web, lost, script("paged", deferred=True)))
    names = [tool.name for tool in listing.tools]
    assert names == sorted(names) and len(names) == 5 + 6
    assert names[0] == "mcp.paged.tool_01" and names[-1] == "mcp.web.wait"
    assert all(tool.deferred == (tool.source == "mcp:paged") for tool in listing.tools)
    assert report(listing, "lost").error.startswith("it answered HTTP 404")
    assert SECRET not in repr(listing)


def test_a_definition_keeps_the_key_order_its_server_gave(listing: ServersListing) -> None:
    grow = next(tool for tool in listing.tools if tool.name == "mcp.handshake.grow")
    assert grow.schema_text.startswith('{"required":["q"],"properties":{"q":{"description":"ü","type":"string"}}')
    assert grow.read_only and grow.source == "mcp:handshake"


def test_no_report_holds_a_secret(listing: ServersListing) -> None:
    assert SECRET not in repr(listing)


def test_no_log_holds_a_secret(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        list_tools(hosting(script("rubbish", "--once"), script("quits")))
    assert any("parse" in record.getMessage() for record in caplog.records)
    assert SECRET not in caplog.text


def test_listing_works_inside_a_running_loop_as_in_a_notebook() -> None:
    async def cell() -> ServersListing:
        return list_tools(hosting(script("handshake")))

    assert len(asyncio.run(cell()).tools) == 2


def test_without_the_sdk_the_error_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("toolkit.errors.find_spec", lambda name: None)
    for attempt in (list_tools, McpServers):
        with pytest.raises(MissingExtraError, match=r"selector-toolkit\[mcp\]"):
            attempt(hosting())
    assert importlib.util.find_spec("mcp") is not None
