"""`toolkit compare`: the leaderboard, the run folder, and every way in which it can be asked wrongly."""

from __future__ import annotations

import csv
import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.builders import atif, line, many_turns, written
from toolkit.cli import main
from toolkit.experiment.comparison import run
from toolkit.report import run_folder

KEYS = (
    "system selector retriever profile query_model sessions turns passes prompt_tokens uncached_prompt_tokens "
    "output_tokens cost_usd cost_with_fallback_usd selector_trips search_trips calls served searched missed blocked "
    "comparable_turns prompt_ratio prompt_ratio_low prompt_ratio_high"
)
RUN_FOLDER = {
    "passes.parquet",
    "problems.jsonl",
    "report.html",
    "run.toml",
    "sessions.parquet",
    "summary.csv",
    "turns.parquet",
}
presses = {"turns": 0, "at": 0}


def interrupting(visible: Any, host: Any) -> Any:
    presses["turns"] += 1
    if presses["turns"] == presses["at"]:
        raise KeyboardInterrupt
    return [one.name for one in visible], []


class Cli:
    """Runs `toolkit compare` over a folder of its own."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder, self.capsys, self.out, self.err = folder, capsys, "", ""
        self.sessions = written(folder / "x.jsonl", *(many_turns(f"s{n}") for n in range(4)))

    def __call__(self, *options: str, sessions: Path | None = None) -> int:
        where = ["--out", str(self.folder / "run"), "--retriever", "lexical"]
        status = main(["compare", str(sessions or self.sessions), *where, *options])
        self.out, self.err = self.capsys.readouterr()
        return status

    def rows(self) -> dict[str, dict[str, Any]]:
        return {row["system"]: row for row in json.loads(self.out)}

    def problems(self) -> list[dict[str, Any]]:
        return [json.loads(row) for row in (self.folder / "run" / "problems.jsonl").read_text("utf-8").splitlines()]


@pytest.fixture
def cli(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Cli:
    monkeypatch.setattr(run, "CHUNK", 2)
    monkeypatch.setattr(run_folder, "page", lambda *_: "<p>drawn elsewhere</p>")
    presses.update(turns=0, at=0)
    return Cli(tmp_path, capsys)


def test_the_leaderboard_is_printed_and_the_files_to_open_are_named(cli: Cli) -> None:
    assert cli("--selector", "lazy") == 0
    assert "oracle (bound)" in cli.out and "prompt tokens/turn" in cli.out
    assert f"Open {cli.folder / 'run' / 'report.html'} for the report" in cli.out


def test_the_run_folder_holds_what_the_interface_names(cli: Cli) -> None:
    cli("--selector", "lazy")
    assert {one.name for one in (cli.folder / "run").iterdir()} == {"parts", *RUN_FOLDER}


def test_json_rows_and_the_summary_have_the_keys_of_the_interface(cli: Cli) -> None:
    assert cli("--selector", "lazy", "--json") == 0
    assert all(set(row) >= set(KEYS.split()) for row in cli.rows().values())
    with (cli.folder / "run" / "summary.csv").open() as file:
        assert set(csv.DictReader(file).fieldnames or ()) == set(cli.rows()["all"])


def test_calls_add_up_in_every_row(cli: Cli) -> None:
    cli("--selector", "lazy", "--selector", "builtin-only", "--json")
    for row in cli.rows().values():
        assert row["calls"] == row["served"] + row["missed"] + row["blocked"] == 8
        assert row["searched"] <= row["served"]
        assert row["selector_trips"] == row["turns"] == 8


def test_bad_lines_are_shown_and_counted_and_the_good_sessions_compared(cli: Cli) -> None:
    path = written(cli.folder / "y.jsonl", atif("a"), b"no json\n", line(atif("b")), b"\x89PNG\xff\n")
    assert cli("--selector", "lazy", "--json", sessions=path) == 0
    assert cli.rows()["all"]["sessions"] == 2
    assert "2 problems: 2 × unreadable_session" in cli.err
    assert [(one["path"], one["line"], one["code"]) for one in cli.problems()] == [
        (str(path), 2, "unreadable_session"),
        (str(path), 4, "unreadable_session"),
    ]


@pytest.mark.parametrize(
    "content", [b"", b"a,b\n1,2\n", b"\x89PNG\r\n\x1a\n\x00", line({"name": "x", "description": "a catalog row"})]
)
def test_a_file_without_a_session_is_status_2_with_file_and_reason(cli: Cli, content: bytes) -> None:
    path = written(cli.folder / "y.jsonl", content)
    assert cli(sessions=path) == 2
    assert cli.err.startswith("toolkit: no session could be read. The first problem: ")
    assert str(path) in cli.err and "Traceback" not in cli.err
    assert not (cli.folder / "run").exists()


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--selector", "semantik"], "Did you mean 'semantic'"),
        (["--selector", "lazy(k=1)"], "has no option 'k'"),
        (["--query-model", "own_words", "--query-model", "pesimistic"], "Did you mean 'pessimistic'"),
        (["--query-model", "llm('http://127.0.0.1:9/v1', 'm')"], "does not answer"),
        (["--searching", "models(stal=1)"], "Did you mean 'stale'"),
        (["--selector", "no.such:thing"], "cannot be imported"),
        (["--retriever", "lexicul"], "Did you mean 'lexical'"),
        (["--profile", "referense"], "Did you mean 'reference'"),
        (["--query-model", "own_word"], "Did you mean 'own_words'"),
        (["--model", "no-such-model-at-all"], "unknown model"),
        (["--resume", "sometimes"], "resume must be one of"),
        (["--catalog", "nothing.jsonl"], "is no file"),
        (["--limit", "0"], "--limit"),
        (["--workers", "0"], "--workers"),
        (["--seed", "-1"], "--seed"),
        (["--selectr", "lazy"], "No such option"),
    ],
)
def test_a_wrong_option_is_status_2_with_one_clear_message(cli: Cli, options: list[str], says: str) -> None:
    assert cli(*options) == 2
    assert says in cli.err and "Traceback" not in cli.err and cli.out == ""


def test_a_path_that_does_not_exist_is_status_2(cli: Cli) -> None:
    assert cli(sessions=cli.folder / "nothing.jsonl") == 2
    assert "nothing.jsonl does not exist" in cli.err


def test_a_run_folder_that_is_a_file_is_status_2(cli: Cli) -> None:
    (cli.folder / "run").write_text("in the way")
    assert cli("--selector", "lazy") == 2
    assert str(cli.folder / "run") in cli.err and "Traceback" not in cli.err


def test_ctrl_c_is_status_130_and_a_second_run_goes_on_to_the_same_result(cli: Cli) -> None:
    spec = f"{__name__}:interrupting"
    assert cli("--selector", spec, "--json", "--resume", "never") == 0
    whole = cli.rows()
    for part in (cli.folder / "run" / "parts").iterdir():
        part.unlink()
    presses.update(turns=0, at=6)
    assert cli("--selector", spec, "--json") == 130
    assert "What was finished is kept" in cli.err and f"Go on with --out {cli.folder / 'run'}" in cli.err
    assert len(list((cli.folder / "run" / "parts").iterdir())) == 5
    presses.update(turns=0, at=0)
    assert cli("--selector", spec, "--json") == 0
    assert (presses["turns"], cli.rows()) == (4, whole)


def test_a_run_folder_of_the_users_own_files_is_left_alone_unless_forced(cli: Cli) -> None:
    (cli.folder / "run").mkdir()
    path = written(cli.folder / "run" / "summary.csv", b"mine\n")
    assert cli("--selector", "lazy") == 2
    assert str(path.parent) in cli.err and "--force" in cli.err and cli.out == ""
    assert [one.name for one in path.parent.iterdir()] == ["summary.csv"] and path.read_bytes() == b"mine\n"
    assert cli("--selector", "lazy", "--force") == 0


def test_a_folder_of_another_command_is_not_gone_on_in(cli: Cli) -> None:
    (cli.folder / "run").mkdir()
    written(cli.folder / "run" / "run.toml", b'command = "diagnose"')
    assert cli("--selector", "lazy") == 2
    assert "a run of toolkit diagnose" in cli.err


def test_without_out_each_run_has_a_folder_of_its_own_and_latest_is_the_last(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(cli.folder)
    for _ in range(2):
        assert main(["compare", str(cli.sessions), "--selector", "lazy", "--retriever", "lexical"]) == 0
    assert main(["compare", str(cli.sessions), "--selector", "lasy"]) == 2
    runs = sorted(one for one in (cli.folder / "reports").iterdir() if not one.is_symlink())
    assert len(runs) == 2 and all(one.name.startswith("compare-20") for one in runs)
    assert (cli.folder / "reports" / "latest").resolve() == runs[1]
    assert {one.name for one in runs[1].iterdir()} == {"parts", *RUN_FOLDER}


def test_only_cache_runs_nothing_and_never_runs_everything(cli: Cli) -> None:
    spec = f"{__name__}:interrupting"
    assert cli("--selector", spec, "--resume", "only-cache") == 2
    assert "nothing is in the cache" in cli.err
    cli("--selector", spec, "--json")
    first, turns = cli.rows(), presses["turns"]
    assert cli("--selector", spec, "--json", "--resume", "only-cache") == 0
    assert (cli.rows(), presses["turns"]) == (first, turns)
    assert cli("--selector", spec, "--json", "--resume", "never") == 0
    assert (cli.rows(), presses["turns"]) == (first, 2 * turns)


def test_a_limit_reads_so_many_sessions(cli: Cli) -> None:
    cli("--selector", "lazy", "--limit", "3", "--json")
    assert cli.rows()["all"]["sessions"] == 3


def test_a_catalog_stands_around_the_recorded_tools(cli: Cli) -> None:
    cli("--selector", "lazy", "--json")
    alone = cli.rows()["all"]["prompt_tokens"]
    more = written(
        cli.folder / "tools.jsonl", {"name": "x", "server": "sea"}, {"name": "x", "server": "sea"}, b"no json\n"
    )
    assert cli("--selector", "lazy", "--json", "--catalog", str(more)) == 0
    assert cli.rows()["all"]["prompt_tokens"] > alone
    assert [one["code"] for one in cli.problems()] == ["bad_tool", "duplicate_name"]


def test_a_deferred_pattern_and_an_optimistic_query_model_reach_the_replay(cli: Cli) -> None:
    cli("--selector", "deferred", "--defer", "mcp.*", "--query-model", "optimistic", "--json")
    row = cli.rows()["deferred [optimistic]"]
    assert (row["searched"], row["query_model"], row["selector"]) == (4, "optimistic", "deferred")


def test_query_models_and_ways_of_searching_reach_the_replay(cli: Cli) -> None:
    models = ["--query-model", "turn_input", "--query-model", "pessimistic"]
    cli("--selector", "lazy", *models, "--searching", "models(stale=1)", "--json")
    row = cli.rows()["lazy"]
    assert (row["query_model"], row["stale_calls"]) == ("turn_input", 0)
    assert row["missed_min"] <= row["missed"] <= row["missed_max"]
    about = tomllib.loads((cli.folder / "run" / "run.toml").read_text("utf-8"))
    assert (about["query_models"], about["searching"]) == (["turn_input", "pessimistic"], "models(stale=1)")


def test_without_a_spread_the_main_query_model_is_run_alone(cli: Cli) -> None:
    cli("--selector", "lazy", "--no-spread", "--json")
    row = cli.rows()["lazy"]
    assert row["search_trips_min"] == row["search_trips"] == row["search_trips_max"]


def test_a_model_gives_prices(cli: Cli) -> None:
    cli("--selector", "lazy", "--model", "claude-sonnet-4-5", "--json")
    assert all(row["cost_usd"] > 0 for row in cli.rows().values())


def test_a_new_model_of_a_known_family_gives_tokens_and_no_cost_and_says_so(cli: Cli) -> None:
    assert cli("--selector", "lazy", "--model", "gpt-5.99", "--json") == 0
    assert all(row["cost_usd"] is None and row["prompt_tokens"] > 0 for row in cli.rows().values())
    assert [one["code"] for one in cli.problems()] == ["no_price"]


def test_sessions_of_another_host_are_compared_as_they_lie(cli: Cli) -> None:
    samples = Path(__file__).parents[1] / "samples" / "claude-code"
    assert cli("--selector", "lazy", "--query-model", "recorded", "--json", sessions=samples) == 0
    assert (cli.rows()["all"]["sessions"], cli.rows()["lazy"]["searched"]) == (2, 1)


def failing(visible: Any, host: Any) -> Any:
    raise ValueError("no such luck")


def test_a_selector_that_always_fails_is_status_1_and_marked(cli: Cli) -> None:
    assert cli("--selector", f"{__name__}:failing", "--selector", "lazy") == 1
    assert "(failed 8 of 8 turns)" in cli.out and "oracle (bound)" in cli.out


def test_failing_fast_is_status_1_with_the_turn_and_the_reason(cli: Cli) -> None:
    assert cli("--selector", f"{__name__}:failing", "--fail-fast") == 1
    assert "turn 1 of session 's0'" in cli.err and "no such luck" in cli.err and cli.out == ""
