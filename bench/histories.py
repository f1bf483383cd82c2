"""Chat histories of any size as aider writes them, the same on each run: what replays are timed with.

Each chat is a piece of a recorded session, put down as aider 0.86 logs it (the outputs of commands are not in
such a file, only how many lines they had), with names and numbers of its own, so that no two chats say the
same. Most are short and some are long, as they are in files that people have.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path

from aider_gardener.replay.session.session import SessionEvent, load_folder

SESSIONS = Path(__file__).resolve().parent.parent / "recorded_sessions"
MEAN_TURNS, SPREAD = 16, 0.9
"""Turns of a chat: the median, and the deviation of their logarithm."""

HEAD = """
# aider chat started at 2025-{month:02}-{day:02} {hour:02}:{minute:02}:00

> /usr/bin/aider --model gpt-4o  
> Aider v0.86.2  
> Main model: gpt-4o with diff edit format, infinite output  
> Weak model: gpt-4o-mini  
> Git repo: .git with 84 files  
> Repo-map: using 4096 tokens, auto refresh  
"""  # noqa: W291  # reason: aider ends its lines so
NAME = re.compile(r"[A-Za-z]+(?:_[A-Za-z]+)+|[a-z]+[A-Z][A-Za-z]+|\b[1-9]\d{2,}\b")
"""What is called otherwise in each chat: names of several words, and numbers of three digits or more."""


def made(size: int, *, seed: int = 1, one_chat: bool = False) -> str:
    """A history of at least `size` bytes and at most one turn more; with `one_chat` in a single chat."""
    rng, parts, bytes_left = random.Random(seed), [], size
    while bytes_left > 0:
        for part in chat(rng, size if one_chat else round(rng.lognormvariate(0, SPREAD) * MEAN_TURNS) + 1):
            parts.append(part)
            bytes_left -= len(part.encode())
            if bytes_left <= 0:
                break
    return "".join(parts)


def chat(rng: random.Random, turns: int) -> Iterator[str]:
    """The head of one chat, then each of its turns; when its session ends another one follows."""
    yield HEAD.format(
        month=rng.randrange(1, 13), day=rng.randrange(1, 29), hour=rng.randrange(24), minute=rng.randrange(60)
    )
    while turns > 0:
        recorded = rng.choice(recorded_turns())
        begin = rng.randrange(len(recorded))
        other = other_names(rng)
        for events in recorded[begin : begin + turns]:
            turns -= 1
            yield NAME.sub(other, logged(events))


def other_names(rng: random.Random) -> Callable[[re.Match[str]], str]:
    """What stands for a name, the same each time: as long, one letter or digit of its middle another."""
    renamed: dict[str, str] = {}

    def other(found: re.Match[str]) -> str:
        name = found.group()
        if name not in renamed:
            at = rng.randrange(1, len(name) - 1)
            letters = "0123456789" if name[at].isdigit() else "abcdefghijklmnopqrstuvwxyz"
            renamed[name] = name if name[at] == "_" else name[:at] + rng.choice(letters) + name[at + 1 :]
        return renamed[name]

    return other


@cache
def recorded_turns() -> list[list[Sequence[SessionEvent]]]:
    """The turns of each recorded session."""
    sessions = [load_folder(folder) for folder in sorted(SESSIONS.iterdir()) if folder.is_dir()]
    return [[session.turn(turn) for turn in range(1, session.turn_count + 1)] for session in sessions]


def logged(events: Sequence[SessionEvent]) -> str:
    """One turn as aider logs it."""
    lines = []
    added = ""
    for event in events:
        if event.kind == "user":
            lines.append("\n#### " + "  \n#### ".join(event.text.splitlines() or ["<blank>"]) + "  \n")
        elif event.kind == "reply":
            lines.append(f"\n{event.text.strip()}\n\n> Tokens: 9.1k sent, 412 received.  \n")
        elif event.kind == "command":
            added = f"> Added {len(event.output.splitlines())} lines of output to the chat.  \n"
        elif event.kind == "confirm":
            asked = [
                *filter(None, [event.subject]),
                f"{event.question} (Y)es/(N)o [Yes]: {'ny'[event.answer]}",
            ]
            lines += [f"> {line}  \n" for text in asked for line in text.splitlines()]
            if "output to the chat" in event.question and event.answer:
                lines, added = [*lines, added], ""
        elif event.kind == "commit":
            lines.append(f"> Applied edit to a file  \n> Commit 1a2b3c4 {event.text.strip()}  \n")
        elif event.kind in ("warning", "error"):
            lines += [f"> {line.strip()}  \n" for line in event.text.splitlines() if line.strip()]
    return "".join(lines)
