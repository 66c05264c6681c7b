"""The command line: `toolkit COMMAND`; every command has `--help` with an example."""

from __future__ import annotations

import errno
import os
import sys
import traceback
import warnings
from collections.abc import Sequence
from typing import Any

import typer

from toolkit import __version__
from toolkit.commands import (
    break_even,
    cache,
    catalog,
    compare,
    conformance,
    convert,
    count,
    datasets,
    diagnose,
    doctor,
    encoder_fit,
    fit,
    inspect,
    rank_eval,
    rank_fit,
    report,
    search,
    selector_server,
    serve,
)
from toolkit.errors import ToolkitError, ToolkitWarning, why

DONE, NO, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130
_SHOW = warnings.showwarning
UsageError: type[Any] = next(kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException")
"""What wrong usage raises: newer versions of typer carry a click of their own."""

app = typer.Typer(
    name="toolkit",
    help="The research toolkit for tool selectors of LLM agents.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)
SINGLE = (
    *(compare, search, rank_eval, rank_fit, encoder_fit, count),
    *(break_even, diagnose, fit, inspect, convert, report, serve, selector_server, cache, doctor),
)
for module in SINGLE:
    app.command(module.NAME)(module.command)
app.add_typer(catalog.app, name=catalog.NAME)
app.add_typer(conformance.app, name=conformance.NAME)
app.add_typer(datasets.app, name=datasets.NAME)


@app.callback(invoke_without_command=True)
def _top(
    version: bool = typer.Option(False, "--version", help="Print the version."),
    debug: bool = typer.Option(False, "--debug", help="Show the traceback of an error."),
) -> None:
    if debug:
        os.environ["TOOLKIT_DEBUG"] = "1"
    if version:
        typer.echo(__version__)
        raise typer.Exit


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; return its exit status: 0 done, 1 the answer is no, 2 bad input, 130 interrupted."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    end = arguments.index("--") if "--" in arguments else len(arguments)
    if "--debug" in arguments[:end]:
        arguments = ["--debug", *(one for one in arguments[:end] if one != "--debug"), *arguments[end:]]
    warnings.showwarning = _warned
    try:
        status = app(arguments, prog_name="toolkit", standalone_mode=False)
        return _interrupted(arguments) if status == INTERRUPTED else status if isinstance(status, int) else DONE
    except typer.Exit as stop:
        return stop.exit_code
    except UsageError as error:
        return _misused(error)
    except ToolkitError as error:
        return _fail(str(error), error)
    except (KeyboardInterrupt, typer.Abort):
        return _interrupted(arguments)
    except BrokenPipeError:
        sys.stderr.close()
        return DONE
    except OSError as error:
        return _fail(_said(error), error)


def _warned(message: Any, category: type[Warning], *where: Any, **more: Any) -> None:
    """Show a warning of our own in one line, and any other as Python does."""
    if issubclass(category, ToolkitWarning):
        sys.stderr.write(f"toolkit: {message}\n")
    else:
        _SHOW(message, category, *where, **more)


def _interrupted(arguments: Sequence[str]) -> int:
    """Say what a second run would do: only a comparison keeps its finished parts."""
    command = next((one for one in arguments if not one.startswith("-")), "")
    kept = "What was finished is kept."
    sys.stderr.write(f"Interrupted. {kept if command == compare.NAME else 'The same command starts anew.'}\n")
    return INTERRUPTED


def _misused(error: Any) -> int:
    """Say what is wrong with the usage and where help stands; without any word the help itself is what to say."""
    said = error.format_message()
    if said.startswith("Usage:"):
        sys.stderr.write(f"{said}\n")
        return BAD_INPUT
    path = error.ctx.command_path if getattr(error, "ctx", None) else "toolkit"
    return _fail(f"{said} See {path} --help.", error)


def _said(error: OSError) -> str:
    """Name the file that could not be opened, read or written, and say why and what to do."""
    place = error.filename2 or error.filename
    return f"{f'{place}: ' if place is not None else ''}{why(error)}. {_TO_DO.get(error.errno or 0, '')}".rstrip()


_TO_DO = {
    errno.ENOENT: "Check the path.",
    errno.EACCES: "Check who may read and write there.",
    errno.EPERM: "Check who may read and write there.",
    errno.EROFS: "Give another place.",
    errno.EISDIR: "Give a file.",
    errno.ENOTDIR: "Give another path.",
    errno.ENOSPC: "Make room, or give another place.",
}


def _fail(message: str, error: Exception) -> int:
    if os.environ.get("TOOLKIT_DEBUG"):
        traceback.print_exception(error)
    sys.stderr.write(f"toolkit: {message}\n")
    return BAD_INPUT
