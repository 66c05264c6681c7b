"""Every test draws without a screen, and properties run without a deadline: the first one also loads a vocabulary."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

os.environ.setdefault("MPLBACKEND", "Agg")
settings.register_profile("toolkit", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("toolkit")
