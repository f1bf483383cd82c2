"""Unified diffs: reading them, and applying them exactly. Lines may have moved, but none may differ."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from aider_gardener.errors import PatchError

HUNK_HEAD = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
NO_NEWLINE = "\\"


@dataclass(frozen=True)
class Hunk:
    """One place of a file. `lines` keep their ends and begin with a space, `-` or `+`."""

    old_start: int
    new_start: int
    lines: tuple[str, ...]

    def old(self) -> list[str]:
        return [line[1:] for line in self.lines if line[0] in " -"]

    def new(self) -> list[str]:
        return [line[1:] for line in self.lines if line[0] in " +"]

    def reverse(self) -> Hunk:
        swapped = tuple({"-": "+", "+": "-"}.get(line[0], " ") + line[1:] for line in self.lines)
        return Hunk(self.new_start, self.old_start, swapped)


@dataclass(frozen=True)
class FileChange:
    """What a patch does to one file: edits it, or makes it (`is_new`), or removes it (`is_gone`)."""

    path: str
    hunks: tuple[Hunk, ...]
    is_new: bool = False
    is_gone: bool = False

    @property
    def added(self) -> int:
        return sum(line[0] == "+" for hunk in self.hunks for line in hunk.lines)

    @property
    def removed(self) -> int:
        return sum(line[0] == "-" for hunk in self.hunks for line in hunk.lines)

    def reverse(self) -> FileChange:
        hunks = tuple(hunk.reverse() for hunk in self.hunks)
        return FileChange(self.path, hunks, is_new=self.is_gone, is_gone=self.is_new)

    def apply(self, text: str | None) -> str | None:
        """The file afterwards; None is a file that is not there. Raises PatchError when a line differs."""
        if self.is_new:
            if text is not None:
                raise PatchError(f"{self.path} is there already")
            return "".join(line for hunk in self.hunks for line in hunk.new())
        if text is None:
            raise PatchError(f"{self.path} is missing")
        lines, shift = lines_of(text), 0
        for hunk in self.hunks:
            at = place(lines, hunk, shift)
            if at is None:
                raise PatchError(f"{self.path} is not as the patch expects near line {hunk.old_start}")
            lines[at : at + len(hunk.old())] = hunk.new()
            shift = at - (hunk.old_start - 1) + len(hunk.new()) - len(hunk.old())
        if self.is_gone and lines:
            raise PatchError(f"{self.path} has lines that the patch does not know")
        return None if self.is_gone else "".join(lines)


def lines_of(text: str) -> list[str]:
    """The lines with their ends, cut at newlines only (a form feed in a file ends no line)."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def place(lines: Sequence[str], hunk: Hunk, shift: int) -> int | None:
    """The index where all old lines of the hunk stand, the one nearest to where it says."""
    old = hunk.old()
    expected = max(0, hunk.old_start - 1 + shift) if old else hunk.old_start + shift
    last = len(lines) - len(old)
    for distance in range(max(expected, last - expected, 0) + 1):
        for at in {expected - distance, expected + distance}:
            if 0 <= at <= last and list(lines[at : at + len(old)]) == old:
                return at
    return None


def parse_changes(lines: Sequence[str]) -> tuple[FileChange, ...]:
    """The files of a diff as `git format-patch` prints it. Raises PatchError on anything but plain text."""
    starts = [i for i, line in enumerate(lines) if line.startswith("diff --git ")]
    ends = [*starts[1:], len(lines)]
    return tuple(parse_change(lines[start:end]) for start, end in zip(starts, ends, strict=True))


def parse_change(lines: Sequence[str]) -> FileChange:
    head = next((i for i, line in enumerate(lines) if line.startswith("@@ ")), len(lines))
    top = "".join(lines[:head])
    names = re.match(r"diff --git a/(.+) b/(.+)\n", lines[0])
    if names is None or names[1] != names[2] or re.search(r"^(rename|copy|GIT binary|Binary)", top, re.M):
        raise PatchError(f"not a plain change of one text file: {lines[0].strip()}")
    path = names[1]
    if path.startswith("/") or ".." in path.split("/"):
        raise PatchError(f"a patch may not reach outside of its tree: {path}")
    return FileChange(
        path, tuple(parse_hunks(lines[head:], path)), "\nnew file mode" in top, "\ndeleted file mode" in top
    )


def parse_hunks(lines: Sequence[str], path: str) -> Iterator[Hunk]:
    """The hunks of one file. Raises PatchError when one is longer or shorter than its head says."""
    i = 0
    while i < len(lines) and (head := HUNK_HEAD.match(lines[i])):
        left = [int(head[2] or 1), int(head[4] or 1)]
        body: list[str] = []
        i += 1
        while i < len(lines) and (any(left) or lines[i].startswith(NO_NEWLINE)):
            if lines[i].startswith(NO_NEWLINE):
                body[-1] = body[-1].rstrip("\n")
            else:
                line = lines[i] if lines[i] != "\n" else " \n"
                left[0] -= line[0] in " -"
                left[1] -= line[0] in " +"
                body.append(line)
            i += 1
        if any(left) or not all(line[0] in " +-" for line in body):
            raise PatchError(f"a hunk of {path} is damaged")
        yield Hunk(int(head[1]), int(head[3]), tuple(body))


def new_file(path: str, text: str) -> str:
    """The diff that makes a file, as `git format-patch` prints it."""
    from hashlib import sha1

    data = text.encode()
    blob = sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()[:7]
    head = f"diff --git a/{path} b/{path}\nnew file mode 100644\nindex 0000000..{blob}\n"
    lines = lines_of(text)
    if not lines:
        return head
    body = "".join("+" + line for line in lines)
    if not body.endswith("\n"):
        body += "\n\\ No newline at end of file\n"
    count = f"+1,{len(lines)}" if len(lines) > 1 else "+1"
    return f"{head}--- /dev/null\n+++ b/{path}\n@@ -0,0 {count} @@\n{body}"
