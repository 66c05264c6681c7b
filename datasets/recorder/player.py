"""The scripted agent: plays a script against the real tools and writes down what happened."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from recorder import own_tools
from recorder.answers import fill
from recorder.catalog import function_shape, toolkit_facts
from recorder.errors import RecordError
from recorder.script import PlannedCall, Script, Step
from recorder.scrub import Scrubber, words_of
from recorder.servers import Place, Pool
from recorder.stage import Stage

FORMAT = "toolkit-recorder"
SYSTEM = {
    "desk": "You are the assistant of a small company. You work in its shared workspace, use the tools you are given "
    "and answer briefly. Say what you found, not how the tools are called.",
    "code": "You help a team of developers with their repository and their files. Look before you change anything, "
    "and say plainly what you changed.",
    "ops": "You are on duty for a small online shop. Use the tools to find facts; never guess numbers. "
    "Place a panel on the screen when the user will want to keep looking at something.",
}


@dataclass(slots=True)
class Player:
    """One session while it is played."""

    script: Script
    pool: Pool
    place: Place
    scrubber: Scrubber
    stage: Stage
    desk: own_tools.Desk
    kept: dict[str, str] = field(default_factory=dict)
    steps: list[dict[str, Any]] = field(default_factory=list)
    now: datetime = datetime.min
    calls: int = 0

    async def play(self) -> dict[str, Any]:
        """Play all steps and return the session as an ATIF trajectory."""
        self.now = datetime.fromisoformat(self.place.clock)
        self._write({"source": "system", "message": SYSTEM[self.script.head.get("system", "desk")]})
        for step in self.script.steps:
            await self._step(step)
        return self._trajectory()

    async def _step(self, step: Step) -> None:
        if step.kind == "setup":
            for call in step.calls:
                await self._answer(call)
            return
        events = [await self._event(event) for event in step.events]
        if step.kind == "user":
            self.stage.begin_turn()
            self._wait(25 + len(step.text) / 8)
            self._write({"source": "user", "message": fill(step.text, self.kept)}, events)
        else:
            await self._pass(step, events)

    async def _event(self, event: dict[str, Any]) -> dict[str, Any]:
        written = self.stage.apply(event)
        if event["type"] == "server_down":
            await self.pool.stop(event["server"])
        return written

    async def _pass(self, step: Step, events: list[dict[str, Any]]) -> None:
        self._wait(1.5 + len(step.text) / 90)
        record: dict[str, Any] = {"source": "agent", "message": str(fill(step.text, self.kept))}
        written = self._write(record, events, declared=list(self.stage.told))
        if not step.calls:
            return
        done = [await self._call(call) for call in step.calls]
        written["tool_calls"] = [call for call, _ in done]
        written["observation"] = {"results": [result for _, result in done]}
        written["extra"] = written.pop("extra")
        self._wait(0.4 * len(done))

    async def _call(self, call: PlannedCall) -> tuple[dict[str, Any], dict[str, Any]]:
        arguments = fill(call.arguments, self.kept)
        text, failed = await self._answer(call)
        self.calls += 1
        digest = hashlib.sha256(f"{self.script.id} {self.calls}".encode()).hexdigest()[:12]
        written = {"tool_call_id": f"call_{digest}", "function_name": call.tool, "arguments": arguments}
        result: dict[str, Any] = {"source_call_id": f"call_{digest}", "content": text}
        return written, {**result, "extra": {"toolkit": {"is_error": True}}} if failed else result

    async def _answer(self, call: PlannedCall) -> tuple[str, bool]:
        """Run a call; an answer other than the script expects ends the recording."""
        arguments = self.scrubber.real(fill(call.arguments, self.kept))
        text, failed = await self._run(call.tool, arguments)
        text = self.scrubber.shown(text)
        if failed != call.fails:
            raise RecordError(f"{self.script.id}: {call.tool} {'failed' if failed else 'did not fail'}: {text[:400]}")
        if call.keep:
            self.kept[call.keep] = text
        return text, failed

    async def _run(self, name: str, arguments: dict[str, Any]) -> tuple[str, bool]:
        refusal = self.stage.refusal(name) if self.stage.told else None
        if refusal:
            return refusal, True
        if not name.startswith("mcp."):
            return own_tools.run(self.desk, name, arguments)
        _, server, tool = name.split(".", 2)
        parts, failed = await self.pool.get(server, self.place).call(tool, arguments)
        return words_of(parts), failed

    def _wait(self, seconds: float) -> None:
        self.now += timedelta(seconds=round(seconds, 1))

    def _write(
        self, record: dict[str, Any], events: list[dict[str, Any]] | None = None, **facts: Any
    ) -> dict[str, Any]:
        moment = self.now.isoformat(timespec="milliseconds")
        step = {"step_id": len(self.steps) + 1, "timestamp": moment, **record}
        facts = {**facts, "events": events} if events else facts
        if facts:
            step["extra"] = {"toolkit": facts}
        self.steps.append(step)
        return step

    def _trajectory(self) -> dict[str, Any]:
        success, score = self.script.head.get("outcome", "success 1").split()
        facts: dict[str, Any] = {"v": 1, "source_format": FORMAT, "source_version": "1", "definitions": "recorded"}
        facts["tools"] = {name: toolkit_facts(row) for name, row in zip(self.stage.names, self.stage.rows, strict=True)}
        facts["outcome"] = {"success": success == "success", "score": float(score)}
        definitions = [function_shape(row) for row in self.stage.rows]
        agent = {"name": "scripted-agent", "version": "1", "tool_definitions": definitions}
        return {
            "schema_version": "ATIF-v1.7",
            "session_id": self.script.id,
            "agent": agent,
            "steps": self.steps,
            "notes": self.script.head["title"],
            "extra": {"toolkit": facts},
        }
