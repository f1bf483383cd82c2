"""What was said before the gardener came: transcripts of Claude Code and Codex and histories of aider, found
and taken into the archive of a project.

Each chat keeps its own session, the one it has where hooks archive it, and how far it was taken in: so what
was taken in is not taken in again, by whichever way it came, and who is stopped goes on.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any

from aider_gardener import files
from aider_gardener.adapters.claude_code.hooks import HOST as CLAUDE_CODE
from aider_gardener.adapters.claude_code.hooks import provider
from aider_gardener.adapters.claude_code.transcript import ClaudeReader
from aider_gardener.adapters.codex.rollout import HOST as CODEX
from aider_gardener.adapters.codex.rollout import RolloutReader, head_of, provider_of
from aider_gardener.adapters.intake import Agent, Intake
from aider_gardener.adapters.transcript import parsed
from aider_gardener.archive.sessions import AIDER, host_of
from aider_gardener.archive.store import Store
from aider_gardener.errors import SessionError
from aider_gardener.messages import SourceKind, entry_id
from aider_gardener.replay.session.grammar import Span
from aider_gardener.replay.session.history import (
    ASKING,
    HistoryReader,
    chats_in,
    decode,
    model_of,
    no_prompt,
    started_at,
)
from aider_gardener.tokens import model_row

HISTORY = ".aider.chat.history.md"
IMPORTED = "history-"
"""How the session of a chat begins that was read from a history of aider's: the file names none."""
UNASKED, WAITING = "chat without a prompt", "result that the transcript does not hold"
BATCH_BYTES = 2_000_000
"""So much is one transaction: what is lost where the import is killed, and what others wait for."""
HEAD_LINES = 10_000
"""Before a record that says whose it is there may stand so many that do not: titles and snapshots, one for
each time a chat was gone on with."""
HEAD_KEYS = ("type", "payload", "sessionId", "cwd")
OWN_NAME = re.compile(r"agent-.+|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
"""Names of transcripts that are the session's: a subagent's records have the session of who called it."""
CLOCK_SECONDS = 60.0
"""A chat that was archived live began at most so long before or after its header was written."""


@dataclass(frozen=True)
class ChatFile:
    """A chat in a file: its session, the agent with which it was held, the folder it was held in ("" where it
    says none), and its size in what the reader counts by."""

    path: Path
    session: str
    agent: Agent
    folder: str
    size: int


@dataclass
class Imported:
    """What came of an import: chats by agent, those of them that were known already and those of other
    projects, messages that are new, and by kind what is not kept and what of the hosts' own was passed
    over. `others` are files that were not taken in, with the reason."""

    chats: Counter[str] = field(default_factory=Counter)
    known: int = 0
    elsewhere: int = 0
    messages: int = 0
    lost: Counter[str] = field(default_factory=Counter)
    records: Counter[str] = field(default_factory=Counter)
    others: dict[str, str] = field(default_factory=dict)


# What there is


def own_files(project: Path, home: Path, environ: Mapping[str, str]) -> list[Path]:
    """The files in which hosts keep chats that may be of a project."""
    claude = Path(environ.get("CLAUDE_CONFIG_DIR") or home / ".claude", "projects")
    name = re.sub(r"[^a-zA-Z0-9]", "-", str(project))
    places = sorted(claude.glob("*"))
    found = [each for each in places if each.name == name or each.name.startswith(f"{name}-")]
    codex = Path(environ.get("CODEX_HOME") or home / ".codex")
    found += [codex / "sessions", codex / "archived_sessions"]
    history = Path(environ.get("AIDER_CHAT_HISTORY_FILE") or project / HISTORY)
    return [path for place in [*found, history] for path in files_named(place)]


def files_named(place: Path) -> list[Path]:
    """The files that may hold chats: a file, or those of a folder and of the folders in it."""
    found = [place] if place.is_file() else []
    for folder, inner, names in os.walk(place):
        inner.sort()
        found += [Path(folder, name) for name in sorted(names) if name.endswith((".jsonl", ".history.md"))]
    return found


def chats_of(path: Path, lost: Counter[str]) -> list[ChatFile]:
    """The chats of a file; what it says outside of them is counted in `lost`. Raises SessionError for a file
    that holds none."""
    try:
        head = first_records(path) if path.suffix != ".md" else []
        if not head and path.suffix != ".jsonl":
            return history_chats(path, lost)
        size = files.check_plain(path, follow=True).st_size
    except OSError as problem:
        raise SessionError(f"{path}: cannot be read ({problem.strerror or problem})") from problem
    for row in head:
        if "id" in (item := head_of(row)):
            session, folder = str(item["id"]), str(item.get("cwd") or "")
            return [ChatFile(path, session, Agent(CODEX, RolloutReader, provider_of(item)), folder, size)]
        if isinstance(row.get("sessionId"), str) and row["sessionId"]:
            folder = next((str(each["cwd"]) for each in head if each.get("cwd")), "")
            session = path.stem if OWN_NAME.fullmatch(path.stem) else row["sessionId"]
            agent = Agent(CLAUDE_CODE, ClaudeReader, provider(os.environ))
            return [ChatFile(path, session, agent, folder, size)]
    raise SessionError(f"{path}: no transcript of Claude Code or Codex and no history of aider")


def first_records(path: Path) -> list[dict[str, Any]]:
    """The records of a file of JSON lines up to the one that says whose it is and where it was held. Raises
    OSError, and SessionError for what is not UTF-8."""
    found = []
    with files.open_plain(path, follow=True) as file:
        for number, raw in zip(range(HEAD_LINES), files.lines(file), strict=False):
            if not number and b"\0" in raw:
                how = "bring it to UTF-8 first, as by iconv -f UTF-16 -t UTF-8"
                raise SessionError(f"{path}: UTF-16, or no text; {how}")
            if isinstance(value := parsed(raw), dict):
                found.append({key: value[key] for key in HEAD_KEYS if key in value})
                if head_of(value) or (value.get("sessionId") and value.get("cwd")):
                    break
    return found


def history_chats(path: Path, lost: Counter[str]) -> list[ChatFile]:
    """The chats of a history of aider's. Each has the session of its header and first words, so that it is
    known again in a copy of the file. Raises OSError, and SessionError for what is no history."""
    text = decode(files.read(path, files.NAMED_BYTES, follow=True))
    found: list[ChatFile] = []
    alike: Counter[str] = Counter()
    for parts in chats_in(text):
        first = next((span.text for span in parts if span.kind == "prompt"), "")
        if not first:
            lost[UNASKED] += 1
            continue
        key = f"{parts[0].text}\n{first}"
        alike[key] += 1
        digest = hashlib.sha256(f"{key}\n{alike[key]}".encode("utf-8", "surrogatepass")).hexdigest()
        size = sum(len(span.notices) or 1 for span in parts)
        reader = partial(HistoryReader, parts=parts)
        model, folder = model_of(parts), str(path.resolve().parent)
        prefix, _, bare = model.partition("/")
        name = prefix if bare else model_row(model).get("litellm_provider", "")
        found.append(ChatFile(path, IMPORTED + digest[:24], Agent(AIDER, reader, name), folder, size))
    if not found:
        raise no_prompt(path, text)
    return found


# Into the archive


def find(paths: Iterable[Path], project: str, *, only_own: bool, found: Imported) -> list[ChatFile]:
    """The chats of some files; with `only_own` those that were held in the project. What is none is told in
    `found`."""
    chats: dict[str, ChatFile] = {}
    for path in paths:
        try:
            chats_here = chats_of(path, found.lost)
        except SessionError as problem:
            found.others[str(path)] = str(problem).removeprefix(f"{path}: ")
            continue
        for chat in chats_here:
            if is_own(chat, project) or not only_own:
                shorter, longer = sorted((chat, chats.get(chat.session, chat)), key=lambda each: each.size)
                chats[chat.session] = longer
                if shorter.size < longer.size and chat.agent.host != AIDER:  # a history has other chats too
                    found.others[str(shorter.path)] = f"{longer.path} has more of the same session"
    found.elsewhere = sum(not is_own(chat, project) for chat in chats.values())
    return list(chats.values())


def is_own(chat: ChatFile, project: str) -> bool:
    """Whether a chat was held in a project, as far as it says where."""
    folder = Path(chat.folder)
    with suppress(ValueError):  # no path of this machine's
        folder = Path(os.path.realpath(folder)) if folder.is_absolute() else folder
    return not chat.folder or Path(project) in [folder, *folder.parents]


def ingest(
    store: Store,
    project: str,
    chats: Sequence[ChatFile],
    found: Imported,
    tick: Callable[[int], object] = lambda _size: None,
) -> Imported:
    """Take chats into the archive, in transactions of about BATCH_BYTES; `tick` is told of the size of each.
    Raises StoreError; what was taken in before stays."""
    steps = _taken(store, project, chats, found)
    while (size := store.together(lambda: next(steps, -1))) >= 0:
        tick(size)
    while store.work_off():
        pass
    return found


def _taken(store: Store, project: str, chats: Sequence[ChatFile], found: Imported) -> Iterator[int]:
    """Take in chat by chat; yields how much that was wherever it is enough for a transaction."""
    live, pending = cache(partial(live_prompts, store, project)), 0
    for chat in chats:
        found.chats[chat.agent.host] += 1
        if chat.agent.host == AIDER and was_archived_live(chat, live):
            found.known += 1
            continue
        clock = partial(os.path.getmtime, chat.path)
        intake = Intake(store, chat.session, project, chat.agent, chat.path, clock=clock)
        if intake.progress.offset >= chat.size:
            found.known += 1
            continue
        try:
            for line in intake.reader.lines():
                found.messages += intake.take_line(line)
                pending += line.end - line.start
                if pending >= BATCH_BYTES:
                    intake.save_progress()
                    yield pending
                    pending = 0
        except OSError as problem:
            found.others[str(chat.path)] = f"cannot be read ({problem.strerror or problem})"
        intake.save_progress()
        found.lost.update({WAITING: len(intake.reader.calls)} if intake.reader.calls else {})
        for kind, count in intake.reader.passed.items():
            of = found.records if kind.startswith("record ") else found.lost
            of[kind.removeprefix("record ")] += count
    yield pending


def was_archived_live(chat: ChatFile, live: Callable[[], Mapping[str, Sequence[float]]]) -> bool:
    """Whether a chat of a history was archived while it was held: one of the `live_prompts` was said between
    its header and the end of its day."""
    parts: Sequence[Span] = chat.agent.reader(chat.path).parts  # type: ignore[attr-defined]  # a HistoryReader
    began = started_at(parts[0].text) if parts[0].kind == "header" else 0.0
    for text in (span.text for span in parts if span.kind == "prompt"):
        asked = ASKING.match(text)
        for words in {text, asked.group("rest") if asked else text}:
            times = live().get(entry_id("user", words), ())
            if began and any(-CLOCK_SECONDS < at - began < 86_400 for at in times):
                return True
    return False


def live_prompts(store: Store, project: str) -> Mapping[str, Sequence[float]]:
    """When each prompt was said, by its id, in the chats of aider that were archived while they were held."""
    times: dict[str, list[float]] = {}
    for info in store.sessions(project):
        if info.id.startswith(IMPORTED) or host_of(store, info.id) != AIDER:
            continue
        for entry in store.session_entries(info.id):
            if entry.source.kind is SourceKind.TYPED:
                times.setdefault(entry.id, []).append(entry.created_at)
    return times
