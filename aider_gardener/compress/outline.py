"""What engines know of the lines of a text, and the choice of those that are quoted.

A short form quotes: each of its lines is a line of the text, whole or cut with an ellipsis, in the order of
the text, under the line that it needs above it; where lines were left out between two that are shown stands
a gap. So it cannot pair what was not paired. An engine says no more than what each line that it explains is
worth, which line it needs above it, and what it repeats.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence, Set
from math import inf, log2
from typing import NamedTuple

from aider_gardener.messages import Focus, TokenCounter
from aider_gardener.reading.late import late
from aider_gardener.reading.output import clip

OUTCOME, CAUSE, FAILURE, WARNING, DETAIL, CONTEXT, NOISE = 14.0, 11.0, 9.0, 5.0, 3.0, 1.0, -9.0
"""What lines are worth: how it ended; why it failed; that something failed; a warning; what belongs to one of
these; what stands around it; nothing at all. Values between are as good."""

BY_WORDS = -inf
"""What a line is worth of which its engine says only what it repeats."""

FOCUSED = 5.0
"""A line that names what the user asks for is worth so much more."""

REPEAT = 2.2
"""The n-th line of one form is worth less by so much for each doubling of n."""

SAME = 5.0
"""The n-th line with the very same words is worth less by so much besides."""

NAMES_SHARE = 0.75
"""The names of all lines of a form are told, or none: of names so much of the budget may be told besides."""

LINE_CHARS = 400
"""A line is shown up to this length; of longer ones both ends."""

GAP = "…"
"""Stands where lines were left out between two that are shown."""

NAMED, NAME_CHARS, SEPARATOR = 7.0, 100, "; "
"""What the name of a line is worth that stands behind one like it, how long it may be, what parts two."""

SHORT_CHARS = 3
"""A word of so few letters is in many others: it is met as a word alone."""

MANY = 3
"""From so many lines of one form that are not shown their number is told."""

FIGURE = late(r"[^\w.]*(\d(?:[\d,]*\d)?(?:\.\d+)?)[%A-Za-zµ]{0,3}\W*$")
"""A number with its unit; its sign does not count."""

NUMERIC = 0.9
"""Such a part of a column of numbers is numbers."""

CELLS = late(r"[\s=]+")
"""What stands between the words of lines alike, and between a name and its value."""

RARE = 0.06
"""A value is rare that no larger part of the rows has, while most rows have values that are not rare."""

ALIKE = 8
"""From so many lines of one form one is odd that has a rare word, or a number far from the others."""

FAR, FEW = 5, 0.15
"""Numbers are far from the others that are so many times as large, or as small, as the next of these, and no
more than this share of all."""


class Note(NamedTuple):
    """What an engine knows of a line.

    worth: how much a reader needs it; what is worth nothing is shown above a line that needs
        it only, and NOISE is not told of as alike either.
    above: the row of the line it makes no sense without, -1 for none.
    form: equal for lines that say the same but for details; None where the engine leaves that to others.
    named: every line of the form matters: behind one that is shown stands what the others say differently.
    """

    worth: float
    above: int = -1
    form: Hashable = None
    named: bool = False


Notes = Mapping[int, Note]
"""By row. What an engine doesn't explain has no note."""

Engine = Callable[[Sequence[str]], Notes]
"""Reads the lines of one shape; explains no line of a text of another."""


def chosen(
    lines: Sequence[str], notes: Sequence[Note], budget: int, focus: Focus, count: TokenCounter
) -> tuple[set[int], set[int]]:
    """The rows worth most within `budget` tokens, each with the rows that it needs above it; and those that
    are named behind a row of their form."""
    ranked, to_name = _ranked(lines, notes, focus)
    taken: set[int] = set()
    named: set[int] = set()
    passed: set[int] = set()
    example: dict[Hashable, int] = {}
    used = used_by_names = 0
    for _value, row in ranked:
        form = notes[row].form
        if row in to_name[form]:
            shown = lines[example.get(form, row)]
            others = to_name.pop(form) - taken
            names = {at: name for at in others if (name := apart(lines[at], shown))}
            room = NAMES_SHARE * budget - used_by_names
            is_few = 2 * len(names) <= room  # a name takes two tokens and more
            if is_few and (cost := sum(count(name) + 1 for name in names.values())) <= room:
                named |= names.keys()
                used_by_names += cost
            passed |= names.keys()
        if row in passed:
            continue
        chain = list[int]()
        while row >= 0 and row not in taken and row not in chain:
            chain.append(row)
            row = notes[row].above
        room = budget - used
        if room <= 0 or not chain or sum(min(len(lines[at]), LINE_CHARS) for at in chain) > 12 * room:
            continue
        cost = sum(count(clip(lines[at].rstrip(), LINE_CHARS)) + 1 for at in chain) + 1
        if cost <= room:
            taken.update(chain)
            example.update((notes[at].form, at) for at in chain)
            used += cost
    return taken, named


def _ranked(
    lines: Sequence[str], notes: Sequence[Note], focus: Focus
) -> tuple[list[tuple[float, int]], dict[Hashable, set[int]]]:
    """What each line is worth beside those of its form above it, and its row, the weightiest first; and by
    form the rows that are told by their names where no more of them fits."""
    form_counts, same = Counter[Hashable](), Counter[str]()
    many = Counter(note.form for note in notes if note.named)
    to_name = defaultdict[Hashable, set[int]](set)
    ranked: list[tuple[float, int]] = []
    for row, (worth, _above, form, is_named) in enumerate(notes):
        line = lines[row]
        if worth <= NOISE or not line or line.isspace() or line.strip() == GAP:
            continue
        form_counts[form] += 1
        same[line] += 1
        worth -= SAME * log2(same[line])
        if touches(line, focus):
            worth += FOCUSED
        elif form is not None:
            worth -= REPEAT * log2(form_counts[form])
        if is_named and worth < FAILURE and many[form] >= MANY and same[line] == 1:
            worth = max(worth, NAMED)
            to_name[form].add(row)
        if worth > 0:
            ranked.append((worth / (1 + 0.004 * max(0, min(len(line), LINE_CHARS) - 80)), row))
    return sorted(ranked, key=lambda one: (-one[0], one[1])), to_name


def apart(line: str, shown: str) -> str:
    """The words of a line that one alike, which is shown, has not, or not in their place; "" where they are
    no name: too long, or no words at all."""
    own, words = words_in(line), words_in(shown)
    other_words = words if len(own) == len(words) else [word if word in words else "" for word in own]
    name = " ".join(word for word, other in zip(own, other_words, strict=True) if word != other)
    is_name = len(name) <= NAME_CHARS and any(map(str.isalpha, name))
    return name if is_name and SEPARATOR.strip() not in name else ""


def words_in(line: str) -> list[str]:
    """The words of a line, without the colons and commas behind them."""
    return [bare for word in line.split() if (bare := word.rstrip(":,"))]


def written(
    lines: Sequence[str], notes: Sequence[Note], taken: set[int], named: Set[int] = frozenset()
) -> list[str]:
    """The lines of the rows in their order, with gaps, how many lines alike are not shown, and the names of
    those that are `named`."""
    forms = [note.form if note.worth > NOISE else None for note in notes]
    # a table's rows have one form, whatever is odd in them
    unlike = odd(lines, [None if notes[row].named else form for row, form in enumerate(forms)])
    hidden = Counter(form for row, form in enumerate(forms) if row not in taken and row not in unlike)
    last_of = {notes[row].form: row for row in sorted(taken) if row not in unlike}
    shown: list[str] = []
    last = -1
    for row in sorted(taken):
        if any(lines[at].strip() for at in range(last + 1, row)):
            shown.append(GAP)
        line = clip(lines[row].rstrip(), LINE_CHARS)
        form = notes[row].form
        if form is not None and last_of.get(form) == row:
            others = sorted(at for at in named - taken if notes[at].form == form and at not in unlike)
            names = list(filter(None, (apart(lines[at], line) for at in others)))
            if names:
                names += [GAP] * (len(names) < hidden[form])
                line += f" [+{hidden[form]} alike: {SEPARATOR.join(names)}]"
            elif hidden[form] >= MANY:
                line += f" [+{hidden[form]} alike]"
        shown.append(line)
        last = row
    if any(line.strip() for line in lines[last + 1 :]):
        shown.append(GAP)
    return shown


def odd(lines: Sequence[str], forms: Sequence[Hashable]) -> dict[int, tuple[float, str]]:
    """The rows with a word that few lines of their form have in its place, or a number that is far from
    theirs: how odd it is, and the word; of neighbours that of the first, since they are odd together."""
    alike = defaultdict[Hashable, list[int]](list)
    for row, form in enumerate(forms):
        alike[form].append(row)
    alike.pop(None, None)
    found = dict[int, tuple[float, str]]()
    for rows in alike.values():
        cells = [CELLS.split(lines[row].strip()) for row in rows] if len(rows) >= ALIKE else []
        for column in zip(*cells, strict=False):
            if len(set(column)) > 1:
                unlike = rare(column) if len(set(column)) < len(rows) / 2 else far(column)
                found.update((rows[at], (worth, word)) for at, worth, word in unlike)
        for row in rows:
            if row in found and row - 1 in found and forms[row - 1] == forms[row]:
                found[row] = (found[row][0], found[row - 1][1])
    return found


def rare(kinds: Sequence[str]) -> Iterator[tuple[int, float, str]]:
    """The places of what few are while most are what many are: what it is worth more, and what it is."""
    often = Counter(kinds)
    limit = max(1, RARE * len(kinds))
    if sum(times for times in often.values() if times > limit) < 0.6 * len(kinds):
        return
    for at, kind in enumerate(kinds):
        if often[kind] <= limit:
            yield at, min(5.0, log2(len(kinds) / often[kind])), kind


def far(cells: Sequence[str]) -> Iterator[tuple[int, float, str]]:
    """The places of the numbers that are far from the others: what each is worth more, and the number. What
    only counts up or down has none."""
    numbers = {
        at: float(found[1].replace(",", "")) for at, cell in enumerate(cells) if (found := FIGURE.match(cell))
    }
    ranked = sorted(numbers.values())
    middle = ranked[len(ranked) // 2] if len(ranked) >= NUMERIC * len(cells) else 0.0
    if not middle or list(numbers.values()) in (ranked, ranked[::-1]):
        return
    few = range(1, max(1, int(FEW * len(ranked))) + 1)
    low = max((ranked[at - 1] for at in few if ranked[at] > FAR * ranked[at - 1]), default=-1.0)
    high = min((ranked[-at] for at in few if ranked[-at] > FAR * ranked[-at - 1]), default=inf)
    for at, number in numbers.items():
        if number <= low or number >= high:
            yield at, min(5.0, abs(log2(max(number / middle, 1 / 32)))), cells[at]


def touches(line: str, focus: Focus) -> bool:
    """True when the line names a path or one of the telling words that the user is about; a short one was
    given for this, and stands alone."""
    if not focus.words and not focus.paths:
        return False
    if any(path in line or path.rpartition("/")[2] in line for path in focus.paths):
        return True
    lowered = line.lower()
    return any(
        len(word) >= focus.least_chars
        and word in lowered
        and (len(word) > SHORT_CHARS or re.search(rf"(?<!\w){re.escape(word)}(?!\w)", lowered) is not None)
        for word in focus.words
    )
