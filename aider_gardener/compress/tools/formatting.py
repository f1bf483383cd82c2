"""Formatters that only check: which files are not as they should be, which cannot be read, and the totals."""

from __future__ import annotations

import re
from collections.abc import Sequence

from aider_gardener.compress.base import Context
from aider_gardener.compress.frame import plural
from aider_gardener.compress.pieces import Reading
from aider_gardener.compress.tools.packing import packed
from aider_gardener.reading.alarms import tells_outcome

WANTED = re.compile(
    r"^(?P<lead>\[warn\] |[Ww]ould reformat:? |ERROR: (?=\S+ Imports are incorrectly sorted)|"
    r"reformatted |Fixing |Diff in )"
    r"(?P<path>.+?)(?P<tail> Imports are incorrectly sorted and/or formatted\.)?$"
)
SPOKEN = re.compile(
    r"^\[warn\] (?:Code style issues|Forgot to run|Ignored|.* is deprecated)|^\[warn\] .*[.?]$"
)
UNCHANGED = re.compile(
    r"^(?:\S+ already well formatted|Skipped |\S.* \d+ms(?: \(unchanged\))?$|Checking formatting)"
)
SAYS = re.compile(
    r"^\[(?:warn|error)\] |^error: |^ERROR: |^Oh no!|^All done!|^\d+ files? |^All matched files|"
    r"^  ?\d+ [|│]|^ +[|│]"
)
FEW = 12


def read(lines: Sequence[str], ctx: Context) -> Reading | None:
    """Every file that would be changed, packed where they are many; everything else that is said."""
    reading = Reading()
    own = sum(1 for line in lines if WANTED.match(line) or UNCHANGED.match(line) or SAYS.match(line))
    if own < 0.5 * sum(1 for line in lines if line.strip()):
        return None
    wanted: dict[str, list[tuple[int, str, str]]] = {}
    for at, line in enumerate(lines):
        found = None if SPOKEN.match(line) else WANTED.match(line)
        if found:
            key = found["lead"].strip() + (found["tail"] or "")
            wanted.setdefault(key, []).append((at, found["path"], line))
        elif UNCHANGED.match(line) and not tells_outcome(line):
            reading.add(at, line, 0.5)
        elif line.strip():
            reading.add(at, line)
    for key, rows in wanted.items():
        if len(rows) <= FEW:
            for at, _, line in rows:
                reading.add(at, line)
        else:
            told = packed(dict.fromkeys(path for _, path, _ in rows))
            reading.add(rows[0][0], [f"{key} [{plural(len(rows), 'file')}]:", *told])
    if not wanted and not any(
        re.search(
            r"SyntaxError|cannot format|[Cc]annot parse|reformatted|"
            r"formatted",
            line,
        )
        for line in lines
    ):
        return None
    files = sum(map(len, wanted.values()))
    reading.summary = f"{plural(files, 'file')} not formatted" if files else "checked"
    reading.kept = {"files": files}
    return reading
