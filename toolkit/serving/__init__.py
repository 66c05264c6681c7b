"""Selectors as servers: a selector behind JSON-RPC for hosts in other languages, and a proxy of MCP servers."""
