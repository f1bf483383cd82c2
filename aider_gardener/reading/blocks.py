"""The blocks that stand out of a message by their marks: fences, edits, patches."""

from __future__ import annotations

import re
from typing import NamedTuple

from aider_gardener.reading.late import late

FENCE = late(r"^(?P<indent> {0,3})(?P<mark>`{3,}|~{3,})(?P<info>[^`\r\n]*)\r?$", re.M)
SEARCH_HEAD = late(r"^<{5,9} SEARCH>?[ \t]*\r?$", re.M)
REPLACE_TAIL = late(r"^>{5,9} REPLACE[ \t]*\r?$", re.M)
PATCH_HEAD = late(r"^\*\*\* Begin Patch[ \t]*\r?$", re.M)
PATCH_TAIL = late(r"^\*\*\* End Patch[ \t]*\r?$", re.M)
DIFF_BODY = late(r"\s*(?:diff --git |--- \S|@@ |commit [0-9a-f]{7,40}\b|[+-])")
PATH_LINE = late(r"^(?:#{1,6} +|[*_`]{1,3})?[\w@.~+-]*(?:[/\\][\w@.+ -]+)*[\w@+-][*_`:]{0,4}[ \t]*\r?$")


class Block(NamedTuple):
    """A fenced or edit block: the whole is `start:end`, its content `inner_start:inner_end`.

    `kind` is "fence", "search-replace", "udiff", "patch" or "path-fence" (a fence with a path line
    above, that stands for a whole file in some edit formats); `path` is that line's path.
    """

    start: int
    end: int
    inner_start: int
    inner_end: int
    kind: str
    info: str = ""
    path: str = ""


def find_blocks(content: str) -> list[Block]:
    """All blocks in order, without overlap, in time linear in the text."""
    found = _fenced(content)
    edits = _unfenced_edits(content, found)
    return sorted([*found, *edits], key=lambda block: block.start)


def _fenced(content: str) -> list[Block]:
    blocks: list[Block] = []
    open_at: re.Match[str] | None = None
    depth, diff = 0, False
    for match in FENCE.finditer(content) if "```" in content or "~~~" in content else ():
        info = match["info"].strip()
        if open_at is None:
            open_at, depth, diff = match, 0, bool(DIFF_BODY.match(content, match.end() + 1))
            continue
        same = match["mark"][0] == open_at["mark"][0] and len(match["mark"]) >= len(open_at["mark"])
        if not same or (diff and match["indent"]):
            continue
        # A fence with a word behind it never closes one: in Markdown it opens another, elsewhere it is text.
        if info:
            depth += open_at["info"].strip().lower().split(" ")[0] in ("markdown", "md")
        elif depth:
            depth -= 1
        else:
            blocks.append(_block(content, open_at, match.start(), match.end()))
            open_at = None
    if open_at is not None:
        blocks.append(_block(content, open_at, len(content), len(content)))
    return blocks


def _block(content: str, opened: re.Match[str], close_start: int, close_end: int) -> Block:
    inner = min(opened.end() + 1, len(content))
    end = min(close_end + 1, len(content))
    info = opened["info"].strip()
    start, path = _path_above(content, opened.start())
    body_head = content[inner : inner + 2_000]
    if SEARCH_HEAD.search(content, inner, close_start):
        kind = "search-replace"
    elif PATCH_HEAD.search(body_head):
        kind = "patch"
    elif info.lower() in ("diff", "patch", "udiff") or re.match(
        r"\s*(?:diff --git |--- \S.*\r?\n\+\+\+ )", body_head
    ):
        kind, start, path = "udiff", opened.start(), ""
    elif path:
        kind = "path-fence"
    else:
        kind, start = "fence", opened.start()
    if kind == "search-replace" and not path:
        start = opened.start()
        if info and ("." in info or "/" in info):
            path = info
    return Block(start, end, inner, close_start, kind, info, path)


def _path_above(content: str, at: int) -> tuple[int, str]:
    """The line just above offset `at` if it is a file's path: (its start, path), else (at, "")."""
    if at == 0 or content[at - 1] != "\n":
        return at, ""
    start = content.rfind("\n", max(0, at - 300), at - 1) + 1
    line = content[start : at - 1]
    if not 0 < len(line) <= 250 or (start == 0 and at > 300):
        return at, ""
    bare = line.strip().strip("#").strip().rstrip(":").strip("`*_ ").rstrip(":")
    if not PATH_LINE.match(line) or not ("." in bare or "/" in bare) or bare.endswith("."):
        return at, ""
    return start, bare


def _unfenced_edits(content: str, fenced: list[Block]) -> list[Block]:
    """SEARCH/REPLACE and patch blocks that stand outside of any fence."""
    found: list[Block] = []
    at, index = 0, 0
    for mark, head_pattern, tail_pattern, kind in (
        ("<<<<< SEARCH", SEARCH_HEAD, REPLACE_TAIL, "search-replace"),
        ("*** Begin Patch", PATCH_HEAD, PATCH_TAIL, "patch"),
    ):
        if mark not in content:
            continue
        at = index = 0
        while True:
            head = head_pattern.search(content, at)
            if not head:
                break
            while index < len(fenced) and fenced[index].end <= head.start():
                index += 1
            if index < len(fenced) and fenced[index].start <= head.start():
                at = fenced[index].end
                continue
            limit = fenced[index].start if index < len(fenced) else len(content)
            tail = tail_pattern.search(content, head.end(), limit)
            if not tail:
                break
            start, path = _path_above(content, head.start())
            end = min(tail.end() + 1, len(content))
            found.append(Block(start, end, head.start(), tail.end(), kind, "", path))
            at = end
    return found
