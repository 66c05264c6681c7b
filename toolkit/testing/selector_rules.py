"""`check_selector`: whether a selector keeps the rules of `docs/semantics.md` that every selector must keep."""

from __future__ import annotations

import statistics
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

from toolkit.selectors import label, ready, resolve
from toolkit.selectors.combined import Combining
from toolkit.session import Session
from toolkit.testing import findings
from toolkit.testing.findings import Note, Report
from toolkit.testing.selector_scenes import Answer, Scene, altered, ask, crowd, edges, met, offers, own_sessions

_MANY = 2_000
_THREADS = 4


def check_selector(
    selector: Any, *, sessions: Sequence[Session] | None = None, seconds: float = 1.0, report: bool = False
) -> Report:
    """Check that a selector keeps the rules, over replayed sessions and odd turns.

    Args:
        selector: A spec, a function `(visible, host)`, or any callable like it.
        sessions: Recordings to replay; two small ones of the toolkit if None.
        seconds: What one call may take with 2,000 tools, ranking left out, at its fastest.
        report: Return the report also when a rule is broken.

    Returns:
        The report, one line a rule.

    Raises:
        AssertionError: A rule is broken; the message lists each with an example.
        UnknownNameError, InputError: The spec cannot be built, or was never fitted.

    >>> print(check_selector("lazy").findings[0])
    answers   ok
    """
    subject = _Subject(selector, own_sessions() if sessions is None else tuple(sessions), seconds)
    found = findings.report(label(selector), RULES, subject)
    return found if report else found.check()


class _Subject:
    """A selector under test, the turns that it meets, and what it answers there at first."""

    def __init__(self, given: Any, sessions: Sequence[Session], seconds: float) -> None:
        self.given, self.sessions, self.seconds = given, sessions, seconds
        self.selector = ready(given)
        self.met = met(self.selector, sessions)
        self.scenes = [scene for scene, _ in self.met]

    def ask(self, scene: Scene) -> Answer:
        return ask(self.selector, scene.visible, scene.host)

    def turns(self) -> Iterator[tuple[str, Scene, Answer]]:
        """Yield (where, scene, first answer) of every turn."""
        for number, (scene, answer) in enumerate(self.met, 1):
            yield f"in turn {number} ({scene.host.turn_input[:30]!r})", scene, answer


Test = Callable[[_Subject], Iterator[str]]


def _answers(subject: _Subject) -> Iterator[str]:
    """It returns two lists of names, and raises nothing (S7)."""
    yield from (f"{where}: {answer}" for where, _, answer in subject.turns() if isinstance(answer, str))


def _told(subject: _Subject) -> Iterator[str]:
    """It names only what it is told (S3)."""
    for where, scene, answer in subject.turns():
        if unknown := _unknown(scene, answer):
            yield f"{where} it names {unknown[0]!r}"


def _unknown(scene: Scene, answer: Answer) -> list[str]:
    names = () if isinstance(answer, str) else (*answer[0], *answer[1])
    known = {tool.name for tool in scene.visible}
    return [name for name in names if name not in known]


def _once(subject: _Subject) -> Iterator[str]:
    """It names no tool twice in a list."""
    for where, _, answer in subject.turns():
        for names in answer[:2] if not isinstance(answer, str) else ():
            if len(set(names)) < len(names):
                yield f"{where} it names {next(name for name in names if names.count(name) > 1)!r} twice"


def _order(subject: _Subject) -> Iterator[str]:
    """It chooses the same set in whatever order the tools are told (B5, Q3)."""
    for where, scene, _ in subject.turns():
        answer, other = subject.ask(scene), ask(subject.selector, scene.visible[::-1], scene.host)
        if _sets(other) != _sets(answer):
            yield f"{where} the other way round: {_difference(answer, other)}"


def _sets(answer: Answer) -> Any:
    return answer if isinstance(answer, str) else (set(answer[0]), set(answer[1]) - set(answer[0]))


def _difference(answer: Answer, other: Answer) -> str:
    if isinstance(answer, str) or isinstance(other, str):
        return f"{_short(answer)}, then {_short(other)}"
    for names, others, kind in zip(answer, other, ("declares", "leaves searchable", "notes"), strict=True):
        if set(names) != set(others):
            changed = sorted(set(names) ^ set(others))
            return f"it {kind} {changed[0]!r} only {'before' if changed[0] in names else 'then'}"
    return "its lists come in another order"


def _short(answer: Answer) -> str:
    return answer if isinstance(answer, str) else f"{len(answer[0])} declared"


def _inputs(subject: _Subject) -> Iterator[str]:
    """It leaves what it is given as it was: the tools, the past, the configuration."""
    for where, scene, _ in subject.turns():
        visible, earlier, config = list(scene.visible), list(scene.host.earlier), {"table": ["kept"]}
        ask(subject.selector, visible, replace(scene.host, earlier=earlier, config=config))
        for what, now, before in (
            ("the tools", visible, list(scene.visible)),
            ("the earlier turns", earlier, list(scene.host.earlier)),
            ("the configuration", config, {"table": ["kept"]}),
        ):
            if now != before:
                yield f"{where} it changes {what}"


def _repeats(subject: _Subject) -> Iterator[str]:
    """Asked the same again at once, it answers the same, name by name (B5)."""
    for where, scene, _ in subject.turns():
        answer = subject.ask(scene)
        for _ in range(3):
            if (again := subject.ask(scene)) != answer:
                yield f"{where} asked again, {_difference(answer, again)}"


def _memory(subject: _Subject) -> Iterator[str]:
    """It remembers nothing: other sessions and turns in between change no answer."""
    later = [subject.ask(scene) for scene in reversed(subject.scenes)][::-1]
    for (where, _, first), other in zip(subject.turns(), later, strict=True):
        if other != first:
            yield f"{where} after other turns, {_difference(first, other)}"


def _future(subject: _Subject) -> Iterator[str]:
    """Another future changes no earlier decision: it sees neither the turn's recorded calls nor later turns."""
    for session in subject.sessions:
        before = offers(subject.selector, session)
        for place in range(len(session.turns)):
            after = offers(subject.selector, altered(session, place))
            if after[: place + 1] != before[: place + 1]:
                yield f"session {session.id!r}, with another future from turn {place + 1} on, has another offer by then"


def _threads(subject: _Subject) -> Iterator[str]:
    """One instance serves several threads, each as if it were alone."""
    alone = [subject.ask(scene) for scene in subject.scenes]
    start = threading.Barrier(_THREADS)

    def run(number: int) -> list[Answer]:
        start.wait()
        found = [subject.ask(scene) for scene in subject.scenes[number:] + subject.scenes[:number]]
        return found[len(found) - number :] + found[: len(found) - number]

    with ThreadPoolExecutor(_THREADS) as pool:
        each = list(pool.map(run, range(_THREADS)))
    for found in each:
        for (where, _, _), answer, other in zip(subject.turns(), alone, found, strict=True):
            if other != answer:
                yield f"{where} beside other threads, {_difference(answer, other)}"


def _spec(subject: _Subject) -> Iterator[str]:
    """Its `repr` is a spec that builds it again, and what it builds answers the same."""
    text = label(subject.selector)
    if not isinstance(subject.given, str | Combining):
        yield Note("left out: a function has no spec")
    try:
        again = resolve(text)
    except Exception as error:
        yield f"{text} cannot be read: {error}"
        return
    if label(again) != text or (isinstance(again, Combining) and again != subject.selector):
        yield f"{text} builds another: {again!r}"
    for where, scene, _ in subject.turns():
        if (other := ask(again, scene.visible, scene.host)) != (answer := subject.ask(scene)):
            yield f"{where} what {text} builds answers otherwise: {_difference(answer, other)}"


def _edges(subject: _Subject) -> Iterator[str]:
    """It copes with no tools, one tool, no words, odd words, and tools that vanished."""
    for what, scene in edges().items():
        answer = subject.ask(scene)
        if isinstance(answer, str):
            yield f"{what}: {answer}"
        elif unknown := _unknown(scene, answer):
            yield f"{what}: it names {unknown[0]!r}"


def _time(subject: _Subject) -> Iterator[str]:
    """It answers in time with 2,000 tools, ranking left out."""
    scene, took = crowd(_MANY), []
    for _ in range(7):
        start = time.perf_counter()
        subject.ask(scene)
        took.append(time.perf_counter() - start)
    figure = f"{statistics.median(took) * 1000:.2f} ms with {_MANY:,} tools"
    if min(took) > subject.seconds:
        yield f"{figure}, never below {subject.seconds:g} s"
    yield Note(figure)


RULES: Mapping[str, Test] = {
    "answers": _answers,
    "told": _told,
    "once": _once,
    "order": _order,
    "inputs": _inputs,
    "repeats": _repeats,
    "memory": _memory,
    "future": _future,
    "threads": _threads,
    "spec": _spec,
    "edges": _edges,
    "time": _time,
}
