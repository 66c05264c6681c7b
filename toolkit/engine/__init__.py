"""The reference engine: a pure state machine of `docs/semantics.md`, and the `Host` face over it."""

from toolkit.engine.calls import Verdict
from toolkit.engine.host import Host
from toolkit.engine.offer import Offer
from toolkit.engine.ports import Answer, Selection
from toolkit.engine.profile import Profile
from toolkit.engine.view import HostView

__all__ = ["Answer", "Host", "HostView", "Offer", "Profile", "Selection", "Verdict"]
