"""Every example in a docstring gives what it says."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
from collections.abc import Iterator

import pytest

import toolkit
from toolkit.errors import ToolkitError

HEAVY = {"torch", "sentence_transformers", "pandas", "matplotlib", "jinja2", "mcp", "scipy", "tomli_w", "pyarrow"}
RUNS_AT_IMPORT = {"toolkit.__main__"}


def modules() -> Iterator[str]:
    names = (found.name for found in pkgutil.walk_packages(toolkit.__path__, "toolkit.", onerror=lambda name: None))
    yield from sorted({"toolkit", *names} - RUNS_AT_IMPORT)


@pytest.mark.parametrize("name", modules())
def test_the_examples_of_a_module_give_what_they_say(name: str) -> None:
    try:
        module = importlib.import_module(name)
    except ToolkitError as missing:
        pytest.skip(str(missing))
    except ModuleNotFoundError as missing:
        if (missing.name or "").partition(".")[0] not in HEAVY:
            raise
        pytest.skip(f"needs {missing.name}")
    assert doctest.testmod(module).failed == 0
