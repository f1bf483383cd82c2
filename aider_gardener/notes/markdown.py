"""What was said as a part of a Markdown file: each text on one line, in which nothing of it is Markdown.

A quotation that could open a fence, a heading, a list, a link or a tag would change what stands behind it, in
the file and for whoever reads it, people and models.
"""

from __future__ import annotations

import re

from aider_gardener.reading.output import clipped, without_codes
from aider_gardener.terminal import UNSEEN

LIVE = re.compile(r"[\\`*\[\]|~$]|(?<![^\W_])_|_(?![^\W_])")
HEAD = re.compile(r"([-+=#>:])|(\d{1,9})(?=[.)](?:\s|$))")
ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
ADDRESS = re.compile(r"(?i):(?=//)|(?<=\bwww)\.|(?<=\bmailto):|(?<=\bxmpp):")
"""Where some readers make a link of an address that stands plain."""
TICKS = re.compile(r"`+")
CODE = re.compile(r"(?<!`)`(?=[^\s`])([^`]+)(?<!\s)`(?!`)")
"""Inline code as people and models write it."""
QUOTED_CHARS = 300


def flat(text: str, chars: int = QUOTED_CHARS) -> str:
    """A text on one line of at most so many characters, cut at a word, without what is not seen."""
    line = clipped(UNSEEN.sub("", without_codes(text[: 8 * chars])), chars)
    return line if len(text) <= 8 * chars or line.endswith(" …") else f"{line} …"


def quoted(text: str, chars: int = QUOTED_CHARS) -> str:
    """A text on one line, as words that Markdown shows as they are; what stands between ticks stays code."""
    pieces = CODE.split(flat(text, chars))
    line = "".join(code(piece) if at % 2 else words(piece) for at, piece in enumerate(pieces))
    head = HEAD.match(line)
    if head is None:
        return line
    return f"\\{line}" if head[1] else f"{head[2]}\\{line[head.end() :]}"


def words(text: str) -> str:
    """A piece of a line without anything that Markdown would take for its own."""
    line = re.sub(r"[&<>]", lambda found: ENTITIES[found.group()], LIVE.sub(r"\\\g<0>", text))
    return ADDRESS.sub(lambda found: f"&#{ord(found.group())};", line)


def code(text: str, chars: int = QUOTED_CHARS) -> str:
    """A text on one line as inline code, whatever ticks it holds; "" for none."""
    line = flat(text, chars)
    if not line:
        return ""
    mark = "`" * (max((len(run) for run in TICKS.findall(line)), default=0) + 1)
    room = " " if line[0] == "`" or line[-1] == "`" else ""
    return f"{mark}{room}{line}{room}{mark}"
