"""What changed in a text as a unified diff that is read by its lines alone, and its application.

A hunk has no line numbers, which nobody counts: what stood there before, context included, stands exactly
once in the old text. So whoever reads it finds the place as `apply` does, or there is no such diff.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher
from itertools import takewhile

CONTEXTS = (3, 6, 12)
"""Lines of context; more where fewer stand at several places."""
MOST_PAIRS = 1_000_000
"""Of equal lines, one of each text: difflib looks at each of them, a second long for so many and more."""
HUNK = "@@"
NO_NEWLINE = "\\ No newline at end of file\n"
LINE = re.compile(r"[^\n]*\n|[^\n]+")


def diff(old: str, new: str) -> str | None:
    """The diff between two texts; None where a hunk's place would be ambiguous, where one text is empty, and
    where to find it would take long."""
    before, after = LINE.findall(old), LINE.findall(new)
    if not before or not after or old == new:
        return None
    # What both begin and end with need not be compared; a hunk's context reaches into it.
    first = _same(before, after)
    last = _same(before[first:][::-1], after[first:][::-1])
    start, ends = max(0, first - CONTEXTS[-1]), max(0, last - CONTEXTS[-1])
    before, after = before[start : len(before) - ends], after[start : len(after) - ends]
    if _pairs(before, after) > MOST_PAIRS:
        return None
    for context in CONTEXTS:
        matcher = SequenceMatcher(None, before, after)  # a new one: grouping cuts its opcodes
        found = [_hunk(before, after, group) for group in matcher.get_grouped_opcodes(context)]
        text = "".join(found)
        try:
            if apply(old, text) == new:
                return text
        except ValueError:
            continue
    return None


def apply(old: str, diff_text: str) -> str:
    """The new text, read from the old one and a diff. ValueError where a hunk has no one place."""
    parts: list[str] = []
    at = 0
    for before, after in hunks(diff_text):
        place = _place(old, before)
        if place < at:
            raise ValueError("hunks out of their order")
        parts += [old[at:place], after]
        at = place + len(before)
    return "".join([*parts, old[at:]])


def hunks(diff_text: str) -> list[tuple[str, str]]:
    """What each hunk of a diff replaces, and by what."""
    found: list[tuple[list[str], list[str]]] = []
    mark = ""
    for line in LINE.findall(diff_text):
        if line.startswith(HUNK):
            found.append(([], []))
            mark = ""
            continue
        if not found or (line == NO_NEWLINE and not mark) or line[0] not in " -+\\":
            raise ValueError("no line of a hunk")
        before, after = found[-1]
        if line == NO_NEWLINE:
            for side, marks in ((before, " -"), (after, " +")):
                if mark in marks:
                    side[-1] = side[-1].removesuffix("\n")
            continue
        mark = line[0]
        if mark in " -":
            before.append(line[1:])
        if mark in " +":
            after.append(line[1:])
    return [("".join(before), "".join(after)) for before, after in found]


def lines_of(diff_text: str, mark: str) -> frozenset[str]:
    """The lines that a diff puts in ("+") or takes out ("-")."""
    return frozenset(line[1:].strip() for line in LINE.findall(diff_text) if line.startswith(mark))


def _same(before: Sequence[str], after: Sequence[str]) -> int:
    """How many lines both begin with."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(before, after, strict=False)))


def _pairs(before: Sequence[str], after: Sequence[str]) -> int:
    """How many pairs of equal lines there are, but for lines that difflib passes over: each a hundredth of
    the text and more."""
    olds, commonest = Counter(before), max(200, len(after)) // 100 + 1
    return sum(olds[line] * count for line, count in Counter(after).items() if count <= commonest)


def _hunk(
    before: Sequence[str], after: Sequence[str], group: Sequence[tuple[str, int, int, int, int]]
) -> str:
    lines: list[str] = []
    for tag, old_from, old_to, new_from, new_to in group:
        if tag == "equal":
            lines += [f" {line}" for line in before[old_from:old_to]]
            continue
        lines += [f"-{line}" for line in before[old_from:old_to]]
        lines += [f"+{line}" for line in after[new_from:new_to]]
    return f"{HUNK}\n" + "".join(line if line.endswith("\n") else f"{line}\n{NO_NEWLINE}" for line in lines)


def _place(text: str, lines: str) -> int:
    """Where the whole lines stand in the text. ValueError unless they do exactly once."""
    if lines and not lines.endswith("\n"):  # they are its end
        found = [len(text) - len(lines)] if f"\n{text}".endswith(f"\n{lines}") else []
    else:
        searched, wanted = f"\n{text}", f"\n{lines}"
        found = [searched.find(wanted)]
        found = [place for place in found if place >= 0]
        if found and searched.find(wanted, found[0] + 1) >= 0:
            found.append(searched.find(wanted, found[0] + 1))
    if len(found) != 1 or not lines:
        raise ValueError("a hunk's lines stand at no one place")
    return found[0]
