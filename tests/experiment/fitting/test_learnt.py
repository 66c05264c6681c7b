"""Selectors that learn: on earlier sessions, tested on later ones, and what both say of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.builders import BRANCH, MAIL, READ, call, said, session, turn
from toolkit.errors import InputError, ToolkitError
from toolkit.experiment.comparison import run
from toolkit.experiment.comparison.options import study
from toolkit.experiment.comparison.result import Comparison
from toolkit.experiment.comparison.study import measure
from toolkit.experiment.fitting import learnt as fitting
from toolkit.experiment.fitting.learnt import can_fit, fitted, fitted_on
from toolkit.report.tables import caption
from toolkit.selectors import parts, resolve
from toolkit.selectors.usage import Usage
from toolkit.session import Session, digest_of

pytest.importorskip("pandas")


def recorded(n: int, tool: str = BRANCH.name) -> Session:
    return session(turn(f"task {n}", said("", call(tool))), id=f"s{n}", digest=f"digest-{n}")


MANY = [recorded(n, BRANCH.name if n < 3 else MAIL.name) for n in range(6)]


def measured(*selectors: Any, **options: Any) -> Comparison:
    return measure(MANY, study(selectors, retriever="lexical", progress=False, **options))


def codes(found: Comparison) -> list[str]:
    return [one.code for one in found.problems]


def test_only_selectors_with_a_fit_learn() -> None:
    assert can_fit("frequent(k=1)") and can_fit("lazy | frequent(k=1)")
    assert not any(map(can_fit, ("all", "lazy", "oracle", "oracle_cost", "none", lambda visible, host: ())))
    plan = study(retriever="lexical", progress=False)
    lazy, frequent = fitted(["lazy", "frequent(k=1)"], MANY, plan)
    assert lazy == "lazy" and frequent.learnt.sessions == 6


def test_a_combination_with_expected_cost_is_fitted_once_for_all_with_its_facts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    passes: list[int] = []
    once = fitting.fitted_usage
    monkeypatch.setattr(fitting, "fitted_usage", lambda known, *rest: passes.append(len(known)) or once(known, *rest))
    specs = ["frequent(k=1) | expected_cost", "frequent(k=2)", "lazy"]
    made = fitted(specs, MANY, study(retriever="lexical", progress=False))
    usages = [part.usage for one in made[:2] for part in parts(one) if hasattr(part, "usage")]
    assert passes == [len(MANY)] and len(usages) == 3 and made[2] == "lazy"
    assert all(one is usages[0] for one in usages)
    assert usages[0].more["expected_cost"]["features"] and usages[0].sessions == len(MANY)


def test_selectors_that_learn_from_no_replay_are_fitted_without_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fitting, "fitted_usage", lambda *_: pytest.fail("it replayed"))
    (made,) = fitted(["frequent(k=1)"], MANY, study(retriever="lexical", progress=False))
    assert made.usage == Usage.of(MANY)


def test_the_earlier_share_fits_and_the_later_is_compared() -> None:
    found = measured("frequent(k=1)", "lazy", fit=0.5, fit_by="order")
    assert set(found.sessions["session_id"]) == {"s3", "s4", "s5"}
    about = found.about
    assert about["fitted_on"]["sessions"] == 3 and about["fitted_on"]["by"] == "order"
    assert about["fitted_digests"] == ["digest-0", "digest-1", "digest-2"]
    (name,) = about["fitted_on"]["selectors"]
    declared = found.turns[found.turns["system"] == name]["declared"]
    assert set(declared) == {2}, "the branch tool of the earlier sessions, and tools.search"
    assert f"Fitted on 3 other sessions (by order, sha256 {about['fitted_on']['sha256'][:12]})" in caption(about)
    assert "fitted_on_test" not in codes(found)


def test_without_a_share_nothing_is_fitted_and_nothing_is_said() -> None:
    found = measured("lazy")
    assert len(set(found.sessions["session_id"])) == 6
    assert "fitted_on" not in found.about and "Fitted on" not in caption(found.about)


def test_a_run_with_nothing_to_fit_says_so() -> None:
    assert "nothing_to_fit" in codes(measured("lazy", fit=0.5, fit_by="order"))
    assert "no_times" in codes(measured("frequent(k=1)", fit=0.5))


def test_a_selector_that_is_tested_on_what_it_learnt_is_told(tmp_path: Path) -> None:
    file = Usage.of(MANY[1:3]).save(tmp_path / "usage.json")
    usage = f"usage={str(file)!r}"
    for spec in (f"frequent(k=1, {usage})", f"lazy | frequent(k=1, {usage})", f"lazy | expected_cost({usage})"):
        assert fitted_on(spec) == {"digest-1", "digest-2"}
        (told,) = [one.message for one in measured(spec).problems if one.code == "fitted_on_test"]
        assert "learnt from 2 of the 6 sessions that test it" in told


def test_a_fitted_file_of_other_sessions_is_no_problem(tmp_path: Path) -> None:
    file = Usage.of([recorded(99)]).save(tmp_path / "usage.json")
    assert "fitted_on_test" not in codes(measured(f"frequent(k=1, usage={str(file)!r})"))


def test_a_part_that_learnt_from_other_sessions_is_run_again_though_its_file_is_the_same(tmp_path: Path) -> None:
    def source(learner: str, *sessions: Session) -> str:
        Usage.of(sessions).save(tmp_path / "usage.json")
        return run._source(resolve(f"lazy | {learner}(usage={str(tmp_path / 'usage.json')!r})"))

    for learner in ("frequent", "expected_cost"):
        before = source(learner, *MANY[:2])
        assert source(learner, *MANY[2:]) != before == source(learner, *MANY[:2])


def test_a_session_without_a_digest_is_known_by_its_content() -> None:
    one, same = (session(turn("a", said("", call(READ.name))), id="x") for _ in range(2))
    assert digest_of(one) == digest_of(same) != digest_of(session(turn("b"), id="x"))
    assert fitted_on(resolve("frequent(k=1)").fit([one])) == {digest_of(one)}


@pytest.mark.parametrize(
    "wrong",
    [
        {"also": ("nope",)},
        {"query_model": "nope"},
        {"profile": "nope"},
        {"model": "nope"},
        {"searching": "nope"},
        {"resume": "nope"},
    ],
)
def test_a_wrong_name_is_told_before_anything_is_fitted(wrong: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fitting, "fitted_usage", lambda *_: pytest.fail("it was fitted"))
    with pytest.raises(ToolkitError, match="nope"):
        measured("expected_cost", fit=0.5, fit_by="order", **wrong)


def test_a_share_out_of_range_and_an_unfitted_selector_are_errors_before_anything_runs(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="between 0 and 1"):
        measured("frequent(k=1)", fit=1.5, out=tmp_path)
    with pytest.raises(InputError, match="has not learnt from any session"):
        measured("frequent(k=1)", out=tmp_path)
    assert not list(tmp_path.rglob("*.msgpack"))
