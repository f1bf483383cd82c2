"""Lines that no engine explains, by their words, how rare they are and where they stand.

What tells of trouble, what sums up, what names a place, what is unlike the rest, and both ends.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from math import log2

from aider_gardener.compress.outline import NOISE, Note
from aider_gardener.reading.alarms import alarm, tells_outcome

SUMS_UP = re.compile(
    r"\b(?:total|summary|passed|finished|completed?|built|done in|elapsed|ran \d+|added|updated)\b|={5}|"
    r"\b\d+ (?:errors?|warnings?|tests?|files?|failed|problems?|issues?|packages?|changes?|rows?)\b"
)
SUM_WORDS = tuple(
    "total summary passed finished complete built done elapsed ran added updated ===== error warning test "
    "file failed problem issue package change row".split()
)
"""Without one of these nothing is summed up."""

PLACE = re.compile(
    r"\.(?<=[\w./-]\.)\w{1,5}:\d|line (?<=\bline )\d|-->|at (?<=\bat )[\w.$<>]+ ?\(|\((?<=\w\()\d+,\d+\)"
)
COMPARES = re.compile(
    r"expected(?<=\bexpected)\b|actual(?<=\bactual)\b|received(?<=\breceived)\b|assert(?<=\bassert)|"
    r"want(?<=\bwant)\b|got(?<=\bgot)\b"
)
COMPARED = re.compile(r"\s*(?:[Ee]  |[●✕✗✘×])")
"""How a line begins that shows one side of a comparison. What is looked for within a line begins with plain
letters, so that a search skips to them; what stands before these is looked at afterwards."""

NUMBER = re.compile(r"0x[0-9a-f]+|[0-9a-f]{7,}|\d+")
QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"|`[^`]*`|‘[^’]*’|“[^”]*”")
PATH = re.compile(r"(?<![\w.-])[\w.-]*/[\w./-]+")
FORM_CHARS = 90


def form_of(line: str) -> str:
    """The line without what is particular to it: numbers, hashes, what stands in quotes, paths."""
    line = NUMBER.sub("0", line.strip()[: 3 * FORM_CHARS])
    line = QUOTED.sub("Q", line)
    return (PATH.sub("P", line) if "/" in line else line)[:FORM_CHARS]


def quoted(lines: Sequence[str]) -> list[Note]:
    """A note for each line."""
    total = len(lines)
    forms = [form_of(line) for line in lines]
    often = Counter(forms)
    told: dict[str, float] = {}
    worth: list[float] = []
    for row, line in enumerate(lines):
        form = forms[row]
        if not line.strip():
            worth.append(NOISE)
            continue
        if form not in told or len(line) > FORM_CHARS:
            told[form] = _told(line) + 3 / (1 + log2(often[form]))
        left = total - row
        ends = max(0, 3 - 0.4 * row) * (row < 5) + (4 - 0.25 * left) * (left <= 12)
        worth.append(told[form] + ends)
    near = list(worth)
    for row, value in enumerate(worth):
        if value >= 5:
            for step, share in ((1, 0.45), (2, 0.3), (3, 0.15), (-1, 0.3), (-2, 0.1)):
                if 0 <= row + step < total and worth[row + step] > NOISE:
                    near[row + step] = max(near[row + step], value * share + worth[row + step] * 0.6)
    return list(map(Note, near, indent_parents(lines), forms))


def _told(line: str) -> float:
    """What the words of a line say that it is worth."""
    level = alarm(line)
    value: float = 5 * (level == "error") + 2 * (level == "warning") + 3 * tells_outcome(line)
    line = line[:400]
    small = line.lower()
    value += 3 * (any(map(small.__contains__, SUM_WORDS)) and bool(SUMS_UP.search(small)))
    value += 1.5 * bool(PLACE.search(line))
    return value + 3 * (level != "error" and compares(line))


def compares(line: str) -> bool:
    """True for a line that shows what was compared."""
    return bool(COMPARES.search(line.lower()) or COMPARED.match(line))


def indent_parents(lines: Sequence[str]) -> list[int]:
    """For each line the row of the nearest line above that is indented less, -1 for none."""
    above: list[int] = []
    open_rows: list[tuple[int, int]] = []
    for row, line in enumerate(lines):
        bare = line.lstrip()
        if not bare:
            above.append(-1)
            continue
        depth = len(line) - len(bare)
        while open_rows and open_rows[-1][0] >= depth:
            open_rows.pop()
        above.append(open_rows[-1][1] if open_rows else -1)
        open_rows.append((depth, row))
    return above
