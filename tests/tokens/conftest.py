"""Properties run without a deadline: the first one to count also loads a vocabulary."""

from hypothesis import settings

settings.register_profile("accounting", deadline=None)
settings.load_profile("accounting")
