"""`toolkit selector-server`: a selector and `tools.search` over stdio, for hosts in any language."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

from toolkit.commands.options import Force
from toolkit.commands.output import check_file

NAME = "selector-server"


def command(
    selector: Annotated[Optional[str], typer.Option(help="A selector's spec; rule S1 without one.")] = None,
    retriever: Annotated[Optional[str], typer.Option(help="What searches rank with; the best one installed.")] = None,
    model: Annotated[Optional[str], typer.Option(help="Whose tokens and prices selectors are told of.")] = None,
    time_limit: Annotated[float, typer.Option(min=0.001, help="Seconds an answer may take without deadline_ms.")] = 5.0,
    schema: Annotated[Optional[Path], typer.Option(help="Write the contract's JSON Schema there, and end.")] = None,
    force: Force = False,
) -> None:
    """Answer JSON-RPC 2.0, one message a line: initialize, select, search, describe, shutdown.

    Example: toolkit selector-server --selector "semantic(k=8)" --retriever lexical
    """
    from toolkit.serving.contract import schema_text
    from toolkit.serving.rpc import pipes, serve
    from toolkit.serving.selector_server import SelectorServer

    if schema is not None:
        check_file(schema, b"selector-server", force)
        schema.write_text(schema_text(), encoding="utf-8")
        return
    server = SelectorServer(selector, retriever, model, time_limit)
    with pipes() as (reading, writing):
        serve(server, reading, writing, lambda: server.ended)
