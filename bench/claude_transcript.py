"""A transcript of Claude Code written from a recorded session: what was asked, answered and run, with
compactions after which only a summary stands. For measurements and tests; the format is the documented
one."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aider_gardener.replay.session.session import Session, SessionEvent

STARTED_AT = 1_790_000_000
SECONDS_A_RECORD = 20
SUMMARY = "This session is being continued from one that ran out of context. Last request: {last}"


@dataclass
class Host:
    """Claude Code as far as the hooks see it: it appends records to `path`, and `context` holds the texts
    that stand in its window."""

    path: Path
    session: str = "simulated"
    context: list[str] = field(default_factory=list)
    records: int = 0
    last: str = ""

    def payload(self, event: str, **more: object) -> dict[str, Any]:
        """What a hook gets on standard input."""
        common = {"session_id": self.session, "transcript_path": str(self.path), "cwd": str(self.path.parent)}
        return {**common, "permission_mode": "default", "hook_event_name": event, **more}

    def write(self, record: Mapping[str, Any]) -> None:
        """Append one record, with the time of the next moment where it has none."""
        stamp = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(self.now))
        self.records += 1
        own = {
            "uuid": f"u{self.records}",
            "sessionId": self.session,
            "timestamp": stamp,
            "version": "2.1.150",
        }
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({**own, **record}) + "\n")

    @property
    def now(self) -> float:
        """The host's clock, in seconds since the epoch."""
        return STARTED_AT + SECONDS_A_RECORD * self.records

    def ask(self, text: str) -> None:
        """The user's prompt."""
        self.last = text
        self.context.append(text)
        self.write({"type": "user", "message": {"role": "user", "content": text}})

    def answer(self, text: str) -> None:
        """A reply of the model's."""
        self.context.append(text)
        self.said({"type": "text", "text": text})

    def run(self, command: str, output: str) -> None:
        """A command that the model ran, and its result."""
        call = f"toolu_{self.records}"
        self.said({"type": "tool_use", "id": call, "name": "Bash", "input": {"command": command}})
        self.result(call, output)

    def result(self, call: str, output: str) -> None:
        self.context.append(output)
        block = {"type": "tool_result", "tool_use_id": call, "content": output}
        self.write({"type": "user", "message": {"role": "user", "content": [block]}})

    def said(self, block: Mapping[str, Any]) -> None:
        used = {"input_tokens": sum(map(len, self.context)) // 4, "output_tokens": 100}
        message = {"role": "assistant", "model": "claude-sonnet-5", "content": [block], "usage": used}
        self.write({"type": "assistant", "message": message})

    def compact(self) -> str:
        """Put a summary in place of all that stands; returns it. From the second time on the records before
        the last boundary are written once more, as Claude Code does (its issue 92089)."""
        text = self.path.read_text(encoding="utf-8") if self.path.exists() else ""
        lines = text.splitlines()
        bounds = [at for at, line in enumerate(lines) if '"compact_boundary"' in line]
        if bounds:
            with self.path.open("a", encoding="utf-8") as file:
                file.writelines(line + "\n" for line in lines[: bounds[-1]] if '"type": "system"' not in line)
        self.write({"type": "system", "subtype": "compact_boundary", "content": "Conversation compacted"})
        summary = SUMMARY.format(last=self.last[:200])
        message = {"role": "user", "content": summary}
        self.write({"type": "user", "isCompactSummary": True, "message": message})
        self.context = [summary]
        return summary


def play(host: Host, session: Session) -> Iterator[int]:
    """Write a recorded session turn by turn; yields each turn's number before it is written."""
    for turn in range(1, session.turn_count + 1):
        yield turn
        for event in session.turn(turn):
            play_event(host, event)


def play_event(host: Host, event: SessionEvent) -> None:
    if event.kind == "user":
        host.ask(event.text)
    elif event.kind == "reply":
        host.answer(event.text)
    elif event.kind == "command":
        host.run(event.command, event.output)
