"""A host's transcript as messages: a file that only grows. What a line of JSON says is the host's own grammar
(`claude_code.transcript`, `codex.rollout`); the rest is here.

A line that is too long is passed over and counted; the transcript keeps it.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from aider_gardener import files
from aider_gardener.archive.store.redact import redact
from aider_gardener.messages import LAST_SECOND, Message, Source, SourceKind
from aider_gardener.phrases import command_line
from aider_gardener.reading.source import command_source

SHELL = "Bash"
EDITORS = ("Edit", "MultiEdit", "Write", "NotebookEdit", "apply_patch")
KINDS = {
    "Read": SourceKind.FILE,
    "WebFetch": SourceKind.WEB,
    "WebSearch": SourceKind.WEB,
    **dict.fromkeys(EDITORS, SourceKind.NOTICE),
}
"""What the results of tools are, where not what a command gave."""
NO_OUTPUT = "(no output)"
FAILED_EDIT = "# 1 SEARCH/REPLACE block failed to match!\n"
COMMANDS = ("command", "cmd", "script")
DETAILS = "file_path notebook_path url pattern query path filename file description prompt".split()
"""What of a tool's input says what it was called for, the first that is there: a command, else another."""
DETAIL_CHARS = 400
"""A result is told with so much of that; a call that says more is a message of its own."""
LONG_LINE, UNFINISHED = "long line", "unfinished line"
THINKING = "thinking"
"""The one thing said that is not kept: what the model thinks to itself."""
HEAD_BYTES = 1024 * 1024
STAMP = re.compile(rb'"timestamp":\s*"([^"]{10,40})"')

MOST_TOKENS = 1_000_000_000
"""Nothing takes more."""


class Used(NamedTuple):
    """What an answer of the model took, by its `key`: several records may tell of the same. Tokens of its
    prompt that were sent plainly, read from the cache, written to it for five minutes and for an hour, those
    of the answer, and those `held` in the window behind it (0: of another chat). `cost` is what the host says
    of dollars, 0 for nothing."""

    key: str
    plain: int
    read: int = 0
    written: int = 0
    hour: int = 0
    output: int = 0
    in_context: int = 0
    model: str = ""
    window: int = 0
    cost: float = 0.0

    @property
    def sent(self) -> int:
        return self.plain + self.read + self.written + self.hour


class TranscriptRecord(NamedTuple):
    """One thing that a line of the transcript says.

    `place` is the offset of the line in bytes, `part` counts what it says from 0, `at` is its time in seconds
    since the epoch, that of the record beside it where it has none (0: there is none). `message` is None at a
    `boundary`, where the host put its summary in place of all before, and where only what was `used` is told.
    `unknown` is the type of a record that nobody here knows, and its
    message the raw line. `asks`: it is a prompt of the user's, which begins a turn."""

    message: Message | None = None
    source: Source = Source()
    asks: bool = False
    boundary: bool = False
    unknown: str = ""
    used: Used | None = None
    place: int = 0
    part: int = 0
    at: float = 0.0


class TranscriptLine(NamedTuple):
    """A line of the file: where it begins and ends, in bytes, and what it says."""

    start: int
    end: int
    records: tuple[TranscriptRecord, ...]


class Reader:
    """Reads a transcript from an offset on. `calls` are the sources of results that are still to come, by
    the id of the call, `at` is the time of the last record: both can be kept and given to
    the next reader. `passed` counts what was not kept, by its kind."""

    def __init__(
        self, path: Path, offset: int = 0, calls: Mapping[str, Source] | None = None, *, at: float = 0.0
    ) -> None:
        self.path, self.offset, self.at = path, offset, at
        self.calls = dict(calls or {})
        self.passed: Counter[str] = Counter()

    def lines(self) -> Iterator[TranscriptLine]:
        """The lines from the offset on that are complete, the last one also where its end is missing. A file
        that is shorter than the offset, or has no line's end around it, is another one: it is read from its
        beginning. Raises OSError."""
        with files.open_plain(self.path, follow=True) as file:
            # What has no time of its own before the first that stands in the head was said then too.
            first = STAMP.search(file.read(min(HEAD_BYTES, os.fstat(file.fileno()).st_size)))
            self.at = self.at or (seconds(first[1].decode("ascii", "replace")) if first else 0.0)
            if self.offset:
                file.seek(self.offset - 1)
                before, behind = file.read(1), file.read(1)
                if before != b"\n" and not (before and behind in (b"", b"\r", b"\n")):
                    self.offset = 0
            file.seek(self.offset)
            at = self.offset
            for raw in files.lines(file, files.LINE_BYTES):
                start, at, has_end = at, at + len(raw), raw.endswith(b"\n")
                if start == self.offset and (has_end or isinstance(parsed(raw), dict)):
                    self.offset = at
                    yield TranscriptLine(start, at, tuple(self.records(raw, start)))
                elif has_end:  # the last piece of a long one
                    self.passed[LONG_LINE] += 1
                    self.offset = at
            if at > self.offset:  # it is being written, or its writer was killed
                self.passed[UNFINISHED] += 1

    def records(self, raw: bytes, place: int) -> list[TranscriptRecord]:
        """What a line says. Of one that nobody here knows, is no JSON object or is nested too deeply, that is
        the line."""
        text = raw.decode("utf-8", "replace").removeprefix("\ufeff").strip()
        if not text:
            return []
        value, found = parsed(text), [TranscriptRecord(unknown="no JSON object")]
        if isinstance(value, dict):
            self.at = seconds(value.get("timestamp")) or self.at
            with suppress(RecursionError):
                found = [*self.messages_of(value)]
        return [
            record._replace(
                message=Message("system", text) if record.unknown else record.message,
                place=place,
                part=part,
                at=self.at,
            )
            for part, record in enumerate(found)
        ]

    def messages_of(self, value: Mapping[str, object]) -> Iterable[TranscriptRecord]:
        """What a record says, in order, as each host writes it; of one that is not known its type alone."""
        raise NotImplementedError  # aider's history is no lines of JSON: its reader has `lines` of its own

    def called(
        self, key: object, name: str, given: Mapping[str, object], text: str = ""
    ) -> list[TranscriptRecord]:
        """Remember a call until its result comes; what it says that the result is not told with."""
        self.calls[str(key)] = source_of(name, given)
        return record_of("assistant", text or call_text(name, given), SourceKind.REPLY)

    def gave(self, key: object, text: str, *, failed: bool) -> list[TranscriptRecord]:
        """The result of a call; a tool that could not edit says so as where aider's edits fail."""
        source = self.calls.pop(str(key), Source(SourceKind.COMMAND))
        if not text.strip() and source.detail:  # else the command would stand nowhere
            text = NO_OUTPUT
        is_failed_edit = failed and source.kind is SourceKind.NOTICE
        return record_of(
            "user", f"{FAILED_EDIT}{text}" if is_failed_edit else text, source.kind, source.detail
        )


def record_of(role: str, text: str, kind: SourceKind, detail: str = "") -> list[TranscriptRecord]:
    """The record of these words, none where there are none."""
    if not text.strip():
        return []
    return [TranscriptRecord(Message(role, text), Source(kind, detail), asks=kind is SourceKind.TYPED)]


def command_of(given: Mapping[str, object]) -> str:
    """The command that a tool was to run, as it would be typed; "" where its input holds none."""
    words = next((given[key] for key in COMMANDS if given.get(key)), "")
    return command_line([*map(str, words)]) if isinstance(words, (list, tuple)) else str(words)


def detail_of(given: Mapping[str, object]) -> str:
    """What a tool was called for, by its input. The beginning of a secret that is cut is known as none."""
    named = (value for key in DETAILS if isinstance(value := given.get(key), str))
    detail = command_of(given) or next(named, "")
    return (redact(detail).text[:DETAIL_CHARS] if len(detail) > DETAIL_CHARS else detail).strip()


def source_of(name: str, given: Mapping[str, object]) -> Source:
    """The source of what a tool gives back, by its name and input."""
    detail = detail_of(given)
    if kind := KINDS.get(name):
        return Source(kind, "" if kind is SourceKind.NOTICE else detail)
    if name == SHELL or command_of(given):
        return command_source(detail)
    if given.get("url"):
        return Source(SourceKind.WEB, detail)
    return Source(SourceKind.COMMAND, f"{name} {detail}".strip())


def call_text(name: str, given: Mapping[str, object]) -> str:
    """All that a call says: an edit as a SEARCH/REPLACE block, so that it is read as an edit everywhere, the
    rest by its keys. "" where that is its detail."""
    edit = edit_text(name, given)
    rest = {key: value for key, value in given.items() if value not in (None, "", False, [], {})}
    if edit:
        rest = {key: value for key, value in rest.items() if key not in EDIT_KEYS}
    elif [str(value).strip() for value in rest.values()] == [detail_of(given)]:
        return ""
    head = "\n".join([name, *(f"{key}: {as_text(value)}" for key, value in rest.items()), ""]) if rest else ""
    return f"{head}{edit}" if edit else head.rstrip("\n")


def as_text(value: object) -> str:
    """A value of a tool's input as people read it: a text as it is, of a flat list a line for each."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        rows = [each.values() if isinstance(each, Mapping) else [each] for each in value]
        if all(isinstance(cell, (str, int, float)) for row in rows for cell in row):
            return "".join("\n- " + "; ".join(map(str, row)) for row in rows)
    return json.dumps(value, ensure_ascii=False)


AFTER_KEYS = ("new_string", "content", "new_source")
EDIT_KEYS = frozenset({"file_path", "notebook_path", "edits", "old_string", "replace_all", *AFTER_KEYS})


def edit_text(name: str, given: Mapping[str, object]) -> str:
    """What a tool that edits does to its file, as SEARCH/REPLACE blocks; "" for other tools."""
    path = given.get("file_path") or given.get("notebook_path")
    if name not in EDITORS or not isinstance(path, str):
        return ""
    edits = given.get("edits")
    blocks = []
    for edit in edits if isinstance(edits, list) else [given]:
        if isinstance(edit, dict):
            texts = edit.get("old_string"), next((edit[key] for key in AFTER_KEYS if key in edit), "")
            before, after = (str(text).removesuffix("\n") + "\n" if text else "" for text in texts)
            every = "Every occurrence:\n" if edit.get("replace_all") else ""
            blocks.append(f"{every}{path}\n<<<<<<< SEARCH\n{before}=======\n{after}>>>>>>> REPLACE\n")
    return "\n".join(blocks)


def text_of(content: object) -> str:
    """The text of a content, as any host hands it over: a text, parts, or what stands where a result has its
    text. Of a picture its kind and size, of what nobody here knows all."""
    if content is None or isinstance(content, str):
        return content or ""
    if isinstance(content, list):
        return "\n".join(text_of(part) for part in content if part)
    if isinstance(content, Mapping):
        if "text" in content:
            return text_of(content["text"])
        for key in ("llmContent", "output"):
            if key in content:
                return text_of(content[key])
        kind = content.get("type")
        source = content.get("source" if kind in ("image", "document") else "inlineData")
        if isinstance(source, Mapping):
            name, data = source.get("media_type") or source.get("mimeType"), str(source.get("data") or "")
            return data if source.get("type") == "text" else named(str(name or kind or "data"), data)
        if isinstance(url := content.get("image_url"), str):
            name, _, data = url.removeprefix("data:").partition(";base64,")
            return named(name if data else f"image {url}", data)
    return json.dumps(content, ensure_ascii=False)


def named(kind: str, data: str) -> str:
    """What stands for a picture or a document: its kind, and the bytes that its base64 has."""
    size = len(data) * 3 // 4 - data[-2:].count("=")
    return f"[{kind}, {size:,} bytes]" if data else f"[{kind}]"


def parsed(text: str | bytes) -> object:
    """What a text holds as JSON; None where it is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def unwrapped(value: object) -> object:
    """A value, or what a text holds as JSON."""
    found = parsed(value) if isinstance(value, str) else None
    return value if found is None else found


def tokens(value: object) -> int:
    """A count of tokens that a host tells, 0 where it is none."""
    return value if isinstance(value, int) and 0 < value < MOST_TOKENS else 0


def seconds(stamp: object) -> float:
    """A time written as ISO 8601 as seconds since the epoch, 0 where it is none that an archive takes."""
    from datetime import datetime  # late: often nothing is new

    try:
        found = datetime.fromisoformat(str(stamp).replace("Z", "+00:00")).timestamp()
    except (ValueError, OverflowError, OSError):
        return 0.0
    return found if 0 < found <= LAST_SECOND else 0.0
