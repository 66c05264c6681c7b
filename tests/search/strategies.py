"""Random catalogs and queries over few words, so that they meet."""

from __future__ import annotations

from hypothesis import strategies as st

from toolkit.tool import Tool

WORDS = ["list", "issue", "create", "tide", "Höhe", "read", "the", "db", "waterBed", "借阅记录", "HTTPServer", "r", "7"]
phrases = st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join)
names = st.lists(st.sampled_from(["list", "issue", "tide", "db", "get", "r"]), min_size=1, max_size=3).map("_".join)


@st.composite
def tools(draw: st.DrawFn) -> Tool:
    schema = {"type": "object", "properties": {draw(names): {"type": "string", "description": draw(phrases)}}}
    prefix = draw(st.sampled_from(["builtin.", "mcp.git.", "mcp.sea.", ""]))
    return Tool(prefix + draw(names), draw(phrases), schema, annotations={"readOnlyHint": draw(st.booleans())})


catalogs = st.lists(tools(), max_size=12, unique_by=lambda tool: tool.name)
