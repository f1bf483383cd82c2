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
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from threading import RLock
from typing import Any
from unittest.mock import patch

from aider_gardener import files
from aider_gardener.archive.store.redact import Redacted, Redactor, cleaned
from aider_gardener.errors import SessionError
from aider_gardener.replay.measure.result import COMMIT, MAIN, SUMMARY
from aider_gardener.replay.play.calls import kind_of
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
        self._hooks = ExitStack()

    def install(self) -> None:
        """Put the hooks in place; `uninstall` puts the same objects back."""
        from aider import commands, io, models, run_cmd, scrape
        from aider.coders import base_coder

        self.around(base_coder.Coder, "run_one", self.run_one)
        self.around(models.Model, "send_completion", self.send_completion)
        for module in (commands, base_coder, run_cmd):
            self.after(module, "run_cmd", self.ran)
        self.after(scrape.Scraper, "scrape", self.scraped)
        self.after(io.InputOutput, "confirm_ask", self.confirmed)
        self.after(io.InputOutput, "write_text", self.written)
        self.after(io.InputOutput, "tool_warning", functools.partial(self.shown, "warning"))
        self.after(io.InputOutput, "tool_error", functools.partial(self.shown, "error"))

    def uninstall(self) -> None:
        self._hooks.close()

    def around(self, holder: Any, name: str, hook: Callable[..., Any]) -> None:
        """Replace `holder.name` by a function that calls `hook` with the original first."""
        original = holder.__dict__[name]

        @functools.wraps(original)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            return hook(original, *args, **kwargs)

        self._hooks.enter_context(patch.object(holder, name, wrapped))

    def after(self, holder: Any, name: str, hook: Callable[..., None]) -> None:
        """Have `hook` called with the result first once `holder.name` has returned, while it is recorded."""

        def noted(original: Any, *args: Any, **kwargs: Any) -> Any:
            result = original(*args, **kwargs)
            if self.session.is_open:
                self.note(lambda: hook(result, *args, **kwargs))
            return result

        self.around(holder, name, noted)

    def note(self, work: Callable[[], None]) -> None:
        """Do a part of the recording; the first fault ends all of it."""
        if self.problem:
            return
        try:
            work()
        except Exception as problem:  # reason: a recorder must not break the chat that it records
            self.problem = f"{type(problem).__name__}: {problem}"

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
            if is_turn:  # to tell what the watcher adds before the next one
                self.note(lambda: vars(self).update(chat_files=files_in_chat(coder)))

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
            if name not in texts:
                self.session.add("file", path=name, text="", gone=True)
            elif added or tree[name] != self.tree.get(name):
                self.session.add("file", path=name, text=texts[name], in_chat=added)
        self.tree = tree

    # -- what happens within a turn

    def send_completion(self, original: Any, model: Any, messages: Any, *args: Any, **kwargs: Any) -> Any:
        """Note the reply once it is there, streamed or whole."""
        sent = list(messages)
        digest, response = original(model, messages, *args, **kwargs)
        kind = EVENT_OF_CALL.get(kind_of(sent, model.name, self.main_names()))
        if kind is None or not self.session.is_open:
            return digest, response
        if hasattr(response, "choices"):
            reply = response.choices[0].message.content or ""
            self.note(lambda: self.session.add(kind, text=reply, prompt_messages=len(sent)))
            return digest, response
        return digest, self.listening(response, kind, len(sent))

    def listening(self, chunks: Any, kind: str, messages: int) -> Iterator[Any]:
        """The stream as it is; what was said is noted at its end, also when it is broken off."""
        parts: list[str] = []
        try:
            for chunk in chunks:
                choices: Sequence[Any] = getattr(chunk, "choices", None) or ()
                for choice in choices[:1]:
                    parts.append(getattr(choice.delta, "content", None) or "")
                yield chunk
        finally:
            self.note(lambda: self.session.add(kind, text="".join(parts), prompt_messages=messages))

    def main_names(self) -> list[str]:
        model = getattr(self.coder, "main_model", None)
        editor = getattr(model, "editor_model", None)
        return [each.name for each in (model, editor) if each]

    def ran(self, result: Any, command: str, *_: Any, **__: Any) -> None:
        status, output = result
        self.session.add("command", command=command, exit_status=status, output=output or "")

    def scraped(self, page: Any, _scraper: Any, url: str) -> None:
        self.session.add("command", command=f"/web {url}", exit_status=0, output=page or "")

    def confirmed(
        self,
        answer: Any,
        _io: Any,
        question: str,
        default: Any = "y",
        subject: Any = None,
        *_: Any,
        **__: Any,
    ) -> None:
        self.session.add("confirm", question=question, subject=subject or "", answer=bool(answer))

    def written(self, _result: Any, _io: Any, name: Any, content: str, *_: Any, **__: Any) -> None:
        """aider itself wrote this file: a replay does it too."""
        root, path = Path(self.coder.root).resolve(), Path(str(name)).resolve()
        if path.is_relative_to(root):
            self.tree[path.relative_to(root).as_posix()] = digest(content)

    def shown(self, kind: str, _result: Any, _io: Any, message: Any = "", *_: Any, **__: Any) -> None:
        if self.depth and str(message).strip():
            self.session.add(kind, text=str(message))


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
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as problem:
            raise SessionError(
                f"{self.folder}: cannot be made ({problem.strerror}); give another --to"
            ) from problem
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

        def without_secrets(text: str) -> Redacted:
            found = self.redactor(text)
            self.redacted += len(found.spans)
            return found

        return cleaned(value, without_secrets)


def files_in_chat(coder: Any) -> set[str]:
    return {name.replace("\\", "/") for name in coder.get_inchat_relative_files()}


def digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def texts_of(root: Path) -> dict[str, str]:
    """The text files of a work tree that git doesn't ignore, by their path with forward slashes."""
    found = {name: text_of_file(root / name) for name in listed(root)}
    return {name: text for name, text in found.items() if text is not None}


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
