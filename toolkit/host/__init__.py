"""The live face of the engine: `Host`, its turns and their passes."""

from toolkit.host.host import Extension, Host, listing
from toolkit.host.texts import CALL_TOOL, SEARCH_TOOL, UI_TOOLS, text_of
from toolkit.host.turn import Pass, Turn

__all__ = ["CALL_TOOL", "SEARCH_TOOL", "UI_TOOLS", "Extension", "Host", "Pass", "Turn", "listing", "text_of"]
