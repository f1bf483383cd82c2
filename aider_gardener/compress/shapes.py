"""Output of programs, shortened by shape: engines explain lines, what none explains is judged by its words.

A text may have several shapes (a stack trace in a test run in a log); of two engines that explain a line the
one that explains more lines of the text has it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from aider_gardener.compress import drawn, paths, trees, values
from aider_gardener.compress.outline import Engine, Note, chosen, written
from aider_gardener.compress.quoting import quoted
from aider_gardener.messages import Focus, TokenCounter
from aider_gardener.reading.output import lines_of

ENGINES: dict[str, Engine] = {"trees": trees.read, "drawn": drawn.read}
"""By the name of the shape."""

RELAYS = (values.relaid, paths.relaid)
"""Each writes a text that can hardly be quoted as lines that can and say the same; None for other texts."""

SMALL_TOKENS = 150
"""Outputs up to this size are left whole: a gap and a head would cost more than they save."""


@dataclass(frozen=True)
class ShortForm:
    """`text` quotes `lines`, the lines as they were read; `engine` explained most of them, "" for none."""

    text: str
    engine: str
    lines: Sequence[str]


def budget_for(tokens: int) -> int:
    """How many tokens the short form of an output may take: thirty times the cube root of what it has."""
    return min(tokens, round(30 * tokens ** (1 / 3)))


def explained(lines: Sequence[str]) -> tuple[list[Note], str]:
    """A note for each line, and the name of the engine that explains most of them."""
    notes = quoted(lines)
    claims = [(name, read(lines)) for name, read in ENGINES.items()]
    claims.sort(key=lambda claim: -len(claim[1]))
    done: set[int] = set()
    for _name, found in claims:
        for row, note in found.items():
            if row not in done:
                notes[row] = note if note.form is not None else note._replace(form=notes[row].form)
        done.update(found)
    return notes, claims[0][0] if claims and claims[0][1] else ""


def shortened(text: str, count: TokenCounter, focus: Focus = Focus(), tokens: int = 0) -> ShortForm:  # noqa: B008
    """The short form of an output of `tokens` tokens, without a head."""
    laid = next((lines for relay in RELAYS if (lines := relay(text))), None)
    lines = lines_of(text if laid is None else "\n".join(laid))
    tokens = tokens or count(text)
    notes, engine = explained(lines)
    if tokens <= SMALL_TOKENS:
        return ShortForm(text, engine, lines)
    rows = chosen(lines, notes, budget_for(tokens), focus, count)
    return ShortForm("\n".join(written(lines, notes, rows)), engine, lines)
