"""A recorded session as data, how it is read from its folder.

A folder holds `session.jsonl` (first line the meta event, then one event a line), and, where they
exist, `repo0/` (the tree at the start), `probes.json` and `summaries.json`. A user's own
`.aider.chat.history.md` is read into the same dataclasses by `aider_gardener.replay.session.history`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any

from aider_gardener import files
from aider_gardener.errors import SessionError

FORMAT = 1
"""The one format of `session.jsonl` that is known."""

RESTART = "restart"
"""Kind of the event where the host was started anew: chat and files are empty from here on."""

NEEDED = {
    **dict.fromkeys(("user", "reply", "commit", "warning", "error", "summary"), "text"),
    **{"command": "command", "confirm": "question", "file": "path", RESTART: ""},
}
"""The kinds of events, each with the text that it must have."""


def inside(path: str) -> str:
    """The path; ValueError if it leads out of the repository or into git's own folder."""
    parts = PurePosixPath(path.replace("\\", "/")).parts
    if ".." in parts or ".git" in parts or path[:1] in ("/", "\\") or ":" in path[:2]:
        raise ValueError(f"the path {path!r} leads out of the repository")
    return path


FIELDS: Mapping[str, Callable[[Any], Any]] = {
    **dict.fromkeys(("text", "command", "output", "question", "subject", "edit_format"), str),
    "exit_status": int,
    "prompt_messages": int,
    "path": inside,
    **dict.fromkeys(("answer", "in_chat", "gone"), bool),
    **dict.fromkeys(("files", "read_only"), lambda paths: tuple(inside(str(path)) for path in paths)),
    "at": float,
}
"""The fields of an event besides kind and turn, and how each is read."""


@dataclass(frozen=True)
class SessionEvent:
    """One thing that happened in a session; fields that its kind has no use for keep their default.

    `user`, `reply`, `commit`, `summary`, `warning`, `error`: `text`. `command`: `command`, `output`,
    `exit_status`. `confirm`: `question`, `subject`, `answer`. `prompt_messages` is the
    number of messages in the prompt of a `reply`, `commit` or `summary` as recorded, 0 if unknown.
    `restart`: the host was started anew after this turn, with `files` and `edit_format`. `file`: someone
    else than the host wrote `text` to `path` before the turn (`gone`: removed it); `in_chat`: it entered
    the chat.
    `turn` counts the user's inputs from 1. `at` is when a `user` event was typed, in seconds since the
    epoch, None if unknown.
    """

    kind: str
    turn: int
    text: str = ""
    command: str = ""
    output: str = ""
    exit_status: int = 0
    question: str = ""
    subject: str = ""
    answer: bool = True
    prompt_messages: int = 0
    path: str = ""
    in_chat: bool = False
    gone: bool = False
    files: tuple[str, ...] = ()
    read_only: tuple[str, ...] = ()
    edit_format: str = ""
    at: float | None = None


@dataclass(frozen=True)
class Probe:
    """A question asked just before turn `ask_at_turn` about what was said in turn `about_turn`. What must
    stand around an answer key is what was said around it, or around the keys `near`, where there are
    any."""

    about_turn: int
    ask_at_turn: int
    kind: str
    question: str
    answer_keys: tuple[str, ...]
    near: tuple[str, ...] = ()


@dataclass(frozen=True)
class Session:
    """A recording: what was typed, answered, run and confirmed, in order.

    `files` are in the chat from the start, relative to the repository. `repo0` is None where the
    tree at the start is unknown (a chat history). `recorded` is False for a chat history: then
    confirmations and prompt sizes aren't known and edits needn't apply. `sha256` names the input.
    """

    name: str
    events: tuple[SessionEvent, ...]
    sha256: str
    repo0: Path | None = None
    files: tuple[str, ...] = ()
    read_only: tuple[str, ...] = ()
    edit_format: str = "diff"
    auto_lint: bool = False
    test_cmd: str = ""
    recorded: bool = True
    probes: tuple[Probe, ...] = ()
    summaries: tuple[str, ...] = ()
    meta: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def turn_count(self) -> int:
        return max((event.turn for event in self.events), default=0)

    @cached_property
    def _by_turn(self) -> dict[int, tuple[SessionEvent, ...]]:
        found: dict[int, list[SessionEvent]] = {}
        for event in self.events:
            found.setdefault(event.turn, []).append(event)
        return {turn: tuple(events) for turn, events in found.items()}

    def turn(self, number: int) -> tuple[SessionEvent, ...]:
        """The events of one turn, in order, its `user` event included."""
        return self._by_turn.get(number, ())

    def of_kind(self, kind: str, turn: int | None = None) -> list[SessionEvent]:
        events = self.events if turn is None else self.turn(turn)
        return [event for event in events if event.kind == kind]


def load_folder(folder: Path) -> Session:
    """Read `folder/session.jsonl` and what lies beside it. Raises SessionError, which names the line."""
    recording = folder / "session.jsonl"
    rows = read_rows(recording)
    meta = rows[0][1] if rows else {}
    if meta.get("kind") != "meta":
        raise SessionError(f"{recording}:1: the first line must be the meta event")
    if meta.get("format") != FORMAT:
        raise SessionError(
            f"{recording}:1: unknown format {meta.get('format')!r}; this version reads {FORMAT}"
        )
    events = []
    for number, row in rows[1:]:
        try:
            events.append(parse_event(row))
        except (TypeError, ValueError) as problem:
            raise SessionError(f"{recording}:{number}: {problem}") from problem
    repo0 = folder.resolve() / "repo0"
    return Session(
        name=str(meta.get("name") or folder.resolve().name),
        events=tuple(events),
        sha256=folder_hash(folder),
        repo0=repo0 if repo0.is_dir() else None,
        files=tuple(str(name) for name in meta.get("files") or ()),
        read_only=tuple(str(name) for name in meta.get("read_only") or ()),
        edit_format=str(meta.get("edit_format") or "diff"),
        auto_lint=bool(meta.get("auto_lint", False)),
        test_cmd=str(meta.get("test_cmd") or ""),
        probes=load_probes(folder / "probes.json"),
        summaries=load_summaries(folder / "summaries.json"),
        meta=meta,
    )


def read_rows(path: Path) -> list[tuple[int, dict[str, Any]]]:
    """The objects of a file of JSON lines with their line numbers. Raises SessionError, which names the line
    that is none."""
    rows = []
    for number, line in enumerate(_text(path).split("\n"), 1):
        if line.strip():
            row = _json(line, f"{path}:{number}")
            if not isinstance(row, dict):
                raise SessionError(f"{path}:{number}: is not a JSON object")
            rows.append((number, row))
    return rows


def _text(path: Path) -> str:
    try:
        return files.read_text(path, files.RECORDING_BYTES)
    except OSError as problem:
        raise SessionError(f"{path}: cannot be read ({problem.strerror})") from problem
    except ValueError:
        raise SessionError(f"{path}: is not UTF-8 throughout") from None


def _json(text: str, place: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as problem:
        raise SessionError(f"{place}: is truncated or not JSON ({problem})") from problem


def parse_event(row: Mapping[str, object]) -> SessionEvent:
    """One event from its JSON object. Raises TypeError or ValueError, which says what is wrong."""
    kind, turn = row.get("kind"), row.get("turn")
    if kind not in NEEDED:
        raise ValueError(f"unknown event kind {kind!r}")
    if not isinstance(turn, int) or turn < 0:
        raise ValueError(f"`turn` must be a whole number, got {turn!r}")
    needed = NEEDED[kind]
    if needed and not isinstance(row.get(needed), str):
        raise ValueError(f"a {kind} event needs the text `{needed}`")
    found = {name: read(row[name]) for name, read in FIELDS.items() if row.get(name) not in (None, "")}
    return SessionEvent(kind, turn, **found)


def load_probes(path: Path) -> tuple[Probe, ...]:
    """The probes of a `probes.json`: a list of objects as the session format has them."""
    rows = json_list(path)
    try:
        return tuple(
            Probe(
                about_turn=int(row["about_turn"]),
                ask_at_turn=int(row["ask_at_turn"]),
                kind=str(row.get("kind") or ""),
                question=str(row["question"]),
                answer_keys=tuple(str(key) for key in row["answer_keys"]),
            )
            for row in rows
        )
    except (KeyError, TypeError, ValueError, AttributeError) as problem:
        raise SessionError(
            f"{path}: a probe needs about_turn, ask_at_turn, question and answer_keys ({problem!r})"
        ) from problem


def load_summaries(path: Path) -> tuple[str, ...]:
    """The texts of a `summaries.json`: what a model answered to aider's summarising prompts."""
    rows = json_list(path)
    if not all(isinstance(row, str) for row in rows):
        raise SessionError(f"{path}: must be a JSON list of texts")
    return tuple(rows)


def json_list(path: Path) -> list[Any]:
    """What is in a JSON file, which must be a list; [] where there is no file."""
    rows = _json(_text(path), str(path)) if path.exists() else []
    if not isinstance(rows, list):
        raise SessionError(f"{path}: must be a JSON list")
    return rows


def folder_hash(folder: Path) -> str:
    """SHA-256 over every file's relative path and bytes, in sorted order. Raises SessionError for one that
    cannot be read."""
    digest = hashlib.sha256()
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        digest.update(path.relative_to(folder).as_posix().encode() + b"\0")
        try:
            digest.update(hashlib.sha256(files.read(path, files.RECORDING_BYTES, follow=True)).digest())
        except OSError as problem:
            raise SessionError(f"{path}: cannot be read ({problem.strerror})") from problem
    return digest.hexdigest()
