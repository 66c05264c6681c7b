"""Learning on earlier sessions, testing on later ones: which selectors learn, from what, and whether a test saw it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from toolkit.experiment.comparison.options import Study
from toolkit.experiment.fitting.need import fitted_usage
from toolkit.experiment.fitting.split import split
from toolkit.formats.files import Problem
from toolkit.replaying.system import BOUNDS, System
from toolkit.selectors import parts, resolve
from toolkit.selectors.usage import Usage, load_usage
from toolkit.session import Session, digest_of


class Learnt(NamedTuple):
    """A study whose selectors have learnt, the sessions that are left to test on, and what the figures rest on."""

    study: Study
    sessions: tuple[Session, ...]
    about: Mapping[str, Any]
    problems: tuple[Problem, ...]


def fitted(selectors: Sequence[Any], sessions: Sequence[Session], study: Study) -> list[Any]:
    """Return what selectors become after sessions: itself, what has nothing to learn.

    Replays, for those that learn from them, run as the study's do: its retriever, profile, query model, catalog.
    """
    learners = [resolve(one) for one in selectors if can_fit(one)]
    if not learners:
        return list(selectors)
    forecasts = any(getattr(part, "learns_from_replays", False) for one in learners for part in parts(one))
    usage = fitted_usage(sessions, study.setting, study.execution.progress) if forecasts else Usage.of(sessions)
    return [resolve(one).fit(usage) if can_fit(one) else one for one in selectors]


def can_fit(selector: Any) -> bool:
    """Say whether a selector, given as a spec or built, learns from sessions: whether it has a `fit`."""
    return selector not in BOUNDS and callable(getattr(resolve(selector), "fit", None))


def learnt(sessions: Sequence[Session], study: Study) -> Learnt:
    """Fit the selectors of a study on its earlier share of the sessions; the later ones are left to test on.

    Without a share in the study nothing is fitted and nothing is taken away.

    Raises:
        InputError: The share is not between 0 and 1, or the sessions are too few for two sides.
    """
    if study.fit is None:
        return Learnt(study, tuple(sessions), {}, ())
    earlier, later = split(sessions, study.fit, study.fit_by, seed=study.execution.seed)
    learners = [can_fit(one) for one in study.selectors]
    chosen = fitted(study.selectors, earlier, study)
    doubts = [] if any(learners) else [Problem("", 0, "nothing_to_fit", "no selector here learns from sessions.")]
    names = [System(one).name for one, learns in zip(chosen, learners, strict=True) if learns]
    ready = replace(study, selectors=tuple(chosen), fit=None)
    return Learnt(ready, tuple(later), _about(earlier, names, study), (*later.problems, *doubts))


def _about(earlier: Sequence[Session], names: Sequence[str], study: Study) -> dict[str, Any]:
    digests = [digest_of(session) for session in earlier]
    whole = hashlib.sha256("".join(digests).encode()).hexdigest()
    facts = {
        "sessions": len(earlier),
        "share": study.fit,
        "by": study.fit_by,
        "selectors": list(names),
        "sha256": whole,
    }
    return {"fitted_on": facts, "fitted_digests": digests}


def fitted_on(selector: Any) -> frozenset[str]:
    """Return the digests of the sessions that a selector learnt from; none when it did not learn."""
    made = () if selector in BOUNDS else parts(resolve(selector))
    usages = (getattr(part, "usage", None) for part in made)
    read = (load_usage(usage) if isinstance(usage, str) else usage for usage in usages)
    return frozenset(digest for usage in read if isinstance(usage, Usage) for digest in usage.digests)


def seen(sessions: Sequence[Session], systems: Sequence[System]) -> Iterator[Problem]:
    """Yield a problem for each system that is tested on sessions from which it learnt."""
    known = {system.name: digests for system in systems if (digests := fitted_on(system.selector))}
    tested = {digest_of(session) for session in sessions} if known else set()
    for name, digests in known.items():
        if both := len(tested & digests):
            message = f"{name} learnt from {both} of the {len(tested)} sessions that test it: it looks too good."
            yield Problem("", 0, "fitted_on_test", message)
