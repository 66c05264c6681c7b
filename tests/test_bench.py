"""The bench: what selectors are told of the model, and what a pass costs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.builders import READ, call, said, session, turn
from toolkit.bench import Bench
from toolkit.engine import HostView
from toolkit.prices.price import USUAL, price, window
from toolkit.replaying.system import Setting


def told(setting: Setting, recorded: Any) -> HostView:
    """Return what a selector sees at the first turn of a replay."""
    seen: list[HostView] = []

    def looking(visible: Any, host: HostView) -> Any:
        seen.append(host)
        return [tool.name for tool in visible], []

    bench = Bench.of(setting).for_session(recorded)
    bench.replay(bench.prepare(recorded), setting.system(looking))
    return seen[0]


RECORDED = session(turn("read it", said("", call(READ.name))))


@pytest.mark.parametrize("model", ["gpt-5", "claude-sonnet-4-5"])
def test_a_selector_sees_the_price_and_the_window_of_the_model(model: str) -> None:
    seen = told(Setting("lexical", model=model), RECORDED)
    assert (seen.price, seen.window) == (price(model), window(model))


def test_without_a_model_those_of_the_sessions_own_count() -> None:
    seen = told(Setting("lexical"), replace(RECORDED, model="claude-sonnet-4-5"))
    assert (seen.price, seen.window) == (price("claude-sonnet-4-5"), window("claude-sonnet-4-5"))


def test_without_any_model_prices_are_the_usual_ones_and_no_window_is_known() -> None:
    seen = told(Setting("lexical"), replace(RECORDED, model=None))
    assert (seen.price, seen.window) == (USUAL, None)
