"""Checks cases of the kind `lifecycle`: a catalog and events in time order, run on the reference engine."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from toolkit.engine import Verdict
from toolkit.engine.catalog import by_wire
from toolkit.host import SEARCH_TOOL, UI_TOOLS, Host, text_of
from toolkit.patterns import glob
from toolkit.tool import CORE_NAMES, SEARCH, Tool, wire_name

_MODEL_READS = {"ok": "ok", "ask": "ok", "unavailable": "failed:unavailable", "search_failed": "failed:search_failed"}
_OLD_NAMES = {"not_found_yet": "not_found_this_turn"}


def check(case: Mapping[str, Any]) -> list[str]:
    """Return what the engine did otherwise than a case expects; only its `expected` keys are checked."""
    run = _Run(case["input"])
    run.play(case["input"].get("events", ()))
    expected = case["expected"]
    failures: list[str] = []
    for key, wanted in expected.items():
        checker = _CHECKS.get(key)
        if checker is not None:
            failures += checker(run, wanted)
    return failures


class _Run:
    """One case on one host."""

    def __init__(self, given: Mapping[str, Any]) -> None:
        rows = list(given.get("catalog", ()))
        self.names = Counter(row["name"] for row in rows if not row.get("core"))
        self.tools = [self._tool(row) for row in rows if not (row.get("core") and row["name"] == SEARCH)]
        self.case_names = {self._name(row): row["name"] for row in rows}
        policy = [(name, "deny") for name in given.get("disable", ())]
        self.policy = policy
        allow = given.get("allow")
        self.host = Host(self.tools, scope=allow, policy=policy, retriever="lexical")
        hides = given.get("hide") or {}
        for extension, patterns in (hides if isinstance(hides, Mapping) else {"case": hides}).items():
            self.host.extension(extension).hide(_patterns(patterns))
        hidden = [self._name(row) for row in rows if row.get("state") == "hidden"]
        if hidden:
            self.host.extension("case").hide([_literal(name) for name in hidden])
        for server, state in (given.get("servers") or {}).items():
            if state in ("unavailable", "down"):
                self.host.server_down(server)
        self.turn: Any = None
        self.agents: dict[str, Any] = {}
        self.scopes: dict[str, Any] = {}
        self.turns: list[Any] = []
        self.verdicts: dict[str, Verdict] = {}
        self.executed: list[str] = []
        self.down: set[str] = set()
        self.resumed_with: list[tuple[str, str]] = []

    def _name(self, row: Mapping[str, Any]) -> str:
        name, server = str(row["name"]), row.get("server")
        if server and not row.get("core") and (self.names[name] > 1 and name not in CORE_NAMES):
            return f"mcp.{server}.{name}"
        return name

    def _tool(self, row: Mapping[str, Any]) -> Tool:
        source = "core" if row.get("core") else f"mcp:{row['server']}" if row.get("server") else "builtin"
        return Tool(
            self._name(row),
            row.get("description"),
            row.get("input_schema"),
            source=source,
            deferred=row.get("state", "declared") == "searchable",
            annotations=row.get("annotations"),
        )

    def play(self, events: Iterable[Mapping[str, Any]]) -> None:
        for event in events:
            getattr(self, f"_{event['ev']}")(event)

    def _turn(self, event: Mapping[str, Any]) -> None:
        self.turn = self.host.start_turn(event.get("input", ""))
        self.turns.append(self.turn)
        self.agents = {"main": self.turn}

    def _agent(self, event: Mapping[str, Any]) -> Any:
        name = event.get("agent") or "main"
        if name not in self.agents:
            self.agents[name] = self.turn.start_step(self.scopes.get(name), id=name)
        return self.agents[name]

    def _step(self, event: Mapping[str, Any]) -> None:
        one = self._agent(event).start_pass()
        for call in event.get("calls", ()):
            verdict = one.call(call["tool"], call.get("args", {}))
            self.verdicts[call["id"]] = verdict
            if verdict.executed:
                self.executed.append(call["id"])
            if verdict.answer is not None:
                self.down |= set(verdict.answer.down)

    def _spawn(self, event: Mapping[str, Any]) -> None:
        self.scopes[event["agent"]] = event.get("scope")
        parent = self.agents[event.get("parent") or "main"]
        self.agents[event["agent"]] = parent.start_step(event.get("scope"), id=event["agent"])

    def _list_changed(self, event: Mapping[str, Any]) -> None:
        server = event.get("server")
        states = {tool.name: "searchable" if tool.deferred else "declared" for tool in self.tools}
        rows = [{"state": states.get(row["name"], "searchable"), **row, "server": server} for row in event["tools"]]
        source = f"mcp:{server}" if server else "builtin"
        self.host.tools_changed(source, [self._tool(row) for row in rows])
        self.case_names.update({self._name(row): row["name"] for row in rows})

    def _policy(self, event: Mapping[str, Any]) -> None:
        said = event.get("policy", event)
        if isinstance(said, list):
            said = dict(said)
        pairs = [(p, v) for v in ("allow", "ask", "deny") for p in _patterns(said.get(v))]
        pairs += [(p, v) for p, v in said.items() if v in ("allow", "ask", "deny")]
        if "tool" in said and "verdict" in said:
            pairs.append((said["tool"], said["verdict"]))
        self.policy = [*self.policy, *pairs]
        self.host.set_policy(self.policy)

    def _hide(self, event: Mapping[str, Any]) -> None:
        self.host.extension(event.get("extension", "case")).hide(_patterns(event.get("patterns") or event.get("names")))

    def _show(self, event: Mapping[str, Any]) -> None:
        self.host.extension(event.get("extension", "case")).show(_patterns(event.get("patterns") or event.get("names")))

    def _unload(self, event: Mapping[str, Any]) -> None:
        self.host.extension(event["extension"]).unload()

    def _scope(self, event: Mapping[str, Any]) -> None:
        granted = next((event[key] for key in ("scope", "patterns", "allow") if key in event), None)
        self.host.set_scope(granted, event.get("of", "session"))

    def _server_down(self, event: Mapping[str, Any]) -> None:
        self.host.server_down(event["server"])

    def _server_up(self, event: Mapping[str, Any]) -> None:
        self.host.server_up(event["server"])

    def _compaction(self, event: Mapping[str, Any]) -> None:
        self.host.compaction()

    def _resume(self, event: Mapping[str, Any]) -> None:
        """Resuming changes no state (B7): the same host goes on."""

    def named(self, names: Iterable[str]) -> list[str]:
        """Return names as the case writes them."""
        return [self.case_names.get(name, name) for name in names]

    def reads(self, id: str) -> str:
        """Return the verdict of a call in the words of the case files."""
        code = self.verdicts[id].reads
        return _MODEL_READS.get(code) or f"rejected:{_OLD_NAMES.get(code, code)}"

    def notices(self) -> set[str]:
        """Return the notices of every turn, each also by its code alone; those that wait count too."""
        told = {notice for turn in self.turns for notice in turn.notices} | set(self.host.state.pending)
        return told | {notice.partition(":")[0] for notice in told}


def _patterns(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else list(value or ())


def _literal(name: str) -> str:
    return re.sub(r"([\[*?])", r"[\1]", name)


def _verdicts(run: _Run, wanted: Mapping[str, str]) -> list[str]:
    return [f"{id}: {got}, not {want}" for id, want in wanted.items() if (got := run.reads(id)) != want]


def _executed(run: _Run, wanted: list[str]) -> list[str]:
    got = [id for id in run.executed if run.verdicts[id].name != SEARCH or id in wanted]
    return [] if got == wanted else [f"executed {got}, not {wanted}"]


def _sets(where: str, got: Iterable[str], wanted: Any) -> list[str]:
    names = list(got)
    if isinstance(wanted, list):
        return [] if sorted(names) == sorted(wanted) else [f"{where}: {names}, not {wanted}"]
    failures = [f"{where} lacks {name}" for name in wanted.get("includes", ()) if name not in names]
    failures += [f"{where} holds {name}" for name in wanted.get("excludes", ()) if name in names]
    for name, count in (wanted.get("count_of") or {}).items():
        if names.count(name) != count:
            failures.append(f"{where} holds {name} {names.count(name)} times, not {count}")
    if "count" in wanted and len(names) != wanted["count"]:
        failures.append(f"{where} holds {len(names)}, not {wanted['count']}")
    return failures


def _search_hits(run: _Run, wanted: Mapping[str, Any]) -> list[str]:
    return [f for id, want in wanted.items() for f in _sets(f"hits of {id}", run.named(run.verdicts[id].names), want)]


def _declared(run: _Run, wanted: Mapping[str, Any]) -> list[str]:
    return [
        f
        for agent, want in wanted.items()
        for f in _sets(f"declared of {agent}", run.named(run._agent({"agent": agent}).declared), want)
    ]


def _declared_by_turn(run: _Run, wanted: list[Any]) -> list[str]:
    return [
        f
        for number, (turn, want) in enumerate(zip(run.turns, wanted, strict=True), 1)
        for f in _sets(f"declared of turn {number}", run.named(turn.declared), want)
    ]


def _bytes_equal(run: _Run, wanted: list[list[int]]) -> list[str]:
    texts = [turn.definitions for turn in run.turns]
    return [f"turns {a} and {b} declare other bytes" for a, b in wanted if texts[a - 1] != texts[b - 1]]


def _notices(run: _Run, wanted: list[str]) -> list[str]:
    return [f"no notice {notice}" for notice in wanted if notice not in run.notices()]


def _wire_names(run: _Run, wanted: Mapping[str, Any]) -> list[str]:
    basis = run.host.state.basis
    names = list(basis.catalog.tools.names) if basis else []
    wires = [wire_name(name) for name in names]
    pattern = wanted.get("pattern")
    failures = []
    if wanted.get("unique") and (len(set(wires)) != len(names) or len(run.tools) > len(names)):
        failures.append(f"wire names are not one-to-one: {wires}")
    if any(len(wire) > wanted.get("max_len", 64) for wire in wires):
        failures.append("a wire name is too long")
    if pattern and not all(re.fullmatch(pattern, wire) for wire in wires):
        failures.append(f"a wire name does not match {pattern}")
    if wanted.get("round_trip") and basis and [by_wire(basis.catalog.tools).get(wire) for wire in wires] != names:
        failures.append("a wire name does not lead back to its tool")
    return failures


def _glob_table(run: _Run, wanted: list[list[Any]]) -> list[str]:
    return [f"{pattern!r} on {name!r}" for pattern, name, want in wanted if glob(pattern).matches(name) != want]


def _unavailable(run: _Run, wanted: list[str]) -> list[str]:
    return [] if sorted(run.down) == sorted(wanted) else [f"down: {sorted(run.down)}, not {wanted}"]


def _executed_by(run: _Run, wanted: Mapping[str, str]) -> list[str]:
    return [
        f"{id} ran on {tool.source if tool else None}, not {want}"
        for id, want in wanted.items()
        if (tool := run.verdicts[id].tool) is None or tool.source != want
    ]


def _same_shape(run: _Run, wanted: list[str]) -> list[str]:
    shapes = {(run.verdicts[id].reads, text_of(run.verdicts[id]).replace(run.verdicts[id].name, "")) for id in wanted}
    return [] if len(shapes) == 1 else [f"the errors of {wanted} can be told apart"]


def _no_duplicates(run: _Run, wanted: bool) -> list[str]:
    twice = [turn for turn in run.turns if len(set(turn.declared)) != len(turn.declared)]
    return ["a tool is declared twice"] if wanted and twice else []


def _own_texts(run: _Run, wanted: bool) -> list[str]:
    known = {tool.name for turn in run.turns for tool in turn.offer.declared | turn.offer.searchable}
    texts = [SEARCH_TOOL.description, SEARCH_TOOL.schema_text, *(text_of(v) for v in run.verdicts.values())]
    named = {name for text in texts for name in re.findall(r"\b(?:tools|ui)\.\w+", text)}
    named |= {tool.name for tool in UI_TOOLS if any(tool.name in text for text in texts)}
    return [f"an own text names {name}" for name in sorted(named - known)] if wanted else []


_CHECKS: dict[str, Any] = {
    "verdicts": _verdicts,
    "executed": _executed,
    "search_hits": _search_hits,
    "declared": _declared,
    "declared_by_turn": _declared_by_turn,
    "declared_bytes_equal": _bytes_equal,
    "notices": _notices,
    "wire_names": _wire_names,
    "glob_table": _glob_table,
    "unavailable_sources": _unavailable,
    "executed_by": _executed_by,
    "same_error_shape": _same_shape,
    "no_duplicate_declared": _no_duplicates,
    "own_texts_name_only_existing_tools": _own_texts,
}
