"""Selectors: each splits, once a turn, what a model is told into declared and searchable."""

from toolkit.selectors.combined import combine, parts
from toolkit.selectors.registry import known_selectors, label, ready, resolve, selector

__all__ = ["combine", "known_selectors", "label", "parts", "ready", "resolve", "selector"]
