"""The first layout of Codex, a head and items without an envelope, keeps what its head says."""

from __future__ import annotations

from pathlib import Path

from tests.builders import written
from toolkit.formats.sessions import load_sessions


def test_a_rollout_without_envelopes_has_the_id_and_the_instructions_of_its_head(tmp_path: Path) -> None:
    head = {"id": "0042", "timestamp": "2025-05-07T09:00:00Z", "instructions": "You help at the harbour."}
    asked = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Is it high tide?"}]}
    call = {"type": "function_call", "name": "shell", "arguments": "{}", "call_id": "c"}
    answer = {"type": "function_call_output", "call_id": "c", "output": "yes"}
    (only,) = load_sessions(written(tmp_path / "rollout.jsonl", head, asked, call, answer))
    assert (only.id, only.system, only.turns[0].words) == ("0042", "You help at the harbour.", "Is it high tide?")
