"""Decisions: the sentences of typed words and replies that settle something, or rule it out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from aider_gardener.errors import spared
from aider_gardener.messages import ContentClass, Entry, SourceKind
from aider_gardener.notes.rules import Constraint, cut, is_spoken, replaces, sentences, typed_words
from aider_gardener.reading.speech import ASKS, CHOICE, decides

MOST_DECISIONS = 60


@dataclass(frozen=True)
class Decision(Constraint):
    """What was settled, in the words that settled it. `is_users`: the user said so, not the model."""

    is_users: bool


def spoken_words(entry: Entry) -> str:
    """The prose of a reply, without its code and edits."""
    prose = [s for s in entry.segments if s.cls is ContentClass.PROSE and s.kind != "wrapper"]
    return "\n\n".join(entry.content[s.start : s.end] for s in prose)


@lru_cache(maxsize=2_048)
def decisions_in(text: str, *, is_users: bool = False) -> tuple[str, ...]:
    """The deciding sentences of a text, in order; of the user's words a bare choice too ("C.", "2 then")."""
    found: list[str] = []
    for unit, sentence in sentences(text):
        if unit.kind in ("heading", "code", "row") or not is_spoken(sentence):
            continue
        picks = is_users and CHOICE.match(sentence) and not ASKS.search(sentence)
        if picks or decides(sentence, is_users=is_users):
            found.append(cut(sentence))
    return tuple(dict.fromkeys(found))


def decided(entries: Sequence[Entry]) -> list[Decision]:
    """What was decided, oldest first; of what the user settled anew only the last word, of more than
    MOST_DECISIONS the newest. Read from the end, so that a long chat takes no longer than a short one."""
    held: list[Decision] = []
    last_words: list[str] = []
    for entry in reversed(entries):
        for one in reversed(_decisions_of(entry)):
            if not any(replaces(newer, one.text) for newer in last_words):
                held.append(one)
            if one.is_users:
                last_words.append(one.text)
        if len(held) >= MOST_DECISIONS:
            break
    return held[:MOST_DECISIONS][::-1]


def _decisions_of(entry: Entry) -> list[Decision]:
    is_users = entry.source.kind is SourceKind.TYPED
    found: tuple[str, ...] = ()
    if is_users or entry.source.kind is SourceKind.REPLY:
        with spared("reader of decisions"):
            words = typed_words(entry) if is_users else spoken_words(entry)
            found = decisions_in(words, is_users=is_users)
    return [Decision(text, entry.turn, entry.id, entry.seq, is_users) for text in found]
