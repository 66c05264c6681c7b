"""The command line as a whole: statuses, help, version, errors without tracebacks."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
import typer

from toolkit import __version__, cli
from toolkit.cli import BAD_INPUT, DONE, INTERRUPTED, NO, main
from toolkit.errors import InputError

COMMANDS = ("compare", "search", "inspect", "report", "doctor")


@pytest.fixture(autouse=True)
def _no_debug(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOOLKIT_DEBUG", "")


def raising(error: BaseException, monkeypatch: pytest.MonkeyPatch) -> int:
    def app(*_: Any, **__: Any) -> None:
        raise error

    monkeypatch.setattr(cli, "app", app)
    return main(["doctor"])


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_with_an_example(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([name, "--help"]) == DONE
    assert f"Example: toolkit {name}" in " ".join(capsys.readouterr().out.split())


def test_the_version_is_the_packages(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == DONE
    assert capsys.readouterr().out.strip() == __version__


@pytest.mark.parametrize("wrong", [["comparre"], ["compare"], ["compare", "--nothing"], ["doctor", "too", "much"]])
def test_wrong_usage_is_status_2_and_one_message(wrong: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(wrong) == BAD_INPUT
    told = capsys.readouterr()
    assert told.err.startswith("toolkit: ") and "Traceback" not in told.err and told.out == ""


@pytest.mark.parametrize(
    ("error", "status", "says"),
    [
        (InputError("it is bad.", hint="Do better."), BAD_INPUT, "toolkit: it is bad. Do better.\n"),
        (FileNotFoundError(2, "No such file", "a.b"), BAD_INPUT, "toolkit: a.b: no such file. Check the path.\n"),
        (OSError(28, "No space left on device", "a.b"), BAD_INPUT, "toolkit: a.b: no space left on device. Make room"),
        (OSError("odd"), BAD_INPUT, "toolkit: odd.\n"),
        (KeyboardInterrupt(), INTERRUPTED, "Interrupted. The same command starts anew.\n"),
        (typer.Abort(), INTERRUPTED, "Interrupted. The same command starts anew.\n"),
        (typer.Exit(1), NO, ""),
    ],
)
def test_an_error_is_a_status_and_a_message(
    error: BaseException, status: int, says: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert raising(error, monkeypatch) == status
    told = capsys.readouterr().err
    assert told.startswith(says) and "Traceback" not in told


@pytest.mark.parametrize("group", [[], ["catalog"], ["conformance"], ["datasets"]])
def test_a_group_without_a_command_shows_its_help(group: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(group) == BAD_INPUT
    assert capsys.readouterr().err.startswith(f"Usage: {' '.join(['toolkit', *group])} ")


def test_wrong_usage_says_where_help_stands(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["count"]) == BAD_INPUT
    assert capsys.readouterr().err == "toolkit: Missing argument 'files'. See toolkit count --help.\n"


def test_debug_shows_the_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["inspect", "nothing.jsonl", "--debug"]) == BAD_INPUT
    assert "Traceback" in capsys.readouterr().err


def test_the_module_runs_as_a_program_with_the_same_statuses() -> None:
    def ran(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([sys.executable, "-m", "toolkit", *arguments], capture_output=True, text=True)

    bad = ran("inspect", "nothing.jsonl")
    assert (bad.returncode, bad.stdout, bad.stderr) == (BAD_INPUT, "", "toolkit: nothing.jsonl does not exist.\n")
