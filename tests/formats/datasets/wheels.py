"""Tiny hand-made wheels in the form of the real packages, and the sets that name them."""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from toolkit.formats.datasets.bfcl_single import ANSWERED, FOLDER, UNANSWERED
from toolkit.formats.datasets.sets import DataSet, data_set

Members = Mapping[str, Any]


def json_lines(*rows: Any) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def wheel(path: Path, members: Members) -> Path:
    """Write a wheel that pip takes; what is no text is written as JSON."""
    name, version = path.name.split("-")[:2]
    info = f"{name}-{version}.dist-info"
    facts = {
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\nRequires-Python: >=9\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: hand\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/RECORD": "",
    }
    with zipfile.ZipFile(path, "w") as archive:
        for member, content in {**members, **facts}.items():
            archive.writestr(member, content if isinstance(content, str) else json.dumps(content))
    return path


def pinned(name: str, path: Path) -> DataSet:
    """Return the real set, pinned to another file."""
    return replace(data_set(name), file=path.name, sha256=hashlib.sha256(path.read_bytes()).hexdigest())


def function(name: str, description: str = "Does it.", **properties: str) -> dict[str, Any]:
    typed = {key: {"type": kind} for key, kind in properties.items()}
    return {"name": name, "description": description, "parameters": {"type": "dict", "properties": typed}}


def question(id: str, text: str, *functions: Any) -> dict[str, Any]:
    return {"id": id, "question": [[{"role": "user", "content": text}]], "function": list(functions)}


def answer(id: str, *names: str) -> dict[str, Any]:
    return {"id": id, "ground_truth": [{name: {}} for name in names]}


def bfcl_members(**splits: str) -> dict[str, Any]:
    """Return all members that BFCL's single turn has, those left out empty; `answers_<split>` are the answers."""
    texts = {f"{FOLDER}/BFCL_v4_{split}.json": splits.get(split, "") for split in (*ANSWERED, *UNANSWERED)}
    answers = {
        f"{FOLDER}/possible_answer/BFCL_v4_{split}.json": splits.get(f"answers_{split}", "") for split in ANSWERED
    }
    return {**texts, **answers}
