"""Who may see what: scopes, policy and hides, each over names alone (`docs/semantics.md` V, H)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from toolkit.errors import InputError
from toolkit.patterns import NameIndex, glob, matches_any
from toolkit.tool import SEARCH

Patterns = tuple[str, ...]
Scopes = tuple[Patterns, ...]
Policy = tuple[tuple[str, str], ...]
HideLog = tuple[tuple[str, bool], ...]
Hides = tuple[tuple[str, HideLog], ...]
VERDICTS = ("allow", "ask", "deny")


def as_patterns(value: Any, what: str) -> Patterns:
    """Return a list of glob patterns as a tuple, or say what came instead."""
    if isinstance(value, str):
        raise InputError(f"{what} must be a list of patterns, not the text {value!r}.", hint=f"Write [{value!r}].")
    if not isinstance(value, Iterable):
        raise InputError(f"{what} must be a list of patterns, not {value!r}.")
    patterns = tuple(value)
    wrong = [item for item in patterns if not isinstance(item, str)]
    if wrong:
        raise InputError(f"{what} must hold patterns as text, not {wrong[0]!r}.", hint="See docs/semantics.md V4.")
    return patterns


def as_policy(value: Mapping[str, str] | Iterable[tuple[str, str]] | None) -> Policy:
    """Return a policy as (pattern, verdict) pairs in order; the last match decides (V8)."""
    pairs = value.items() if isinstance(value, Mapping) else value or ()
    try:
        policy = tuple((pattern, verdict) for pattern, verdict in pairs)
    except (TypeError, ValueError) as error:
        hint = "Expected pattern → allow, ask or deny."
        raise InputError(f"a policy must be a mapping or a list of pairs, not {value!r}.", hint=hint) from error
    for pattern, verdict in policy:
        if not isinstance(pattern, str) or verdict not in VERDICTS:
            raise InputError(
                f"policy for {pattern!r} must be allow, ask or deny, not {verdict!r}.", hint="See docs/semantics.md V8."
            )
    return policy


def in_scope(scopes: Scopes, name: str) -> bool:
    """Say whether every scope matches the name; `tools.search` needs none (V1)."""
    return name == SEARCH or all(matches_any(scope, name) for scope in scopes)


@lru_cache(maxsize=1 << 18)
def policy_verdict(policy: Policy, name: str) -> str:
    """Return `allow`, `ask` or `deny`: the last pattern that matches decides, none is `allow` (V8)."""
    return next((verdict for pattern, verdict in reversed(policy) if glob(pattern).matches(name)), "allow")


def permitted(scopes: Scopes, policy: Policy, name: str) -> bool:
    """Say whether scopes and policy let the name through (V1, V3)."""
    return policy_verdict(policy, name) != "deny" and in_scope(scopes, name)


def visible_names(index: NameIndex, scopes: Scopes, policy: Policy) -> frozenset[str]:
    """Return the visible names of a catalog: in every scope, and not denied (V1)."""
    visible = index.all
    for scope in scopes:
        visible &= {name for pattern in scope for name in index.matching(pattern)} | {SEARCH}
    denied: set[str] = set()
    for pattern, verdict in policy:
        change = denied.update if verdict == "deny" else denied.difference_update
        change(index.matching(pattern))
    return visible - denied if denied else visible


def hidden_by(index: NameIndex, log: HideLog) -> set[str]:
    """Return what one extension hides: its last pattern that matches decides (H2)."""
    hidden: set[str] = set()
    for pattern, hide in log:
        change = hidden.update if hide else hidden.difference_update
        change(index.matching(pattern))
    return hidden


def hidden_names(index: NameIndex, hides: Hides) -> set[str]:
    """Return what at least one extension's last word hides (H2)."""
    return set().union(*(hidden_by(index, log) for _, log in hides))


def is_hidden(hides: Hides, name: str) -> bool:
    """Say of one name, known or not, whether an extension's last word hides it (H2)."""
    return any(
        next((hide for pattern, hide in reversed(log) if glob(pattern).matches(name)), False) for _, log in hides
    )


def with_word(hides: Hides, extension: str, pattern: str, hide: bool) -> Hides:
    """Return the hides after an extension's hide or show; only the last word on a pattern is kept (H2, H8)."""
    logs = dict(hides)
    kept = tuple(word for word in logs.get(extension, ()) if word[0] != pattern)
    logs[extension] = (*kept, (pattern, hide))
    return tuple(logs.items())


def without_extension(hides: Hides, extension: str) -> Hides:
    """Return the hides without an unloaded extension's (H7)."""
    return tuple(entry for entry in hides if entry[0] != extension)


def show_has_no_effect(index: NameIndex, hides: Hides, extension: str, pattern: str, before: HideLog) -> bool:
    """Say whether a show lifted no hide of its own while another extension hides what it names (H3).

    `before` is what the extension had said until then.
    """
    named = set(index.matching(pattern))
    others = hidden_names(index, without_extension(hides, extension))
    return bool(named & others) and not named & hidden_by(index, before)
