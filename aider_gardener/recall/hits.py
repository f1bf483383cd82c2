"""What people are shown of what was found: the passages, grouped by the message that they are from, each with
an excerpt of a few lines."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass
from unicodedata import east_asian_width

from aider_gardener.archive.store.words import UNSPACED
from aider_gardener.phrases import when
from aider_gardener.reading.output import clipped
from aider_gardener.recall.recall import AMENDED, Recalled

IN_CHAT = "stands in the chat already"
EXCERPT_CHARS = 210
"""About three lines of a terminal of 80 columns."""
CODE_LINES = 3
LEAST_EXCERPT_CHARS = 40
"""A passage with less text beside its headings is shown with what follows it."""

HEADING = re.compile(r"\s*(?:#{1,6}\s.*|\*\*[^*]{1,120}\*\*:?|[^.!?]{1,80}:)\s*")
RULE = re.compile(r"\s*(?:[-=*_|+]{3,}|[<=>]{5,9} (?:SEARCH|REPLACE)|[`~]{3,}\w*)\s*")
WORD = re.compile(r"\w+")
SPACES = re.compile(r"\s+")


@dataclass(frozen=True)
class Hit:
    """A message of which something was found: its `passages`, the best first, and an `excerpt`, a line or
    lines of at most about 210 characters, around what the question asks for."""

    passages: tuple[Recalled, ...]
    excerpt: str

    @property
    def best(self) -> Recalled:
        return self.passages[0]


def hits(found: Sequence[Recalled], whole: Callable[[str], str | None]) -> list[Hit]:
    """The passages by message, the message with the best first. `whole` gives a message's text by its id."""
    groups: dict[str, list[Recalled]] = {}
    for item in found:
        groups.setdefault(item.entry_id, []).append(item)
    return [Hit(tuple(items), excerpt(items[0], whole)) for items in groups.values()]


def as_text(found: Sequence[Hit], *, session: str = "", columns: int, in_chat: Container[Hit] = ()) -> str:
    """A message each with its number, when it was said, and an excerpt; other sessions than `session` are
    marked, and what is `in_chat` anyway. A line has at most so many `columns`."""
    width = len(str(len(found)))
    lines = []
    for number, hit in enumerate(found, 1):
        item = hit.best
        elsewhere = "another chat" if session and item.session != session else ""
        where = f"in {item.host}" if item.host else elsewhere
        here = IN_CHAT if hit in in_chat else ""
        author = f"by {item.author}" if item.author else ""
        parts = (
            where,
            author,
            f"turn {item.turn}",
            when(item.created_at),
            item.label + (AMENDED if item.amended else ""),
            item.entry_id,
            here,
        )
        texts = [", ".join(filter(None, parts)), *hit.excerpt.split("\n")]
        shown = [line for text in texts for line in wrapped(text, columns - width - 1)]
        lines += [f"{number if not at else '':>{width}} {line}".rstrip() for at, line in enumerate(shown)]
    return "\n".join(lines)


def wrapped(text: str, columns: int) -> Iterator[str]:
    """A line in lines of at most so many columns, broken at spaces where that can be."""
    start = space = used = 0
    for at, letter in enumerate(text):
        used += cells(letter)
        space = at if letter == " " else space
        if used > columns:
            end = space if space > start else at
            yield text[start:end]
            start = end + (end == space)
            used = sum(map(cells, text[start : at + 1]))
    yield text[start:]


def cells(letter: str) -> int:
    """How wide a letter is on a terminal."""
    return 2 if east_asian_width(letter) in "WF" else 1


def excerpt(item: Recalled, whole: Callable[[str], str | None]) -> str:
    """A few lines of a passage, around the words of the question that it holds. A heading never stands alone:
    what follows it in the message comes with it."""
    text = item.text
    if sum(len(s.strip()) for s in text.splitlines() if not HEADING.fullmatch(s)) < LEAST_EXCERPT_CHARS:
        text += (whole(item.entry_id) or "")[item.end : item.end + 4 * EXCERPT_CHARS]
    lines = [line.rstrip() for line in text.splitlines() if line.strip() and not RULE.fullmatch(line)]
    wanted = {word.lower() for word in item.words}
    if item.is_code:
        at = max(range(len(lines)), key=lambda at: (marks(lines[at], wanted), -at), default=0)
        return "\n".join(line[: EXCERPT_CHARS // 2] for line in lines[at : at + CODE_LINES])
    return around(SPACES.sub(" ", " ".join(lines)).strip(), wanted)


def marks(line: str, wanted: set[str]) -> int:
    """How many different words of those wanted stand in a line."""
    return len(wanted & {word.lower() for word in WORD.findall(line)})


def around(text: str, wanted: set[str]) -> str:
    """At most about 210 characters of a line of text, where most of the words wanted stand together."""
    if len(text) <= EXCERPT_CHARS:
        return text
    places = [match.start() for match in WORD.finditer(text) if match.group().lower() in wanted]
    pairs = filter(UNSPACED.match, wanted)  # of characters: what is written without spaces has no words
    places = sorted([*places, *(found.start() for pair in pairs for found in re.finditer(pair, text))])
    best, at, end = 0, 0, 0
    for first, place in enumerate(places):
        while end < len(places) and places[end] < place + EXCERPT_CHARS:
            end += 1
        if end - first > best:
            best, at = end - first, place
    early, late = at - EXCERPT_CHARS // 2, at - EXCERPT_CHARS // 4
    begin = 0 if early < 0 else (text.rfind(" ", early, late) + 1 or late)
    cut = clipped(text[begin:], EXCERPT_CHARS)
    return f"… {cut}" if begin else cut
