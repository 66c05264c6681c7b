"""Sessions to learn from and sessions to test on, so that nothing of a test was ever seen.

What belongs together (the repeats of one task, the sessions of one user, a session and the steps that it
started) stands on one side only. A split by time also keeps the clock: whatever fits had ended before
whatever tests began.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from random import Random
from typing import Any

from toolkit.errors import InputError, UnknownNameError, counted
from toolkit.formats.files import Problem
from toolkit.formats.sessions import Sessions
from toolkit.session import Session, moments

WAYS = ("time", "group", "order")
_TASK = ("task_id", "task")
Group = Callable[[Session], Any] | str | None
_Group = Sequence[Session]


def split(
    sessions: Iterable[Session], share: float = 0.5, by: str = "time", group: Group = None, seed: int = 0
) -> tuple[Sessions, Sessions]:
    """Return (earlier, later): sessions to fit on, and sessions to test on; no group stands on both sides.

    `time` cuts at the start of the first session that is to be tested. Whatever still ran then is on neither side:
    it knows of the time after the cut, and began before it. Of a group that goes on beyond the cut, the side with
    more of its sessions keeps them, the others are on neither. Without times in the recordings (or with some of them
    missing) it is the order of the files. `order` takes that order anyway, a group standing where its first session
    stands. `group` draws whole groups by the seed. What was left out, and that files were taken for time, stands in
    the `problems` of `later`.

    Args:
        sessions: Recordings, in order.
        share: What part of the sessions is to be on the earlier side; groups stay whole, so about that.
        by: `time`, `group` or `order`.
        group: Session → what it belongs to, or the dotted name of a field (`extra.dataset.domain`, `model`); a
            session without that field is a group of its own. None: the data set's task where it is recorded, else the
            words of the first input.
        seed: Seed of the draw of groups.

    Raises:
        UnknownNameError: There is no such way to split.
        InputError: The share is not between 0 and 1, no session has the field, or a side would be empty.
    """
    recorded, found = tuple(sessions), tuple(getattr(sessions, "problems", ()))
    if by not in WAYS:
        raise UnknownNameError("way to split", by, WAYS)
    if not 0 < share < 1:
        raise InputError(f"the share must lie between 0 and 1, not {share!r}.", hint="0.5 fits on half of them.")
    whole = groups(recorded, group)
    _check(len(whole) > 1, "two sides", len(recorded), len(whole))
    timeless = _timeless(recorded) if by == "time" else []
    cut = _by_time if by == "time" and not timeless else _whole
    parts, told = cut(_drawn(whole, seed) if by == "group" else whole, share)
    for part, side in zip(parts, ("what to learn from", "what to test on"), strict=True):
        _check(bool(part), side, len(recorded), len(whole))
    earlier, later = ([one for one in recorded if one.id in part] for part in parts)
    return Sessions(earlier), Sessions(later, (*found, *timeless, *told))


def _check(enough: bool, what: str, sessions: int, groups: int) -> None:
    if not enough:
        message = f"{counted(sessions, 'session')} in {counted(groups, 'group')}, too few for {what}."
        raise InputError(message, hint="Give more sessions, another share, or another group.")


def groups(sessions: Sequence[Session], group: Group = None) -> list[_Group]:
    """Return the sessions by what they belong to, in the order of their first ones; steps go with their session."""
    known = {session.id: session for session in sessions}
    named = _namer(sessions, group)
    found: dict[Any, list[Session]] = {}
    for session in sessions:
        found.setdefault(named(_root(session, known)), []).append(session)
    return list(found.values())


def _root(session: Session, known: Mapping[str, Session]) -> Session:
    seen = {session.id}
    while session.parent is not None and session.parent in known and session.parent not in seen:
        session = known[session.parent]
        seen.add(session.id)
    return session


def _namer(sessions: Sequence[Session], group: Group) -> Callable[[Session], Any]:
    if group is None:
        return task_of
    if callable(group):
        return group
    if all(_field(session, group) is None for session in sessions):
        raise InputError(f"no session has a field {group!r}.", hint="Like this: extra.dataset.domain, or model.")
    return lambda session: _own(session, _field(session, group))


def _field(session: Session, path: str) -> Any:
    value: Any = session
    for name in path.split("."):
        value = value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)
    return value


def _own(session: Session, value: Any) -> Any:
    return ("session", session.id) if value is None else repr(value)


def task_of(session: Session) -> Any:
    """Return what tells the repeats of one task: the data set's own task, else the words of the first input.

    >>> from toolkit.session import Turn
    >>> from toolkit.tool import Catalog
    >>> task_of(Session("s1", Catalog(), (Turn("Close  Issue 7"),)))
    'close issue 7'
    """
    facts = session.extra.get("dataset")
    facts = facts if isinstance(facts, Mapping) else {}
    task = next((facts[name] for name in _TASK if facts.get(name) is not None), None)
    if task is not None:
        return (str(facts.get("set")), str(facts.get("domain")), str(task))
    words = " ".join(next((turn.words for turn in session.turns if turn.words.strip()), "").casefold().split())
    return words or ("session", session.id)


def _drawn(groups: list[_Group], seed: int) -> list[_Group]:
    Random(seed).shuffle(groups)
    return groups


def _whole(groups: Sequence[_Group], share: float) -> tuple[tuple[set[str], set[str]], list[Problem]]:
    """Cut a row of groups where the share of the sessions is nearest."""
    sizes = [len(group) for group in groups]
    wanted = share * sum(sizes)
    cut = min(range(len(groups) + 1), key=lambda at: (abs(sum(sizes[:at]) - wanted), at))
    cut = min(max(cut, 1), max(len(groups) - 1, 0))
    return (_ids(groups[:cut]), _ids(groups[cut:])), []


def _ids(groups: Iterable[_Group]) -> set[str]:
    return {session.id for group in groups for session in group}


def _by_time(groups: Sequence[_Group], share: float) -> tuple[tuple[set[str], set[str]], list[Problem]]:
    """Cut at a moment: what had ended then, and what began then or later."""
    spans = {session.id: _span(session) for group in groups for session in group}
    starts = sorted(start for start, _ in spans.values())
    cut = starts[min(max(round(share * len(starts)), 1), len(starts) - 1)]
    earlier: set[str] = set()
    later: set[str] = set()
    for group in groups:
        before = {one.id for one in group if spans[one.id][1] <= cut and spans[one.id][0] < cut}
        after = {one.id for one in group if spans[one.id][0] >= cut}
        if len(before) >= len(after):
            earlier |= before
        else:
            later |= after
    return (earlier, later), list(_left_out(len(spans) - len(earlier) - len(later), cut))


def _left_out(number: int, cut: datetime) -> Iterator[Problem]:
    if number:
        why = "they ran at the cut, or belong to a group of the other side"
        message = f"{counted(number, 'session')} on neither side of {cut.isoformat()}: {why}."
        yield Problem("", 0, "on_neither_side", message)


def _timeless(sessions: Sequence[Session]) -> list[Problem]:
    """Return the doubt that files are taken in their order, when a session does not say when it was."""
    without = sum(not moments(session) for session in sessions)
    if not without:
        return []
    message = f"{without} of {counted(len(sessions), 'session')} tell no time: the order of the files was taken for it."
    return [Problem("", 0, "no_times", message)]


def _span(session: Session) -> tuple[datetime, datetime]:
    told = moments(session)
    return min(told), max(told)
