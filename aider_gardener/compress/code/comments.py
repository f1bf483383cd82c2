"""Which rows of comments to fold: the first ones say what it is about, the rest goes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from aider_gardener.compress.code.nodes import COMMENTS, Fold, end_row

COMMENT_MARK = re.compile(r"//[/!]?|#|--|;+|%")


def comment_folds(children: Iterable[Any], lines: Sequence[str], focus: frozenset[int]) -> list[Fold]:
    """Of comments of four and more rows the first two rows stay, of a doc comment its first words."""
    folds: list[Fold] = []
    run: list[Any] = []
    for child in [*children, None]:
        is_comment = child is not None and child.type in COMMENTS
        if is_comment and (not run or child.start_point[0] <= run[-1].end_point[0] + 1):
            run.append(child)
            continue
        if run:
            folds.extend(_fold_rows(run[0].start_point[0], end_row(run[-1]), len(run) == 1, lines, focus))
        run = [child] if is_comment else []
    return folds


def _fold_rows(
    start: int, end: int, single: bool, lines: Sequence[str], focus: frozenset[int]
) -> Iterable[Fold]:
    if end - start < 3 or any(row in focus for row in range(start, end + 1)):
        return
    first = lines[start].lstrip()
    if single and first.startswith(("/*", "=begin", "<!--")):
        starred = lines[start + 1].lstrip().startswith("*")
        yield Fold(start + 2, end, text="* {}" if starred else "{}")
    elif not single:
        mark = COMMENT_MARK.match(first)
        if mark:
            yield Fold(start + 2, end + 1, text=mark[0] + " {}")
