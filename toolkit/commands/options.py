"""The options that commands share, out of the one list that `compare` takes too."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Optional, get_origin

import typer

from toolkit.experiment.comparison.options import OPTIONS, held

Recorded = Annotated[list[Path], typer.Argument(help="Session files (.json, .jsonl, .gz, .zst) or folders of them.")]
Limit = Annotated[Optional[int], typer.Option(min=1, help="Read at most so many sessions.")]
Json = Annotated[bool, typer.Option("--json", help="Print a list of rows as JSON, one object a line of the table.")]
Force = Annotated[bool, typer.Option("--force", help="Write there, whatever it holds.")]


def taking(*names: str, **defaults: Any) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command options of `OPTIONS` in the place of its `**options`, and of parameters of the same name.

    Args:
        names: Their names.
        defaults: Name → what it is here when it is not given; otherwise as its value holds it.
    """

    def put(command: Callable[..., None]) -> Callable[..., None]:
        every = inspect.signature(command, eval_str=True).parameters.values()
        own = [one for one in every if one.kind is not inspect.Parameter.VAR_KEYWORD and one.name not in names]
        given = [_parameter(name, defaults) for name in names]
        vars(command)["__signature__"] = inspect.Signature([*own[:1], *given, *own[1:]])
        command.__annotations__ = {one.name: one.annotation for one in (*own, *given)}
        return command

    return put


def _parameter(name: str, defaults: dict[str, Any]) -> inspect.Parameter:
    option, (kind, default) = OPTIONS[name], held(name)
    kind = option.typed or kind
    if get_origin(kind) is list:
        kind, default = Optional[kind], None
    info: Any = typer.Option(*option.flags, min=option.least, help=option.help)
    default = defaults.get(name, default)
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, info])
