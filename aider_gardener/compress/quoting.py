"""Lines that no engine explains, by their words, how rare they are and where they stand.

What tells of trouble, what sums up, what names a place, what is unlike the rest, and both ends.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Sequence
from functools import lru_cache
from math import log2
from types import MappingProxyType

from aider_gardener.compress.outline import BY_WORDS, CONTEXT, NOISE, Note, Notes, odd
from aider_gardener.reading.alarms import alarm, is_outcome
from aider_gardener.reading.late import late

SUMS_UP = late(
    r"\b(?:total|summary|passed|finished|completed?|built|done in|elapsed|ran \d+|added|updated)\b|={5}|"
    r"\b\d+ (?:errors?|warnings?|tests?|files?|failed|problems?|issues?|packages?|changes?|rows?)\b"
)
NAMES_PLACE = late(
    r"\.(?<=[\w./-]\.)\w{1,5}:\d|line (?<=\bline )\d|-->|at (?<=\bat )[\w.$<>]+ ?\(|\((?<=\w\()\d+,\d+\)"
)
NUMBER = late(
    r"[\dA-Fa-f](?:(?<=\b[\dA-Fa-f])[\dA-Fa-f](?:[ :-]{1,3}[\dA-Fa-f]{2}\b){3,}(?: {2}.*)?|"
    r"(?<=0)x[0-9a-f]+|(?<=[0-9a-f])[0-9a-f]{6,}|(?<=\d)\d*)"
)
"""Bytes, as in a dump, with what they spell; an address, a hash, a number. It begins with a class of
characters so that a search skips to them."""

QUOTED = late(r"'[^']*'|\"[^\"]*\"|`[^`]*`|‘[^’]*’|“[^”]*”")
NAME = late(r"'[^' ]*'|\"[^\" ]*\"|`[^` ]*`|‘[^’ ]*’|“[^” ]*”")
"""A quoted word: what differs from line to line. A sentence in quotes is what a line says; in a row of
objects (`{"id": …}`) it is a cell."""

KEY = late(r"[{\[ ]*\"[\w.$@/ -]+\" ?:")
"""The key of a line of JSON, which tells lines apart."""

RULE = late(r"(?=[\s|+:*=─━═┼╪╋┬┴├┤┌┐└┘╭╮╰╯┏┓┗┛┡┩╇-]+$).*[-=─━═]{3}")
"""A drawn line, as between the parts of an output: nothing stands under it."""

FORM_CHARS = 90

SECTION = late(r"\[{1,2}[\w\"'.: /@-]+\]{1,2} *(?:[#;].*)?$")
"""The heading of a section, as in an INI or a TOML file."""

COMMENT_MARKS = "#", ";", "//"
COMMENT = late(r"(?:^|(?<=\s))(?:#(?![!\d])|;|//).*")
"""A comment of a configuration: a line of its own, or what stands behind a setting."""

COMMENTS = 2 / 3
"""Of a configuration with its manual, as servers come with, more lines than this share are comments."""

FIGURES = late(r"(?<=\s)\d[\d.,]*[a-zA-Z%]*\s+\d[\d.,]*[a-zA-Z%]*\s+\d")
FIGURED = 0.1
"""Where more comments than this share hold three numbers in a row they are what a report says."""

MARKS = "-+!"
"""Begin lines of a diff, or items of a list, which say something themselves."""

ERROR = 5.0
"""What a line is worth that tells of an error, and besides what stands near it."""

LAST, LAST_WORTH = 2, 4.0
"""What an output ends with tells how it went, whatever explains it: so many lines, worth so much more. Even
noise is told where it is the last line: of a run that was cut short it says how far it came."""

SEVERAL = 4
"""A word is shared that so many forms have: what differs from line to line is no part of what they say."""

CACHED_LINES = 20_000
"""So many lines are remembered with their form: several engines ask for it."""


@lru_cache(maxsize=CACHED_LINES)
def form_of(line: str) -> str:
    """The line without numbers, hashes, quoted words; what it tells first where quotes may hide it."""
    line = line.strip()[: 3 * FORM_CHARS]
    key = KEY.match(line)
    name, line = (key[0], line[key.end() :]) if key else ("", line)
    line = NUMBER.sub("0", line)
    bare, hidden = (QUOTED if (name or line)[:1] in "{[" else NAME).subn("Q", line)
    return (alarm(line) if hidden else "") + (name + bare)[:FORM_CHARS]


def without_manual(lines: Sequence[str]) -> Sequence[str]:
    """Of a configuration that is mostly comments what it sets, each in its row; other texts as they are."""
    begun = [line.lstrip()[:2] for line in lines]
    filled = len(begun) - begun.count("")
    comments = [line for line, begins in zip(lines, begun, strict=True) if begins.startswith(COMMENT_MARKS)]
    if len(comments) <= COMMENTS * filled:
        return lines  # nearly all texts, which need not be searched
    if sum(map(bool, map(FIGURES.search, comments))) > FIGURED * len(comments):
        return lines
    bare = [COMMENT.sub("", line, count=1).rstrip() for line in lines]
    bare_count = sum(map(bool, map(str.strip, bare)))
    return bare if SEVERAL <= bare_count < (1 - COMMENTS) * filled else lines


def quoted(
    lines: Sequence[str], engine_notes: Notes = MappingProxyType({}), compared: Collection[int] = frozenset()
) -> list[Note]:
    """A note for each line: the one that is known, what it leaves open and all others by their words. What
    is odd among lines alike is worth more, and has a form of its own, but for rows whose engine has
    `compared` them itself."""
    notes = _judged(lines, engine_notes)
    worded_rows = [row for row, line in enumerate(lines) if any(map(str.isalnum, line))]
    for row in engine_notes.keys() & worded_rows[-LAST:]:
        if row == worded_rows[-1] or notes[row].worth > NOISE:
            notes[row] = notes[row]._replace(worth=max(notes[row].worth, 0.0) + LAST_WORTH)
    forms = [note.form if note.worth > 0 and row not in compared else None for row, note in enumerate(notes)]
    for row, (more, word) in odd(lines, forms).items():
        worth, above, form, is_named = notes[row]
        worth = max(worth, CONTEXT + more) if row in engine_notes else worth + more
        notes[row] = Note(worth, above, form if is_named else (form, NUMBER.sub("0", word)), is_named)
    return notes


def _judged(lines: Sequence[str], engine_notes: Notes) -> list[Note]:
    sure_rows = {row for row, note in engine_notes.items() if note.worth != BY_WORDS}
    open_rows = {row for row, line in enumerate(lines) if row not in sure_rows and line.strip()}
    if not open_rows and all(note.form is not None for note in engine_notes.values()):
        return [engine_notes.get(row) or Note(NOISE, -1, "") for row in range(len(lines))]
    forms = [form_of(line) for line in lines]
    above = indent_parents(lines) if open_rows else [-1] * len(lines)
    worth = _near(lines, forms, open_rows)
    for row in open_rows.intersection(above):
        if worth[row] < ERROR and lines[row].lstrip()[0] not in MARKS:
            worth[row] = 0.0  # it comes with what stands below it
    notes = list(map(Note, worth, above, forms))
    for row, note in engine_notes.items():
        form = forms[row] if note.form is None else note.form
        notes[row] = note._replace(worth=note.worth if row in sure_rows else notes[row].worth, form=form)
    return notes


def _near(lines: Sequence[str], forms: Sequence[str], rows: Collection[int]) -> list[float]:
    """What the lines of these rows are worth by their words, by those of lines near and by their place."""
    total = len(lines)
    shared = _shared_words(forms)
    often = Counter(shared)
    near = [NOISE] * total
    looked_at = {row + step for row in rows for step in range(-3, 3) if 0 <= row + step < total}
    worth = dict[int, float]()
    for row, form in enumerate(forms):
        if not form:
            continue
        if row in looked_at:
            rows_below = total - row
            ends = max(0, 3 - 0.4 * row) * (row < 5) + (4 - 0.25 * rows_below) * (rows_below <= 12)
            worth[row] = _word_worth(lines[row]) + 3 / (1 + log2(often[shared[row]])) + ends
    for row in rows:
        near[row] = worth[row]
        for step, share in ((-1, 0.45), (-2, 0.3), (-3, 0.15), (1, 0.3), (2, 0.1)):
            value = worth.get(row + step, NOISE)
            if value >= ERROR:
                near[row] = max(near[row], value * share + worth[row] * 0.6)
        if not any(map(str.isalnum, lines[row])):
            near[row] = NOISE
    return near


def _shared_words(forms: Sequence[str]) -> list[Hashable]:
    """Of each form the words that several of the text have, in their places, if they are half of its words,
    else the form itself."""
    words_of = {form: [word for word in form.split() if any(map(str.isalpha, word))] for form in set(forms)}
    often = Counter(word for words in words_of.values() for word in set(words))
    shared: dict[str, Hashable] = {}
    for form, words in words_of.items():
        common = tuple(word if often[word] >= SEVERAL else "" for word in words)
        shared[form] = common if 2 * sum(map(bool, common)) >= len(common) else form
    return [shared[form] for form in forms]


@lru_cache(maxsize=CACHED_LINES)
def _word_worth(line: str) -> float:
    """What the words of a line say that it is worth."""
    level = alarm(line)
    value: float = ERROR * (level == "error") + 2 * (level == "warning") + 3 * is_outcome(line)
    line = line[:400]
    small = line.lower()
    value += 3 * bool(SUMS_UP.search(small))
    return value + 1.5 * bool(NAMES_PLACE.search(line))


def indent_parents(lines: Sequence[str]) -> list[int]:
    """For each line the row of the nearest line above that is indented less, -1 for none. Below a bracketed
    section all stands, however it is indented, and an item below the key above it."""
    above: list[int] = []
    open_rows: list[tuple[int, int]] = []
    for row, line in enumerate(lines):
        bare = line.lstrip()
        if not bare or RULE.match(bare):
            above.append(-1)
            continue
        depth = 2 * (len(line) - len(bare)) - bool(SECTION.match(bare))
        if bare[:2] == "- " and open_rows:
            last, key = open_rows[-1]
            depth += last == depth + 1 or lines[key].rstrip().endswith(":")
        while open_rows and open_rows[-1][0] >= depth:
            open_rows.pop()
        above.append(open_rows[-1][1] if open_rows else -1)
        open_rows.append((depth, row))
    return above
