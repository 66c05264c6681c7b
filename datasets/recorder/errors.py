"""The one error of the recorder."""

from __future__ import annotations


class RecordError(Exception):
    """Something that a person must put right before a recording can be made; the text says what."""
