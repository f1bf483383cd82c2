"""Hosts whose hooks tell what Claude Code's do in other words: a table of their names and fields.

Their transcripts have no documented format. So what is said is taken off the events, each of which then
carries it in `said`, as lines of Claude Code's transcript, and has its time for a place in the archive. After
the reference of Gemini's hooks (0.61, tried) and that of Cursor's (cursor.com/docs/hooks, not tried).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from aider_gardener.adapters.claude_code.transcript import ClaudeReader
from aider_gardener.adapters.intake import PLACES_A_SECOND
from aider_gardener.adapters.marks import PROMPT, SNAPSHOT_MARK, START, STOP, TOOL
from aider_gardener.adapters.transcript import TranscriptRecord, seconds, text_of, unwrapped

Given = Mapping[str, Any]
PASSED_ON = ("session_id", "transcript_path", "cwd", "prompt", "source")
RESULTS, REPLIES = ("tool_response", "tool_output", "error_message"), ("prompt_response", "text")
"""Where in an event the result of a tool and the model's answer stand."""
TOOLS = {
    "run_shell_command": "Bash", "Shell": "Bash", "read_file": "Read", "write_file": "Write",
    "replace": "Edit", "web_fetch": "WebFetch", "google_web_search": "WebSearch",
}  # fmt: skip
"""Tools by Claude Code's names, where they differ."""
OWN_TOOL = re.compile(r"(?:mcp_gardener_|MCP:(?=recall$|timeline$))(\w+)")
ADDED = re.compile(r"<hook_context>.*?</hook_context>\s*", re.DOTALL)
"""What a hook has added stands before the first prompt that Gemini hands on."""
SNAPSHOT = re.compile(rb'"timestamp":"([^"]{10,40})","type":"user","content":\[\{' + re.escape(SNAPSHOT_MARK))


@dataclass(frozen=True)
class Dialect:
    """A host by its `name`: `events` are its own by Claude Code's names, and it takes a context from those
    `answered`, as the whole answer where that is `flat`."""

    name: str
    events: Mapping[str, str]
    answered: frozenset[str]
    flat: bool

    def translated(self, event: str, given: Given) -> dict[str, object]:
        """An event as Claude Code would tell it."""
        fields = {key: given[key] for key in PASSED_ON if key in given}
        roots = given.get("workspace_roots")
        if isinstance(roots, list) and roots:
            fields["cwd"] = roots[0]
        if isinstance(fields.get("prompt"), str):
            fields["prompt"] = ADDED.sub("", fields["prompt"], count=1)
        session = fields.get("session_id") or given.get("conversation_id")
        messages = messages_in(self.events[event], {**given, **fields})
        return {"source": "startup", **fields, "session_id": session, "host": self.name, "said": messages}

    def answer(self, event: str, text: str) -> dict[str, object]:
        """How it is given a text for its context."""
        if self.flat:
            return {"additional_context": text}
        return {"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}}


DIALECTS = {
    "gemini": Dialect(
        "Gemini",
        {"SessionStart": START, "BeforeAgent": PROMPT, "AfterTool": TOOL, "AfterAgent": STOP},
        frozenset({START, PROMPT}),
        flat=False,
    ),
    "cursor": Dialect(
        "Cursor",
        {
            "sessionStart": START,
            "beforeSubmitPrompt": PROMPT,
            "postToolUse": TOOL,
            "postToolUseFailure": TOOL,
            "afterAgentResponse": STOP,
        },
        frozenset({START}),
        flat=True,
    ),
}


def messages_in(event: str, given: Given) -> list[dict[str, object]]:
    """What an event says, as lines of a transcript."""
    if event == PROMPT:
        return [line("user", given.get("prompt"))]
    if event == STOP:
        return [line("assistant", first(given, REPLIES))]
    if event != TOOL:
        return []
    name, asked = str(given.get("tool_name", "")), unwrapped(given.get("tool_input"))
    own = OWN_TOOL.fullmatch(name)
    name = f"mcp__gardener__{own[1]}" if own else TOOLS.get(name, name)
    call = {"type": "tool_use", "id": "said", "name": name, "input": asked}
    result = {
        "type": "tool_result",
        "tool_use_id": "said",
        "content": text_of(unwrapped(first(given, RESULTS))),
    }
    return [line("assistant", [call]), line("user", [result])]


def line(role: str, content: object) -> dict[str, object]:
    return {"type": role, "message": {"content": content}}


def first(value: Given, names: tuple[str, ...]) -> object:
    """What stands under the first of some names."""
    return next((value[name] for name in names if name in value), None)


class SaidReader(ClaudeReader):
    """Reads what events said, and of Gemini's transcript when it was compacted."""

    def records(self, raw: bytes, place: int) -> list[TranscriptRecord]:
        if found := SNAPSHOT.search(raw):
            at = seconds(found[1].decode("ascii", "replace"))
            return [TranscriptRecord(boundary=True, place=round(PLACES_A_SECOND * at))]
        return super().records(raw, place)
