"""Thin adapters that put a selector and a search into a production host."""
