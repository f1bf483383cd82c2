"""Which rows to fold where there is no grammar: by indentation and by braces at line ends."""

from __future__ import annotations

import re
from collections.abc import Sequence

from aider_gardener.compress.code.nodes import Fold

DEFINES = re.compile(
    r"\s*(?:export|public|private|protected|internal|static|def|class|fn|func|function|fun|sub|proc"
    r"|interface|type|enum|struct|trait|impl|"
    r"module|namespace|import|from|use|using|include|require|package|@\w|#include|create|alter|const"
    r"|val|let|var|define|macro)\b",
    re.IGNORECASE,
)
MIN_ROWS = 3


def indent_folds(lines: Sequence[str], focus: frozenset[int]) -> list[Fold]:
    """Runs of rows deeper than their surroundings that define nothing. Linear in the text."""
    folds: list[Fold] = []
    start = -1
    base = _base_indent(lines)
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
            if end - start >= MIN_ROWS and not all("… " in lines[i] for i in range(start, end)):
                folds.append(Fold(start, end, braces=True))
            start = -1
    return folds


def _base_indent(lines: Sequence[str]) -> int:
    """The indentation of the outermost rows."""
    return min((len(line) - len(line.lstrip()) for line in lines[:20_000] if line.strip()), default=0)
