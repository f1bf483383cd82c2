"""A recorded session as a plain chat: nothing but what was typed, answered and run; no files, no edits.

Commands that gave an order to the model (`/ask`, `/code`, …) become its plain text; a test run that the
model was shown becomes what the host says of it; `/run`, `/web`, `/clear` and `/reset` stay, and what only
concerned files or models goes. The replies of a turn are joined. Turns keep their numbers, so that probes
and figures can be held against those of the session.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from aider_gardener.replay.measure.result import SUMMARY
from aider_gardener.replay.play.jobs import replay_job
from aider_gardener.replay.play.variants import Job
from aider_gardener.replay.session.session import FORMAT, Session, load_folder, read_rows
from bench.grid.cells import MODEL, Cell
from bench.variants import IMPORTS

SUFFIX = "-plain"
"""What the chat's name ends in, behind that of the session."""

ORDERS = frozenset({"ask", "code", "architect", "ok"})
"""Commands whose text is an order to the model."""

STAYING = frozenset({"web", "clear", "reset"})
"""Commands that are as good in a chat without files."""

TYPED = re.compile(r"(?:/(?P<name>\S+)|(?P<bang>!))\s*(?P<rest>.*)", re.DOTALL)
ASKED_ABOUT_OUTPUT = re.compile(r"^Add .*to the chat\?")
RUN_QUESTION = "Add 0.0k tokens of command output to the chat?"
"""The host's question behind `/run`; numbers in it do not count."""

SUMMARISED = "stock-fixed"
"""The variant that is given summaries."""

MOST_RUNS = 4
"""A summary's length moves the turns of the next ones: so often a chat is run to find turns that stay."""

Row = Mapping[str, Any]


def write_plain(source: Path, target: Path, summaries: Sequence[str] = ()) -> None:
    """Write the plain chat of a recorded session as a folder of its own, in place of what was there.

    `summaries` are what answers the host's summarising calls in it, in order.
    """
    meta, *events = (row for _line, row in read_rows(source / "session.jsonl"))
    name = str(meta.get("name") or source.resolve().name) + SUFFIX
    rows = [plain_meta(meta, name), *plain_events(events, str(meta.get("test_cmd") or ""))]
    probes_file = source / "probes.json"
    probes = json.loads(probes_file.read_text(encoding="utf-8")) if probes_file.exists() else []
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    (target / "session.jsonl").write_text("".join(line(row) for row in rows), encoding="utf-8")
    (target / "probes.json").write_text(line(asked_when_typed(probes, rows)), encoding="utf-8")
    (target / "summaries.json").write_text(line(list(summaries)), encoding="utf-8")


def line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False) + "\n"


def plain_meta(meta: Row, name: str) -> dict[str, Any]:
    """The first line: `plain` says that no edit ever closes an exchange."""
    return {
        **meta,
        "format": FORMAT,
        "name": name,
        "files": [],
        "read_only": [],
        "edit_format": "ask",
        "auto_lint": False,
        "test_cmd": "",
        "plain": True,
    }


def plain_events(events: Iterable[Row], test_command: str) -> list[dict[str, Any]]:
    """The events of the plain chat, turn by turn."""
    turns: dict[int, list[Row]] = {}
    for event in events:
        turns.setdefault(int(event["turn"]), []).append(event)
    return [row for _, found in sorted(turns.items()) for row in plain_turn(found, test_command)]


def plain_turn(events: Sequence[Row], test_command: str) -> list[dict[str, Any]]:
    """What is left of one turn; nothing of one that only concerned files, models or edits, or that was
    broken off before a reply."""
    found: list[dict[str, Any]] = []
    user = next((event for event in events if event["kind"] == "user"), None)
    replies = [str(event["text"]) for event in events if event["kind"] == "reply"]
    typed = plain_text(str(user["text"]), events, test_command, bool(replies)) if user else None
    if user is not None and typed and (replies or typed.startswith("/")):
        found.append({"turn": user["turn"], "kind": "user", "text": typed})
        if typed.startswith("/"):
            found += outputs(events)
        if replies:
            found.append({"turn": user["turn"], "kind": "reply", "text": "\n\n".join(replies)})
    for event in events:
        if event["kind"] == "restart":
            found.append({**event, "files": [], "read_only": [], "edit_format": "ask"})
    return found


def plain_text(text: str, events: Sequence[Row], test_command: str, answered: bool) -> str | None:
    """What is typed in the plain chat; None for a command that has no meaning there."""
    match = TYPED.match(text)
    if match is None:
        return text
    name, rest = (match["name"] or "run").replace("_", "-"), match["rest"]
    command = next((event for event in events if event["kind"] == "command"), None)
    if name in ("run", "test"):
        if not answered:
            return f"/run {rest or test_command}"
        return text_of_run(command) if command else unslashed(rest or text)
    if name in STAYING:
        return text
    if name in ORDERS and rest.strip():
        return unslashed(rest)
    return text.lstrip("/!") if answered else None


def unslashed(text: str) -> str:
    """The text so that the host takes it for no command."""
    return f" {text}" if text[:1] in ("/", "!") else text


def text_of_run(command: Row) -> str:
    """What the host tells the model of a run."""
    from aider import prompts

    told = prompts.run_output.format(command=command["command"], output=command.get("output") or "")
    return str(told)


def outputs(events: Sequence[Row]) -> list[dict[str, Any]]:
    """The recorded output of a command, and whether it entered the chat: a test run's does if it failed."""
    found: list[dict[str, Any]] = [dict(event) for event in events if event["kind"] == "command"]
    asked = [
        dict(event)
        for event in events
        if event["kind"] == "confirm" and ASKED_ABOUT_OUTPUT.match(str(event["question"]))
    ]
    if found and not asked:
        failed = bool(found[0].get("exit_status"))
        asked = [{"turn": found[0]["turn"], "kind": "confirm", "question": RUN_QUESTION, "answer": failed}]
    return [*found, *asked]


def asked_when_typed(probes: Sequence[Row], rows: Sequence[Row]) -> list[dict[str, Any]]:
    """The probes, each asked at the first turn from its own on at which something is still typed."""
    turns = sorted({int(row["turn"]) for row in rows if row["kind"] == "user"})
    return [
        {**probe, "ask_at_turn": next((turn for turn in turns if turn >= ask), ask)}
        for probe in probes
        for ask in [int(probe["ask_at_turn"])]
    ]


def fitted(calls: Sequence[int], recorded: Sequence[tuple[int, str]]) -> list[str]:
    """A text for each summarising call, given by its turn, of `recorded` (turn, summary) pairs in order:
    the last one whose own call came no later, else the first; nothing where none was recorded."""
    if not recorded:
        return []
    first = recorded[0][1]
    return [next((text for at, text in reversed(recorded) if at <= turn), first) for turn in calls]


def model_of(session: Session) -> str:
    """The model whose limits the session was recorded with."""
    return str(session.meta.get("model_limits") or MODEL)


def plain_chat(path: Path, session: Session, chats: Path) -> Path:
    """The folder of a session's plain chat within `chats`; made anew if what it depends on has changed."""
    model = model_of(session)
    cell = Cell(path, session.name, session.sha256, session.turn_count, SUMMARISED, None, model=model)
    key = hashlib.sha256(cell.key.encode() + Path(__file__).read_bytes()).hexdigest()[:16]
    folder, made = chats / (session.name + SUFFIX), chats / f"{session.name}{SUFFIX}.key"
    if folder.is_dir() and made.is_file() and made.read_text(encoding="utf-8") == key:
        return folder
    print(f"{session.name}: summaries for the plain chat", file=sys.stderr)
    made.unlink(missing_ok=True)
    write_plain(path, folder)
    texts = plain_summaries(session, folder)
    write_plain(path, folder, texts)
    made.write_text(key, encoding="utf-8")
    return folder


def plain_summaries(session: Session, folder: Path) -> list[str]:
    """The recorded summaries, each at the calls of the plain chat that come after its own and before the
    next one's; run until the calls come at the turns that were reckoned with."""
    model = model_of(session)
    own = summary_turns(Job(session, SUMMARISED, model=model, imports=IMPORTS)) if session.summaries else []
    recorded = list(zip(own, session.summaries, strict=False))
    if not recorded:
        return []
    texts: list[str] = []
    turns: list[int] = []
    for _ in range(MOST_RUNS):
        given = replace(load_folder(folder), summaries=tuple(texts))
        found = summary_turns(Job(given, SUMMARISED, model=model, imports=IMPORTS))
        if found == turns:
            break
        turns, texts = found, fitted(found, recorded)
    return texts


def summary_turns(job: Job) -> list[int]:
    """The turns at which the host asked for summaries, one for each call."""
    result = replay_job(replace(job, session=replace(job.session, probes=())))
    return [call.turn for call in result.calls if call.kind == SUMMARY]
