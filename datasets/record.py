"""Record the data set `datasets/mcp-servers`: real MCP servers, a scripted agent, no model.

Needs `mcp>=2` and `tqdm`, and for the servers Python 3.11 or newer, Node.js 20 or newer and git:

    python datasets/record.py --install
    python datasets/record.py

The first command makes two virtual environments and a folder of npm packages under `--servers`, at the
exact versions of `datasets/servers.toml`. The second starts the servers, plays every session of
`datasets/scripts` against them and writes `tools.jsonl` and `sessions.atif.jsonl.gz`. Nothing is
written before the last session has ended; Ctrl-C stops the servers and leaves the files as they were.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from recorder import files, own_tools, world
from recorder.card import update_card
from recorder.catalog import Row, engine_name, read_words, server_rows
from recorder.errors import RecordError
from recorder.install import install
from recorder.own_rows import own_rows
from recorder.player import Player
from recorder.script import Script, read_scripts
from recorder.scrub import Scrubber
from recorder.servers import Place, Pool, read_specs
from recorder.stage import Stage
from tqdm import tqdm

HERE = Path(__file__).parent
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "toolkit-recorder"


def options(arguments: list[str] | None = None) -> argparse.Namespace:
    """Return the command line's options."""
    parser = argparse.ArgumentParser(
        description="Record datasets/mcp-servers: real MCP servers, a scripted agent, no model.",
        epilog="example:  python datasets/record.py --install && python datasets/record.py --only standup-three-zones",
    )
    parser.add_argument("--servers", type=Path, default=CACHE, help="where the servers are installed (%(default)s)")
    parser.add_argument("--install", action="store_true", help="install the servers there and stop")
    parser.add_argument("--out", type=Path, default=HERE / "mcp-servers", help="folder to write to (%(default)s)")
    parser.add_argument("--only", metavar="ID", nargs="+", help="play these sessions only and print them as JSON")
    parser.add_argument("--log", type=Path, help="file for what the servers say on stderr (default: nowhere)")
    return parser.parse_args(arguments)


def main() -> int:
    """Run the command line; return its exit code."""
    chosen = options()
    try:
        if chosen.install:
            install(HERE / "servers.toml", chosen.servers)
        else:
            asyncio.run(record(chosen))
    except RecordError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("stopped; no file was changed.", file=sys.stderr)
        return 130
    return 0


async def record(chosen: argparse.Namespace) -> None:
    """List the tools, play the sessions and write both files."""
    scripts = [one for one in read_scripts(HERE / "scripts") if not chosen.only or one.id in chosen.only]
    specs = read_specs(HERE / "servers.toml")
    with tempfile.TemporaryDirectory(prefix="recorder-") as folder, world.web_site() as site:
        log = (chosen.log or Path(os.devnull)).open("w", encoding="utf-8")
        with log:
            async with Pool(specs, chosen.servers.expanduser(), log) as pool:
                root = Path(folder).resolve()
                rows = await list_tools(pool, place_of(root, "2026-03-02T08:00:00+00:00"))
                sessions = [await play(one, pool, root, site, rows) for one in tqdm(scripts, unit="session")]
    if chosen.only:
        print(json.dumps(sessions, ensure_ascii=False, indent=1))
    else:
        write(chosen.out, rows, sessions)


def place_of(root: Path, clock: str) -> Place:
    """Return the place of a session that starts at `clock`, its folders made."""
    place = Place(root / "workspace", root / "state", clock)
    world.reset(place.workspace, place.state)
    return place


async def list_tools(pool: Pool, place: Place) -> list[Row]:
    """Return the catalog rows of our own tools and of all servers."""
    words = read_words(HERE / "descriptions.toml")
    rows = own_rows(HERE / "own_tools.toml")
    for name in tqdm(pool.specs, desc="tools/list", unit="server"):
        rows += server_rows(name, await pool.get(name, place).tools(), words)
    return rows


async def play(script: Script, pool: Pool, root: Path, site: str, rows: list[Row]) -> dict[str, Any]:
    """Play one session in a world put back to its beginning; return its trajectory."""
    await pool.stop_fresh()
    place = place_of(root, script.head["start"])
    servers = list(pool.specs) if script.servers == ["all"] else script.servers
    stage = Stage([row for row in rows if row.get("server") in (None, *servers)])
    later = script.head.get("later", "").split()
    stage.absent = {engine_name(row) for row in stage.rows if row.get("server") in later}
    scrubber = Scrubber(str(place.workspace), site)
    player = Player(script, pool, place, scrubber, stage, own_tools.Desk(place.workspace))
    return await player.play()


def write(out: Path, rows: Iterable[Row], sessions: list[dict[str, Any]]) -> None:
    """Write the catalog and the sessions, and say what was written."""
    contents = {
        "tools.jsonl": files.json_lines(rows),
        "sessions.atif.jsonl.gz": files.gzipped(files.json_lines(sessions)),
    }
    for name, content in contents.items():
        digest = files.write(out / name, content)
        print(f"{digest}  {name}  {len(content):,} bytes")
    update_card(out)


if __name__ == "__main__":
    sys.exit(main())
