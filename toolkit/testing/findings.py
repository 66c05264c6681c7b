"""What a kit says of what it checks: rule, reason, example; one line a rule."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeVar

S = TypeVar("S")


@dataclass(frozen=True, slots=True)
class Finding:
    """What came of one rule: `why` is empty when it is kept; `note` is a figure, or why it was left out."""

    rule: str
    says: str
    why: str = ""
    note: str = ""

    def __str__(self) -> str:
        state = f"fails: {self.why}" if self.why else "ok"
        return f"{self.rule:<10}{state}{f' ({self.note})' if self.note else ''}"


@dataclass(frozen=True, slots=True)
class Report:
    """What came of all rules, one a line."""

    subject: str
    findings: tuple[Finding, ...]

    @property
    def failures(self) -> tuple[Finding, ...]:
        """The rules that are broken."""
        return tuple(one for one in self.findings if one.why)

    def check(self) -> Report:
        """Return the report when all rules are kept.

        Raises:
            AssertionError: A rule is broken; all that are stand in the message.
        """
        if self.failures:
            broken = "\n".join(f"  {one.rule}: {one.says}\n    but: {one.why}" for one in self.failures)
            many = f"{len(self.failures)} of {len(self.findings)} rules"
            raise AssertionError(f"{self.subject} breaks {many}:\n{broken}\nNumbers are those of docs/semantics.md.")
        return self

    def __str__(self) -> str:
        return "\n".join((self.subject, *(f"  {one}" for one in self.findings)))

    __repr__ = __str__


class Note(str):
    """What a test yields of a rule that is kept, or left out: something to say beside it."""

    __slots__ = ()


def report(name: str, rules: Mapping[str, Callable[[S], Iterator[str]]], subject: S) -> Report:
    """Return what came of each rule: a test yields what breaks it, and its docstring says what the rule is."""
    return Report(name, tuple(_judged(rule, test, subject) for rule, test in rules.items()))


def _judged(rule: str, test: Callable[[S], Iterator[str]], subject: S) -> Finding:
    says = " ".join((test.__doc__ or "").split())
    first = next(test(subject), "")
    return Finding(rule, says, "", str(first)) if isinstance(first, Note) else Finding(rule, says, first)
