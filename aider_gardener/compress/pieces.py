"""What a parser makes of an output: pieces that must stay, pieces while there is room, and foreign lines.

A parser reads the lines of one tool and returns a `Reading`. What must stay stays at any size, the rest goes
by weight into the room that is left, and everything is written in the order in which the tool wrote it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from math import inf

from aider_gardener.compress.base import Context
from aider_gardener.compress.frame import touches
from aider_gardener.messages import TokenCounter
from aider_gardener.reading.output import clip

MUST = inf
"""The weight of what an engineer cannot go on without: it stays whatever it costs."""

LARGE_SHARE, SMALL_SHARE = 0.04, 0.2
"""Of a text of 50,000 and of 3,000 tokens so much may stand; what must stay may exceed it."""

LINE_CHARS = 400
"""A line is shown up to this length; of longer ones both ends."""

CHARS_A_TOKEN = 10
"""A piece of more characters than that for each token of the room left is not counted: it cannot fit."""

GAP = "…"
"""Stands between two lines that were not neighbours, in a reading that asks for it."""


@dataclass(frozen=True)
class TextPiece:
    """Lines of the result that stand or fall together.

    `at`: the row of the text (from 0) that they tell of; `weight`: MUST, or the heavier the sooner.
    """

    at: float
    lines: tuple[str, ...]
    weight: float = MUST


@dataclass
class Reading:
    """What a parser understood: `summary` in a few words, with counts only of what it counted itself.

    `gaps` marks what was left out between two pieces; `room`: how much of the usual share it may take;
    `foreign`: lines of other programs with their rows.
    """

    summary: str = ""
    pieces: list[TextPiece] = field(default_factory=list)
    kept: dict[str, int] = field(default_factory=dict)
    gaps: bool = False
    room: float = 1.0
    foreign: list[tuple[int, str]] = field(default_factory=list)

    def add(self, at: float, lines: str | Iterable[str], weight: float = MUST) -> None:
        """Put a line, or lines that belong together, at the row that they tell of."""
        told = (lines,) if isinstance(lines, str) else tuple(lines)
        if told:
            self.pieces.append(TextPiece(at, told, weight))

    def other(self, at: int, line: str) -> None:
        """Leave a line to those who know no tool: another program wrote it."""
        if line.strip():
            self.foreign.append((at, line))


Reader = Callable[[Sequence[str], Context], Reading | None]
"""Takes the plain lines of an output; None where it is not what the reader knows after all."""


def chosen(reading: Reading, budget: int, ctx: Context) -> list[str]:
    """The lines of a reading: all that must stay, then by weight what fits into `budget` tokens, in order.

    What touches the focus weighs 3 more. Of pieces that stand at one row and say the same one stays.
    """
    taken: dict[tuple[float, tuple[str, ...]], TextPiece] = {}
    for piece in sorted(reading.pieces, key=lambda one: (-_weight(one, ctx), one.at)):
        if piece.weight != MUST and sum(map(len, piece.lines)) > CHARS_A_TOKEN * budget:
            continue
        lines = tuple(clip(line, LINE_CHARS) for line in piece.lines)
        if (piece.at, lines) in taken:
            continue
        cost = _cost(lines, ctx.count)
        if piece.weight == MUST or cost <= budget:
            budget -= cost
            taken[piece.at, lines] = TextPiece(piece.at, lines, piece.weight)
    written: list[str] = []
    last = -1.0
    for piece in sorted(taken.values(), key=lambda one: one.at):
        if reading.gaps and piece.at > last + 1:
            written.append(GAP)
        written.extend(piece.lines)
        last = piece.at + len(piece.lines) - 1
    return written


def _weight(piece: TextPiece, ctx: Context) -> float:
    near = piece.weight != MUST and any(touches(line, ctx.focus) for line in piece.lines)
    return piece.weight + 3 if near else piece.weight


def _cost(lines: Sequence[str], count: TokenCounter) -> int:
    return count("\n".join(lines)) + 1
