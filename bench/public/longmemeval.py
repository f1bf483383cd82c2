"""LongMemEval (xiaowu0162/LongMemEval): 500 questions, each with a past of its own, `longmemeval_s*.json`.

A list of objects with `question_id`, `question_type`, `question`, `haystack_sessions` (lists of turns with
`role` and `content`, and `has_answer` where the evidence is), `haystack_session_ids`, `haystack_dates` and
`answer_session_ids`. A `question_id` that ends with `_abs` asks what was never said.

Sessions are put in the order of their dates, in which some files do not list them. `longmemeval_oracle.json`
holds nothing but the sessions with evidence: `pooled` makes pasts of those of many questions.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any

from aider_gardener.errors import GardenerError
from bench.public.conversation import Conversation, Question, Said, objects, rows, sessions_of, spread, words

SORTABLE = re.compile(r"\d{4}/\d\d/\d\d .*\d\d:\d\d")
"""Year, month, day, the day's name, the time: as text in the order of time."""


def conversations(path: Path, most: int | None = None) -> Iterator[Conversation]:
    """A conversation for each question of the file."""
    if path.is_dir():
        raise GardenerError(f"{path}: a folder; name one of its files, such as longmemeval_s.json")
    for row in spread(rows(path, "haystack_sessions"), most):
        name = words(row.get("question_id"))
        said, marked = taken(row)
        if not said:
            raise GardenerError(f"{path}: {name or 'a question'} has no haystack_sessions with turns")
        yield Conversation(name, said, (question(row, said, marked),))


def pooled(given: Iterable[Conversation], number: int) -> Iterator[Conversation]:
    """So many conversations of all the given ones, each of every so-manieth, with the questions of all of
    them. A session that several of them name is there once."""
    every = list(given)
    for first in range(min(number, len(every))):
        sessions: dict[str, list[Said]] = {}
        place: dict[tuple[str, str], str] = {}
        for one in every[first::number]:
            for name, group in groupby(one.said, key=attrgetter("session")):
                held = list(group)
                sessions.setdefault(name, held)
                place |= {(one.name, each.id): f"{name}:{at}" for at, each in enumerate(held)}
        order = sorted(sessions, key=lambda name: sessions[name][0].when)
        said = [replace(each, id=f"{name}:{at}") for name in order for at, each in enumerate(sessions[name])]
        asked = [
            replace(each, messages=tuple(place[one.name, named] for named in each.messages))
            for one in every[first::number]
            for each in one.questions
        ]
        yield Conversation(f"pool {first + 1}", tuple(said), tuple(asked))


def taken(row: Mapping[str, Any]) -> tuple[tuple[Said, ...], tuple[str, ...]]:
    """What was said, in the order of time, and the ids of the messages that are marked as evidence."""
    sessions = row["haystack_sessions"] if isinstance(row["haystack_sessions"], list) else []
    names, dates = (listed(row, key, len(sessions)) for key in ("haystack_session_ids", "haystack_dates"))
    order = list(range(len(sessions)))
    if all(SORTABLE.fullmatch(date) for date in dates):
        order.sort(key=dates.__getitem__)
    said, marked = [], []
    for at in order:
        for number, turn in enumerate(objects(sessions[at]), 1):
            role = "assistant" if turn.get("role") == "assistant" else "user"
            one = Said(f"{at}:{number}", names[at] or str(at), role, words(turn.get("content")), dates[at])
            said.append(one)
            if turn.get("has_answer") is True:
                marked.append(one.id)
    return tuple(said), tuple(marked)


def listed(row: Mapping[str, Any], key: str, length: int) -> list[str]:
    """A list of texts beside the sessions, padded with ""."""
    return (texts(row.get(key)) + [""] * length)[:length]


def texts(value: Any) -> list[str]:
    return [words(one) for one in value] if isinstance(value, list) else []


def question(row: Mapping[str, Any], said: tuple[Said, ...], marked: tuple[str, ...]) -> Question:
    kind, text = words(row.get("question_type")) or "other", words(row.get("question"))
    if words(row.get("question_id")).endswith("_abs"):
        return Question(text, kind, left_out="abstention")
    if not marked:
        return Question(text, kind, left_out="no message marked as evidence")
    sessions = tuple(dict.fromkeys(texts(row.get("answer_session_ids"))))
    if not {one.session for one in said}.issuperset(sessions):
        return Question(text, kind, left_out="evidence that is not there")
    return Question(text, kind, marked, sessions or sessions_of(said, marked))
