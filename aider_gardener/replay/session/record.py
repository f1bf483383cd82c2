"""Records what happens in a running aider: prompts, replies, outputs, confirmations, files changed outside.

A file that a command changed is noted before the next turn, so prompts within the turn may differ.
`Recorder.install` puts hooks around aider's own functions; each calls the original with the very same
arguments and gives back its result, and a fault of the recorder ends the recording, never the chat.

What it writes is a folder that only its owner can read, an event a line, no secrets in it.
"""

from __future__ import annotations

import functools
import hashlib
import json
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import RLock
from typing import Any

from aider_gardener import files
from aider_gardener.archive.store.redact import Redacted, Redactor, cleaned
from aider_gardener.errors import SessionError
from aider_gardener.replay.measure.result import COMMIT, MAIN, SUMMARY
from aider_gardener.replay.play.model import kind_of
from aider_gardener.replay.session.session import FORMAT

EVENT_OF_CALL = {MAIN: "reply", COMMIT: "commit", SUMMARY: "summary"}
LEAVING = frozenset({"/exit", "/quit"})

FILE_BYTES = 200_000
"""Larger files are not stored, nor are files that are no text."""


class Recorder:
    """Hooks of one process. `problem` says why the recording ended early, "" as long as it goes on."""

    def __init__(self, session: SessionFolder) -> None:
        self.session = session
        self.problem = ""
        self.depth = 0
        self.coder: Any = None
        self.tree: dict[str, str] = {}
        self.chat_files: set[str] = set()
        self._originals: list[tuple[Any, str, Any]] = []

    # -- hooks

    def install(self) -> None:
        """Put the hooks in place; `uninstall` puts the same objects back."""
        from aider import commands, io, models, run_cmd, scrape
        from aider.coders import base_coder

        self.around(base_coder.Coder, "run_one", self.run_one)
        self.around(models.Model, "send_completion", self.send_completion)
        for module in (commands, base_coder, run_cmd):
            self.around(module, "run_cmd", self.run_cmd)
        self.around(scrape.Scraper, "scrape", self.scrape)
        self.around(io.InputOutput, "confirm_ask", self.confirm_ask)
        self.around(io.InputOutput, "write_text", self.write_text)
        self.around(io.InputOutput, "tool_warning", functools.partial(self.shown, "warning"))
        self.around(io.InputOutput, "tool_error", functools.partial(self.shown, "error"))

    def uninstall(self) -> None:
        while self._originals:
            holder, name, original = self._originals.pop()
            setattr(holder, name, original)

    def around(self, holder: Any, name: str, hook: Callable[..., Any]) -> None:
        """Replace `holder.name` by a function that calls `hook` with the original first."""
        original = holder.__dict__[name]
        self._originals.append((holder, name, original))

        @functools.wraps(original)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            return hook(original, *args, **kwargs)

        setattr(holder, name, wrapped)

    def note(self, work: Callable[[], None]) -> None:
        """Do a part of the recording; the first fault ends all of it."""
        if self.problem:
            return
        try:
            work()
        except Exception as problem:  # reason: a recorder must not break the chat that it records
            self.problem = f"{type(problem).__name__}: {problem}"

    def event(self, kind: str, **fields: Any) -> None:
        if self.session.is_open:
            self.note(lambda: self.session.add(kind, **fields))

    # -- turns

    def run_one(self, original: Any, coder: Any, user_message: Any, *args: Any, **kwargs: Any) -> Any:
        """Each text that was typed is a turn; what it makes aider say to itself belongs to it."""
        self.coder = coder
        text = user_message or ""
        is_turn = self.depth == 0 and text.strip() and text.strip() not in LEAVING
        if is_turn:
            self.note(lambda: self.begin_turn(coder, text))
        self.depth += 1
        try:
            return original(coder, user_message, *args, **kwargs)
        finally:
            self.depth -= 1
            if is_turn:
                self.note(lambda: self.end_turn(coder))

    def begin_turn(self, coder: Any, text: str) -> None:
        root = Path(coder.root)
        if not self.session.is_open:
            self.begin(coder, root)
        self.session.turn += 1
        if self.session.keep_files:
            self.note_files(coder, root)
        self.session.add("user", text=text, at=round(time.time()))

    def begin(self, coder: Any, root: Path) -> None:
        from aider import __version__

        self.chat_files = files_in_chat(coder)
        read_only = [coder.get_rel_fname(name) for name in coder.abs_read_only_fnames]
        meta = {
            "files": sorted(self.chat_files),
            "read_only": sorted(name for name in read_only if (root / name).is_file()),
            "edit_format": coder.edit_format,
            "test_cmd": coder.test_cmd or "",
            "auto_lint": bool(coder.auto_lint),
            "recorded_with": f"aider-chat {__version__}",
            "model": coder.main_model.name,
        }
        texts = texts_of(root) if self.session.keep_files else {}
        self.session.begin(meta, texts)
        self.tree = {name: digest(text) for name, text in texts.items()}

    def note_files(self, coder: Any, root: Path) -> None:
        """Files that were changed by others than aider, or put into the chat by its watcher."""
        texts = texts_of(root)
        tree = {name: digest(text) for name, text in texts.items()}
        in_chat = files_in_chat(coder)
        for name in sorted({*tree, *self.tree}):
            added = name in in_chat and name not in self.chat_files
            if tree.get(name) == self.tree.get(name) and not added:
                continue
            if name in texts:
                self.session.add("file", path=name, text=texts[name], in_chat=added)
            else:
                self.session.add("file", path=name, text="", gone=True)
        self.tree = tree

    def end_turn(self, coder: Any) -> None:
        """Remember which files the chat held, to tell what the watcher adds before the next turn."""
        self.chat_files = files_in_chat(coder)

    # -- what happens within a turn

    def send_completion(self, original: Any, model: Any, messages: Any, *args: Any, **kwargs: Any) -> Any:
        """Note the reply once it is there, streamed or whole."""
        sent = list(messages)
        digest, response = original(model, messages, *args, **kwargs)
        kind = EVENT_OF_CALL.get(kind_of(sent, model.name, self.main_names()))
        if kind is None or not self.session.is_open:
            return digest, response
        if hasattr(response, "choices"):
            said = response.choices[0].message.content or ""
            self.event(kind, text=said, prompt_messages=len(sent))
            return digest, response
        return digest, self.listening(response, kind, len(sent))

    def listening(self, chunks: Any, kind: str, messages: int) -> Iterator[Any]:
        """The stream as it is; what was said is noted at its end, also when it is broken off."""
        said: list[str] = []
        try:
            for chunk in chunks:
                choices: Sequence[Any] = getattr(chunk, "choices", None) or ()
                for choice in choices[:1]:
                    said.append(getattr(choice.delta, "content", None) or "")
                yield chunk
        finally:
            self.event(kind, text="".join(said), prompt_messages=messages)

    def main_names(self) -> list[str]:
        model = getattr(self.coder, "main_model", None)
        if model is None:
            return []
        editor = getattr(model, "editor_model", None)
        return [model.name, *([editor.name] if editor else [])]

    def run_cmd(self, original: Any, command: str, *args: Any, **kwargs: Any) -> Any:
        began = time.monotonic()
        status, output = original(command, *args, **kwargs)
        self.event(
            "command",
            command=command,
            exit_status=status,
            output=output or "",
            seconds=round(time.monotonic() - began, 3),
        )
        return status, output

    def scrape(self, original: Any, scraper: Any, url: str) -> Any:
        page = original(scraper, url)
        self.event("command", command=f"/web {url}", exit_status=0, output=page or "", seconds=0.0)
        return page

    def confirm_ask(self, original: Any, io: Any, question: str, *args: Any, **kwargs: Any) -> Any:
        answer = original(io, question, *args, **kwargs)
        subject = kwargs.get("subject", args[1] if len(args) > 1 else None)
        self.event("confirm", question=question, subject=subject or "", answer=bool(answer))
        return answer

    def write_text(self, original: Any, io: Any, name: Any, content: str, *args: Any, **kwargs: Any) -> Any:
        done = original(io, name, content, *args, **kwargs)
        self.note(lambda: self.expect(Path(str(name)), content))
        return done

    def expect(self, path: Path, content: str) -> None:
        """aider itself wrote this file: a replay does it too."""
        if self.coder is not None and self.session.is_open:
            root = Path(self.coder.root).resolve()
            if path.resolve().is_relative_to(root):
                self.tree[path.resolve().relative_to(root).as_posix()] = digest(content)

    def shown(self, kind: str, original: Any, io: Any, *args: Any, **kwargs: Any) -> Any:
        text = args[0] if args else kwargs.get("message", "")
        if self.depth and str(text).strip():
            self.event(kind, text=str(text))
        return original(io, *args, **kwargs)


@dataclass
class SessionFolder:
    """A session that is being recorded to `folder`. With `keep_files` the repository's files are stored."""

    folder: Path
    keep_files: bool
    turn: int = 0
    is_open: bool = False
    redacted: int = 0
    redactor: Redactor = field(default_factory=Redactor)
    lock: RLock = field(default_factory=RLock)

    @property
    def events_file(self) -> Path:
        return self.folder / "session.jsonl"

    def begin(self, meta: Mapping[str, Any], tree: Mapping[str, str]) -> None:
        """Write the head of the recording, and the texts of the files as they are, by path."""
        self.is_open = True
        make_private(self.folder)
        head = {"kind": "meta", "format": FORMAT, "name": self.folder.name, **self.clean(meta)}
        files.write_private(self.events_file, json.dumps(head, ensure_ascii=False) + "\n")
        for name, text in tree.items():
            files.write_private(self.folder / "repo0" / name, self.clean(text))

    def add(self, kind: str, **fields: Any) -> None:
        """Append an event of the current turn; it is on disk when this returns."""
        row = {"turn": self.turn, "kind": kind, **self.clean(fields)}
        line = json.dumps(row, ensure_ascii=False, default=str) + "\n"
        with self.lock, open(self.events_file, "a", encoding="utf-8", errors="replace", newline="\n") as file:
            file.write(line)

    def clean(self, value: Any) -> Any:
        """A value as JSON has it without secrets: a test command may hold one."""
        return cleaned(value, self.without_secrets)

    def without_secrets(self, text: str) -> Redacted:
        """A text without secrets, which are counted."""
        found = self.redactor(text)
        self.redacted += len(found.spans)
        return found


def files_in_chat(coder: Any) -> set[str]:
    return {name.replace("\\", "/") for name in coder.get_inchat_relative_files()}


def digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def make_private(folder: Path) -> None:
    """Make a folder that only its owner can enter; SessionError if that can't be."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as problem:
        raise SessionError(f"{folder}: cannot be made ({problem.strerror}); give another --to") from problem


def texts_of(root: Path) -> dict[str, str]:
    """The text files of a work tree that git doesn't ignore, by their path with forward slashes."""
    found = {}
    for name in listed(root):
        text = text_of_file(root / name)
        if text is not None:
            found[name] = text
    return found


def listed(root: Path) -> list[str]:
    """Tracked and new files of a work tree but aider's own; [] where there is no git."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        done = subprocess.run(command, cwd=root, capture_output=True, check=False)
    except OSError:
        return []
    names = done.stdout.decode("utf-8", "surrogateescape").split("\0") if not done.returncode else []
    return sorted({name for name in names if name and not name.startswith(".aider")})


def text_of_file(path: Path) -> str | None:
    """The text of a file, None if it is none, is gone, a link, or too large."""
    try:
        data = files.read(path, FILE_BYTES)
        return None if b"\0" in data else data.decode("utf-8")
    except (OSError, UnicodeDecodeError):
        return None
