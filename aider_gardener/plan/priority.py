"""What an entry is worth: its priority, 0 to 100, from its class, its age, whether it is spoken of now and
whether it was looked at.
"""

from __future__ import annotations

import math
import re

from aider_gardener.messages import LONG_CHARS, ContentClass, Entry, Focus, SourceKind

BASE = {
    ContentClass.PROMPT: 90.0,
    ContentClass.ERROR: 80.0,
    ContentClass.CODE: 60.0,
    ContentClass.PROSE: 40.0,
    ContentClass.DIFF: 35.0,
    ContentClass.STRUCTURED: 30.0,
    ContentClass.LOG: 20.0,
    ContentClass.LISTING: 20.0,
    ContentClass.EDIT: 10.0,
}
RECENCY_POINTS = 15.0
RECENCY_HALF_LIFE_TURNS = 3.0
MENTION_POINTS, MOST_WORDS = 20.0, 40
STALENESS_POINTS = 15.0
STALENESS_TURNS = 40.0
NOTICE_BASE = 5.0

FOCUS_WORD = re.compile(r"[^\W\d_]\w{2,}|\d[\d.:,_-]*\d")
COMMON_WORDS = frozenset(
    "the and for with that this from have not you are was but can all has had its out what which when"
    " will would should could there their they then than them these those into about also just like make"
    " use using used one two how why where who did does done been being get got let our your now some any"
    " only more most very here please want need same other over after before again still were".split()
)


def priority(entry: Entry, *, turn: int, focus: Focus) -> float:
    """Points from 0 to 100 for keeping `entry` at `turn`, given what the user is about now.

    Base by class, + up to 15 for recency (halved every 3 turns), + up to 20 for the share of the focus's 40
    longest words that the entry holds (in its first LONG_CHARS), − up to 15 for staleness (linear over 40
    turns without an access). An edit of a file that is not in the chat counts as code: it is nowhere else.
    What the user had put in (an original, a note on the last chat) counts as the user's own. Text that the
    host wrote itself is worth 5 at most.
    """
    return max(0.0, min(100.0, sum(parts(entry, turn=turn, focus=focus).values())))


def parts(entry: Entry, *, turn: int, focus: Focus) -> dict[str, float]:
    """The points that make the priority, by what they are for; below 0 for staleness."""
    if entry.source.kind is SourceKind.NOTICE:
        return {"notice": NOTICE_BASE}
    age = max(0, turn - entry.turn)
    words = sorted(focus.words, key=lambda word: (-len(word), word))[:MOST_WORDS]
    lowered = entry.content[:LONG_CHARS].lower() if words else ""
    mentioned = sum(word in lowered for word in words) / max(1, len(words))
    cls = entry.cls
    if entry.source.kind is SourceKind.STUB:
        cls = ContentClass.PROMPT
    elif cls is ContentClass.EDIT and not any(path in entry.content for path in focus.paths):
        cls = ContentClass.CODE
    return {
        "class": BASE[cls],
        "recency": RECENCY_POINTS * math.pow(0.5, age / RECENCY_HALF_LIFE_TURNS),
        "mentions": MENTION_POINTS * mentioned,
        "staleness": 0.0 if entry.access_count else -STALENESS_POINTS * min(1.0, age / STALENESS_TURNS),
    }


def focus_words(texts: list[str], *, limit: int = 120) -> frozenset[str]:
    """Lower-case words, identifiers and numbers of the user's last messages, longest first."""
    found = {match.group().lower() for text in texts for match in FOCUS_WORD.finditer(text[:20_000])}
    return frozenset(sorted(found - COMMON_WORDS, key=lambda word: (-len(word), word))[:limit])
