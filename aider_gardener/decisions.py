"""Decisions: the sentences of typed words and replies that settle something, or rule it out (row F9)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from aider_gardener.compress.prose_sentences import units
from aider_gardener.constraint_words import MASK
from aider_gardener.constraints import QUOTED, cut, replaces, squeeze, typed_words
from aider_gardener.messages import ContentClass, Entry, SourceKind

DECIDES = re.compile(
    r"\b(?:we|i)(?:'ll| will| shall|'m going to|'re going to| are going to| am going to) (?:use|keep"
    r"|go with|take"
    r"|stick|drop|skip|leave|not|do it|call|switch|stay|store)\b"
    r"|\blet'?s (?:go with|use|keep|take|stick|drop|call|do it|not|skip|stay|make it|say)\b"
    r"|\b(?:go|going|went) (?:with|for) \S+|\b(?:stick|sticking|stay|staying) with\b"
    r"|\b(?:decid(?:e|ed|es)|decision|agreed|settled? (?:on|for)|opt(?:ed|ing)? for|chose|chosen|picked"
    r"|we choose)\b"
    r"|\b(?:instead of|rather than|in favou?r of|as opposed to)\b"
    r"|\b(?:reject(?:ed)?|ruled? out|discard(?:ed)?|out of scope|won'?t (?:do|use|fix|add|change)|not worth"
    r"|no longer (?:use|need)|is (?:out|dead|off the table)|are (?:dead|out))\b"
    r"|\b(?:switch(?:ed|ing)? (?:to|from)|replac(?:ed?|ing) .{1,60} (?:with|by)|drop(?:ped|ping)? (?:the"
    r"|support))\b"
    r"|\b(?:name|call) (?:it|them|this|the \w+) \S+|\bit is called\b"
    r"|\b(?:wir (?:nehmen|verwenden|bleiben|lassen)|entschieden|beschlossen|stattdessen|abgelehnt"
    r"|verworfen)\b"
    r"|\b(?:on (?:garde|prend|utilise|part sur)|décidé|choisi|au lieu de|plutôt que|rejeté|écarté)\b"
    r"|\b(?:vamos a usar|usaremos|nos quedamos con|decidimos|decidido|en lugar de|en vez de|descartado)\b"
    r"|(?:决定|我们(?:使用|采用|就用)|改用|而不是|放弃)|(?:に決め|決定|採用|にしましょう|ではなく|却下|見送)",
    re.IGNORECASE,
)
CHOICE = re.compile(
    r"^(?:ok(?:ay)?|good|fine|yes|agreed|then|go|do)?[\W_]*(?:option |variant |no\.? ?)?(?:[a-h]"
    r"|\d{1,2})\b(?:[.:,;] | then\b"
    r"| it is\b| and \d| please\b|$)",
    re.IGNORECASE,
)
"""A pick among what was offered: "C.", "option 2 then"."""
ASKS = re.compile(r"[?？][\"')\s]*$")
IF = re.compile(
    r"^\W*(?:if|when|should|shall|whether|maybe|perhaps|could|would|do you|ob|wenn|si|如果|もし)\b"
    r"|\b(?:not (?:yet )?decided|undecided|to be decided|have to decide|need to decide|decisions? (?:you|we"
    r"|i) (?:need|have))\b",
    re.IGNORECASE,
)
"""What only might be settled is not."""
MOST_DECISIONS = 60


@dataclass(frozen=True)
class Decision:
    """What was settled, in the words that settled it. `is_users`: the user said so, not the model."""

    text: str
    turn: int
    entry_id: str
    seq: int
    is_users: bool


def decides(sentence: str) -> bool:
    """Whether a sentence settles or rejects something. Questions and conditions settle nothing."""
    if ASKS.search(sentence) or IF.search(sentence):
        return False
    masked = QUOTED.sub(lambda match: MASK * len(match.group()), sentence).replace("’", "'")
    return bool(DECIDES.search(masked))


def spoken_words(entry: Entry) -> str:
    """The prose of a reply, without its code and edits."""
    prose = [s for s in entry.segments if s.cls is ContentClass.PROSE and s.kind != "wrapper"]
    return "\n\n".join(entry.content[s.start : s.end] for s in prose)


@lru_cache(maxsize=2_048)
def decisions_in(text: str, *, is_users: bool = False) -> tuple[str, ...]:
    """The deciding sentences of a text, in order; of the user's words a bare choice too ("C.", "2 then")."""
    found: list[str] = []
    for unit in units(text):
        sentence = squeeze(text[unit.start : unit.end])
        if unit.kind in ("heading", "code", "row") or (len(sentence.split()) < 2 and sentence.isascii()):
            continue
        if decides(sentence) or (is_users and CHOICE.match(sentence) and not ASKS.search(sentence)):
            found.append(cut(sentence))
    return tuple(dict.fromkeys(found))


def decided(entries: Iterable[Entry]) -> list[Decision]:
    """What was decided, oldest first; of what was settled anew only the last word, of more than
    MOST_DECISIONS the newest."""
    held: list[Decision] = []
    for entry in entries:
        is_users = entry.source.kind is SourceKind.TYPED
        if not is_users and entry.source.kind is not SourceKind.REPLY:
            continue
        words = typed_words(entry) if is_users else spoken_words(entry)
        for sentence in decisions_in(words, is_users=is_users):
            if is_users:
                held = [older for older in held if not replaces(sentence, older.text)]
            held.append(Decision(sentence, entry.turn, entry.id, entry.seq, is_users))
    return held[-MOST_DECISIONS:]
