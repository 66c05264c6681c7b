"""Real servers for the tests: how each script is started, and waiting until something is so."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio

from toolkit.hosts.config import HostConfig, ServerConfig

SECRET = "s3cr3t-of-the-test"
SCRIPTS = Path(__file__).parent / "servers"
PATIENCE = 60.0


def script(name: str, *args: str, called: str = "", **options: Any) -> ServerConfig:
    """Return the configuration of one of the server scripts, with a time-out that a busy machine keeps."""
    options = {"startup_timeout_sec": PATIENCE, "env": {"SECRET_KEY": SECRET}, **options}
    return ServerConfig(called or name, sys.executable, (str(SCRIPTS / f"{name}.py"), *args), **options)


def hosting(*servers: ServerConfig) -> HostConfig:
    return HostConfig(servers=servers)


@contextmanager
def over_http() -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """Run the plain server on a free port of 127.0.0.1; yield its URL and its process."""
    command = [sys.executable, str(SCRIPTS / "plain.py"), "--http"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield f"http://127.0.0.1:{int(process.stdout.readline())}/mcp", process
        finally:
            process.kill()


async def until(so: Callable[[], object]) -> None:
    """Wait until something is so."""
    with anyio.fail_after(PATIENCE):
        while not so():
            await anyio.sleep(0.02)


def gone(process_id: int) -> bool:
    """Tell whether a process ends within a while."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        try:
            os.kill(process_id, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.05)
    return False
