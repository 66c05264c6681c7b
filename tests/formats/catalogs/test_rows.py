"""Catalogs are read out of pages of servers, namespaces, requests and OpenAPI documents."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from toolkit.formats.catalogs.load import LoadedCatalog, load_catalog

SCHEMA = {"type": "object", "properties": {"bay": {"type": "string"}}}


def read(tmp_path: Path, *values: Any, name: str = "a.jsonl") -> LoadedCatalog:
    path = tmp_path / name
    path.write_text("\n".join(json.dumps(value) for value in values), "utf-8")
    return load_catalog(path)


def page(id: int, *names: str, **more: Any) -> dict[str, Any]:
    tools = [{"name": name, "inputSchema": SCHEMA} for name in names]
    return {"jsonrpc": "2.0", "id": id, "result": {"tools": tools, **more}}


ASK = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}


def test_all_pages_of_a_list_are_one_catalog(tmp_path: Path) -> None:
    found = read(tmp_path, ASK, page(1, "a", "b", nextCursor="n2"), ASK, page(2, "c"))
    assert [tool.leaf for tool in found] == ["a", "b", "c"] and not found.problems


def test_a_list_whose_last_page_is_missing_is_told(tmp_path: Path) -> None:
    found = read(tmp_path, page(1, "a", nextCursor="n2"))
    assert [one.code for one in found.problems] == ["incomplete_list"]


def test_the_lists_of_several_servers_are_told_apart(tmp_path: Path) -> None:
    listed = {"tools": [{"name": "get", "inputSchema": SCHEMA}]}
    found = read(tmp_path, {"git": listed, "db": listed}, name="a.json")
    assert [(tool.name, tool.source) for tool in found] == [("mcp.git.get", "mcp:git"), ("mcp.db.get", "mcp:db")]


def test_a_request_gives_its_tools_with_namespaces_and_hosted_ones(tmp_path: Path) -> None:
    tools = [
        {"type": "namespace", "name": "bay", "tools": [{"type": "function", "name": "read", "parameters": SCHEMA}]},
        {"type": "function", "name": "lift", "parameters": SCHEMA, "defer_loading": True},
        {"type": "web_search"},
        {"type": "mcp", "server_label": "elsewhere", "server_url": "https://example.org"},
    ]
    found = read(tmp_path, {"model": "m", "input": "hi", "tools": tools}, name="a.json")
    assert [(tool.name, tool.deferred) for tool in found] == [
        ("builtin.bay.read", False),
        ("builtin.lift", True),
        ("builtin.web_search", False),
    ]


OPENAPI = {
    "openapi": "3.1.0",
    "paths": {
        "/bays/{bay}": {
            "parameters": [{"name": "bay", "in": "path", "required": True, "schema": {"type": "string"}}],
            "get": {"operationId": "readBay", "summary": "Reads a bay."},
            "put": {
                "requestBody": {
                    "required": True,
                    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Bay"}}},
                }
            },
        }
    },
    "components": {
        "schemas": {"Bay": {"type": "object", "properties": {"inner": {"$ref": "#/components/schemas/Bay"}}}}
    },
}


def test_every_operation_of_an_openapi_document_is_a_tool(tmp_path: Path) -> None:
    get, put = read(tmp_path, OPENAPI, name="a.json")
    assert (get.name, get.description, get.read_only) == ("builtin.readBay", "Reads a bay.", True)
    assert get.input_schema == {"type": "object", "properties": {"bay": {"type": "string"}}, "required": ["bay"]}
    assert (put.name, put.input_schema["required"]) == ("builtin.put_bays_bay", ["bay", "body"])
    assert put.input_schema["properties"]["body"]["properties"] == {"inner": {}}


def test_an_openapi_document_in_yaml_is_read_too(tmp_path: Path) -> None:
    path = tmp_path / "api.yaml"
    path.write_text("openapi: 3.1.0\npaths:\n  /tide:\n    get:\n      description: Reads the tide.\n", "utf-8")
    assert [tool.name for tool in load_catalog(path)] == ["builtin.get_tide"]
