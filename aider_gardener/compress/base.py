"""What every compressor shares: its context, the omission marker, and the never-longer guard."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from aider_gardener.messages import Compressed, ContentClass, Focus, TokenCounter
from aider_gardener.reading.late import late
from aider_gardener.tokens import approximate, pieces


@dataclass(frozen=True)
class Context:
    """What a compressor may know beside the text: of edit blocks their kind, of code the language, the focus,
    the id of the whole. `count` counts tokens. `omitted_lines` says how many an excerpt lacks."""

    kind: str = ""
    language: str = ""
    focus: Focus = field(default_factory=Focus)
    entry_id: str = ""
    count: TokenCounter = approximate
    omitted_lines: int = 0


Compressor = Callable[[str, Context], Compressed]
"""A pure function: same text and context, same result; never raises. What is not shorter is dropped."""

MARKER = late(r"^\s*\[… .*\]$")
"""Matches a line that a compressor wrote in place of others, so that it is kept on a second pass."""
PROMPT_WHOLE_TOKENS = 400
"""Typed text up to this size stays whole: the user's own words are worth most."""


def omitted(what: str, entry_id: str = "") -> str:
    """The line that stands for text left out, e.g. `[… 812 lines, 3 kinds; whole: g1f03…]`."""
    return f"[… {what}; whole: {entry_id}]" if entry_id else f"[… {what}]"


def has_marker(text: str) -> bool:
    """True when the text already holds a marker line of ours; it was compressed before."""
    return "[…" in text and any(MARKER.match(line) for line in text.splitlines() if "[…" in line)


def unchanged(text: str, cls: ContentClass) -> Compressed:
    """The result of a compressor that leaves nothing out."""
    return Compressed(text=text, cls=cls, lossless=True)


def is_shorter(new: str, old: str, count: TokenCounter) -> bool:
    """True when `new` has fewer characters and fewer tokens than `old`; counts no more than needed."""
    if len(new) >= len(old):
        return False
    limit = count(new)
    tokens = 0
    for piece in pieces(old):
        tokens += count(piece)
        if tokens > limit:
            return True
    return False
