"""Decisions: the sentences of typed words and replies that settle something, or rule it out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from aider_gardener.errors import spared
from aider_gardener.messages import ContentClass, Entry, SourceKind
from aider_gardener.notes.rules import cut, is_spoken, replaces, typed_words, without_lead
from aider_gardener.reading.sentences import units
from aider_gardener.reading.speech import ASKS, CHOICE, decides

MOST_DECISIONS = 60


@dataclass(frozen=True)
class Decision:
    """What was settled, in the words that settled it. `is_users`: the user said so, not the model."""

    text: str
    turn: int
    entry_id: str
    seq: int
    is_users: bool


def spoken_words(entry: Entry) -> str:
    """The prose of a reply, without its code and edits."""
    prose = [s for s in entry.segments if s.cls is ContentClass.PROSE and s.kind != "wrapper"]
    return "\n\n".join(entry.content[s.start : s.end] for s in prose)


@lru_cache(maxsize=2_048)
def decisions_in(text: str, *, is_users: bool = False) -> tuple[str, ...]:
    """The deciding sentences of a text, in order; of the user's words a bare choice too ("C.", "2 then")."""
    found: list[str] = []
    for unit in units(text):
        sentence = without_lead(text[unit.start : unit.end])
        if unit.kind in ("heading", "code", "row") or not is_spoken(sentence):
            continue
        picks = is_users and CHOICE.match(sentence) and not ASKS.search(sentence)
        if picks or decides(sentence, is_users=is_users):
            found.append(cut(sentence))
    return tuple(dict.fromkeys(found))


def decided(entries: Iterable[Entry]) -> list[Decision]:
    """What was decided, oldest first; of what was settled anew only the last word, of more than
    MOST_DECISIONS the newest."""
    held: list[Decision] = []
    for entry in entries:
        held = decided_after(held, entry)
    return held[-MOST_DECISIONS:]


def decided_after(held: list[Decision], entry: Entry) -> list[Decision]:
    """What is decided after one more entry, all of it."""
    is_users = entry.source.kind is SourceKind.TYPED
    if not is_users and entry.source.kind is not SourceKind.REPLY:
        return held
    found: tuple[str, ...] = ()
    with spared("reader of decisions"):
        words = typed_words(entry) if is_users else spoken_words(entry)
        found = decisions_in(words, is_users=is_users)
    for sentence in found:
        if is_users:
            held = [older for older in held if not replaces(sentence, older.text)]
        held = [*held, Decision(sentence, entry.turn, entry.id, entry.seq, is_users)]
    return held
