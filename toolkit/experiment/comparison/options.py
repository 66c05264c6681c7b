"""What to compare and how, as values: made once, from one list of options, and passed on.

The options are the fields of `Setting`, `Execution` and `Study`; `OPTIONS` says what each means. `compare(**options)`
and the command line are made of both.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, get_type_hints

from toolkit.errors import InputError, nearest
from toolkit.prices.known import check_model
from toolkit.replaying.query_models import check_query_model
from toolkit.replaying.system import BOUNDS, KNOWING, Setting, System
from toolkit.selectors import resolve
from toolkit.tool import Catalog

DEFAULT_SELECTORS = ("all", "lazy", "builtin-only", "deferred", "semantic(k=8)")
RESUME = ("always", "never", "only-missing", "only-cache")


@dataclass(frozen=True, slots=True)
class Execution:
    """How a study is run, whatever it is of.

    Attributes:
        out: Folder that keeps finished parts; an interrupted run goes on from them.
        resume: `always`, `never`, `only-missing` or `only-cache`.
        workers: Processes to use.
        seed: Seed of the bootstrap, and of every draw.
        progress: Show a progress bar where there is somebody to see it.
        fail_fast: Stop at the first session in which a selector fails.
    """

    out: Path | None = None
    resume: str = "always"
    workers: int = 1
    seed: int = 0
    progress: bool = True
    fail_fast: bool = False

    def __post_init__(self) -> None:
        if self.resume not in RESUME:
            raise InputError(f"resume must be one of {', '.join(RESUME)}, not {self.resume!r}.")


@dataclass(frozen=True, slots=True)
class Study:
    """What to compare: `study` makes it of the options of `toolkit.compare`.

    Attributes:
        selectors: Specs or functions.
        setting: What they have in common.
        execution: How it is run.
        also: Query models beside the setting's, over which the leaderboard shows the spread.
        priced: Work out costs; False gives tokens only.
        fit: Share of the sessions, the earlier ones, that fits every selector that learns.
        fit_by: How the two are told apart: `time`, `group`, `order`.
    """

    selectors: Sequence[Any] = DEFAULT_SELECTORS
    setting: Setting = Setting()
    execution: Execution = Execution()
    also: tuple[str, ...] = ()
    priced: bool = True
    fit: float | None = None
    fit_by: str = "time"

    def check(self) -> None:
        """Raise for what is wrong beside the selectors, before anything runs: a fit replays sessions too.

        Raises:
            UnknownNameError: A retriever, profile, query model, way of searching or priced model is not known.
            InputError: An option is out of range, or an endpoint is down.
        """
        self.setting.check()
        for asks in self.also:
            check_query_model(asks)
        if self.setting.model is not None:
            check_model(self.setting.model)

    def systems(self) -> list[System]:
        """Return the systems, the bounds among them, each name once.

        Raises:
            UnknownNameError: A selector, or what `check` looks at, is not known.
        """
        self.check()
        chosen = [self.setting.system(spec) for spec in self.selectors]
        bounds = [System(spec, self.setting.system(spec).retriever, self.setting.profile) for spec in BOUNDS]
        named: dict[str, System] = {}
        for system in (*chosen, *bounds):
            before = named.setdefault(system.name, system.check())
            if not _same(before.selector, system.selector):
                hint = "Give each a name of its own: @selector('name')."
                raise InputError(f"two selectors are called {system.name!r}.", hint=hint)
        return list({**named, **{system.name: system for system in bounds}}.values())


def study(selectors: Sequence[Any] | None = None, **options: Any) -> Study:
    """Return a study of flat options: the fields of `Setting`, `Execution` and `Study`.

    Raises:
        InputError: There is no such option.
    """
    parts: dict[str, Any] = {
        "setting": Setting(**_own(Setting, options)),
        "execution": Execution(**_own(Execution, options)),
    }
    known = [field.name for kind in (Setting, Execution, Study) for field in fields(kind)]
    if wrong := next((name for name in options if name not in known or name in parts), None):
        near = nearest(wrong, known)
        raise InputError(f"there is no option {wrong!r}.", hint=f"Did you mean {near!r}?" if near else "")
    return Study(DEFAULT_SELECTORS if selectors is None else tuple(selectors), **parts, **_own(Study, options))


def _own(kind: Any, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that are fields of one value, in the types that it holds."""
    own = {field.name: options[field.name] for field in fields(kind) if field.name in options}
    return {name: _AS_HELD.get(name, _as_given)(value) for name, value in own.items()}


@dataclass(frozen=True, slots=True)
class Option:
    """What an option means, and how a command line takes it where not as it is held.

    Attributes:
        help: What it means.
        typed: What a command line makes of its texts.
        least: The smallest number that it may be.
        flags: How it is written.
    """

    help: str
    typed: Any = None
    least: int | None = None
    flags: tuple[str, ...] = ()


OPTIONS = {
    "selectors": Option(
        "A selector, e.g. 'semantic(k=8)' or mypkg.mod:fn. Repeat for more.", list[str], flags=("--selector",)
    ),
    "catalog": Option("More tools around the recorded ones: a catalog file. Repeatable.", list[Path]),
    "defer": Option("Flag tools that match a pattern as deferred, e.g. 'mcp.github.*'.", list[str]),
    "retriever": Option("What tools.search ranks with: lexical, dense, hybrid, pkg.mod:Name."),
    "profile": Option("The host's rules."),
    "query_model": Option(
        "Where the counterfactual queries come from: own_words, turn_input, short_phrase, recorded, optimistic, "
        "pessimistic, \"llm('http://localhost:8000/v1', 'qwen3')\"."
    ),
    "searching": Option(
        "How the model searches: steady, models, 'models(reformulate=0.6, stale=0.1, seed=1)'.", typed=str
    ),
    "model": Option("Whose tokens, cache rules and prices count, e.g. claude-sonnet-4-5; else each session's own."),
    "fallback": Option("Share of a fallback pass that a missed or blocked call is charged, from 0 to 1."),
    "prefix": Option("cold: each session writes its definitions; shared: others keep the same ones warm."),
    "priced": Option("Work out costs, or tokens only.", flags=("--prices/--no-prices",)),
    "out": Option("The run folder; reports/compare-TIME, and reports/latest, if left out."),
    "resume": Option("always (go on from finished parts), never, only-missing, only-cache."),
    "workers": Option("Processes to use.", least=1),
    "seed": Option("Seed of the bootstrap intervals, and of every draw.", least=0),
    "fail_fast": Option("Stop at the first session in which a selector fails.", flags=("--fail-fast",)),
    "fit": Option("Fit selectors that learn on this earlier share; compare the later rest."),
    "fit_by": Option("What is earlier goes by time, order or group (drawn by seed)."),
}


def held(name: str) -> tuple[Any, Any]:
    """Return the type and the default of an option, as its value holds them.

    >>> held("seed"), held("model")[1]
    ((<class 'int'>, 0), None)
    """
    kind = next(kind for kind in (Setting, Execution, Study) if name in get_type_hints(kind))
    default = next(field.default for field in fields(kind) if field.name == name)
    return get_type_hints(kind)[name], default


def _as_given(value: Any) -> Any:
    return value


_AS_HELD: dict[str, Callable[[Any], Any]] = {
    "catalog": lambda tools: tools if tools is None or isinstance(tools, Catalog) else Catalog(tools),
    "defer": tuple,
    "also": tuple,
    "out": lambda folder: None if folder is None else Path(folder),
}


def _same(one: Any, other: Any) -> bool:
    """Say whether two selectors are one, given as spec or as what a spec builds."""
    if one == other:
        return True
    return one not in KNOWING and other not in KNOWING and bool(resolve(one) == resolve(other))
