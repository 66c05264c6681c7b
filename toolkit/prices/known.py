"""Whether a model's name is known: the one answer for every command that takes `--model`."""

from __future__ import annotations

from toolkit.errors import UnknownNameError
from toolkit.prices.price import price
from toolkit.tokens.counters import counter
from toolkit.tokens.models import facts
from toolkit.tokens.providers.generic import GenericCounter

_BY_SOUND = ("any", "gpt-")
"""Families of names that tell nothing of how a model counts."""


def check_model(model: str, provider: str | None = None, api: str | None = None) -> str:
    """Return nothing for a model that has a price, else a line that says by whose rules it is counted.

    Args:
        model: The name that is sent to the API.
        provider: Who serves it.
        api: Its API.

    Raises:
        UnknownNameError: Neither a price list nor a family of models nor a plug-in's counter has the name.
        MissingExtraError: It is of no known family, and the price list is not installed.
    """
    try:
        price(model, provider)
    except UnknownNameError:
        if isinstance(counter(provider, api, model), GenericCounter) and facts(model).family in _BY_SOUND:
            raise
        return f"no price list has {model!r}: its tokens are counted by the rules of its family, its cost is unknown."
    return ""
