"""`check_retriever`: whether a retriever keeps the rules of `docs/semantics.md` that every retriever must keep."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

from toolkit.errors import InputError
from toolkit.search import RetrieverFactory, retriever
from toolkit.search.ranking import tie_order
from toolkit.testing import findings
from toolkit.testing.findings import Note, Report
from toolkit.testing.selector_scenes import crowd, own_sessions
from toolkit.tool import Tool

_MANY = 2_000
_WORDS = ("show the log", "send a message to Ann", "order", "path and text", "mcp.git.commit", "Bestellungen", "zzzz")
_ODD = ("", " \n\t", "🫖", "緑茶", "\ud800\u0000 e\u0301 \u202e", "(", "[a-", "read the file " * 2000)
Answer = tuple[tuple[str, float], ...] | str


def check_retriever(
    factory: str | RetrieverFactory,
    *,
    tools: Sequence[Tool] | None = None,
    queries: Sequence[str] = (),
    seconds: float = 1.0,
    report: bool = False,
) -> Report:
    """Check that a retriever keeps the rules, over a small catalog with twins and odd texts.

    Args:
        factory: A spec, or a constructor that takes the tools.
        tools: The catalog; a small one of the toolkit if None.
        queries: What to ask beside what the toolkit asks.
        seconds: What one query over 2,000 tools may take, at its fastest.
        report: Return the report also when a rule is broken.

    Returns:
        The report, one line a rule.

    Raises:
        AssertionError: A rule is broken; the message lists each with an example.
        UnknownNameError, InputError: The spec cannot be built.

    >>> print(check_retriever("lexical").findings[0])
    answers   ok
    """
    build = retriever(factory) if isinstance(factory, str) else factory
    name = factory if isinstance(factory, str) else getattr(factory, "__name__", repr(factory))
    subject = _Subject(build, tuple(_catalog() if tools is None else tools), (*_WORDS, *queries), seconds)
    found = findings.report(name, RULES, subject)
    return found if report else found.check()


class _Subject:
    """A retriever under test over a catalog, and what it answers at first."""

    def __init__(
        self, build: RetrieverFactory, tools: tuple[Tool, ...], queries: tuple[str, ...], seconds: float
    ) -> None:
        self.build, self.tools, self.queries, self.seconds = build, tools, queries, seconds
        self.by_name = {tool.name: tool for tool in tools}
        self.built = build(tools)
        self.first = {query: _ask(self.built, query, k=len(tools)) for query in queries}

    def ranked(self) -> Iterator[tuple[str, tuple[tuple[str, float], ...]]]:
        """Yield (query, ranking) of what was answered."""
        yield from ((query, answer) for query, answer in self.first.items() if not isinstance(answer, str))


def _ask(built: Any, query: str, among: Any = None, k: int = 10) -> Answer:
    """Return the ranking, or how it was refused or went wrong."""
    try:
        found = built.rank(query, among, k)
        return tuple(zip(found.names, found.scores, strict=True))
    except InputError as refused:
        return f"refused: {refused.code}"
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def _broken(answer: Answer) -> bool:
    return isinstance(answer, str) and not answer.startswith("refused: ")


def _catalog() -> tuple[Tool, ...]:
    """Return a catalog with twins of which one only reads, a tool without text, and one in odd letters."""
    told = tuple(own_sessions()[0].catalog)
    about, reads = "Lists the orders of a shop.", {"readOnlyHint": True}
    twins = [Tool(f"mcp.twin{n}.list_orders", about, annotations=reads if n == 2 else None) for n in (3, 2, 1)]
    return (*told, *twins, Tool("mcp.odd.🫖", "緑茶 \ud800 \u0000"), Tool("x"))


def _answers(subject: _Subject) -> Iterator[str]:
    """It answers names with a finite score each, or refuses a query by an InputError; it raises nothing else."""
    for query, answer in subject.first.items():
        if _broken(answer):
            yield f"{query!r}: {answer}"
    for query, ranking in subject.ranked():
        yield from (f"{query!r}: {name} scores {score}" for name, score in ranking if not math.isfinite(score))


def _within(subject: _Subject) -> Iterator[str]:
    """It names only tools that it was built over, each once, and only those among which it was asked."""
    half = [tool.name for tool in subject.tools[::2]]
    for query, ranking in subject.ranked():
        few = _ask(subject.built, query, [*half, "mcp.unknown.tool"], len(subject.tools))
        for names, known in ((ranking, set(subject.by_name)), (few if isinstance(few, tuple) else (), set(half))):
            listed = [name for name, _ in names]
            yield from (f"{query!r}: it names {name!r}" for name in listed if name not in known)
            yield from (f"{query!r}: it names {name!r} twice" for name in listed if listed.count(name) > 1)
        if isinstance(few, str):
            yield f"{query!r} among {len(half)} tools and an unknown one: {few}"


def _none(subject: _Subject) -> Iterator[str]:
    """Among no tools it answers nothing."""
    for query, _ in subject.ranked():
        if answer := _ask(subject.built, query, ()):
            yield f"{query!r}: {answer}"


def _zero(subject: _Subject) -> Iterator[str]:
    """No score is zero: a zero score is no match (Q5)."""
    for query, ranking in subject.ranked():
        yield from (f"{query!r}: {name!r} scores 0" for name, score in ranking if score == 0)


def _k(subject: _Subject) -> Iterator[str]:
    """It answers at most k tools, and the first k of a longer answer."""
    for query, ranking in subject.ranked():
        for k in (0, 1, 3):
            if (answer := _ask(subject.built, query, k=k)) != ranking[:k]:
                yield f"{query!r}: with k={k} it answers {answer}, of {ranking[: k + 1]}"


def _ties(subject: _Subject) -> Iterator[str]:
    """The best stand first; equal scores read-only first, then by code point of the name (Q3)."""
    for query, ranking in subject.ranked():
        for (name, score), (later, other) in pairwise(ranking):
            if score < other:
                yield f"{query!r}: {later!r} scores more than {name!r} before it"
            if score == other and tie_order(subject.by_name[name]) > tie_order(subject.by_name[later]):
                yield f"{query!r}: {name!r} stands before {later!r} with the same score"


def _repeats(subject: _Subject) -> Iterator[str]:
    """Asked again, and built again, it answers the same, score by score (Q3)."""
    again = subject.build(subject.tools)
    for query, answer in subject.first.items():
        for built, what in ((subject.built, "asked again"), (again, "built again")):
            if (other := _ask(built, query, k=len(subject.tools))) != answer:
                yield f"{query!r}, {what}: {_difference(answer, other)}"


def _order(subject: _Subject) -> Iterator[str]:
    """The order of the catalog changes no answer, nor does the order of the names among which it is asked (Q3)."""
    turned, names = subject.build(subject.tools[::-1]), [tool.name for tool in subject.tools]
    for query, answer in subject.first.items():
        for other in (_ask(turned, query, k=len(names)), _ask(subject.built, query, names[::-1], len(names))):
            if other != answer:
                yield f"{query!r}, the other way round: {_difference(answer, other)}"


def _threads(subject: _Subject) -> Iterator[str]:
    """One instance serves several threads, each as if it were alone."""
    with ThreadPoolExecutor(4) as pool:
        queries = list(subject.first) * 4
        found = pool.map(lambda query: _ask(subject.built, query, k=len(subject.tools)), queries)
        for query, other in zip(queries, found, strict=True):
            if other != (answer := subject.first[query]):
                yield f"{query!r} beside other threads: {_difference(answer, other)}"


def _edges(subject: _Subject) -> Iterator[str]:
    """It copes with no tools, one tool, and odd texts: it answers or refuses."""
    for tools, what in (((), "no tools"), (subject.tools[:1], "one tool"), (subject.tools, "all tools")):
        try:
            built = subject.build(tools)
        except Exception as error:
            yield f"over {what} it cannot be built: {type(error).__name__}: {error}"
            return
        for query in (*_ODD, _WORDS[0]):
            answer = _ask(built, query)
            if _broken(answer) or (not tools and not isinstance(answer, str) and answer):
                yield f"over {what}, {query[:30]!r}: {answer}"


def _spec(subject: _Subject) -> Iterator[str]:
    """The `repr` of its factory is a spec that builds it again."""
    text = repr(subject.build)
    if text.startswith("<"):
        yield Note("left out: a function has no spec")
    if repr(retriever(text)) != text:
        yield f"{text} builds another: {retriever(text)!r}"


def _time(subject: _Subject) -> Iterator[str]:
    """It answers in time over 2,000 tools."""
    built, took = subject.build(crowd(_MANY).visible[1:]), []
    for query in _WORDS:
        start = time.perf_counter()
        _ask(built, query)
        took.append(time.perf_counter() - start)
    figure = f"{sorted(took)[len(took) // 2] * 1000:.2f} ms with {_MANY:,} tools"
    if min(took) > subject.seconds:
        yield f"{figure}, never below {subject.seconds:g} s"
    yield Note(figure)


def _difference(answer: Answer, other: Answer) -> str:
    if isinstance(answer, str) or isinstance(other, str):
        return f"{answer if isinstance(answer, str) else 'a ranking'}, then {other}"
    place = next((n for n, (one, two) in enumerate(zip(answer, other, strict=False)) if one != two), None)
    if place is None:
        return f"{len(answer)} tools, then {len(other)}"
    return f"place {place + 1} holds {answer[place]}, then {other[place]}"


RULES: Mapping[str, Callable[[_Subject], Iterator[str]]] = {
    "answers": _answers,
    "within": _within,
    "none": _none,
    "zero": _zero,
    "k": _k,
    "ties": _ties,
    "repeats": _repeats,
    "order": _order,
    "threads": _threads,
    "edges": _edges,
    "spec": _spec,
    "time": _time,
}
