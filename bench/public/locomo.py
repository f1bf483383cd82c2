"""LoCoMo (snap-research/locomo): ten long chats of two people, `data/locomo10.json`.

A list of objects, each with `sample_id`, `conversation` (`session_1`, `session_1_date_time`, …; a turn has
`speaker`, `dia_id`, `text` and perhaps `blip_caption`, what its picture shows) and `qa` (`question`,
`category`, `evidence`: ids of turns). Some cells of `evidence` hold several ids, or a padded one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from aider_gardener.errors import GardenerError
from bench.public.conversation import Conversation, Question, Said, objects, rows, sessions_of, spread, words

FILE = "locomo10.json"
KINDS = {1: "several hops", 2: "temporal", 3: "open domain", 4: "single hop", 5: "adversarial"}
ADVERSARIAL = 5
SESSION = re.compile(r"session_([1-9]\d*)")
TURN_ID = re.compile(r"\bD:?(\d+):(\d+)")


def conversations(path: Path, most: int | None = None) -> Iterator[Conversation]:
    """The chats of `locomo10.json`, or of a folder that holds it."""
    if path.is_dir():
        path = path / FILE if (path / FILE).is_file() else path / "data" / FILE
    for number, row in enumerate(spread(rows(path, "conversation"), most)):
        name = words(row.get("sample_id", number))
        chat = row["conversation"]
        said = tuple(turns(chat)) if isinstance(chat, dict) else ()
        if not said:
            raise GardenerError(f"{path}: {name} has no session_1 with turns; is it {FILE}?")
        known = {one.id for one in said}
        asked = tuple(question(qa, said, known) for qa in objects(row.get("qa")))
        yield Conversation(name, said, asked)


def turns(chat: Mapping[str, Any]) -> Iterator[Said]:
    """What was said, session by session. The first speaker stands where a user would."""
    numbers = sorted(int(found[1]) for key in chat if (found := SESSION.fullmatch(key)))
    first = words(chat.get("speaker_a"))
    for number in numbers:
        when = words(chat.get(f"session_{number}_date_time"))
        for at, turn in enumerate(objects(chat[f"session_{number}"]), 1):
            speaker = words(turn.get("speaker"))
            first = first or speaker
            text = words(turn.get("text"))
            if shown := words(turn.get("blip_caption")):
                text = f"{text} [shares a picture: {shown}]".strip()
            name = "".join(ids(turn.get("dia_id"))) or f"D{number}:{at}"
            role = "user" if speaker == first else "assistant"
            yield Said(name, f"D{number}", role, text, when, speaker)


def ids(value: Any) -> tuple[str, ...]:
    """The ids in a cell, or in a list of cells, each once and as turns bear them."""
    cells = value if isinstance(value, list) else [value]
    found = (match for cell in cells for match in TURN_ID.findall(words(cell)))
    return tuple(dict.fromkeys(f"D{int(session)}:{int(turn)}" for session, turn in found))


def question(qa: Mapping[str, Any], said: tuple[Said, ...], known: set[str]) -> Question:
    category = qa.get("category")
    kind = KINDS.get(category, words(category) or "other") if isinstance(category, int) else words(category)
    text, evidence = words(qa.get("question")), ids(qa.get("evidence"))
    if category == ADVERSARIAL:
        return Question(text, kind, left_out="adversarial")
    if not evidence:
        return Question(text, kind, left_out="no evidence named")
    if not known.issuperset(evidence):
        return Question(text, kind, left_out="evidence that is not there")
    return Question(text, kind, evidence, sessions_of(said, evidence))
