"""Checks the folder of a recorded session: everything that is wrong with it, each with file and line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from aider_gardener.archive.store.redact import redact
from aider_gardener.errors import SessionError
from aider_gardener.replay.measure.probes import key_pattern, texts_of_turn
from aider_gardener.replay.session.session import (
    Events,
    Session,
    SessionFault,
    load_folder,
    load_probes,
    load_summaries,
    read_recording,
)

BEFORE_USER = frozenset({"file"})
"""Kinds of events that may come before what was typed in a turn."""


def check_folder(folder: Path) -> list[SessionFault]:
    """Every fault that is found; [] for a sound session."""
    name = str(folder / "session.jsonl")
    meta, events, faults = read_recording(folder / "session.jsonl")
    if not (folder / "session.jsonl").is_file():
        return faults
    faults += [*head_faults(folder, meta), *order_faults(name, events), *secret_faults(name, events)]
    faults += side_file_faults(folder)
    if not any(fault.serious for fault in faults):
        faults += probe_faults(folder, load_folder(folder))
    return sorted(faults, key=lambda fault: (fault.file, fault.line))


def head_faults(folder: Path, head: Mapping[str, Any]) -> Iterator[SessionFault]:
    """What is wrong with what the meta event says, and the files that it names."""
    name = str(folder / "session.jsonl")
    if not head.get("recorded_with"):
        yield SessionFault(name, 1, "`recorded_with` is missing: which aider was it?")
    if not (folder / "repo0").is_dir():
        return
    for file in [*(head.get("files") or ()), *(head.get("read_only") or ())]:
        if not (folder / "repo0" / str(file)).is_file():
            yield SessionFault(name, 1, f"the chat begins with {file}, which is not in repo0")


def order_faults(name: str, events: Events) -> Iterator[SessionFault]:
    """Turns count up one by one, and each begins with what was typed."""
    turn, begun = 0, True
    for number, event in events:
        if event.turn == turn + 1:
            if not begun:
                yield SessionFault(name, number, f"turn {turn} has no user event")
            turn, begun = event.turn, False
        elif event.turn != turn:
            yield SessionFault(
                name, number, f"turn {event.turn} follows turn {turn}; turns count up one by one"
            )
            turn, begun = event.turn, False
        if event.kind == "user":
            if begun:
                yield SessionFault(name, number, f"turn {turn} has two user events")
            begun = True
        elif not begun and event.kind not in BEFORE_USER:
            yield SessionFault(
                name, number, f"a {event.kind} event stands before the user event of turn {turn}"
            )
    if not begun:
        yield SessionFault(name, events[-1][0], f"turn {turn} has no user event")
    if not any(event.kind == "user" for _, event in events):
        yield SessionFault(name, 0, "holds no user event")


def secret_faults(name: str, events: Events) -> Iterator[SessionFault]:
    """Lines that still hold what the redactor takes for a secret; the secret itself isn't shown."""
    for number, event in events:
        for text in (event.text, event.output, event.command):
            for span in redact(text).spans:
                yield SessionFault(name, number, f"looks like a secret ({span.kind})", serious=False)


def side_file_faults(folder: Path) -> Iterator[SessionFault]:
    """Files beside the recording that can't be read."""
    for name, load in (("probes.json", load_probes), ("summaries.json", load_summaries)):
        try:
            load(folder / name, missing_ok=True)
        except SessionError as problem:
            yield SessionFault(str(folder / name), 0, str(problem).removeprefix(f"{folder / name}: "))


def probe_faults(folder: Path, session: Session) -> Iterator[SessionFault]:
    """Probes whose answers were not said where they claim, or that give themselves away."""
    name = str(folder / "probes.json")
    for number, probe in enumerate(session.probes, 1):
        where = f"probe {number}"
        if not 1 <= probe.about_turn < probe.ask_at_turn <= session.turn_count + 1:
            yield SessionFault(
                name, 0, f"{where}: asked at turn {probe.ask_at_turn} about {probe.about_turn}"
            )
        if not probe.answer_keys:
            yield SessionFault(name, 0, f"{where}: has no answer keys")
        said = "\n".join(texts_of_turn(session, probe.about_turn))
        for key in probe.answer_keys:
            if not key_pattern(key).search(said):
                yield SessionFault(name, 0, f"{where}: {key!r} was not said in turn {probe.about_turn}")
            if key_pattern(key).search(probe.question):
                yield SessionFault(name, 0, f"{where}: the question holds its own answer {key!r}")
