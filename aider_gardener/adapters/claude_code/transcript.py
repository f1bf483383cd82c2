"""Claude Code's transcript as messages: a file of JSON lines that only grows.

What looks like the user's words and is not (the host's summary of a compaction, results of tools, commands
and reminders in tags) gets a source of its own. What an edit tool did is told as a SEARCH/REPLACE block, so
that it is read as an edit everywhere. A record of an unknown type is handed on as it is.

What is read has bounds, since a hook is waited for: long lines are passed over, long texts are cut, and of
much that is new only the end is read. A record of its own says so; the transcript keeps it all.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from aider_gardener import files
from aider_gardener.messages import Message, Source, SourceKind
from aider_gardener.reading.classify import COMMAND_CHARS, TEST_COMMAND

SILENT = frozenset(
    "agent-name ai-title attachment custom-title file-history-snapshot last-prompt mode permission-mode"
    " pr-link progress queue-operation summary system tag".split()
)
"""Types of records that say nothing of the conversation itself."""
HOST_WORDS = (
    "<command-", "<local-command-", "Caveat: The messages below were generated", "[Request interrupted",
)  # fmt: skip
SHELL = "Bash"
PAGES = ("WebFetch", "WebSearch")
EDITORS = ("Edit", "MultiEdit", "Write", "NotebookEdit")
FAILED_EDIT = "# 1 SEARCH/REPLACE block failed to match!\n"
"""Stands before what a tool says that could not edit, as where aider's edits fail."""
DETAILS = (
    "command",
    "file_path",
    "notebook_path",
    "url",
    "pattern",
    "query",
    "path",
    "description",
    "prompt",
)
"""What of a tool's input says what it was called for, the first that is there."""
DETAIL_CHARS = 400
LINE_BYTES = 32 * 1024 * 1024
"""A line is no longer: a prompt with its pictures is smaller for every provider."""
TEXT_CHARS, RECORD_CHARS = 4_000_000, 16_000
"""What a line says is no longer: to archive it takes some seconds. Each text counts as so many at least."""
BEHIND_BYTES = 64 * 1024 * 1024
"""So much at most is read of what is new; a host that was without hooks for longer is met at the end."""
LONG_LINE, PASSED_OVER = "long line", "passed over"
"""Types of the records that tell of what was not read."""
CUT = "\n[… {count:,} more characters: they stand in the transcript alone]"

NO_SOURCE = Source()
Told = tuple[Message, Source, bool]
"""A message, whose words it is, and whether it begins a turn."""


@dataclass(frozen=True)
class ToolCall:
    """A tool that the model called, and what for."""

    name: str
    detail: str

    @property
    def source(self) -> Source:
        """The source of what it gave back."""
        if self.name in PAGES:
            return Source(SourceKind.WEB, self.detail)
        if self.name == "Read":
            return Source(SourceKind.FILE, self.detail)
        command = self.detail if self.name == SHELL else f"{self.name} {self.detail}".strip()
        is_test = self.name == SHELL and TEST_COMMAND.search(command[:COMMAND_CHARS])
        return Source(SourceKind.TEST if is_test else SourceKind.COMMAND, command)


@dataclass(frozen=True)
class TranscriptRecord:
    """One thing that a line of the transcript says.

    `place` is the offset of the line in bytes, `part` counts what it says from 0, `at` is its time in seconds
    since the epoch (0: none is given). `message` is None at a `boundary`, where the host put its summary in
    place of all before, and where only `used` is told: the tokens of a prompt with its answer. `unknown` is
    the type of a record that nobody here knows, and its message the raw line. `asks`: it is a prompt of the
    user's, which begins a turn."""

    place: int
    part: int
    at: float
    message: Message | None = None
    source: Source = NO_SOURCE
    boundary: bool = False
    unknown: str = ""
    asks: bool = False
    used: int = 0
    model: str = ""


@dataclass(frozen=True)
class TranscriptLine:
    """A line of the file: where it begins and ends, in bytes, and what it says."""

    start: int
    end: int
    records: tuple[TranscriptRecord, ...]


class Reader:
    """Reads a transcript from an offset on. `calls` are the tools that were called and whose results are
    still to come, by the id of the call; it can be kept and given to the next reader."""

    def __init__(self, path: Path, offset: int = 0, calls: Mapping[str, ToolCall] | None = None) -> None:
        self.path, self.offset = path, offset
        self.calls = dict(calls or {})

    def lines(self) -> Iterator[TranscriptLine]:
        """The lines from the offset on that are complete. A file that is shorter than the offset, or has no
        line's end before it, is another one: it is read from its beginning. While a long line is passed over
        lines come that end where they begin. Raises OSError."""
        with files.open_plain(self.path, follow=True) as file:
            if self.offset:
                file.seek(self.offset - 1)
                if file.read(1) != b"\n":
                    self.offset = 0
            at = max(self.offset, os.fstat(file.fileno()).st_size - BEHIND_BYTES)
            passed = PASSED_OVER if at > self.offset else ""
            file.seek(at)
            for raw in files.lines(file, LINE_BYTES):
                start, at = self.offset, at + len(raw)
                if not raw.endswith(b"\n"):
                    if len(raw) == LINE_BYTES:  # else it is being written
                        passed = passed or LONG_LINE
                        yield TranscriptLine(start, start, ())
                    continue
                self.offset = at
                if passed:
                    told = raw_message(f"{at - start:,} bytes of the transcript were passed over")
                    yield TranscriptLine(start, at, (TranscriptRecord(start, 0, 0.0, told, unknown=passed),))
                    passed = ""
                else:
                    yield TranscriptLine(start, at, tuple(self.records(raw, start)))

    def records(self, raw: bytes, place: int) -> list[TranscriptRecord]:
        """What a line says, as far as there is room; of one that is no JSON object, the line."""
        room, found = TEXT_CHARS, []
        for record in self._records(raw, place):
            if (said := record.message) is not None:
                if room <= 0:
                    continue
                text = said.content
                if len(text) > room:
                    cut = text[:room] + CUT.format(count=len(text) - room)
                    record = replace(record, message=Message(said.role, cut))
                room -= max(len(text), RECORD_CHARS)
            found.append(record)
        return found

    def _records(self, raw: bytes, place: int) -> list[TranscriptRecord]:
        text = raw.decode("utf-8", "replace").strip()
        if not text:
            return []
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            value = None
        if not isinstance(value, dict):
            return [TranscriptRecord(place, 0, 0.0, raw_message(text), unknown="no JSON object")]
        at = seconds(value.get("timestamp"))
        kind = value.get("type")
        if kind == "system" and value.get("subtype") == "compact_boundary":
            return [TranscriptRecord(place, 0, at, boundary=True)]
        queued = value.get("attachment")
        if isinstance(queued, dict) and queued.get("type") == "queued_command":
            value, kind = {"message": {"role": "user", "content": queued.get("prompt")}}, "user"
        if kind in SILENT:
            return []
        message = value.get("message")
        if kind not in ("user", "assistant") or not isinstance(message, dict):
            return [TranscriptRecord(place, 0, at, raw_message(text), unknown=str(kind)[:80])]
        told = self.told(value, message) if kind == "user" else self.answered(message)
        found = [
            TranscriptRecord(place, part, at, said, source, asks=asks)
            for part, (said, source, asks) in enumerate(told)
            if said.content.strip()
        ]
        used = tokens_used(message) if kind == "assistant" and not value.get("isSidechain") else 0
        if used:
            found.append(
                TranscriptRecord(place, len(told), at, used=used, model=str(message.get("model", "")))
            )
        return found

    def told(self, value: Mapping[str, Any], message: Mapping[str, Any]) -> list[Told]:
        """What a record of the type `user` says: who said it, and whether it begins a turn."""
        found = []
        is_typed = not (value.get("isMeta") or value.get("isSidechain"))
        for block in blocks(message):
            if block.get("type") == "tool_result":
                call = self.calls.pop(str(block.get("tool_use_id")), ToolCall("", ""))
                text, source = result_text(block), call.source
                if call.name in EDITORS:
                    text = f"{FAILED_EDIT}{text}" if block.get("is_error") else text
                    source = Source(SourceKind.NOTICE)
                found.append((Message("user", text), source, False))
            elif value.get("isCompactSummary"):
                found.append((Message("user", text_of(block)), Source(SourceKind.SUMMARY), False))
            else:
                said, source = typed(text_of(block))
                if not is_typed and source.kind is SourceKind.TYPED:
                    source = Source(SourceKind.NOTICE)
                found.append((Message("user", said), source, source.kind is SourceKind.TYPED))
        return found

    def answered(self, message: Mapping[str, Any]) -> list[Told]:
        """What a record of the type `assistant` says; what tools it calls is remembered. What the model
        thinks to itself is not kept."""
        found = []
        for block in blocks(message):
            text = text_of(block)
            if block.get("type") == "tool_use":
                name, given = str(block.get("name", "")), block.get("input")
                given = given if isinstance(given, dict) else {}
                self.calls[str(block.get("id"))] = call_of(name, given)
                text = edit_text(name, given)
            found.append((Message("assistant", text), Source(SourceKind.REPLY), False))
        return found


def call_of(name: str, given: Mapping[str, Any]) -> ToolCall:
    """A call of a tool by its name and input."""
    detail = next((given[key] for key in DETAILS if isinstance(given.get(key), str)), "")
    return ToolCall(name, detail[:DETAIL_CHARS].strip())


def blocks(message: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The blocks of a message's content; a plain text is one."""
    content = message.get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []


def text_of(block: Mapping[str, Any]) -> str:
    """The text of a block, "" for one that is none."""
    text = block.get("text") if block.get("type") == "text" else ""
    return text if isinstance(text, str) else ""


def result_text(block: Mapping[str, Any]) -> str:
    """What a tool gave back, as text; of a picture nothing."""
    return "\n".join(filter(None, map(text_of, blocks(block))))


def typed(text: str) -> tuple[str, Source]:
    """What a text in the user's role says, without the host's reminders, and whose words these are."""
    text = parted(text, "system-reminder")[0].strip()
    if ran := parted(text, "bash-input")[1]:
        return ran[0].strip(), Source(SourceKind.TYPED)
    if output := [*parted(text, "bash-stdout")[1], *parted(text, "bash-stderr")[1]]:
        return "\n".join(filter(None, output)).strip(), Source(SourceKind.COMMAND)
    if text.startswith(HOST_WORDS):
        args = parted(text, "command-args")[1]
        if args and args[0].strip():
            return args[0].strip(), Source(SourceKind.TYPED)
        return text, Source(SourceKind.NOTICE)
    return text, Source(SourceKind.TYPED)


def parted(text: str, tag: str) -> tuple[str, list[str]]:
    """A text without what stands in a tag, and all that, in one pass."""
    outside, *rest = text.split(f"<{tag}>")
    inside = []
    for part in rest:
        within, end, behind = part.partition(f"</{tag}>")
        if end:
            inside.append(within)
        outside += behind.lstrip() if end else f"<{tag}>{part}"
    return outside, inside


def edit_text(name: str, given: Mapping[str, Any]) -> str:
    """What a tool that edits does to its file, as SEARCH/REPLACE blocks; "" for other tools."""
    path = given.get("file_path") or given.get("notebook_path")
    if name not in EDITORS or not isinstance(path, str):
        return ""
    edits = given.get("edits") if isinstance(given.get("edits"), list) else [given]
    made = []
    for edit in edits or []:
        if isinstance(edit, dict):
            after = edit.get("new_string", edit.get("content", edit.get("new_source", "")))
            made.append(search_replace(path, str(edit.get("old_string") or ""), str(after or "")))
    return "\n".join(made)


def search_replace(path: str, before: str, after: str) -> str:
    """One edit in aider's format."""
    return f"{path}\n<<<<<<< SEARCH\n{ended(before)}=======\n{ended(after)}>>>>>>> REPLACE\n"


def ended(text: str) -> str:
    """The text with a line's end, unless there is none."""
    return text if not text or text.endswith("\n") else f"{text}\n"


def tokens_used(message: Mapping[str, Any]) -> int:
    """The tokens of the prompt that a reply answers, with the reply: what the window holds now."""
    usage = message.get("usage")
    if not isinstance(usage, dict):
        return 0
    names = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens")
    return sum(count for name in names if isinstance(count := usage.get(name), int) and count > 0)


def seconds(stamp: object) -> float:
    """A time written as ISO 8601 as seconds since the epoch, 0 where it is none."""
    try:
        return datetime.fromisoformat(str(stamp).replace("Z", "+00:00")).timestamp()
    except (ValueError, OverflowError, OSError):
        return 0.0


def raw_message(text: str) -> Message:
    """A record that is kept as it is."""
    return Message("system", text)
