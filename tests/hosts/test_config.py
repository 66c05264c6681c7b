"""A host's file: what it says, and what is said about each way to get it wrong (K1–K3, S8)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import tomli_w
from hypothesis import given, settings
from hypothesis import strategies as st

from toolkit import Host
from toolkit.errors import InputError
from toolkit.hosts.config import ConfigError, HostConfig, ServerConfig, read_config
from toolkit.selectors.registry import selector

WHOLE = """
title = "another table's business"

[tools]
selector = "semantic"

[tools.semantic]
k = 3

[mcp_servers.github]
command = "serve"
args = ["--fast"]
env = { TOKEN = "t0ken" }
deferred = true
startup_timeout_sec = 5

[mcp_servers."my web"]
url = "https://example.org/mcp"
headers = { Authorization = "Bearer x" }
enabled = false

[colours]
selectr = 3
"""


@selector("reads-its-table")
def reads_its_table(visible: Any, host: Any) -> dict[str, list[str]]:
    """Declare what the table says."""
    return {"declared": list(host.config["keep"]), "searchable": []}


@pytest.fixture
def read(tmp_path: Path) -> Any:
    def reading(text: str) -> HostConfig:
        (tmp_path / "host.toml").write_text(text, "utf-8")
        return read_config(tmp_path / "host.toml")

    return reading


def test_a_file_says_its_selector_and_servers_and_other_tables_are_left_alone(read: Any) -> None:
    config = read(WHOLE)
    assert config.selector == "semantic(k=3)"
    github, web = config.servers
    expected = ServerConfig("github", "serve", ("--fast",), {"TOKEN": "t0ken"}, deferred=True, startup_timeout_sec=5)
    assert github == expected
    assert (web.name, web.url, web.headers) == ("my web", "https://example.org/mcp", {"Authorization": "Bearer x"})
    assert config.enabled == (github,)


def test_without_the_tables_there_is_no_selector_and_no_server(read: Any) -> None:
    config = read("[other]\nx = 1\n")
    assert (config.selector, config.servers) == (None, ())


def test_a_selector_without_options_reads_its_table(read: Any) -> None:
    config = read("[tools]\nselector = 'reads-its-table'\n[tools.reads-its-table]\nkeep = ['builtin.a']\n")
    host = Host([], selector=config.selector, config=config.selector_table)
    assert config.selector_table == {"keep": ["builtin.a"]}
    assert host.start_turn("x").notices == ("selector_unknown_name:builtin.a",)


def test_no_value_of_a_secret_is_in_the_repr(read: Any) -> None:
    assert "t0ken" not in repr(read(WHOLE)) and "Bearer" not in repr(read(WHOLE))


SERVER = "[mcp_servers.github]\n"
WRONG = {
    "[tools]\nselectr = 'lazy'": ":2: [tools] has no key 'selectr'. Did you mean 'selector'?",
    "[tools]\nselector = 3": ":2: [tools] selector must be text such as 'lazy' or 'semantic(k=8)', not a whole number.",
    "\n[tools]\nselector = 'lasy'": ":3: [tools] selector: unknown selector 'lasy'. Did you mean 'lazy'? Known: all, ",
    "[tools]\nselector = 'lazy('": ":2: [tools] selector: 'lazy(' is not a spec.",
    "tools = 3": ":1: [tools] must be a table, not a whole number.",
    "[tools.semantc]\nk = 3": ":1: [tools] has no key 'semantc'. Did you mean 'semantic'?",
    "[tools]\nselector='semantic'\n[tools.semantic]\nl = 3": ":4: [tools.semantic] has no key 'l'.",
    "[tools]\nselector='semantic(4)'\n[tools.semantic]\nk = 3": ":4: [tools.semantic] k stands in [tools] selector",
    "mcp_servers = []": ":1: [mcp_servers] must be a table, not a list.",
    "[mcp_servers]\ngithub = 'x'": ":2: [mcp_servers.github] must be a table, not text.",
    SERVER + "comand = 'x'": ":2: [mcp_servers.github] has no key 'comand'. Did you mean 'command'? Valid keys: args,",
    SERVER + "command='x'\ndeferd = true": ":3: [mcp_servers.github] has no key 'deferd'. Did you mean 'deferred'?",
    SERVER + "command='x'\ndeferred = 'yes'": ":3: [mcp_servers.github] deferred must be true or false, not text.",
    SERVER
    + "command='x'\ndeferred = 1": ":3: [mcp_servers.github] deferred must be true or false, not a whole number.",
    SERVER + "command=' '": ":2: [mcp_servers.github] command must be the text of a command, not what came.",
    SERVER + "command=['x']": ":2: [mcp_servers.github] command must be the text of a command, not a list.",
    SERVER + "command='x'\nargs='y'": ":3: [mcp_servers.github] args must be a list of texts, not text.",
    SERVER + "command='x'\nargs=['y', 2]": ":3: [mcp_servers.github] args must be a list of texts; entry 2 is a whole",
    SERVER
    + "command='x'\n[mcp_servers.github.env]\nPORT = 80": ":4: [mcp_servers.github.env] PORT must be text, not a",
    SERVER + "command='x'\nenv='A=1'": ":3: [mcp_servers.github] env must be a table, not text.",
    SERVER + "command='x'\nstartup_timeout_sec=0": ":3: [mcp_servers.github] startup_timeout_sec must be a number of",
    SERVER + "command='x'\ntool_timeout_sec=inf": ":3: [mcp_servers.github] tool_timeout_sec must be a number of",
    SERVER + "command='x'\ntool_timeout_sec=true": "must be a number of seconds above 0, not true or false.",
    SERVER
    + "deferred = true": ":1: [mcp_servers.github] needs exactly one of command (stdio) and url (streamable HTTP)",
    SERVER + "command='x'\nurl='http://y'": ":3: [mcp_servers.github] needs exactly one of command (stdio) and url",
    SERVER
    + "url='ftp://y'": ":2: [mcp_servers.github] url must be a URL that begins with http:// or https://, not what",
    SERVER + "url='http://y'\nargs=[]": ":3: [mcp_servers.github] args goes with command, and this server has a url.",
    SERVER
    + "command='x'\nheaders={}": ":3: [mcp_servers.github] headers goes with url, and this server has a command.",
    '[mcp_servers."a b".x]\ny=1': "[mcp_servers.\"a b\"] has no key 'x'.",
    "[tools]\nselector 'lazy'": ":2:10 is no TOML. line 2, column 10: Expected '=' after a key",
    "[tools": "host.toml is no TOML. ",
}


@pytest.mark.parametrize("text", WRONG, ids=lambda text: text.replace("\n", " ")[:60])
def test_what_is_wrong_is_said_with_file_line_table_and_key(read: Any, text: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read(text)
    assert WRONG[text] in str(caught.value)
    assert "host.toml" in str(caught.value)


def test_no_error_about_a_secret_shows_it(read: Any) -> None:
    with pytest.raises(ConfigError) as caught:
        read(SERVER + "command='x'\nenv = { TOKEN = 12345678, OTHER = 'abcdefgh' }")
    assert "TOKEN" in str(caught.value) and "12345678" not in str(caught.value)


def test_a_file_that_is_not_there_or_no_text_is_an_error_of_input(tmp_path: Path) -> None:
    (tmp_path / "latin.toml").write_bytes(b"a = '\xff'")
    for name, words in {"none.toml": "No such file", "latin.toml": "no UTF-8", ".": "directory"}.items():
        with pytest.raises(InputError, match=words):
            read_config(tmp_path / name)


KEYS = ("command", "args", "env", "cwd", "deferred", "enabled", "startup_timeout_sec", "tool_timeout_sec")
VALUES = st.one_of(st.booleans(), st.integers(-9, 9), st.text("ab", max_size=3), st.lists(st.text("a", max_size=2)))


@settings(max_examples=50)
@given(table=st.dictionaries(st.one_of(st.sampled_from(KEYS), st.text("abc_ .\"'", min_size=1)), VALUES, max_size=5))
def test_any_table_is_read_or_refused_by_name(table: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("any") / "host.toml"
    path.write_text(tomli_w.dumps({"mcp_servers": {"s": table}}), "utf-8")
    try:
        (server,) = read_config(path).servers
    except ConfigError as error:
        assert str(path) in str(error) and "[mcp_servers.s" in str(error)
    else:
        assert set(table) <= set(KEYS) and server.command == table["command"]


@settings(max_examples=50)
@given(key=st.sampled_from(KEYS), place=st.integers(0, 20), letter=st.sampled_from("xyz"))
def test_a_misspelt_key_is_answered_with_the_key_that_was_meant(
    key: str, place: int, letter: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    wrong = key[: place % len(key)] + letter + key[place % len(key) :]
    path = tmp_path_factory.mktemp("misspelt") / "host.toml"
    path.write_text(f"[mcp_servers.s]\n\n{wrong} = 1\n", "utf-8")
    with pytest.raises(ConfigError) as caught:
        read_config(path)
    assert f":3: [mcp_servers.s] has no key {wrong!r}. Did you mean {key!r}?" in str(caught.value)
