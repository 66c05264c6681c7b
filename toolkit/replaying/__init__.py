"""Replay: from a recorded session and a system to a trace."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from toolkit.replaying.fold import fold
from toolkit.replaying.habits import STEADY, Searching
from toolkit.replaying.habits import searching as way_of
from toolkit.replaying.prepared import prepare
from toolkit.replaying.query_models import QUERY_MODELS
from toolkit.replaying.system import Setting, System
from toolkit.replaying.trace import Trace
from toolkit.session import Session
from toolkit.tool import Catalog, Tool

__all__ = ["Setting", "System", "Trace", "fold", "prepare", "replay"]

QUERY_MODELS.built_in.update(
    short_phrase="toolkit.replaying.short_phrase:ShortPhrase", llm="toolkit.replaying.llm_query:Llm"
)


def replay(
    session: Session,
    selector: Any = "all",
    *,
    catalog: Iterable[Tool] | None = None,
    defer: Iterable[str] = (),
    retriever: str | None = None,
    profile: str = "reference",
    query_model: str = "own_words",
    searching: str | Searching = STEADY,
) -> Trace:
    """Replay one recorded session under one system.

    Args:
        session: The recording.
        selector: A spec, a function, or `oracle`.
        catalog: More tools around the recorded ones.
        defer: Patterns of tools to flag deferred.
        retriever: What `tools.search` ranks with; the default retriever if None.
        profile: The host's rules.
        query_model: Where the counterfactual queries come from.
        searching: How the model searches: `steady`, `models`, or `models(reformulate=…, stale=…, parallel=…)`.

    Raises:
        UnknownNameError: A name is not registered; nothing has run.
    """
    around = None if catalog is None else catalog if isinstance(catalog, Catalog) else Catalog(catalog)
    setting = Setting(retriever, profile, query_model, way_of(searching), None, around, tuple(defer))
    return fold(prepare(session), setting.system(selector).check(), setting)
