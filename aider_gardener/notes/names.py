"""What a chat has touched, mined from its entries: names, paths, numbers, each with its turns.

Nothing here reads a prompt or decides what is shown; `chatmap` does.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from aider_gardener.archive.store.words import stop_lists
from aider_gardener.errors import tolerating
from aider_gardener.messages import ContentClass, Entry, SourceKind, content_key, remembered
from aider_gardener.reading.late import late
from aider_gardener.reading.output import without_codes
from aider_gardener.reading.sentences import STOPWORDS

SCANNED_CHARS = 24_000
"""So much of one entry is read, half from each end."""
NAMES_AN_ENTRY = 400
NAME_CHARS = (4, 80)
WEIGHTS = {SourceKind.TYPED: 3.0, SourceKind.REPLY: 1.5, SourceKind.LINT: 1.0}
OTHER_WEIGHT = 0.4
"""What one use counts: said by the user, by the model, or anything else (output, pages)."""
EDIT_WEIGHT = 0.3
"""What a use inside an edit counts: the files that are sent hold it too."""
HALF_LIFE_TURNS = 40.0

NAME = late(
    r"(?<![\w.,:-])(?:\d{4}-\d\d-\d\d(?!\w)|\d+(?:\.\d+){2,}(?!\w|,\d))"
    r"|(?<!\w)[A-Za-z_$][\w$]*(?:(?:://|::|[./\\-]+)[\w$]+)*"
)
"""What may be a name: a date, a version or address, a word with all that is joined to it."""
DATE_OR_VERSION = late(r"\d+(?:[.-]\d+){2,}")
UNIT = (
    r" ?(?:%|[€$£°]|(?:[kMGTK]i?|[numµ])?(?:s|B|Hz|W)|min|h|px|rpm|[A-Z]{3}"
    r"|(?:second|minute|hour|day|week|month|year|byte|line|row|token|request)s)(?!\w)"
)
FIGURE = late(
    rf"(?<![\w.,:/-])(?:\d+(?:[.,_]\d+)*{UNIT}|([A-Za-z][A-Za-z_-]{{2,30}})"
    rf"(?: ?= ?\d\d+|(?:: | #?)(?:\d{{3,}}|\d+[.,]\d+))(?![\w:/-]|[.,]\d|{UNIT}))"
)
"""A number with its unit, or behind what it is the number of: bare it says nothing to who reads it later."""
FIGURE_SHARE = 0.5
"""What a use of a figure counts beside that of a name: there are more of them, and fewer are asked for."""
FIGURES_AN_ENTRY = 100
MOST_ALIKE = 3
"""So many names of an output may differ in their digits only: a pair or a triple is told apart by them."""
DIGITS = late(r"\d+")
NO_LABELS = STOPWORDS.union({"line", "lines", "column"}, *stop_lists())
COLOUR_CODE = late(r"(?:\\(?:x1b|u001b|033|e)|\^\[)\[[\d;]{0,12}m|\[\d[\d;]{0,11}m(?!\])")
"""A colour code that was copied without its first character, or with that spelled out."""
INNER_CAPITAL = late(r"[a-z]\w*[A-Z]|[A-Z]{2,}[a-z]\w*[A-Z]")
PATH = late(r"[\w.@-]+(?:/[\w.@-]+)+|\w[\w-]*\.[A-Za-z]\w{0,5}")
HOST_KINDS = (SourceKind.NOTICE, SourceKind.STUB)
"""What the host or the gardener wrote: it tells nothing new."""


@dataclass
class Name:
    """A name, path or number of the chat: where it came first, where last, and what its uses weigh."""

    text: str
    first_turn: int
    last_turn: int
    order: int
    weight: float = 0.0

    def score(self, turn: int) -> float:
        """Rank by reuse and recency: the weight of its uses on a log scale, halved every 40 turns of rest."""
        rest = max(0, turn - self.last_turn)
        return math.log2(1.0 + self.weight) * math.pow(0.5, rest / HALF_LIFE_TURNS)


def is_name(word: str) -> bool:
    """Whether a word is specific enough to be worth naming: an identifier, a path, a date, a version."""
    if DATE_OR_VERSION.fullmatch(word):
        return True
    if not NAME_CHARS[0] <= len(word) <= NAME_CHARS[1] or "://" in word:
        return False
    if "_" in word.strip("_") or "::" in word:
        return True
    if PATH.fullmatch(word):
        return any(letter.isalpha() for letter in word)
    has_digit = any(letter.isdigit() for letter in word)
    return bool(INNER_CAPITAL.search(word)) or (has_digit and any(letter.isalpha() for letter in word))


@lru_cache(maxsize=1_024)
def names_in(text: str) -> tuple[str, ...]:
    """The names of a text in the order of their first use; a path stands for its parts."""
    found = dict.fromkeys(match.group().rstrip("-.") for match in NAME.finditer(text))
    return tuple(word for word in found if is_name(word))[:NAMES_AN_ENTRY]


def figures_in(text: str) -> tuple[str, ...]:
    """The numbers of a text that say what they are, in the order of their first use."""
    found = (match for match in FIGURE.finditer(text) if (match[1] or "").lower() not in NO_LABELS)
    return tuple(dict.fromkeys(match.group() for match in found))[:FIGURES_AN_ENTRY]


def without_series(names: Sequence[str]) -> list[str]:
    """The names, or figures, without those of which more than MOST_ALIKE differ in their digits only: the
    ids in a column of a table tell nothing without their rows, and recall finds those."""
    counts = Counter(DIGITS.sub("0", name) for name in names)
    return [name for name in names if counts[DIGITS.sub("0", name)] <= MOST_ALIKE]


def scanned(text: str) -> str:
    """So much of a text as is read, in whole lines, without a terminal's codes."""
    if len(text) > SCANNED_CHARS:
        head, tail = text[: SCANNED_CHARS // 2], text[-SCANNED_CHARS // 2 :]
        text = "\n".join([head.rpartition("\n")[0] or head, tail.partition("\n")[2] or tail])
    return COLOUR_CODE.sub("", without_codes(text))


@remembered(2_048, key=content_key)
def mine(entry: Entry) -> Mapping[str, float]:
    """The names of an entry, each with the weight of its best use there, as far as it can be read. Linear in
    its size, at most SCANNED_CHARS of a segment are read."""
    names: dict[str, float] = {}
    weight = WEIGHTS.get(entry.source.kind, OTHER_WEIGHT)
    with tolerating("reader of names"):
        for segment in entry.segments if entry.source.kind not in HOST_KINDS else ():
            worth = EDIT_WEIGHT if segment.cls is ContentClass.EDIT else weight
            if entry.source.kind is SourceKind.TYPED and segment.cls is not ContentClass.PROMPT:
                worth = OTHER_WEIGHT
            text = scanned(entry.content[segment.start : segment.end])
            for found, points in ((names_in(text), worth), (figures_in(text), FIGURE_SHARE * worth)):
                for name in found if worth > OTHER_WEIGHT else without_series(found):
                    names[name] = max(names.get(name, 0.0), points)
    return names


def gather(entries: Iterable[Entry]) -> list[Name]:
    """All names with their uses over the entries in order."""
    names: dict[str, Name] = {}
    for entry in entries:
        for text, weight in mine(entry).items():
            name = names.setdefault(text, Name(text, entry.turn, entry.turn, len(names)))
            name.last_turn = max(name.last_turn, entry.turn)
            name.weight += weight
    return list(names.values())
