"""The `import` cases of public bug reports: what a format's reader makes of each file."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from tests.cases.running import Case, read_cases
from toolkit.formats.files import Problem, find_files
from toolkit.formats.native.write import write_sessions
from toolkit.formats.sessions import Sessions, load_sessions
from toolkit.session import Call, Pass, Session, moments, text_of

FOLDER = Path(__file__).parents[1] / "cases"
FORMATS = {"claude_code_jsonl", "codex_rollout", "atif", "tau_bench", "inspect_log", "otel_genai", "langchain", "bfcl"}
FORMATS |= {"openai_chat", "openai_chat_stream", "openai_responses", "anthropic_messages"}
CASES = [
    case
    for name in ("open_cases.jsonl", "more_cases.jsonl")
    for case in read_cases(FOLDER / name)
    if case["kind"] == "import" and case["input"]["format"] in FORMATS
]


def text_for(value: Any) -> str:
    """Return a text as it is, or as it is to be made."""
    if isinstance(value, str):
        return value
    if "substitute" in value:
        text = value["text"]
        for marker, inner in value["substitute"].items():
            text = text.replace(marker, text_for(inner))
        return str(text)
    made = value.get("generate", value)
    if "repeat" in made:
        return str(made["repeat"]) * int(made["times"]) + str(made.get("suffix", ""))
    letters = random.Random(made.get("seed", 0)).choices("abcdefghijklmnopqrstuvwxyz", k=int(made["random_letters"]))
    return "".join(letters)


def read(given: dict[str, Any], folder: Path) -> Sessions:
    files = given.get("files") or {given.get("filename", "session.jsonl"): given["text"]}
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        filled = text
        if isinstance(text, str) and "substitute" in given:
            filled = {"text": text, "substitute": given["substitute"]}
        path.write_bytes(text_for(filled).encode("utf-8", "surrogatepass"))
    return load_sessions(*find_files([folder]))


def calls(found: Sessions) -> list[Call]:
    return [call for session in found for call in session.calls()]


def plain(name: str) -> str:
    return name.removeprefix("builtin.")


def row(call: Call) -> dict[str, Any]:
    result = "missing" if call.result is None else "error" if call.result.is_error else "ok"
    return {"id": call.id, "name": plain(call.name), "arguments": dict(call.arguments), "result": result}


def codes(found: Sessions, code: str) -> list[int]:
    return [problem.line for problem in found.problems if problem.code == code]


def turns(found: Sessions) -> int:
    return sum(bool(turn.words.strip()) for session in found for turn in session.turns)


def usage(found: Sessions) -> dict[str, Any]:
    (one,) = (one for session in found for one in session.passes())
    return {"input_tokens": one.usage and one.usage.prompt, "output_tokens": one.usage and one.usage.completion}


def agents(found: Sessions) -> dict[str, list[str]]:
    def named(one: Session) -> str:
        return "main" if one.parent is None else str(one.agent["name"]) if "id" in one.agent else one.id

    return {named(one): [call.id for call in one.calls()] for one in found}


def passes(found: Sessions) -> list[Pass]:
    return [one for session in found for one in session.passes()]


def told(problem: Problem, notice: str) -> bool:
    code, _, about = notice.partition(":")
    return problem.code == code and about in problem.message


def is_strict(found: Sessions) -> bool:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "out.json"
        write_sessions(found, path)
        return all(word not in path.read_text("utf-8") for word in ("NaN", "Infinity"))


def orphans(found: Sessions, wanted: Any) -> Any:
    told = [one.message for one in found.problems if one.code == "orphan_result"]
    return len(told) if isinstance(wanted, int) else [id for id in wanted if any(repr(id) in one for one in told)]


def events(found: Sessions) -> int:
    def of(session: Session) -> int:
        inside = [*session.turns, *session.passes()]
        return sum(event.type == "compaction" for one in inside for event in one.events)

    return sum(map(of, found))


MEASURES: dict[str, Callable[[Sessions, Any], Any]] = {
    "calls": lambda found, _: [row(call) for call in calls(found)],
    "calls_total": lambda found, _: len(calls(found)),
    "sessions": lambda found, _: len(found),
    "user_turns": lambda found, _: turns(found),
    "assistant_messages": lambda found, _: sum(1 for session in found for _ in session.passes()),
    "usage": lambda found, _: usage(found),
    "malformed_lines": lambda found, _: codes(found, "unreadable_line"),
    "recovered_lines": lambda found, _: codes(found, "glued_line"),
    "truncated_tail": lambda found, _: bool(codes(found, "unreadable_tail")),
    "compactions": lambda found, _: events(found),
    "orphan_results": orphans,
    "agents": lambda found, _: agents(found),
    "parent_of": lambda found, _: {one.id: one.parent for one in found if one.parent is not None},
    "unknown_records": lambda found, _: sum(
        sum(one.extra["toolkit"].get("unknown_records", {}).values()) for one in found
    ),
    "arguments_raw": lambda found, wanted: {one.id: one.raw_arguments for one in calls(found) if one.id in wanted},
    "result_status": lambda found, wanted: {one.id: row(one)["result"] for one in calls(found) if one.id in wanted},
    "result_text": lambda found, wanted: {
        one.id: text_of(one.result.content) for one in calls(found) if one.id in wanted and one.result
    },
    "notices": lambda found, wanted: [one for one in wanted if any(told(problem, one) for problem in found.problems)],
    "call_flags": lambda found, wanted: {one.id: one.extra["flags"] for one in calls(found) if one.id in wanted},
    "call_names": lambda found, _: [plain(one.name) for one in calls(found)],
    "user_text": lambda found, _: [" ".join(turn.words.split()) for session in found for turn in session.turns],
    "results_in_order": lambda found, _: [one.result and text_of(one.result.content) for one in calls(found)],
    "unique_internal_ids": lambda found, _: len({one.id for one in calls(found)}) == len(calls(found)),
    "offer": lambda found, _: "unknown" if all(one.declared is None for one in passes(found)) else "known",
    "offers": lambda found, _: [[plain(tool.name) for tool in session.catalog] for session in found],
    "tool_cost": lambda found, _: "unknown" if {one.definitions for one in found} == {"missing"} else "known",
    "export_is_strict_json": lambda found, _: is_strict(found),
    "session_order": lambda found, _: [one.id for one in sorted(found, key=lambda one: moments(one)[0])],
}
SKIPPED = {"decision", "notices_allowed", "no_exception", "no_error", "max_seconds", "also"}


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case["id"]))
def test_a_case_is_read_as_it_should_be(case: Case, tmp_path: Path) -> None:
    expected = case["expected"]
    found = read(case["input"], tmp_path)
    for key, wanted in expected.items():
        if key not in SKIPPED:
            assert MEASURES[key](found, wanted) == wanted, key
