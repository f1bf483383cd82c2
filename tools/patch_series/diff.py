"""Diffs as `git format-patch` prints them: of an edited file, of a new one, and how much they change."""

from __future__ import annotations

import difflib
import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from aider_gardener.errors import PatchError
from aider_gardener.patches import git


@dataclass(frozen=True)
class Change:
    """How many lines a diff adds to a file and removes from it."""

    path: str
    added: int
    removed: int


def changes(diff: str) -> list[Change]:
    """The files of a diff or mail, in its order. Raises PatchError when git cannot read it."""
    done = git.run(Path(__file__).parent, diff, "--numstat", "-z")
    if done.returncode:
        raise PatchError(f"not a diff: {done.stderr.decode('utf-8', 'replace').strip()}")
    rows = (row.split("\t") for row in done.stdout.decode().split("\0") if row)
    return [Change(path, int(added), int(removed)) for added, removed, path in rows]


def diffstat(changed: Iterable[Change]) -> str:
    """The list of files with the lines added and removed, as below the `---` of a mail."""
    rows = list(changed)
    lines = [f" {row.path} | {row.added + row.removed}" for row in rows]
    added, removed = sum(row.added for row in rows), sum(row.removed for row in rows)
    total = f" {len(rows)} files changed, {added} insertions(+), {removed} deletions(-)"
    return "\n".join([*lines, total, ""])


def edit(path: str, before: str, after: str, mode: str) -> str:
    """The diff of one file. One line of context is enough to find a place and lets patches stand alone."""
    body = "".join(
        difflib.unified_diff(
            lines_of(before),
            lines_of(after),
            f"a/{path}",
            f"b/{path}",
            n=1,
        )
    )
    return f"diff --git a/{path} b/{path}\nindex {blob(before)}..{blob(after)} {mode}\n{body}"


def new_file(path: str, text: str) -> str:
    """The diff that makes a file."""
    head = f"diff --git a/{path} b/{path}\nnew file mode 100644\nindex 0000000..{blob(text)}\n"
    lines = lines_of(text)
    if not lines:
        return head
    body = "".join("+" + line for line in lines)
    if not body.endswith("\n"):
        body += "\n\\ No newline at end of file\n"
    count = f"+1,{len(lines)}" if len(lines) > 1 else "+1"
    return f"{head}--- /dev/null\n+++ b/{path}\n@@ -0,0 {count} @@\n{body}"


def lines_of(text: str) -> list[str]:
    """The lines with their ends, cut at newlines only (a form feed in a file ends no line)."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def blob(text: str) -> str:
    """git's name of a file with this text, shortened."""
    data = text.encode()
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()[:7]
