"""What selectors that learn from earlier sessions share: fitting, saving, and refusing to run unfitted."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, Self

from toolkit.engine import Selection
from toolkit.errors import InputError
from toolkit.selectors.combined import Combining
from toolkit.selectors.usage import Usage, load_usage
from toolkit.session import Session
from toolkit.tool import Tool
from toolkit.toolset import toolset

FOREIGN = "usage_foreign"
"""Notice: not one of the told tools was told in the sessions that were learnt from."""
_LEARNT = re.compile(r"\(usage=<[^>]*>\)|, usage=<[^>]*>|usage=<[^>]*>, ")


def unlearnt(name: str) -> str:
    """Return a selector's name without what it learnt: the same wherever it was fitted.

    >>> unlearnt("frequent(k=8, usage=<7 sessions, 2907395d>)"), unlearnt("expected_cost(usage=<7 sessions, 2907395d>)")
    ('frequent(k=8)', 'expected_cost')
    """
    return _LEARNT.sub("", name)


class Fitted(Combining):
    """A selector with an option `usage`: a `Usage`, or the file of one. Without it, it cannot run.

    Fit on earlier sessions and test on later ones: `toolkit.experiment.fitting.split` draws the line.
    """

    __slots__ = ()
    spec: ClassVar[str] = ""
    usage: Any

    def fit(self, sessions: Iterable[Session] | Usage) -> Self:
        """Return the same selector, fitted on sessions, or on what they say."""
        usage = sessions if isinstance(sessions, Usage) else Usage.of(sessions)
        return replace(self, usage=usage)  # type: ignore[type-var]

    def save(self, path: str | Path) -> Self:
        """Write what was learnt to a file; return the selector that reads it, whose `repr` builds it again."""
        return replace(self, usage=str(self.learnt.save(path)))  # type: ignore[type-var]

    @property
    def learnt(self) -> Usage:
        """What earlier sessions say.

        Raises:
            InputError: The selector was never fitted, or its file cannot be read.
        """
        self.check()
        return self.usage if isinstance(self.usage, Usage) else load_usage(self.usage)

    def check(self) -> None:
        """Refuse to run unfitted; `toolkit.selectors.ready` asks before a run starts."""
        if self.usage is None:
            hint = "Fit it first: toolkit fit, toolkit compare --fit, or .fit(sessions).save('usage.json')."
            raise InputError(f"{self!r} has not learnt from any session.", hint=hint)

    def _read(self) -> None:
        """Read the file once, so that a wrong one is told when the selector is made."""
        if isinstance(self.usage, Path):
            object.__setattr__(self, "usage", str(self.usage))
        if isinstance(self.usage, str):
            load_usage(self.usage)
        elif not isinstance(self.usage, Usage | None):
            raise InputError(f"{self.spec}: usage must be a file or a Usage, not {self.usage!r}.")

    def __repr__(self) -> str:
        """Return the spec; what was learnt and not saved stands there in short, and cannot be read back."""
        usage, text = self.usage, Combining.__repr__(self)
        if not isinstance(usage, Usage):
            return text
        return text.replace(repr(usage), f"<{usage.sessions} sessions, {usage.digest[:8]}>")

    def chosen(self, declared: Sequence[str], told: Sequence[Tool]) -> Selection:
        """Return a selection that says so when all that was learnt is of other tools."""
        known = toolset(told)
        foreign = bool(known.by_source) and self.learnt.told_in.keys().isdisjoint(known.by_name)
        return Selection(declared, known.names, (FOREIGN,) if foreign else ())
