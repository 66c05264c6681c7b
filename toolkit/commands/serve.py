"""`toolkit serve`: one MCP server in front of many; the selector decides what a client is shown."""

from __future__ import annotations

import os
import secrets
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Optional

import typer

from toolkit.commands.output import check_file
from toolkit.errors import InputError, need

if TYPE_CHECKING:
    from toolkit.hosts.config import HostConfig
    from toolkit.serving.proxy_session import ProxySettings

NAME = "serve"
TOKEN = "TOOLKIT_SERVE_TOKEN"


def command(
    config: Annotated[Path, typer.Option(help="The host's TOML: [mcp_servers], and [tools] selector.")],
    selector: Annotated[Optional[str], typer.Option(help="A selector's spec, in the place of the file's.")] = None,
    retriever: Annotated[Optional[str], typer.Option(help="What tools_search ranks with.")] = None,
    scope: Annotated[Optional[list[str]], typer.Option(help="Only tools of this pattern. Repeatable.")] = None,
    policy: Annotated[
        Optional[list[str]], typer.Option(help="PATTERN=allow, ask or deny; the last match decides. Repeatable.")
    ] = None,
    hide: Annotated[Optional[list[str]], typer.Option(help="Hide tools of this pattern. Repeatable.")] = None,
    http: Annotated[Optional[int], typer.Option(min=0, max=65535, help="Serve HTTP on this port, not stdio.")] = None,
    bind: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    record: Annotated[Optional[Path], typer.Option(help="A folder for the sessions, which compare reads.")] = None,
    log: Annotated[Optional[Path], typer.Option(help="A file for offers, searches and calls, a line each.")] = None,
    call_tool: Annotated[bool, typer.Option("--call-tool/--no-call-tool", help="Declare tools_call too.")] = True,
) -> None:
    """Serve the tools of the file's MCP servers as one: some declared, the rest behind tools_search.

    Over HTTP a client needs the bearer token of the environment variable TOOLKIT_SERVE_TOKEN; without one it
    is drawn and printed on standard error.

    Example: toolkit serve --config host.toml --selector "semantic(k=8)" --policy "mcp.github.delete_*=deny"
    """
    need("mcp")
    from functools import partial

    import anyio

    from toolkit.hosts.config import read_config
    from toolkit.search.shared import searcher
    from toolkit.selectors.registry import resolve
    from toolkit.serving.over_http import listening
    from toolkit.serving.running import logging_to, run

    known = read_config(config)
    if not known.enabled:
        raise InputError(f"{config} has no MCP server that is enabled.", hint="Expected [mcp_servers.<name>].")
    settings = _settings(known, selector, retriever, scope, policy, hide, call_tool)
    searcher(retriever)
    if settings.selector is not None:
        resolve(settings.selector)
    if log is not None:
        check_file(log, b'"event"')
    listener, token = (None, "") if http is None else (listening(bind, http), _token())
    if record is not None:
        record.mkdir(parents=True, exist_ok=True)
    with (log or Path(os.devnull)).open("a", encoding="utf-8") as file:
        if listener is not None:
            sys.stderr.write(f"http://{bind}:{listener.getsockname()[1]}/mcp\n")
        anyio.run(partial(run, known, settings, logging_to(file, known), record, listener, token))


def _settings(
    known: HostConfig,
    selector: str | None,
    retriever: str | None,
    scope: list[str] | None,
    policy: list[str] | None,
    hide: list[str] | None,
    call_tool: bool,
) -> ProxySettings:
    from toolkit.serving.proxy_session import ProxySettings

    return ProxySettings(
        selector=selector or known.selector,
        retriever=retriever,
        selector_table={} if selector else known.selector_table,
        scope=tuple(scope) if scope else None,
        policy=tuple(map(_pair, policy or ())),
        hide=tuple(hide or ()),
        call_tool=call_tool,
    )


def _pair(text: str) -> tuple[str, str]:
    pattern, equals, verdict = text.rpartition("=")
    if not equals or not pattern or verdict not in ("allow", "ask", "deny"):
        raise InputError(f"--policy must be PATTERN=allow, ask or deny, not {text!r}.")
    return pattern, verdict


def _token() -> str:
    given = os.environ.get(TOKEN, "").strip()
    if given:
        return given
    drawn = secrets.token_urlsafe(24)
    sys.stderr.write(f"Bearer token: {drawn}\n")
    return drawn
