"""`toolkit catalog`: catalogs of tools, recorded from the servers of a host's file."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Optional

import typer

from toolkit.commands.options import Force
from toolkit.commands.output import PICTURE, check_file, print_json, print_table, tell_problems
from toolkit.errors import InputError, counted

if TYPE_CHECKING:
    from toolkit.hosts.mcp_reports import ServerReport, ServersListing
    from toolkit.tool import Catalog

NAME = "catalog"
app = typer.Typer(help="Record catalogs of tools, and see what they cost.", no_args_is_help=True, rich_markup_mode=None)


@app.callback()
def _group() -> None:
    """Catalogs of tools."""


@app.command("record")
def record(
    config: Annotated[Path, typer.Option(help="A host's TOML with [mcp_servers.<name>], or JSON with mcpServers.")],
    out: Annotated[Path, typer.Option(help="The catalog to write, a .jsonl file.")],
    force: Force = False,
    json: Annotated[bool, typer.Option("--json", help="Print a list of rows as JSON instead of a table.")] = False,
) -> None:
    """Start the MCP servers of a host's file, ask for all pages of their tools, and write a catalog.

    Exit status 1 when a server failed; the tools of the others are written all the same. When no server
    answers, nothing is written.

    Example: toolkit catalog record --config host.toml --out tools.jsonl
    """
    from toolkit.config import read_config
    from toolkit.formats.catalogs.write import check_catalog_path, write_catalog
    from toolkit.hosts.mcp_servers import list_tools
    from toolkit.hosts.servers_json import read_servers

    host = read_servers(config) if config.suffix == ".json" else read_config(config)
    if not host.enabled:
        raise InputError(
            f"{config} names no MCP server to start.", hint="Expected [mcp_servers.<name>] with command or url."
        )
    check_catalog_path(out)
    check_file(out, b'"name"', force)
    typer.echo(f"Starting {counted(len(host.enabled), 'MCP server')} …", err=True)
    with _ended_like_an_interruption():
        listing = list_tools(host, _tell)
    written = len(listing.failed) < len(host.enabled)
    if written:
        write_catalog(_unique(listing), out)
    _print(listing, json)
    typer.echo(
        f"{out}: {counted(len(listing.tools), 'tool')}." if written else "No server answered: nothing is written.",
        err=True,
    )
    if listing.failed:
        raise typer.Exit(1)


@contextmanager
def _ended_like_an_interruption() -> Iterator[None]:
    """Take a request to terminate like Ctrl-C, so that the servers are ended too."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@app.command("cost")
def cost(
    files: Annotated[list[Path], typer.Argument(help="Catalog files.")],
    model: Annotated[str, typer.Option(help="The model whose tokens count, e.g. gpt-5, claude-sonnet-4-5.")] = "gpt-5",
    provider: Annotated[str, typer.Option(help="Who serves it, where that changes the rules.")] = "",
    api: Annotated[str, typer.Option(help="The API, where that changes the rules.")] = "",
    tools: Annotated[int, typer.Option(min=0, help="Show so many of the costliest tools.")] = 10,
    plot: Annotated[Optional[Path], typer.Option(help="Write a bar chart (.png, .svg) of the servers.")] = None,
    force: Force = False,
    json: Annotated[bool, typer.Option("--json", help="Print a list of rows as JSON instead of a table.")] = False,
) -> None:
    """Say what each server and tool costs on every pass that declares it.

    Example: toolkit catalog cost datasets/mcp-servers/tools.jsonl --model claude-sonnet-4-5
    """
    from toolkit.formats.catalogs.load import load_catalog
    from toolkit.prices.known import check_model
    from toolkit.tokens.catalog_cost import by_server, costs

    if said := check_model(model, provider or None, api or None):
        typer.echo(f"note: {said}", err=True)
    if plot is not None:
        check_file(plot, PICTURE, force)
    catalog = load_catalog(*files)
    tell_problems(catalog.problems)
    found = costs(catalog, model, provider, api)
    if plot is not None:
        from toolkit.report.plots import save, server_costs

        save(server_costs(by_server(found), found.counter), plot)
    if json:
        print_json(found.rows)
        return
    print_table(("server", "tools", "tokens", "share"), by_server(found))
    typer.echo()
    print_table(("tool", "tokens"), [(row["name"], row["tokens"]) for row in found.rows[:tools]])
    once = f"{found.overhead} of them once"
    typer.echo(f"\n{found.total:,} tokens on every pass that declares all of {counted(len(catalog), 'tool')}, {once}.")
    typer.echo(f"Counter: {found.counter} ({found.method}; {found.low:,} to {found.high:,}).")


def _tell(report: ServerReport) -> None:
    said = counted(len(report.tools), "tool") if report.state == "ok" else report.state
    typer.echo(f"  {report.name}: {said}" + f": {report.error}" * bool(report.error), err=True)


def _unique(listing: ServersListing) -> Catalog:
    """Return the tools by name; of two with one name the first stays (V7), the other is told of."""
    from toolkit.tool import Catalog

    catalog = Catalog(listing.tools)
    for tool in catalog.dropped:
        typer.echo(f"  {tool.name} is listed twice; the first stays.", err=True)
    return catalog


def _print(listing: ServersListing, json: bool) -> None:
    rows = [
        {"server": one.name, "state": one.state, "tools": len(one.tools), "error": one.error} for one in listing.reports
    ]
    if json:
        print_json(rows)
    else:
        print_table(list(rows[0]), [list(row.values()) for row in rows])
