"""Code: imports, signatures, types, decorators and constants stay, bodies fold to `… N lines …`.

Whole rows stay or go. Languages without a grammar, broken code and very long texts are folded by indentation.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from aider_gardener.compress.base import Context, unchanged
from aider_gardener.compress.code.tree import Fold, tree_folds
from aider_gardener.messages import Compressed, ContentClass, Focus
from aider_gardener.reading.languages import guess_language, language_name
from aider_gardener.reading.late import late

DEFINES = late(
    r"\s*(?:export|public|private|protected|internal|static|def|class|fn|func|function|fun|sub|proc|interface"
    r"|type|enum|struct|trait|impl|module|namespace|import|from|use|using|include|require|package|@\w"
    r"|#include|create|alter|const|val|let|var|define|macro)\b",
    re.IGNORECASE,
)
MIN_ROWS = 3

WHOLE_LINES = 12
"""Code up to so many lines stays whole."""

TREE_LIMIT_CHARS = 400_000
"""Longer code is folded by indentation, to keep the time linear and short."""

FOCUS_RARITY = 8
"""A focus word counts only while it stands in at most so many places: commoner ones say nothing."""

LINE_LIMIT_CHARS = 2_000
"""A line longer than this (minified code, embedded data) is cut in its middle."""

FOLDED = late(r"… \d+ lines …")
"""Stands where rows were folded before."""


def indent_folds(lines: Sequence[str], focus: frozenset[int]) -> list[Fold]:
    """Runs of rows deeper than their surroundings that define nothing. Linear in the text."""
    folds: list[Fold] = []
    start = -1
    base = min((len(line) - len(line.lstrip()) for line in lines[:20_000] if line.strip()), default=0)
    for row, line in enumerate([*lines, "\0"]):
        if line == "\0":
            deep = False
        elif not line.strip():
            deep = start >= 0
        else:
            indent = len(line) - len(line.lstrip())
            deep = (
                indent > base and not (indent <= base + 8 and DEFINES.match(line[:200])) and row not in focus
            )
        if deep and start < 0:
            start = row
        elif not deep and start >= 0:
            end = row
            while end > start and not lines[end - 1].strip():
                end -= 1
            if end - start >= MIN_ROWS:
                folds.append(Fold(start, end))
            start = -1
    return folds


def compress(text: str, ctx: Context) -> Compressed:
    """The skeleton of a source text, with the rows that the focus names."""
    lines = text.split("\n")
    if len(lines) <= WHOLE_LINES and len(text) <= LINE_LIMIT_CHARS:
        return unchanged(text, ContentClass.CODE)
    language = language_name(ctx.language) or guess_language([line[:400] for line in lines[:400]])[0]
    folds = _folds(text, lines, language, focus_rows(text, ctx.focus))
    shown = folded(lines, folds)
    shown = [line if len(line) <= LINE_LIMIT_CHARS else cut_line(line) for line in shown]
    return Compressed("\n".join(shown), ContentClass.CODE, "code")


def _folds(text: str, lines: Sequence[str], language: str, focus: frozenset[int]) -> Sequence[Fold]:
    """By the tree where there is one, else by indentation; none of what was folded before."""
    if FOLDED.search(text):
        return []
    folds = tree_folds(text, language, focus) if len(text) <= TREE_LIMIT_CHARS else None
    return indent_folds(lines, focus) if folds is None else folds


def cut_line(line: str) -> str:
    """The head and tail of a very long line, with the count of what is left out."""
    return f"{line[:300]} /* … {len(line) - 400} characters … */ {line[-100:]}"


def focus_rows(text: str, focus: Focus) -> frozenset[int]:
    """Rows that hold a focus word, or name a file in focus, rare in this text; rows are counted from 0."""
    words = sorted({*focus.telling, *path_names(focus.paths)})
    lowered = text.lower() if words else ""
    rows: set[int] = set()
    for word in words:
        at, places = lowered.find(word), list[int]()
        while at >= 0 and len(places) <= FOCUS_RARITY:
            places.append(at)
            at = lowered.find(word, at + len(word))
        if len(places) <= FOCUS_RARITY:
            rows.update(lowered.count("\n", 0, place) for place in places)
    return frozenset(rows)


def path_names(paths: Iterable[str]) -> Iterator[str]:
    """How code names the files: by path, by path without ending, by dotted module; in lower case."""
    for path in paths:
        stem = path.lower().rpartition(".")[0] or path.lower()
        yield from (path.lower(), stem, stem.replace("/", "."))


def folded(lines: Sequence[str], folds: Iterable[Fold]) -> list[str]:
    """The rows with a line in place of each fold, which tells how many they are."""
    shown: list[str] = []
    at = 0
    for start, end in sorted(folds):
        if start >= at:
            indent = lines[start][: len(lines[start]) - len(lines[start].lstrip())]
            shown += [*lines[at:start], f"{indent}… {end - start} lines …"]
            at = end
    return [*shown, *lines[at:]]
