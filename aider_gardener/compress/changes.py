"""The engine of changes: unified and combined diffs, and the heads of the commits that they belong to.

A hunk's lines stand under its header, the header under the file, the file under its commit. Files come first,
then changed lines, of them what defines or names something.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import log2

from aider_gardener.compress.outline import CAUSE, CONTEXT, DETAIL, FAILURE, NOISE, REPEAT, WARNING, Note
from aider_gardener.compress.quoting import form_of, indent_parents
from aider_gardener.reading.late import late

LOOKED_AT = 400
"""Patterns look at so many characters of a line."""

HUNK = late(r"(@@+|##) (?:-\d+(?:,\d+)? )+\+\d+(?:,\d+)? (?:@@|##)")
FILE = late(r"diff (?:--(?:git|cc|combined) |-[-\w]+ ).|Index: .*[./]|\* Unmerged path .|Only in .+: .")
NAME = late(r"^(?:---|\+\+\+) (?:[ab]/)?|\t.*|\s+$")
FILE_CHANGE = late(
    r"(?:deleted file|new file|new) mode |(?:rename|copy) to |Binary files |GIT binary patch|\+\+\+ /dev"
)
META = late(r"index [0-9a-f]|(?:dis)?similarity |(?:rename|copy) from |old mode |={60}|literal |---|\+\+\+")
COMMIT = late(r"commit [0-9a-f]{7,64}(?: \(.+\))?\s*$|changeset: +\d+:[0-9a-f]+$|r\d+ \| .+ \| \d{4}-")
FIELD = late(r"(?:Merge|(?:Author|Commit)?(?:Date)?|user|date|parent|branch|tag|summary):\s")
CHANGES = ("@@", "##", "diff --")
"""How the lines begin of which a text without commits needs one."""
STAT = late(r" \S.* \| +(?:\d+ [-+]+|Bin .*)$|(?P<sum> \d+ files? changed\b)")
CONFLICT = late(r"(?:<{7}|>{7}|\|{7})(?: |$)|={7}$")
NAMES = late(
    r"(?:\w+(?:\(\w+\))? )*(?:def|class|func(?:tion)?|fn|struct|enum|trait|interface|type|impl|TABLE) \S|"
    r"[\"']?[\w.$\[\]-]+[\"']?(?: *[:+*/|-]?= *| *: ).|(?:return|raise|throw|import)\b"
)


def read(lines: Sequence[str]) -> dict[int, Note]:
    """The notes of the lines of diffs and of the commits above them."""
    commits = [row for row, line in enumerate(lines) if COMMIT.match(line, 0, LOOKED_AT)]
    if not (commits or any(line.startswith(CHANGES) for line in lines)):
        return {}  # as most outputs
    often = Counter(form_of(line) for line in lines if len(commits) > 1 and line.startswith("    "))
    parents = indent_parents(lines)
    notes: dict[int, Note] = {}
    commit = subject = first = file = hunk = -1
    files = hunks = changed = columns = 0
    sure = bool(commits)
    for row, line in enumerate(lines):
        is_end = commit in (*commits[:1], *commits[-1:])  # the first and the last commit are shown whole
        form = row if is_end else None
        pair = line.startswith("--- ") and "".join(lines[row + 1 : row + 2]).startswith("+++ ")
        if found := HUNK.match(line, 0, LOOKED_AT):
            hunk, columns, changed, hunks, sure = row, len(found[1]) - 1, 0, hunks + 1, True
            notes[row] = Note(DETAIL - 0.4 * log2(hunks), file)
        elif hunk >= 0 and not pair and not line[:columns].strip(" +-\\"):
            changed += bool(line[:columns].strip())
            notes[row] = Note(_worth(line, columns, changed * hunks), hunk)
        elif FILE.match(line, 0, LOOKED_AT) or (pair and (file < 0 or hunks)):
            first = file = row
            hunk, hunks, files = -1, 0, files + 1
            sure = sure or line.startswith("diff --")
            worth = FAILURE + REPEAT * log2(files) if len(commits) < 2 else WARNING
            notes[row] = Note(worth, commit, "file")
        elif file >= 0 == hunks and line[:4] in ("--- ", "+++ ") and line[4:] != "/dev/null":
            same = line[0] == "-" or NAME.sub("", line) == NAME.sub("", lines[row - 1])
            above = commit if same or file != row - 1 else file
            notes[row] = notes[file]._replace(above=above, form="file" if len(commits) < 2 else line)
            notes.update({at: Note(NOISE, commit, "file") for at in range(first, row)})
            file = row
        elif file >= 0 == hunks and (FILE_CHANGE.match(line) or META.match(line)):
            notes[row] = Note(WARNING, file) if FILE_CHANGE.match(line) else Note(NOISE, commit)
        elif COMMIT.match(line, 0, LOOKED_AT):
            commit, subject, file, hunk, hunks = row, -1, -1, -1, 0
            is_end = row in (commits[0], commits[-1])
            worth = DETAIL + WARNING * ("(" in line) + WARNING * is_end
            notes[row] = Note(worth, -1, row if is_end else None)
        elif len(commits) > 1 and (stat := STAT.match(line, 0, LOOKED_AT)):
            hunk = -1
            notes[row] = Note(DETAIL if stat["sum"] else CONTEXT, commit, row if stat["sum"] else None)
        elif commit >= 0 > file and subject < 0 and FIELD.match(line, 0, LOOKED_AT):
            worth = DETAIL if is_end or line[:5] in ("Autho", "Merge", "user:") else 0.0
            notes[row] = Note(worth + FAILURE * line.startswith("summary:"), commit, form)
        elif commit >= 0 > file and line.startswith("    ") and line.strip():
            rare = 1 if is_end else 1 / (1 + log2(often[form_of(line)]))
            worth = CONTEXT + (FAILURE - DETAIL if subject < 0 else WARNING) * rare
            subject = row if subject < 0 else subject
            notes[row] = Note(worth, parents[row] if parents[row] >= subject else commit, form)
        else:
            hunk = -1
    return notes if sure else {}


def _worth(line: str, columns: int, nth: int) -> float:
    """What a line of a hunk is worth, the `nth` that was changed."""
    marks, text = line[:columns], line[columns:].strip()[:LOOKED_AT]
    if CONFLICT.match(text):
        return CAUSE
    if "\\" in marks or not text:
        return NOISE
    if not marks.strip():
        return CONTEXT / 4
    return DETAIL + 1.5 * bool(NAMES.match(text)) - 0.5 * log2(nth)
