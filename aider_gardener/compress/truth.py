"""The law of truth: a short form read back beside the lines that it was made of.

It knows nothing of how the form was made. Each shown line is a line of the text, whole or cut; gaps stand
where lines were left out and nowhere else; as many lines as are said to be alike are alike and not shown; a
line stands under no other parent than its own; rows stand under the head of their table, records under
their file, the lines of a hunk under its header, what a commit says under the commit.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from aider_gardener.compress.outline import GAP, SEPARATOR, words_in
from aider_gardener.reading.late import late

COMMIT = late(r"commit [0-9a-f]{7,64}\b")
FIELD = late(r"(?:Merge|Author|AuthorDate|Commit|CommitDate|Date): ")
HUNK = late(r"@@+ -\d|(?:\*\*\*|---) \d+(?:,\d+)? (?:\*{4}|-{4})$")
"""Of a unified diff, or of a context diff, whose old and new lines have a header each."""
HUNK_MARKS = " +-\\!"
RULE = late(r"(?=[\s|+:=│┼├┤─━═┌┬┐└┴┘╪╞╡┿-]+$).*[-=─━═]{3}")
STROKES = late(r"[-=─━═]+")
CAPITALS = late(r"[A-Z][A-Z0-9 %/()_#.-]*$")
TITLE = late(r"\"?[^\W\d][\w .%()/#-]*\"?$")
PATH = late(r"(?:[A-Za-z]:)?[\w@.~+-]*(?:[/\\][\w@.~+-]+)*\.\w{1,8}:?$")
RECORD = late(r"\s+\d+:\d+\s")
QUOTED = late(r"'[^']*'|\"[^\"]*\"|`[^`]*`")
BETWEEN_CELLS = late(r"\s(?:(?<=\t)|\s+)")

Heads = Iterator[tuple[int, Sequence[int]]]


def heads_of(lines: Sequence[str], open_above: Sequence[bool]) -> dict[int, Sequence[int]]:
    """By row the rows of which one is shown where it is; `open_above`: a blank line stands above the row."""
    return dict([*_heads_of_parts(lines), *_heads_of_rows(lines, open_above)])


def cells(line: str) -> int:
    """How many cells a line has, if it is the row of a table."""
    bars = line.count("|") + line.count("│")
    if not bars and "  " not in line and "\t" not in line and line.isascii():
        return 1
    return bars + 1 if bars else len(BETWEEN_CELLS.split(line.strip()))


def _heads_of_parts(lines: Sequence[str]) -> Heads:
    """Fields under their commit, hunks under a line that names their file, lines under their hunk, records
    that begin with a line and a column under a path that stands alone."""
    files: list[int] = []
    commit = hunk = path = -1
    for row, line in enumerate(lines):
        commit = row if COMMIT.match(line) else commit if FIELD.match(line) else -1
        pair = line.startswith("--- ") and "".join(lines[row + 1 : row + 2]).startswith("+++ ")
        fresh = line.startswith(("diff -", "Index: "))
        if HUNK.match(line):
            hunk = row
            if files:
                yield row, files
        elif hunk >= 0 and line[0] in HUNK_MARKS and not pair and line != "--":
            yield row, [hunk]
        elif fresh or pair or line.startswith("+++ "):
            files = [*(near for near in files if near > row - 8 and hunk < 0 and not fresh), row]
            hunk = -1
        elif 0 <= commit < row:
            yield row, [commit]
        elif not line[0].isspace():
            hunk, path = -1, row if PATH.match(line) else -1
        elif path >= 0 and RECORD.match(line):
            yield row, [path]


def _heads_of_rows(lines: Sequence[str], open_above: Sequence[bool]) -> Heads:
    """Rows under the titles of their columns: above a rule, in capitals, or in the first line of a CSV."""
    if _is_csv(lines[:50]):
        yield from ((row, [0]) for row in range(1, len(lines)))
        return
    head = width = -1
    for row, line in enumerate(lines):
        rule = bool(RULE.match(line))
        if head >= 0 and not open_above[row] and (rule or cells(line) == width):
            if not rule:
                yield row, [head]
            continue
        titles = row - 1 if rule and row and not open_above[row] else row
        head = -1
        if titles < row or ("A" <= line[0] <= "Z" and all(map(CAPITALS.match, BETWEEN_CELLS.split(line)))):
            width = cells(lines[titles])
            least = 2 if titles < row and len(STROKES.findall(line)) > 1 else 3
            head = titles if width >= least else -1


def _is_csv(lines: Sequence[str]) -> bool:
    """True for as many commas in each line, at least two, and titles in the first."""
    commas = {QUOTED.sub("", line).count(",") for line in lines}
    values = [cell for line in lines[1:] for cell in line.split(",")]
    titles = lines[0].split(",") if len(lines) > 3 and len(commas) == 1 else []
    return len(titles) > 2 and all(map(TITLE.match, titles)) and any(map(str.isdigit, values))


CUT = f" {GAP} "
CUT_HEAD, PLACES, PAIRS = 100, 1_000, 1_000_000
"""What is looked at of long texts: the beginning of a line that was cut, the places of a line at each end of
the text, the pairs of lines that may be alike."""

ALIKE = late(r"(.*) \[\+(\d+) alike(?:: (.+))?\]", re.DOTALL)
BRANCH = late(r"(?:\[[A-Z]+\] )?[\s│┃|]*(?:[├└╰┣┗][─━]*┬?|[+`\\]-{1,4}) ?(?=[^\s\u2500-\u257f])")
NUMBER_OR_GUTTER = late(r"\s+(?:\d[\d.,:%/-]*(?:\s|$)|[|=^~│┃╷╰╭]|-+>|:::)")
WORDLESS = late(r"[\W_]*$")
HASH = late(
    r"[\dA-Fa-f](?:(?<=\b[\dA-Fa-f])[\dA-Fa-f](?:[ :-]{1,3}[\dA-Fa-f]{2}\b){3,}(?: {2}.*)?|"
    r"(?<=(?<!\d)0)x[0-9a-fA-F]+|(?<=\b[0-9a-f])[0-9a-f]{6,}\b)"
)
"""Bytes, with what they spell in a dump, addresses and hashes, which are no words."""

WORD = late(r"[^\W\d_]{2,}")


class _Shown(NamedTuple):
    """A line of the short form: whether a gap stands above it, how many it says are alike, their names."""

    line: str
    gap: bool
    alike: int
    names: Sequence[str]


class Original:
    """The lines of a text as the law reads them: once, whatever forms of it are read back.

    `lines` are those that are not blank, `rows` where they stand in the text. Of each: `depths` how deep it
    stands, `nearest` the nearest above that stands less deep and is no drawn rule, `parents` that among lines
    that say something, `free` whether it is indented for another reason than to stand under one, `heads` what
    `heads_of` says.
    """

    def __init__(self, lines: Sequence[str]) -> None:
        self.rows = [row for row, line in enumerate(lines) if line.strip()]
        self.lines = [lines[row].rstrip() for row in self.rows]
        self.depths = _depths(self.lines)
        self.nearest = _nearest(self.depths, _rules(self.lines))
        wordless = _wordless(self.lines)
        self.parents = _nearest(self.depths, _silent(self.lines, wordless))
        self.free = _free(self.lines, self.depths, wordless)
        self.heads = heads_of(self.lines, [not row or not lines[row - 1].strip() for row in self.rows])


def falsehoods(text: Original, shown: str) -> list[str]:
    """What a short form says that its lines do not: the kind of each falsehood and the line of the form. Of
    lines that stand in many places it is true where the last or the first of them make it so."""
    items, open_end = _read_back(shown, frozenset(text.lines))
    found: list[list[tuple[int, str]]] = []
    for latest in (True, False):
        rows, false = _aligned(text, items, open_end, latest=latest)
        if not false:
            heads, placed = text.heads, set(rows)
            headless = (at for at, row in enumerate(rows) if row in heads and placed.isdisjoint(heads[row]))
            false += [(at, "head") for at in headless]
            false += [(at, "parent") for at in _false_parents(text, items, rows)]
            false += [(at, "alike") for at in _false_counts(text.lines, items, rows)]
        if not false:
            return []
        found.append(false)
    return [f"{kind}: line {at + 1}" for at, kind in sorted(found[0])]


def with_parents(text: Original, rows: Collection[int]) -> set[int]:
    """The rows, the head of each that has one, and, where one would stand under another's parent, its own."""
    nearest, heads = text.nearest, text.heads
    chosen = {at for at, row in enumerate(text.rows) if row in rows}
    missing = chosen
    while missing:
        shown = sorted(chosen)
        above = _nearest([text.depths[at] for at in shown], _rules([text.lines[at] for at in shown]))
        hung = (
            at
            for at, near in zip(shown, above, strict=True)
            if near >= 0 and shown[near] not in (nearest[at], text.parents[at])
        )
        missing = {nearest[at] for at in hung if not text.free[at] and nearest[at] >= 0} - chosen
        missing |= {max(heads[at]) for at in shown if heads.get(at) and chosen.isdisjoint(heads[at])}
        chosen |= missing
    return {text.rows[at] for at in chosen}


def _read_back(shown: str, lines: frozenset[str]) -> tuple[list[_Shown], bool]:
    """The shown lines; True when a gap stands behind the last."""
    items: list[_Shown] = []
    gap = False
    for line in filter(str.strip, shown.split("\n")):
        if line != GAP:
            match = None if line in lines else ALIKE.fullmatch(line)
            names = (
                [name for name in match[3].split(SEPARATOR) if name.split() and name != GAP]
                if match and match[3]
                else []
            )
            items.append(
                _Shown((match[1] if match else line).rstrip(), gap, int(match[2]) if match else 0, names)
            )
        gap = line == GAP
    return items, gap


def _depths(lines: Sequence[str]) -> list[int]:
    """How deep each line stands: by its indentation, or by where a drawn branch ends."""
    depths = [len(line) - len(line.lstrip()) for line in lines]
    for row, line in enumerate(lines):
        if branch := BRANCH.match(line):
            depths[row] = branch.end()
    return depths


def _rules(lines: Sequence[str]) -> list[bool]:
    """True for drawn rules, which no line stands under."""
    return [bool(RULE.match(line)) for line in lines]


def _wordless(lines: Sequence[str]) -> list[bool]:
    """True for lines without a letter or a digit."""
    return [not line[-1].isalnum() and bool(WORDLESS.match(line)) for line in lines]


def _silent(lines: Sequence[str], wordless: Sequence[bool]) -> list[bool]:
    """True for lines that say nothing that others could stand under: a rule, a bracket, a commit's fields."""
    silent = [*wordless]
    head = False
    for row, line in enumerate(lines):
        field = head and bool(FIELD.match(line))
        head = field or bool(COMMIT.match(line))
        silent[row] = field or silent[row]
    return silent


def _nearest(depths: Sequence[int], silent: Sequence[bool] = ()) -> list[int]:
    """For each line the row of the nearest above that stands less deep, of those that are not silent."""
    nearest: list[int] = []
    open_rows: list[int] = []
    for row, depth in enumerate(depths):
        if silent and silent[row]:
            nearest.append(-1)
            continue
        while open_rows and depths[open_rows[-1]] >= depth:
            open_rows.pop()
        nearest.append(open_rows[-1] if open_rows else -1)
        open_rows.append(row)
    return nearest


def _free(lines: Sequence[str], depths: Sequence[int], wordless: Sequence[bool]) -> list[bool]:
    """True for lines indented to end at a column, behind a gutter or by a hunk's marks, and without words."""
    free: list[bool] = []
    ends: list[tuple[int, bool]] = []
    hunk = False
    for line, depth, bare in zip(lines, depths, wordless, strict=True):
        indent = len(line) - len(line.lstrip())
        hunk = bool(HUNK.match(line)) or (hunk and line[0] in HUNK_MARKS)
        loose = bare or (indent and NUMBER_OR_GUTTER.match(line))
        free.append(hunk or bool(loose and depth == indent))
        ends.append((indent + len(line.split(None, 1)[0]) if indent else 0, indent % 2 > 0))
    end_columns = set(ends)
    columns = {end for end, odd in end_columns if end and (end, not odd) in end_columns}
    return [one or end in columns for one, (end, _odd) in zip(free, ends, strict=True)]


def _aligned(
    text: Original, items: Sequence[_Shown], open_end: bool, *, latest: bool
) -> tuple[list[int], list[tuple[int, str]]]:
    """The row of each shown line, or where the form is no choice of lines in their order.

    Kept are all rows where each line may stand, given those above it, each with the `latest` that it may
    stand behind, or the first.
    """
    places = _places(text.lines, items)
    shown = [item.line for item in items]
    above = _nearest(_depths(shown), _silent(shown, _wordless(shown)))
    steps: list[dict[int, int]] = [{-1: -1}]
    for at, item in enumerate(items):
        before = sorted(steps[-1])
        steps.append(dict(_next(text, before, places[at], item.gap, above[at] >= 0, latest)))
        if not steps[-1]:
            hung = any(_next(text, before, places[at], item.gap, False, latest))
            kinds = {"parent": hung, "gap": max(places[at], default=-1) > before[0], "order": places[at]}
            return [], [(at, next((kind for kind, so in kinds.items() if so), "line"))]
    end = len(text.lines) - 1
    last = (row for row in steps[-1] if (row < end if open_end else row == end))
    row = (max if latest else min)(last, default=-2)
    if row < -1:
        return [], [(len(items), "gap")]
    rows: list[int] = []
    for step in reversed(steps[1:]):
        rows.append(row)
        row = step[row]
    return rows[::-1], []


def _next(
    text: Original, before: Sequence[int], places: Sequence[int], gap: bool, under: bool, latest: bool
) -> Iterator[tuple[int, int]]:
    """The rows where a line may stand behind one of `before`, with or without a gap, each with that one.

    `under`: the form shows a parent above it, so its own is not left out between the two.
    """
    if not gap:
        for row in before:
            at = bisect_left(places, row + 1)
            if places[at : at + 1] == [row + 1]:
                yield row + 1, row
        return
    there = places[bisect_left(places, before[0] + 2) :]
    for row in there if len(there) <= 2 * PLACES else [*there[:PLACES], *there[-PLACES:]]:
        least = bisect_left(before, text.parents[row]) if under and not text.free[row] else 0
        last = bisect_left(before, row - 1)
        if least < last:
            yield row, before[last - 1 if latest else least]


def _places(lines: Sequence[str], items: Sequence[_Shown]) -> list[list[int]]:
    """For each shown line the rows where it stands, whole or, if nowhere, cut."""
    whole: dict[str, list[int]] = {item.line: [] for item in items}
    heads: dict[str, list[int]] = {item.line[:CUT_HEAD]: [] for item in items if CUT in item.line}
    for row, line in enumerate(lines):
        whole.get(line, []).append(row)
        if len(line) > CUT_HEAD:
            heads.get(line[:CUT_HEAD], []).append(row)
    for line, rows in whole.items():
        if not rows:
            rows.extend(row for row in heads.get(line[:CUT_HEAD], ()) if _is_cut(lines[row], line))
    return [whole[item.line] for item in items]


def _is_cut(line: str, shown: str) -> bool:
    """True when the shown line is both ends of a longer one."""
    ends = ((shown[: cut.start()], shown[cut.end() :]) for cut in re.finditer(CUT, shown))
    return any(
        line.startswith(one) and line.endswith(two) and len(one + two) < len(line) for one, two in ends
    )


def _false_parents(text: Original, items: Sequence[_Shown], rows: Sequence[int]) -> Iterator[int]:
    """The shown lines whose nearest shown line above that stands less deep is not theirs in the text."""
    lines = [item.line for item in items]
    depths = _depths(lines)
    nearest = _nearest(depths, _rules(lines))
    parents = _nearest(depths, _silent(lines, _wordless(lines)))
    for at, (row, near, parent) in enumerate(zip(rows, nearest, parents, strict=True)):
        if row < 0 or text.free[row] or near < 0 or rows[near] == text.nearest[row]:
            continue
        if parent >= 0 and rows[parent] != text.parents[row]:
            yield at


_Shape = tuple[str, int, frozenset[str]]


def _shape(line: str) -> _Shape:
    """What makes lines look alike: the sign that they begin with, how many cells they have, their words."""
    bare = line.strip()
    plain = QUOTED.sub(" ", bare) if "'" in bare or '"' in bare or "`" in bare else bare
    if "/" in plain or "\\" in plain:
        plain = " ".join([word for word in plain.split() if "/" not in word and "\\" not in word])
    words = frozenset(WORD.findall(HASH.sub(" ", plain)))
    return "" if bare[0].isalnum() or bare[0] in "\"'`([{</._|│" else bare[0], cells(bare), words


def _like(one: _Shape, other: _Shape) -> bool:
    """True for one sign, for as many cells, for no words at all or for half of the fewer words."""
    if (one[0] and one[0] == other[0]) or (one[1] > 2 and one[1] == other[1]):
        return True
    fewer = min(len(one[2]), len(other[2]))
    return 2 * len(one[2] & other[2]) >= fewer if fewer else one[2] == other[2]


def _false_counts(lines: Sequence[str], items: Sequence[_Shown], rows: Sequence[int]) -> Iterator[int]:
    """The shown lines that say of more lines that they are alike than are alike and not shown, or by a name
    what no such line says."""
    counting = [at for at, item in enumerate(items) if item.alike]
    shown_rows = set(rows)
    hidden = [(line, _shape(line)) for row, line in enumerate(lines) if counting and row not in shown_rows]
    shapes = Counter(shape for _line, shape in hidden)
    ranked = shapes.most_common(PAIRS // max(1, len(counting)))
    unseen = sum(shapes.values()) - sum(many for _shape, many in ranked)
    places: dict[str, set[int]] = {
        word: set() for at in counting for word in " ".join(items[at].names).split()
    }
    for row, (line, _) in enumerate(hidden) if places else ():
        for word in places.keys() & words_in(line):
            places[word].add(row)
    for at in counting:
        own, missing = _shape(items[at].line), items[at].alike - unseen
        named = (set.intersection(*map(places.__getitem__, name.split())) for name in items[at].names)
        if not all(any(_like(own, hidden[row][1]) for row in own_rows) for own_rows in named):
            yield at
            continue
        for other, many in ranked:
            if missing <= 0:
                break
            missing -= many * _like(own, other)
        if missing > 0:
            yield at
