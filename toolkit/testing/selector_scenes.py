"""What `check_selector` asks a selector: sessions that it is replayed on, and turns at the edge of what can be."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import cycle
from typing import Any

from toolkit.engine import HostView
from toolkit.engine.offer import as_selection
from toolkit.engine.view import EarlierTurn, Scored
from toolkit.host import SEARCH_TOOL
from toolkit.replaying.fold import fold
from toolkit.replaying.prepared import prepare
from toolkit.replaying.system import System
from toolkit.search.shared import tool_search
from toolkit.session import Call, Event, Pass, Result, Session, Turn
from toolkit.tool import SEARCH, Catalog, Tool, definition_text

RETRIEVER = "lexical"
_SERVERS = {
    "builtin": ("read_file path", "write_file path text", "run_command line", "find_files pattern"),
    "mcp.git": ("show_log limit", "create_branch name", "commit message", "show_diff path"),
    "mcp.mail": ("send_message to text", "search_messages words", "delete_message id"),
    "mcp.shop": ("list_orders since", "refund_order id", "find_product words", "update_price id price"),
}
_ASKED: tuple[tuple[tuple[str, str], ...], ...] = (
    (
        ("Show me the log of the last week", "mcp.git.show_log"),
        ("now commit it with a good message", "mcp.git.commit"),
        ("", "mcp.git.show_diff"),
        ("Send Ann a message about it", "mcp.mail.send_message"),
        ("Thanks, that is all", ""),
    ),
    (
        ("Welche Bestellungen kamen gestern? 🫖", "mcp.shop.list_orders"),
        ("refund order 17 and write it to refunds.txt", "mcp.shop.refund_order builtin.write_file"),
        ("the same for order 18", "mcp.shop.refund_order builtin.write_file"),
        ("find 緑茶 and set its price to 12", "mcp.shop.find_product mcp.shop.update_price"),
    ),
)
Answer = tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]] | str


@dataclass(frozen=True, slots=True, eq=False)
class Scene:
    """One turn as a selector meets it."""

    visible: tuple[Tool, ...]
    host: HostView


def ask(selector: Any, visible: Sequence[Tool], host: HostView) -> Answer:
    """Return (declared, searchable, notices), or what went wrong."""
    try:
        found = as_selection(selector(visible, host))
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return tuple(found.declared), tuple(found.searchable), tuple(found.notices)


def offers(selector: Any, session: Session) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Return (declared, searchable) of each turn of a replay."""
    with_history = replace(prepare(session), system_tokens=2_000)
    trace = fold(with_history, System(selector, RETRIEVER), tokens=_tokens(session))
    return [(tuple(turn.offer.declared.by_name), tuple(turn.offer.searchable.by_name)) for turn in trace.turns]


def met(selector: Any, sessions: Sequence[Session]) -> list[tuple[Scene, Answer]]:
    """Return the turns of sessions as the selector meets them in a replay, and what it answers at that time."""
    found: list[tuple[Scene, Answer]] = []

    def watching(visible: tuple[Tool, ...], host: HostView) -> Any:
        answer = ask(selector, visible, host)
        found.append((Scene(visible, host), answer))
        return answer[:2] if not isinstance(answer, str) else None

    for session in sessions:
        offers(watching, session)
    return found


def _tokens(session: Session) -> Callable[[str], int]:
    return lambda name: len(definition_text(session.catalog[name])) // 4 if name in session.catalog else 0


@lru_cache(maxsize=1)
def own_sessions() -> tuple[Session, ...]:
    """Return two small sessions: inputs in three languages, one without words, a server that goes, tools hidden."""
    catalog = Catalog(_tools())
    made = [Session(f"scene-{number}", catalog, _turns(asked)) for number, asked in enumerate(_ASKED)]
    gone = Event("server_down", {"server": "git"})
    hidden = Event("hide", {"extension": "notes", "patterns": ["mcp.mail.*"]})
    return _with_event(made[0], 3, gone), _with_event(made[1], 1, hidden)


def _tools() -> Iterator[Tool]:
    for head, rows in _SERVERS.items():
        for row in rows:
            leaf, *options = row.split()
            about = f"{leaf.replace('_', ' ').capitalize()} of {head.rpartition('.')[2]}, by {' and '.join(options)}."
            schema = {"type": "object", "properties": {option: {"type": "string"} for option in options}}
            yield Tool(f"{head}.{leaf}", about, schema, deferred=head == "mcp.shop")


def _turns(asked: Sequence[tuple[str, str]]) -> tuple[Turn, ...]:
    return tuple(_turn(words, names.split()) for words, names in asked)


def _turn(words: str, names: Sequence[str]) -> Turn:
    calls = tuple(Call(f"c{place}", name, result=Result("done")) for place, name in enumerate(names))
    return Turn(words, (*((Pass("I will do it.", calls=calls),) if calls else ()), Pass("That is done.")))


def _with_event(session: Session, place: int, event: Event) -> Session:
    turns = list(session.turns)
    turns[place] = replace(turns[place], events=(*turns[place].events, event))
    return replace(session, turns=tuple(turns))


def altered(session: Session, place: int) -> Session:
    """Return a session whose future is another from a turn's input on: other calls, words and later inputs."""
    others = cycle(sorted(tool.name for tool in session.catalog) or [""])
    future = [
        replace(turn, input=turn.input if number == place else f"something else {number}", passes=_other(others))
        for number, turn in enumerate(session.turns[place:], place)
    ]
    return replace(session, turns=(*session.turns[:place], *future))


def _other(names: Iterator[str]) -> tuple[Pass, ...]:
    return _turn("", [next(names) for _ in range(3)]).passes


def edges() -> dict[str, Scene]:
    """Return turns at the edge of what can be, by what is odd about them."""
    told = (SEARCH_TOOL, *sorted(_tools(), key=lambda tool: tool.name))
    gone = ("tools.search", "mcp.gone.tool")
    past = [EarlierTurn("use it", ("mcp.gone.tool", told[1].name), ("gone",), 2)]
    return {
        "no tool": _scene((), "read the file"),
        "only tools.search": _scene((SEARCH_TOOL,), "read the file"),
        "one tool": _scene(told[1:2], "read the file"),
        "no words at all": _scene(told, ""),
        "only blanks": _scene(told, " \n\t"),
        "emoji and broken text": _scene(told, "🫖\ud800\u0000 e\u0301 \u202e"),
        "a very long input": _scene(told, "read the file " * 2000),
        "a tool that vanished": _scene(told, "again", 2, past, gone),
        "a tool without description": _scene((Tool("x"),), "x"),
    }


def _scene(
    told: tuple[Tool, ...],
    words: str,
    turn_no: int = 1,
    earlier: Sequence[EarlierTurn] = (),
    declared_before: tuple[str, ...] = (),
) -> Scene:
    def rank(query: str, k: int, retriever: str | None) -> Scored:
        searcher = tool_search(retriever or RETRIEVER)
        return tuple(searcher.rank(query, [tool for tool in told if tool.name != SEARCH], k))

    return Scene(told, HostView(turn_no, words, earlier, declared_before, history_tokens=100, _ranker=rank))


@lru_cache(maxsize=4)
def crowd(size: int) -> Scene:
    """Return a turn with many tools, all of them ranked beforehand."""
    tools = [Tool(f"mcp.server{n // 20}.tool_{n}", f"Does thing {n}, as others do.") for n in range(size)]
    told = (SEARCH_TOOL, *sorted(tools, key=lambda tool: tool.name))
    ranked = tuple((tool.name, 1 / place) for place, tool in enumerate(tools, 1))
    before = ("tools.search", *sorted(tool.name for tool in tools[:8]))
    past = [EarlierTurn("do thing 1", (tools[0].name,), (), 2)]
    tokens = {tool.name: 20 + place % 300 for place, tool in enumerate(tools)}
    view = HostView(2, "do thing 7", past, before, history_tokens=5000, _ranker=lambda query, k, retriever: ranked[:k])
    return Scene(told, replace(view, tokens=tokens.__getitem__))
