"""The shipped host profiles: rules and the source of each, read from `profiles.toml`."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from importlib.resources import files
from typing import Any

from toolkit.engine.profile import Profile
from toolkit.plugins import Registry

RULES = (
    "found_until",
    "schema_place",
    "gate",
    "same_pass",
    "limit",
    "limit_max",
    "offer_changes",
    "defer",
)
MARKS = {
    "source": "read in the host's source",
    "docs": "documentation",
    "blog": "vendor's blog",
    "issue": "issue thread",
    "copy": "third-party copy",
    "assumed": "not established",
}


_PLAYED = (
    "A replay plays `found_until`, `gate`, `same_pass`, the limits, `defer`, and schemas that join the `definitions`.",
    "A `reference` is expanded in the history like a `result`; with `--model` it costs what the provider adds to it.",
    "`offer_changes` is stated and not played: a replay makes the offer at turn boundaries, as the engine does.",
)


@dataclass(frozen=True, slots=True)
class HostProfile:
    """A profile, what it is of, and where each rule was read."""

    profile: Profile
    about: str
    marks: Mapping[str, str]
    notes: str = ""

    @property
    def assumed(self) -> tuple[str, ...]:
        """The rules that are not established; reports name them."""
        return tuple(rule for rule, mark in self.marks.items() if mark == "assumed")


def profiles() -> Mapping[str, HostProfile]:
    """Return the profiles by name: the shipped ones, and those that packages bring."""
    return {name: PROFILES.find(name) for name in (*PROFILES.built_in, *PROFILES.known())}


def host_profile(name: str) -> HostProfile:
    """Return a profile by name, with the source of its rules.

    Raises:
        UnknownNameError: There is none of that name.
    """
    found: HostProfile = PROFILES.find(name)
    return found


def profile(name: str) -> Profile:
    """Return a profile by name.

    Raises:
        UnknownNameError: There is none of that name.
    """
    return host_profile(name).profile


def _read(name: str, table: Mapping[str, Any]) -> HostProfile:
    known = {field.name for field in fields(Profile)}
    rules: dict[str, Any] = {key: tuple(v) if isinstance(v, list) else v for key, v in table.items() if key in known}
    return HostProfile(Profile(name=name, **rules), table["about"], table["marks"], table.get("notes", ""))


def rule_table() -> str:
    """Return the rules of all profiles as a Markdown table, each with its mark."""
    lines = ["| profile | " + " | ".join(RULES) + " |", "| --- " * (len(RULES) + 1) + "|"]
    lines += [_row(name, one) for name, one in profiles().items()]
    about = [f"- **{name}**: {one.about} {one.notes}".rstrip() for name, one in profiles().items()]
    marks = ", ".join(f"*{mark}*: {meaning}" for mark, meaning in MARKS.items())
    return "\n".join((*lines, "", f"Marks: {marks}.", "", *_PLAYED, "", *about, ""))


def _row(name: str, one: HostProfile) -> str:
    cells = (f"{_shown(one.profile, rule)} *{one.marks[rule]}*" for rule in RULES)
    return f"| `{name}` | " + " | ".join(cells) + " |"


def _shown(profile: Profile, rule: str) -> str:
    if rule != "defer":
        return str(getattr(profile, rule))
    where = ", ".join(f"`{pattern}`" for pattern in profile.defer) or "flagged ones"
    if profile.defer_over_tools:
        where += f" from {profile.defer_over_tools} tools"
    return where + (f" from {profile.defer_over_percent:g} % of the window" if profile.defer_over_percent else "")


def _shipped() -> dict[str, HostProfile]:
    text = files("toolkit.replaying").joinpath("profiles.toml").read_text("utf-8")
    return {name: _read(name, table) for name, table in tomllib.loads(text).items()}


PROFILES = Registry(
    "profile",
    "toolkit.profiles",
    wants="a HostProfile",
    fits=lambda one: isinstance(one, HostProfile),
    built_in=_shipped(),
)
