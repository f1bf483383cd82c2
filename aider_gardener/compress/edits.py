"""Edit blocks that were applied become one line a file: path, symbols touched, lines added and removed.

The files themselves go to the model on every turn, so the blocks say nothing that is not there.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from aider_gardener.compress.base import Context, has_marker, omitted, unchanged
from aider_gardener.messages import Compressed, ContentClass
from aider_gardener.reading.late import late

SYMBOL_LIMIT = 6
"""So many symbols of a file are named, the rest is counted."""

HEAD = late(r"<{5,9} SEARCH>?[ \t]*$")
DIVIDER = late(r"={5,9}[ \t]*$")
TAIL = late(r">{5,9} REPLACE[ \t]*$")
FENCE = late(r" {0,3}(?:`{3,}|~{3,})")
PATCH_FILE = late(r"\*\*\* (Add|Update|Delete) File: (.+)$")
DEFINITION = late(
    r"^\s*(?:export |default |public |private |protected |internal |static |final |abstract |async "
    r"|pub(?:\(\w+\))? |unsafe |override |virtual |@\w+ )*(?:def|class|function\*?|fn|func(?: \([^)]*\))?"
    r"|interface|type|enum|struct|trait|impl|module|namespace|record|object|create (?:unique )?(?:table|index"
    r"|view)(?: if not exists)?|alter table)\s+([A-Za-z_$](?:[\w$.]|::(?=\w)|:(?=\w+\())*[?!]?)",
    re.IGNORECASE,
)
BOUND = late(
    r"^\s*(?:export )?(?:const|let|var|val)\s+([A-Za-z_$][\w$]*)\s*(?::[^=]+)?="
    r"|^([A-Z][A-Z0-9_]{2,})\s*(?::[^=]+)?="
)
TEST_CASE = late(r"^\s*(?:it|test|describe)\(\s*['\"`]([^'\"`]{3,60})")
SPACED_PATH = late(r"[^\s`*]\.\w{1,10}[`*#]*$|\.\w{1,10}[`*]+:?$")
HUNK_SCOPE = late(r"^@@ .*?@@\s*(.*)$")


@dataclass
class FileEdit:
    """What the blocks of one message did to one file."""

    path: str
    added: int = 0
    removed: int = 0
    symbols: list[str] = field(default_factory=list)
    verb: str = "edited"

    def line(self) -> str:
        """The one line that stands for the blocks."""
        names = list(dict.fromkeys(self.symbols))
        shown = ": " + ", ".join(names[:SYMBOL_LIMIT]) if names else ""
        if len(names) > SYMBOL_LIMIT:
            shown += f", {len(names) - SYMBOL_LIMIT} more"
        lines = f"{self.added} lines" if self.verb == "wrote" else f"+{self.added} −{self.removed}"
        counted = (
            f" ({lines})" if self.added or self.removed else ""
        )  # a file that is deleted or moved shows none
        return f"{self.verb} {self.path or 'a file'}{shown}{counted}"


def compress(text: str, ctx: Context) -> Compressed:
    """One line for each file that the blocks in the text touch."""
    if has_marker(text):
        return unchanged(text, ContentClass.EDIT)
    edits = merged(read_edits(text, ctx.kind))
    if not edits:
        return unchanged(text, ContentClass.EDIT)
    lines = "\n".join(omitted(edit.line(), ctx.entry_id) for edit in edits)
    return Compressed(lines, ContentClass.EDIT, "edits")


def read_edits(text: str, kind: str = "") -> list[FileEdit]:
    """The edits in a text of edit blocks of any of aider's formats, in order."""
    lines = [line.rstrip("\r") for line in text.split("\n")]
    if kind == "whole-file":
        return _whole_file(lines)
    if any(line[:1] == "<" and HEAD.match(line) for line in lines):
        return _search_replace(lines)
    if any(line.startswith("*** ") for line in lines) and any(PATCH_FILE.match(line) for line in lines):
        return _patch(lines)
    return _unified(lines)


def merged(edits: Iterable[FileEdit]) -> list[FileEdit]:
    """Edits of the same file become one, at the place of the first."""
    by_path: dict[str, FileEdit] = {}
    for edit in edits:
        into = by_path.setdefault(edit.path, FileEdit(edit.path, verb=edit.verb))
        into.added += edit.added
        into.removed += edit.removed
        into.symbols.extend(edit.symbols)
    return list(by_path.values())


def symbols_in(lines: Iterable[str]) -> list[str]:
    """Names defined in the lines: functions, classes, types, tables, constants, test cases."""
    found = []
    for line in lines:
        match = DEFINITION.match(line[:400]) or BOUND.match(line[:400]) or TEST_CASE.match(line[:400])
        if match:
            found.append(next(group for group in match.groups() if group))
    return found


def changed(before: list[str], after: list[str]) -> tuple[list[str], list[str]]:
    """The lines only in `before` and only in `after`."""
    return _without(before, Counter(after)), _without(after, Counter(before))


def _without(lines: list[str], moved: Counter[str]) -> list[str]:
    """The lines less those that stand on the other side too, each as often as it does there."""
    rest = []
    for line in lines:
        if moved[line]:
            moved[line] -= 1
        else:
            rest.append(line)
    return rest


def _search_replace(lines: list[str]) -> list[FileEdit]:
    edits: list[FileEdit] = []
    path = mode = ""
    before: list[str] = []
    after: list[str] = []
    for index, line in enumerate(lines):
        mark = line[:1] in "<=>" and len(line) < 40
        if mode == "" and mark and HEAD.match(line):
            path = _path_before(lines, index) or path
            before, after, mode = [], [], "search"
        elif mode == "search" and mark and DIVIDER.match(line):
            mode = "replace"
        elif mode == "replace" and mark and (TAIL.match(line) or DIVIDER.match(line)):
            edits.append(_edit(path, before, after))
            mode = "" if TAIL.match(line) else "search"
            before, after = [], []
        elif mode == "search":
            before.append(line)
        elif mode == "replace":
            after.append(line)
    if mode and (before or after):
        edits.append(_edit(path, before, after))
    return edits


def _edit(path: str, before: list[str], after: list[str]) -> FileEdit:
    removed, added = changed(before, after)
    symbols = symbols_in(added) + symbols_in(removed)
    if not symbols:
        symbols = symbols_in(before)[:1]
    verb = "edited" if any(line.strip() for line in before) else "created"
    return FileEdit(path, len(added), len(removed), symbols, verb)


def _path_before(lines: list[str], head: int) -> str:
    """The path in one of the three lines before a block. One with a space ends as a file's name does, without
    the colon of a sentence."""
    for line in map(str.strip, reversed(lines[max(0, head - 3) : head])):
        is_fence = FENCE.match(line) is not None
        bare = line.lstrip("`~").strip() if is_fence else line.strip("#*` ").rstrip(":").strip("`* ")
        is_path = ("." in bare or "/" in bare) and (" " not in bare or SPACED_PATH.search(line) is not None)
        if line and (is_path or not is_fence):
            return bare if is_path else ""
    return ""


def _unified(lines: list[str]) -> list[FileEdit]:
    edits: list[FileEdit] = []
    for index, line in enumerate(lines):
        if line.startswith("+++ ") or (line.startswith("@@") and not edits):
            path = line[4:].split("\t")[0].strip() if line.startswith("+++ ") else ""
            old = (
                lines[index - 1][4:].split("\t")[0].strip()
                if index and lines[index - 1].startswith("--- ")
                else ""
            )
            deleted = path == "/dev/null"
            name = old if deleted else path
            name = name[2:] if name[:2] in ("a/", "b/") else name
            edits.append(
                FileEdit(name, verb="deleted" if deleted else "created" if old == "/dev/null" else "edited")
            )
        if not edits or line.startswith(("+++ ", "--- ")):
            continue
        if line.startswith("@@"):
            scope = HUNK_SCOPE.match(line)
            edits[-1].symbols.extend(symbols_in([scope[1]]) if scope else [])
        elif line[:1] in ("+", "-"):
            edits[-1].added += line[0] == "+"
            edits[-1].removed += line[0] == "-"
            edits[-1].symbols.extend(symbols_in([line[1:]]))
    return edits


def _patch(lines: list[str]) -> list[FileEdit]:
    verbs = {"Add": "created", "Update": "edited", "Delete": "deleted"}
    edits: list[FileEdit] = []
    for line in lines:
        match = PATCH_FILE.match(line)
        if match:
            edits.append(FileEdit(match[2].strip(), verb=verbs[match[1]]))
        elif edits and line[:1] in ("+", "-"):
            edits[-1].added += line[0] == "+"
            edits[-1].removed += line[0] == "-"
            edits[-1].symbols.extend(symbols_in([line[1:]]))
    return edits


def _whole_file(lines: list[str]) -> list[FileEdit]:
    fence = next((i for i, line in enumerate(lines) if FENCE.match(line)), None)
    if fence is None:
        return []
    path = _path_before(lines, fence + 1)
    if not path and fence:
        path = lines[fence - 1].strip().strip("#*` ").rstrip(":").strip("`* ")
    body = lines[fence + 1 :]
    while body and (not body[-1].strip() or FENCE.match(body[-1])):
        body.pop()
    return [FileEdit(path, len(body), 0, symbols_in(body), "wrote")]
