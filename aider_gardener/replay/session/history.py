"""Reads any `.aider.chat.history.md` into the same Session that a recorded session folder gives.

The file doesn't hold the chat files nor the outputs of commands; so the session is marked as not recorded,
an output is a note that names its size, questions get their usual answers, and edits needn't apply. Each
start of the host within the file is a `restart` event: its chat began empty. Versions up to 0.63 (2024)
logged outputs, each in its own way: those are passed over, with the replies to them.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from aider_gardener import files
from aider_gardener.adapters.transcript import (
    THINKING,
    Reader,
    TranscriptLine,
    TranscriptRecord,
    Used,
    record_of,
    seconds,
    tokens,
)
from aider_gardener.archive.store.redact import Redactor
from aider_gardener.errors import SessionError
from aider_gardener.messages import SourceKind
from aider_gardener.reading.source import command_source
from aider_gardener.replay.session.grammar import (
    ABOUT_EDIT_ERRORS,
    EDIT_ERROR,
    Span,
    spans,
    text_end,
)
from aider_gardener.replay.session.session import RESTART, Session, SessionEvent, load_folder

UNCOMMITTED = "edits applied, not committed"
"""Text of the commit event of edits that the host applied without committing them."""

CONFIRM_ECHO = re.compile(r".*\(Y\)es/\(N\)o.*\[\w+\]: \w+$")
COMMIT = re.compile(r"Commit [0-9a-f]{7,40} (?:aider: )?(?P<message>.+)")
ADDED_OUTPUT = re.compile(r"Added (?P<lines>\d+) lines? of output to the chat")
RUN = re.compile(r"(?:/run|/test|!)\s*(?P<command>.*)", re.DOTALL)
ASKING = re.compile(r"/(?:ask|code|architect|context|help)\s+(?P<rest>.*)", re.DOTALL)
RUNNING = "Running "
EDIT_FORMAT = re.compile(
    r"(?:Main model|Editor model|Models?): .* (?:with|using) (?:\S+ )?(?:editor-)?"
    r"(?P<format>[\w-]+) edit format"
)
MODEL = re.compile(r"(?:Main model|Models?): (?P<model>\S+?)(?:,? (?:with|using) .*)?$")
THOUGHTS = re.compile(r"<(thinking-content-\w+)>")
"""Begins what a model thought: logged with its reply, left out of what is handed on."""
HOST_COMMAND = re.compile(r"[/!]")
NO_OUTPUT = re.compile(r"\[\d+ lines? of output; a chat history")
SPENT = re.compile(
    r"Tokens: (\d[\d,]{0,12}(?:\.\d+)?)([kKmM]?) sent(?:[^$T]{0,100}Cost: \$(\d[\d,]{0,9}(?:\.\d+)?))?"
)
LINT = "# Fix any errors below"
RESTORED = "Restored previous conversation history."
EDIT_FORMATS = frozenset({"diff", "whole", "udiff", "diff-fenced", "patch"})


def load_history(path: str | Path) -> Session:
    """Read a chat history file; SessionError says in one line what is wrong with it.

    Every prompt is a turn, commands included.
    """
    place = Path(path)
    try:
        data = files.read(place, files.RECORDING_BYTES, follow=True)
    except OSError as problem:
        raise SessionError(f"{place}: cannot be read ({problem.strerror or problem})") from problem
    reader = _Reader()
    text = decode(data)
    for span in spans(text):
        reader.take(span)
    if not reader.turn:
        raise no_prompt(place, text)
    redactor, events = Redactor(), []  # as those of a recording; a secret in one text is one in all
    for event in reader.events:
        text, command, output = (redactor(part).text for part in (event.text, event.command, event.output))
        events.append(replace(event, text=text, command=command, output=output))
    usual = place.name.startswith(".aider.chat.history")  # then the folder's name says more
    return Session(
        name=(place.resolve().parent.name if usual else place.name.removesuffix(".md")) or "history",
        events=tuple(events),
        sha256=hashlib.sha256(data).hexdigest(),
        edit_format=reader.edit_format or "diff",
        auto_lint=any(event.kind == "warning" for event in reader.events),
        recorded=False,
        meta={"model": reader.model},
    )


def no_prompt(place: Path, text: str) -> SessionError:
    """What is said of a file in which nobody typed anything."""
    why = "holds binary data" if "\0" in text else "no prompt was typed in it"
    return SessionError(f"{place}: {why}; give an .aider.chat.history.md of a chat")


def decode(data: bytes) -> str:
    """The text of a history file: UTF-8 with or without a mark, UTF-16 with one, else Windows-1252."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", "replace").replace("\r\n", "\n")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        truncated = problem.start >= len(data) - 3
        return data.decode("utf-8-sig" if truncated or problem.start > 4096 else "cp1252", "replace")


@dataclass
class _Reader:
    """Turns spans into events, one after the other."""

    events: list[SessionEvent] = field(default_factory=list)
    turn: int = 0
    prompt: str = ""
    reply: str = ""
    model: str = ""
    edit_format: str = ""
    starting: bool = True
    """Whether no prompt was typed since the host began: what it asks and commits then is of no turn."""

    def take(self, span: Span) -> None:
        if span.kind == "header":
            self.prompt, self.reply, self.starting = "", "", True
            if self.turn and self.events[-1].kind != RESTART:
                self.add(RESTART)
        elif span.kind == "prompt":
            self.take_prompt(span.text)
        elif span.kind == "reply":
            self.reply = span.text
            self.add("reply", text=span.text)
        else:
            self.take_notices(span.notices)

    def add(self, kind: str, **fields: Any) -> None:
        self.events.append(SessionEvent(kind, self.turn, **fields))

    def take_prompt(self, text: str) -> None:
        """A new turn, unless the host only logs again what it hands to another of its modes."""
        if text in ("", "<blank>") or CONFIRM_ECHO.match(text):
            return
        asked = ASKING.match(self.prompt)
        handed_on = (asked.group("rest") if asked else None, without_thoughts(self.reply) or None)
        if any(other is not None and _stored_lines(text) == _stored_lines(other) for other in handed_on):
            self.prompt = self.reply = ""
            return
        self.turn += 1
        self.prompt, self.reply, self.starting = text, "", False
        self.add("user", text=text)

    def take_notices(self, notices: Sequence[str]) -> None:
        if self.starting:
            for notice in notices:
                self.take_announcement(notice)
            return
        commits = applied = read_to = 0
        running = ""
        for number, notice in enumerate(notices):
            if number < read_to:
                continue
            before = notices[number - 1] if number else ""
            if commit := COMMIT.match(notice):
                if not before.startswith("Committing "):
                    self.add("commit", text=commit.group("message"))
                    commits += 1
            elif added := ADDED_OUTPUT.match(notice):
                self.take_output(int(added.group("lines")), running)
            elif notice.startswith("Applied edit to "):
                applied += 1
            elif notice.startswith(RUNNING):
                running = notice.removeprefix(RUNNING)
            elif notice.startswith(LINT):
                read_to = text_end(notices, number + 1)
                self.add("warning", text="\n".join(("", *notices[number:read_to], "")))
            elif EDIT_ERROR.match(notice):
                read_to = text_end(notices, number + 1)
                body = [line for line in notices[number + 1 : read_to] if not ABOUT_EDIT_ERRORS.match(line)]
                if error := "\n".join(body).strip():
                    self.add("error", text=error)
        if applied and not commits:
            self.add("commit", text=UNCOMMITTED)

    def take_announcement(self, line: str) -> None:
        if model := MODEL.match(line):
            self.model = model.group("model")
        found = EDIT_FORMAT.match(line)
        if found and found.group("format") in EDIT_FORMATS:
            self.edit_format = found.group("format")
        if line == RESTORED and self.events and self.events[-1].kind == RESTART:
            self.events.pop()

    def take_output(self, lines: int, running: str) -> None:
        """An output of which the file says how long it was: of a typed command or a suggested one."""
        run = RUN.match(self.prompt)
        command = run.group("command").strip() if run else running
        failed = self.prompt.startswith("/test")
        note = f"[{lines} line{'' if lines == 1 else 's'} of output; a chat history does not hold them]"
        self.add("command", command=command, output=note, exit_status=int(failed))


class HistoryReader(Reader):
    """Reads one chat of a history, `parts` of the file; what is counted of it are prompts, replies and single
    notices, since a run of notices may still grow. All was said when the chat began, as far as is known, a
    microsecond apart: words of one time are a line that stands doubled."""

    def __init__(self, *given: Any, parts: Sequence[Span], **more: Any) -> None:
        super().__init__(*given, **more)
        self.parts = parts

    def lines(self) -> Iterator[TranscriptLine]:
        interpreter, number = _Reader(), 0
        for span in self.parts:
            start, event_count = number, len(interpreter.events)
            number += len(span.notices) or 1
            interpreter.take(span)
            if span.kind == "header":
                self.at = started_at(span.text)
            if number > self.offset:
                rest = replace(span, notices=span.notices[max(0, self.offset - start) :])
                self.offset = number
                own_records = self._records_of(rest, interpreter.events[event_count:])
                at = self.at and self.at + start / 1e6
                records = (record._replace(place=start, at=at) for record in own_records)
                yield TranscriptLine(start, number, tuple(records))

    def _records_of(self, span: Span, events: Sequence[SessionEvent]) -> list[TranscriptRecord]:
        """What a part says; whose words notices are is told by the events that were read from them."""
        if span.kind == "reply":
            text = without_thoughts(span.text)
            self.passed.update({THINKING: 1} if text != span.text else {})
            return record_of("assistant", text.strip(), SourceKind.REPLY)
        if span.kind == "prompt" and not events:
            self.passed["prompt that aider logs twice"] += 1
        if span.kind == "prompt":
            is_typed = not HOST_COMMAND.match(span.text) or ASKING.match(span.text)
            kind = SourceKind.TYPED if is_typed else SourceKind.NOTICE
            return record_of("user", span.text if events else "", kind)
        kind, detail, text = SourceKind.NOTICE, "", "\n".join(span.notices)
        for event in events:
            if event.kind == "warning":
                kind = SourceKind.LINT
            elif event.kind == "command" and NO_OUTPUT.match(event.output):
                self.passed["output that the history does not hold"] += 1
            elif event.kind == "command":
                source = command_source(event.command)
                kind, detail = source.kind, source.detail
        used = [TranscriptRecord(used=used_by(*spent.groups(""))) for spent in SPENT.finditer(text)]
        return [*record_of("user", text, kind, detail), *used]


def used_by(sent: str, unit: str, cost: str) -> Used:
    """What an answer took, as far as aider rounds it."""
    thousands = {"": 1, "k": 1_000, "m": 1_000_000}[unit.lower()]
    plain, dollars = (float(figure.replace(",", "") or 0) for figure in (sent, cost))
    return Used("", tokens(round(plain * thousands)), cost=dollars)


def chats_in(text: str) -> list[list[Span]]:
    """The parts of each chat of a history, its header first."""
    chats: list[list[Span]] = []
    for span in spans(text):
        if span.kind == "header" or not chats:
            chats.append([])
        chats[-1].append(span)
    return chats


def model_of(parts: Sequence[Span]) -> str:
    """The model that a chat says it was begun with, "" where it says none."""
    interpreter = _Reader()
    for span in parts[:2]:
        interpreter.take(span)
    return interpreter.model


def started_at(header: str) -> float:
    """When a chat was begun, in seconds since the epoch: what its header says is the machine's own time."""
    return seconds(header.rpartition(" at ")[2].strip())


def without_thoughts(reply: str) -> str:
    mark = THOUGHTS.match(reply)
    return reply.partition(f"</{mark.group(1)}>")[2] if mark else reply


def _stored_lines(text: str) -> list[str]:
    """What the file keeps of a text: not the white space at line ends and around."""
    return [line.rstrip() for line in text.strip().splitlines()]


def load_session(path: str | Path) -> Session:
    """Read a recorded session folder, or a chat history file; SessionError says what is wrong."""
    place = Path(path)
    if place.is_file() and place.name != "session.jsonl":
        return load_history(place)
    return load_folder(place if place.is_dir() else place.parent)
