"""What the published benchmarks have in common: conversations, what was said in them, and questions.

Reading is bounded, and lenient towards fields that are not needed; what is no file of the benchmark at all
raises GardenerError in one line.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from aider_gardener import files
from aider_gardener.errors import GardenerError

LARGEST_BYTES = 1 << 30
"""A larger file is not read: its objects would take several times as much memory."""
T = TypeVar("T")


@dataclass(frozen=True)
class Said:
    """One message. `id` is unique in its conversation, `when` its day and time as the data set gives them
    ("" for none), `speaker` a name where the two sides have names."""

    id: str
    session: str
    role: str
    text: str
    when: str = ""
    speaker: str = ""

    @property
    def message(self) -> str:
        """What enters the chat: the day on a line of its own, then what was said and by whom."""
        words = f"{self.speaker}: {self.text}" if self.speaker else self.text
        return f"{self.when}\n{words}" if self.when else words


@dataclass(frozen=True)
class Question:
    """A question with the ids of the messages and sessions that hold its answer.

    `left_out` says why it cannot be judged by what is recalled: it has no answer, or its evidence is not
    marked, or points at nothing. Then it has neither messages nor sessions.
    """

    text: str
    kind: str
    messages: tuple[str, ...] = ()
    sessions: tuple[str, ...] = ()
    left_out: str = ""


@dataclass(frozen=True)
class Conversation:
    """What was said, in the order of its time, and what is asked of it at the end."""

    name: str
    said: tuple[Said, ...]
    questions: tuple[Question, ...] = field(default=())


def load_json(path: Path) -> Any:
    """The value in a JSON file, or the list of those in a file of JSON lines."""
    if path.suffix in (".parquet", ".zip", ".gz", ".arrow"):
        raise GardenerError(f"{path.name}: unpack it, or write it out as JSON lines, and name that file")
    try:
        text = files.read(path, LARGEST_BYTES, follow=True).decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as problem:
        reason = getattr(problem, "strerror", None) or "it is no text"
        raise GardenerError(
            f"{path}: cannot be read ({reason}); name a JSON file of the benchmark"
        ) from problem
    try:
        if path.suffix == ".jsonl":
            return [json.loads(line) for line in text.splitlines() if line.strip()]
        return json.loads(text)
    except (json.JSONDecodeError, RecursionError) as problem:
        raise GardenerError(f"{path}: no JSON, or cut off; fetch it again") from problem


def rows(path: Path, known_by: str) -> list[Mapping[str, Any]]:
    """The objects of a file that holds a list of them, each with the field that it is known by."""
    value = load_json(path)
    found = list(value) if isinstance(value, list) else [value]
    if not found or not all(isinstance(row, dict) and known_by in row for row in found):
        raise GardenerError(f"{path}: no list of objects with {known_by!r}; is it another benchmark's file?")
    return found


def spread(things: list[T], most: int | None) -> list[T]:
    """At most so many of them, evenly from the whole list: the files are sorted by kind of question."""
    if most is None or most >= len(things):
        return things
    return [things[at * len(things) // most] for at in range(most)]


def words(value: Any) -> str:
    """A field that should be text. Halves of characters, which JSON may hold, become question marks."""
    text = value if isinstance(value, str) else "" if value is None else str(value)
    return text.encode("utf-8", "replace").decode("utf-8")


def objects(value: Any) -> Iterator[Mapping[str, Any]]:
    """The objects of a list; nothing of anything else."""
    if isinstance(value, list):
        yield from (one for one in value if isinstance(one, dict))


def sessions_of(said: tuple[Said, ...], messages: tuple[str, ...]) -> tuple[str, ...]:
    """The sessions in which these messages stand."""
    wanted = set(messages)
    return tuple(dict.fromkeys(one.session for one in said if one.id in wanted))
