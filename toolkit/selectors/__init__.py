"""Selectors: each splits, once a turn, what a model is told into declared and searchable."""

from toolkit.selectors.registry import known_selectors, label, resolve, selector

__all__ = ["known_selectors", "label", "resolve", "selector"]
