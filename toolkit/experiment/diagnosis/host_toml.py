"""The `[tools]` and `[mcp_servers]` of a host, as a diagnosis would have them."""

from __future__ import annotations

import glob
import json
from collections.abc import Iterator, Sequence

from toolkit.experiment.diagnosis.diagnose import Diagnosis
from toolkit.experiment.diagnosis.servers import Saving
from toolkit.hosts.toml_tables import name_of
from toolkit.selectors import combine

COMMAND = "the-command-that-starts-it"


def host_toml(found: Diagnosis) -> str:
    """Return TOML that `toolkit.config.read_config` reads: which servers are deferred, and what stays declared.

    A recording does not say how a server is started: its `command` is to be filled in, or the `deferred` line put into
    the host's own file.
    """
    return "\n".join((*map("# {}".format, _said(found)), "", *_tools(pinned(found)), *_servers(found)))


def pinned(found: Diagnosis) -> tuple[str, ...]:
    """Return the tools that stay declared though their server, or the host, defers them."""
    return tuple(sorted({*found.savings[0].pins, *found.about["deferred_by_the_host"]}))


def _said(found: Diagnosis) -> Iterator[str]:
    about = found.about
    yield f"Made by toolkit diagnose from {about['sessions']} recorded sessions, for {about['model']}."
    yield "An estimate from replays, not a measurement of the host. Against declaring every tool:"
    yield from map(saving_words, found.savings)
    yield f"Put the deferred lines into your own tables, or fill in each {COMMAND!r}."


def saving_words(saving: Saving) -> str:
    """Return what a choice saves, how that was measured, and what the interval allows to say."""
    if not saving.parts:
        return f"{saving.how}: no server is worth deferring."
    low, high = saving.share_low, saving.share_high
    interval = f" [{low:.1%}, {high:.1%}]" if low == low else ""
    usd = saving.all.cost_with_fallback_usd - saving.deferred.cost_with_fallback_usd
    missed = f"{saving.deferred.missed - saving.all.missed} of {saving.all.calls} calls missed"
    sure = "" if low > 0 else "; it may save nothing"
    return f"{saving.how}: saves {saving.share:.1%}{interval}, {usd:,.4g} USD, {missed}{sure}."


def _tools(pins: Sequence[str]) -> Iterator[str]:
    if not pins:
        return
    yield "[tools]"
    yield f"selector = {_text(repr(combine('deferred').pin([glob.escape(name) for name in pins])))}"
    yield ""


def _servers(found: Diagnosis) -> Iterator[str]:
    names = sorted(found.servers["server"], key=lambda name: (name not in found.defer, name))
    for name in names:
        yield name_of(("mcp_servers", name))
        yield f"command = {_text(COMMAND)}"
        yield f"deferred = {'true' if name in found.defer else 'false'}"
        yield ""


def _text(value: str) -> str:
    """Return a TOML string; JSON's escapes are TOML's, but for the one character that JSON leaves as it is."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
