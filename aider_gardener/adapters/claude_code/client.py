"""A hook as a process: it leaves its host in time, whatever the disk does, and never fails it.

The work is done in a child (where there is `os.fork`), and this process waits for what the child has to say,
never longer than a part of the host's patience. A child that has nothing to say says so at once; what is new
of the chat it takes in behind that, while the host goes on. Little is imported before that is known. A fault
is one line without a word of the chat in the log beside the archive, and the exit code is 0.
"""

from __future__ import annotations

import contextlib
import gc
import json
import mmap
import os
import select
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aider_gardener import files
from aider_gardener.adapters.marks import (
    BOUNDARY_MARKS,
    LARGE_TOKENS,
    PROMPT,
    SHORTENED_MARK,
    START,
    STOP,
    TOOL,
)
from aider_gardener.errors import UsageError

if TYPE_CHECKING:
    from aider_gardener.adapters.claude_code.dialects import Dialect

LOG_NAME = "gardener.db.hooks-log"
"""Beside the archive: the log of faults."""
EVENTS: Mapping[str, int] = {START: 10, PROMPT: 5, TOOL: 5, "PreCompact": 60, "PostCompact": 60, STOP: 10}
"""The events that are listened to, and after how many seconds Claude Code goes on without an answer."""
ANSWERED = frozenset({START, PROMPT, TOOL})
"""Those that may have an answer. What the others bring is archived while the host goes on."""
OWN_SHARE = 0.7
"""How much of that an answer is waited for. The rest is for what passes before the first line runs."""
LOCK_SECONDS = 0.5
"""So long an answer waits for a lock on the archive, before what is new goes to lines beside it."""
BEHIND_SECONDS = 120.0
"""A child ends after so long, whatever it waits for."""
LARGE_VARIABLE = "AIDER_GARDENER_THROTTLE_TOKENS"
"""What says above how many tokens the result of a tool is shortened."""
COPIES = ("aider-gardener", "opencode")
"""The folder in which our plugin for OpenCode writes what its host has no transcript for."""
LARGEST_BYTES = 16 << 20
"""What a host says of one event is no longer."""
LOG_BYTES = 64 << 10

Say = Callable[[bytes], object]


def main(event: str, host: str = "") -> int:
    """Answer one event: its JSON on standard input, one JSON object or nothing on standard output. `host` is
    one of another dialect than Claude Code's. Returns 0, or ends the process with it."""
    gc.disable()  # the process ends before there is anything to collect
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # numpy begins as many threads as there are processors
    dialect = None
    if host:
        from aider_gardener.adapters.claude_code.dialects import DIALECTS  # late: most are Claude Code's

        dialect = DIALECTS.get(host)
    ours = dialect.events.get(event, "") if dialect else event
    patience = OWN_SHARE * EVENTS.get(ours, min(EVENTS.values()))
    if not hasattr(os, "fork"):
        act(event, printed, patience, dialect)
        return 0
    reading, writing = os.pipe()
    if os.fork() == 0:
        try:
            os.close(reading)
            os.setsid()
            silence = os.open(os.devnull, os.O_WRONLY)
            os.dup2(silence, 1)  # a host waits until nobody holds these
            os.dup2(silence, 2)
            act(event, lambda answer: write_all(writing, answer), BEHIND_SECONDS, dialect)
        finally:
            os._exit(0)
    os.close(writing)
    with contextlib.suppress(KeyboardInterrupt):
        printed(received(reading, patience))
    return 0


def printed(answer: bytes) -> None:
    with contextlib.suppress(OSError):
        sys.stdout.buffer.write(answer)
        sys.stdout.flush()


def write_all(writing: int, answer: bytes) -> None:
    """Write all to a pipe and close it. Raises TimeoutError where nobody waits for it any more."""
    try:
        with os.fdopen(writing, "wb") as pipe:
            pipe.write(answer)
    except BrokenPipeError:
        raise TimeoutError from None


def received(reading: int, seconds: float) -> bytes:
    """All that comes through a pipe until its other end is closed; nothing where that takes longer."""
    until, parts = time.monotonic() + seconds, list[bytes]()
    while select.select([reading], [], [], max(0.0, until - time.monotonic()))[0]:
        part = os.read(reading, 1 << 16)
        if not part:
            return b"".join(parts)
        parts.append(part)
    return b""


def act(event: str, respond: Say, seconds: float, dialect: Dialect | None = None) -> None:
    """Do what an event asks for, for at most so long. `respond` is called once, with the answer or with
    nothing; what comes behind that nobody waits for. Raises nothing."""
    given: dict[str, object] = {}
    with ending(event, given, seconds):
        try:
            raw = sys.stdin.buffer.read(LARGEST_BYTES)
            found = json.loads(raw.decode("utf-8-sig", "replace"))
            if not isinstance(found, dict):
                raise ValueError("no JSON object")
            ours, answered = event, ANSWERED
            if dialect and event not in dialect.events:
                return  # a host may have more of them
            if dialect:
                found, ours = dialect.translated(event, found), dialect.events[event]
                answered = dialect.answered
            given.update(found)
            if "cursor_version" in found or (event == TOOL and len(raw) <= 4 * large_tokens()):
                return  # Cursor runs Claude Code's hooks too, and has its own
            if ours not in answered or (ours == PROMPT and is_whole_in_context(given)):
                respond(b"")
                archive(ours, given)
            else:
                archive(ours, given, partial(in_words, respond, event, dialect))
        except BaseException as error:  # reason: a hook must never fail its host, whatever it meets
            note_fault(given, event, error)
        finally:
            drop_copy(given.get("transcript_path"))


def drop_copy(path: object) -> None:
    """Remove a copy of a chat that was written for this hook, whatever came of it: its secrets are in it, and
    the next one is as long."""
    if isinstance(path, str) and Path(path).parts[-3:-1] == COPIES:
        with contextlib.suppress(OSError, ValueError):
            Path(path).unlink()


def in_words(respond: Say, event: str, dialect: Dialect | None, answer: dict[str, Any]) -> None:
    """Say an answer as the host takes it."""
    if answer and dialect:
        answer = dialect.answer(event, answer["hookSpecificOutput"]["additionalContext"])
    respond(json.dumps(answer).encode() if answer else b"")


@contextlib.contextmanager
def ending(event: str, given: Mapping[str, object], seconds: float) -> Iterator[None]:
    """A context that ends the process with 0 where what is done in it takes longer. `given` holds what the
    event brings as soon as that is known."""

    def end() -> None:
        try:
            note_fault(given, event, TimeoutError())
        finally:
            os._exit(0)

    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def large_tokens() -> int:
    chosen = os.environ.get(LARGE_VARIABLE, "").strip()
    return (int(chosen) if chosen.isdecimal() else 0) or LARGE_TOKENS


def is_whole_in_context(given: Mapping[str, object]) -> bool:
    """Whether all of the chat stands in its host's context, as far as the transcript tells, and no other
    chats are to come in."""
    path = given.get("transcript_path")
    if not isinstance(path, str) or os.environ.get("AIDER_GARDENER_RECALL_SESSIONS"):
        return False
    try:
        with (
            files.open_plain(Path(path).expanduser(), follow=True) as file,
            mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as text,
        ):
            return all(text.find(mark) < 0 for mark in (*BOUNDARY_MARKS, SHORTENED_MARK.encode()))
    except (OSError, ValueError):  # none is there, or nothing in it
        return False


def project_of(given: Mapping[str, object]) -> Path:
    """The project that an event belongs to: the work tree around the folder in which the host was started."""
    named = os.environ.get("CLAUDE_PROJECT_DIR") or given.get("cwd")
    start = Path(named if isinstance(named, str) and named else os.getcwd()).resolve()
    return next((folder for folder in [start, *start.parents] if (folder / ".git").exists()), start)


def archive_directory(project: Path) -> Path:
    """Where the project's archive lies, as `aider-gardener` would find it there."""
    chosen = os.environ.get("AIDER_GARDENER_STORE", "").strip()
    if not chosen and (project / ".git").exists():
        return project / ".aider.gardener"
    from aider_gardener.archive.store.location import store_directory

    return store_directory(None, files.in_home(chosen) if chosen else None, project=project)


def archive(
    event: str, given: Mapping[str, object], respond: Callable[[dict[str, object]], object] | None = None
) -> None:
    """Take in what an event brings; where somebody waits, `respond` gets the answer before. It is made by
    words alone, for no model is loaded for one question."""
    from aider_gardener.adapters.claude_code.hooks import Hooks
    from aider_gardener.archive.store import open_store
    from aider_gardener.settings import Settings

    settings = Settings.from_env()
    if not settings.enabled:
        return
    project, patience = project_of(given), round(1_000 * LOCK_SECONDS) if respond is not None else 0
    store = open_store(
        archive_directory(project), key_source=settings.store_key, patience_milliseconds=patience
    )
    try:
        if not store.persistent:  # what is taken in would end with this process, and may be another's project
            return
        hooks = Hooks(store, str(project), settings=settings)
        if respond is not None:
            answer = hooks.answer(event, given)
            if event == TOOL and not store.persistent:  # the whole would be lost
                answer = {}
            respond(answer)
        if store.persistent:  # it may have ended since
            hooks.ingest(given)
        if event == STOP:  # no other event may follow
            store.copy_if_due()
            from aider_gardener.archive.postgres.sync import sync_if_due

            sync_if_due(store, str(project), os.environ)
    finally:
        store.close()


def note_fault(given: Mapping[str, object], event: str, error: BaseException) -> None:
    """One line in the log: when, which event, the kind of the fault. Never its message, which may quote."""
    try:
        path = archive_directory(project_of(given)) / LOG_NAME
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | files.NO_LINK
        full = os.path.lexists(path) and files.check_plain(path).st_size > LOG_BYTES
        handle = os.open(path, flags | (os.O_TRUNC if full else 0), 0o600)
        files.give_to_owner(handle, path)
        with os.fdopen(handle, "a", encoding="utf-8") as file:
            name = "".join(char for char in event if char.isalnum())[:40]
            file.write(
                f"{time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime())} {name} {type(error).__name__}\n"
            )
    except (OSError, ValueError, UsageError):  # the last two for a path that is none
        return
