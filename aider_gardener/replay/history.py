"""Reads any `.aider.chat.history.md` into the same Session that a recorded session folder gives.

The file doesn't hold the chat files, the output of commands, nor what a confirmation was about; so
the session is marked as not recorded, a command's output is a note that names its size, and edits
needn't apply. Each start of the host within the file is a `restart` event: its chat began empty.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field
from pathlib import Path

from aider_gardener.errors import SessionError
from aider_gardener.replay.history_grammar import Progress, Span, spans
from aider_gardener.replay.session import Event, Session

RESTART = "restart"
"""Kind of the event where the host was started anew: chat and files are empty from here on."""

UNCOMMITTED = "edits applied, not committed"
"""Text of the commit event of edits that the host applied without committing them."""

CONFIRM = re.compile(
    r"(?P<question>[^?]*\?) (?:\(Y\)es/\(N\)o[ \w'/()]*\[\w+\]: |\[Y/n\] )?(?P<answer>y|n|a|s|d|yes|no)$"
)
WITH_SUBJECT = ("Add file", "Add URL", "Create new file", "Run shell command", "Allow edits", "Open ")
"""Beginnings of the questions that name what they are about in the notice before them."""
CONFIRM_ECHO = re.compile(r".*\(Y\)es/\(N\)o.*\[\w+\]: \w+$")
COMMIT = re.compile(r"Commit [0-9a-f]{7,40} (?:aider: )?(?P<message>.+)")
ADDED_OUTPUT = re.compile(r"Added (?P<lines>\d+) lines? of output to the chat")
RUN = re.compile(r"(?:/run|/test|!)\s*(?P<command>.*)", re.DOTALL)
ASKING = re.compile(r"/(?:ask|code|architect|context|help)\s+(?P<rest>.*)", re.DOTALL)
EDIT_FORMAT = re.compile(r"(?:Main model|Models?): .* with (?P<format>[\w-]+) edit format")
MODEL = re.compile(r"(?:Main model|Models?): (?P<model>\S+?),? with ")
VERSION = re.compile(r"Aider v(?P<version>\S+)")
LINT = "# Fix any errors below"
RESTORED = "Restored previous conversation history."
EDIT_FORMATS = frozenset({"diff", "whole", "udiff", "diff-fenced", "patch"})


def load_history(path: str | Path, progress: Progress | None = None) -> Session:
    """Read a chat history file; SessionError says in one line what is wrong with it.

    Every prompt is a turn, commands included. `progress` is called with (done, total) lines.
    """
    place = Path(path)
    try:
        data = place.read_bytes()
    except OSError as problem:
        raise SessionError(f"{place}: cannot be read ({problem.strerror or problem})") from problem
    text = decode(data, place)
    if not text.strip():
        raise SessionError(f"{place}: empty; give the history file of a chat that has begun")
    reader = _Reader()
    for span in spans(text, progress):
        reader.take(span)
    if not any(event.kind == "user" for event in reader.events):
        what = "no prompt was typed in it" if reader.chats else "this is no chat history of aider"
        raise SessionError(f"{place}: {what}; give an .aider.chat.history.md with at least one prompt")
    return Session(
        name=history_name(place),
        events=tuple(reader.events),
        sha256=hashlib.sha256(data).hexdigest(),
        edit_format=reader.edit_format or "diff",
        auto_lint=any(event.kind == "warning" for event in reader.events),
        recorded_with=f"aider-chat {reader.version}" if reader.version else "",
        recorded=False,
        meta={"chats": reader.chats, "model": reader.model, "source": "chat history"},
    )


def history_name(place: Path) -> str:
    """The folder's name for a file with the usual name, the file's own name otherwise."""
    if place.name.startswith(".aider.chat.history"):
        return place.resolve().parent.name or "history"
    return place.name.removesuffix(".md") or "history"


def decode(data: bytes, place: Path) -> str:
    """The text of a history file: UTF-8 with or without a mark, UTF-16 with one, else Windows-1252."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", "replace").replace("\r\n", "\n")
    if b"\0" in data[:65536]:
        raise SessionError(f"{place}: holds binary data; give an .aider.chat.history.md")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        truncated = problem.start >= len(data) - 3
        return data.decode("utf-8-sig" if truncated or problem.start > 4096 else "cp1252", "replace")


@dataclass
class _Reader:
    """Turns spans into events, one after the other."""

    events: list[Event] = field(default_factory=list)
    turn: int = 0
    chats: int = 0
    prompt: str = ""
    reply: str = ""
    model: str = ""
    version: str = ""
    edit_format: str = ""

    def take(self, span: Span) -> None:
        if span.kind == "header":
            self.take_header()
        elif span.kind == "prompt":
            self.take_prompt(span.text)
        elif span.kind == "reply":
            self.reply = span.text
            self.add("reply", text=span.text)
        else:
            self.take_notices(span.text.split("\n"))

    def add(
        self,
        kind: str,
        text: str = "",
        *,
        command: str = "",
        output: str = "",
        question: str = "",
        subject: str = "",
        answer: bool = True,
        exit_status: int = 0,
    ) -> None:
        self.events.append(
            Event(
                kind,
                self.turn,
                text=text,
                command=command,
                output=output,
                question=question,
                subject=subject,
                answer=answer,
                exit_status=exit_status,
            )
        )

    def take_header(self) -> None:
        self.chats += 1
        self.prompt = self.reply = ""
        if self.turn and self.events[-1].kind != RESTART:
            self.add(RESTART)

    def take_prompt(self, text: str) -> None:
        """A new turn, unless the host only logs again what it hands to another of its modes."""
        if text in ("", "<blank>") or CONFIRM_ECHO.match(text):
            return
        asked = ASKING.match(self.prompt)
        handed_on = (asked.group("rest") if asked else None, self.reply or None)
        if any(other is not None and _same(text, other) for other in handed_on):
            self.prompt = self.reply = ""
            return
        self.turn += 1
        self.prompt, self.reply = text, ""
        self.add("user", text=text)

    def take_notices(self, lines: list[str]) -> None:
        commits = applied = 0
        for number, line in enumerate(lines):
            before = lines[number - 1] if number else ""
            if not self.turn or (self.events and self.events[-1].kind == RESTART):
                self.take_announcement(line)
            if commit := COMMIT.match(line):
                if not before.startswith("Committing "):
                    self.add("commit", text=commit.group("message"))
                    commits += 1
            elif added := ADDED_OUTPUT.match(line):
                self.take_output(int(added.group("lines")))
            elif confirm := CONFIRM.match(line):
                question = confirm.group("question")
                self.add(
                    "confirm",
                    question=question,
                    answer=confirm.group("answer")[0] in "ya",
                    subject=before if question.startswith(WITH_SUBJECT) else "",
                )
            elif line.startswith("Applied edit to "):
                applied += 1
            elif line.startswith(LINT):
                self.add("warning", text=lint_text(lines[number:]))
        if applied and not commits and self.turn:
            self.add("commit", text=UNCOMMITTED)

    def take_announcement(self, line: str) -> None:
        if version := VERSION.match(line):
            self.version = version.group("version")
        if model := MODEL.match(line):
            self.model = model.group("model")
        found = EDIT_FORMAT.match(line)
        if found and found.group("format") in EDIT_FORMATS:
            self.edit_format = found.group("format")
        if line == RESTORED and self.events and self.events[-1].kind == RESTART:
            self.events.pop()

    def take_output(self, lines: int) -> None:
        run = RUN.match(self.prompt)
        command = run.group("command").strip() if run else ""
        failed = self.prompt.startswith("/test")
        note = f"[{lines} line{'' if lines == 1 else 's'} of output; a chat history does not hold them]"
        self.add("command", command=command, output=note, exit_status=int(failed))


def lint_text(lines: list[str]) -> str:
    """What the linter said, as it was shown: up to the question whether to mend it."""
    found = []
    for line in lines:
        if CONFIRM.match(line) or line.startswith(("Tokens: ", "Commit ", "Applied edit to ")):
            break
        found.append(line)
    return "\n" + "\n".join(found) + "\n"


def _same(one: str, other: str) -> bool:
    """Equal but for white space at line ends and around, which the file doesn't keep."""
    return [line.rstrip() for line in one.strip().splitlines()] == [
        line.rstrip() for line in other.strip().splitlines()
    ]
