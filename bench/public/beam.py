"""BEAM (mohammadtavakoli78/BEAM): chats of a user and an assistant in four sizes, `chats/100K` and so on.

A folder for each chat, with `chat.json` and `probing_questions/probing_questions.json`; where a chat was
longer than its size there is a shortened `chat_trunecated.json` (spelled so), which the benchmark itself
takes. A chat is a list of batches with `turns`: lists of messages with `role`, `id`, `content` and perhaps
`time_anchor`. In the largest size the batches stand in plans. Questions are listed by ability, with
`source_chat_ids`: ids of messages, in a list or by part of the question.

The rows of the same data set as it is handed out elsewhere do as well, written as JSON or JSON lines:
`conversation_id`, `chat` and `probing_questions`, which is text there.
"""

from __future__ import annotations

import ast
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from aider_gardener.errors import GardenerError
from bench.public.conversation import (
    Conversation,
    Question,
    Said,
    load_json,
    objects,
    rows,
    sessions_of,
    spread,
    words,
)

ABSTENTION = "abstention"
CHAT_FILES = ("chat_trunecated.json", "chat.json")
QUESTION_FILES = ("probing_questions/probing_questions.json", "probing_questions.json")
LITERAL_CHARS = 4_000_000
"""Longer questions in text are not parsed."""


def conversations(path: Path, most: int | None = None) -> Iterator[Conversation]:
    """The chats of one size: its folder, the folder of one chat, or a file of rows."""
    if not path.is_dir():
        for number, row in enumerate(spread(rows(path, "probing_questions"), most)):
            name = words(row.get("conversation_id", number))
            yield conversation(name, row.get("chat"), literal(row["probing_questions"], path), path)
        return
    folders = [path] if first(path, CHAT_FILES) else chat_folders(path)
    for folder in spread(folders, most):
        chat, asked = first(folder, CHAT_FILES), first(folder, QUESTION_FILES)
        if chat is None or asked is None:
            raise GardenerError(f"{folder}: no probing_questions.json beside its chat; fetch the chat whole")
        yield conversation(folder.name, load_json(chat), load_json(asked), folder)


def chat_folders(path: Path) -> list[Path]:
    """The folders of chats in the folder of a size, by number."""
    found = [folder for folder in path.iterdir() if folder.is_dir() and first(folder, CHAT_FILES)]
    if not found:
        raise GardenerError(f"{path}: no folders with a chat.json; name that of one size, such as chats/100K")
    return sorted(found, key=lambda folder: (len(folder.name), folder.name))


def first(folder: Path, names: tuple[str, ...]) -> Path | None:
    """The first of these files that is there."""
    return next((folder / name for name in names if (folder / name).is_file()), None)


def literal(value: Any, path: Path) -> Any:
    """Questions that stand as text in their field: JSON, or written as Python writes it."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except json.JSONDecodeError:
        pass  # not written as JSON: the other way is tried next
    try:
        return ast.literal_eval(value[:LITERAL_CHARS])
    except (ValueError, SyntaxError, MemoryError, RecursionError) as problem:
        raise GardenerError(
            f"{path}: probing_questions can be read neither as JSON nor as Python"
        ) from problem


def conversation(name: str, chat: Any, asked: Any, path: Path) -> Conversation:
    said: list[Said] = []
    named: Counter[str] = Counter()
    place: dict[str, str] = {}
    for session, (batch, when) in enumerate(batches(chat), 1):
        for message in messages(batch):
            when = words(message.get("time_anchor")) or when
            own = number(message.get("id"))
            one = Said(str(len(said)), str(session), role(message), words(message.get("content")), when)
            said.append(one)
            if own:
                named[own] += 1
                place[own] = one.id
    if not said or not isinstance(asked, dict):
        raise GardenerError(
            f"{path}: no messages with role and content, or no questions by ability: not BEAM's"
        )
    taken = tuple(said)
    questions = (
        question(one, kind, taken, place, named) for kind, listed in asked.items() for one in objects(listed)
    )
    return Conversation(name, taken, tuple(questions))


def batches(chat: Any) -> Iterator[tuple[Any, str]]:
    """The sessions of a chat, those of plans one after another, each with its day where it has one."""
    for batch in chat if isinstance(chat, list) else [chat]:
        plans = (
            [value for key, value in batch.items() if key.startswith("plan")]
            if isinstance(batch, dict)
            else []
        )
        if any(isinstance(plan, list) for plan in plans):
            for plan in plans:
                yield from batches(plan or [])
        else:
            yield batch, words(batch.get("time_anchor")) if isinstance(batch, dict) else ""


def messages(value: Any) -> Iterator[Mapping[str, Any]]:
    """The messages in lists of lists, in their order."""
    if isinstance(value, dict) and "role" in value and "content" in value:
        yield value
    elif isinstance(value, (dict, list)):
        for part in value.values() if isinstance(value, dict) else value:
            yield from messages(part)


def role(message: Mapping[str, Any]) -> str:
    return "assistant" if message.get("role") == "assistant" else "user"


def number(value: Any) -> str:
    """The id of a message, as text; "" for none."""
    return str(value) if isinstance(value, (int, str)) and not isinstance(value, bool) else ""


def source_ids(value: Any) -> list[str]:
    """The ids in a list, or in lists by part of the question, each once."""
    if isinstance(value, dict):
        value = list(value.values())
    found = (
        [one for part in value for one in source_ids(part)] if isinstance(value, list) else [number(value)]
    )
    return list(dict.fromkeys(one for one in found if one))


def question(
    asked: Mapping[str, Any], kind: str, said: tuple[Said, ...], place: Mapping[str, str], named: Counter[str]
) -> Question:
    text, ids = words(asked.get("question")), source_ids(asked.get("source_chat_ids"))
    if kind == ABSTENTION:
        return Question(text, kind, left_out="abstention")
    if not ids:
        return Question(text, kind, left_out="no evidence named")
    if any(not named[one] for one in ids):
        return Question(text, kind, left_out="evidence that is not there")
    if any(named[one] > 1 for one in ids):
        return Question(text, kind, left_out="evidence whose id several messages bear")
    evidence = tuple(place[one] for one in ids)
    return Question(text, kind, evidence, sessions_of(said, evidence))
