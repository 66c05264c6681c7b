"""The reference engine: a pure state machine of `docs/semantics.md`; `toolkit.host` is its live face.

`state` holds what it knows, `transitions` all that may happen, `boundary` what a turn is told, `calls` what
becomes of a call.
"""

from toolkit.engine.calls import Verdict
from toolkit.engine.offer import Offer
from toolkit.engine.ports import Answer, Selection
from toolkit.engine.profile import Profile
from toolkit.engine.view import HostView

__all__ = ["Answer", "HostView", "Offer", "Profile", "Selection", "Verdict"]
