"""Output of programs, shortened by shape: engines explain lines, what none explains is judged by its words.

A text may have several shapes (a stack trace in a test run in a log); of two engines that explain a line the
one that explains more lines of the text has it.

A form begins with a head that says how much is shown, then come the lines that are quoted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate, takewhile
from typing import NamedTuple

from aider_gardener.compress import changes, records, runs, streams, tables, traces, values
from aider_gardener.compress.base import MARKER, Context, omitted, unchanged
from aider_gardener.compress.breaks import broken, joined
from aider_gardener.compress.outline import (
    FAILURE,
    GAP,
    LINE_CHARS,
    NOISE,
    Engine,
    Note,
    Notes,
    chosen,
    written,
)
from aider_gardener.compress.quoting import quoted, without_manual
from aider_gardener.compress.truth import Original, falsehoods, with_parents
from aider_gardener.messages import Compressed, ContentClass, Focus, TokenCounter, remembered
from aider_gardener.phrases import counted
from aider_gardener.reading.alarms import alarm
from aider_gardener.reading.excerpt import excerpt
from aider_gardener.reading.output import clip, lines_of

ENGINES: dict[str, Engine] = {
    "diffs": changes.read,
    "logs": streams.read,
    "traces": traces.read,
    "testruns": runs.read,
    "records": records.read,
    "tables": tables.read,
}
"""By the name of the shape, in the order in which they are asked."""

FULL_SHARE = 0.98
"""An engine that explains so much of a text is asked alone: the others would take as long again for its last
lines, which then are judged by their words."""

ROOM_TOKENS = 600
"""So much of an output may stay, however long it is: what matters does not grow with what is printed."""

SMALL_TOKENS, SMALL_CHARS = 150, 3_000
"""Outputs up to this size are left whole: a gap and a head would cost more than they save. What has more
characters has more tokens, or is blank for the most part."""


class ShortForm(NamedTuple):
    """`text` quotes `lines`, the lines as they were read; `engine` explained most of them, "" for none.

    `failed` is what the law of truth found in a form that was not used for it, "" for nothing.
    """

    text: str
    engine: str
    lines: Sequence[str]
    failed: str = ""


def explained(lines: Sequence[str]) -> tuple[list[Note], str]:
    """A note for each line, and the name of the engine that explains most of them. What stands below a record
    is only thought to belong to it: of a line that other engines explain too these say what it is."""
    lines = without_manual(lines)
    claims = _claims(lines)
    notes: dict[int, Note] = {}
    for _name, found in sorted(claims, key=lambda claim: claim[0] == "records"):
        notes = {**found, **notes}
    compared = next((found for name, found in claims if name == "tables"), {})
    return quoted(lines, notes, compared), claims[0][0] if claims else ""


def _claims(lines: Sequence[str]) -> list[tuple[str, Notes]]:
    """What engines explain, the one that explains most first."""
    claims = _asked(lines)
    ranked = sorted(filter(claims.get, ENGINES), key=lambda name: -len(claims[name]))
    return [(name, claims[name]) for name in ranked]


@remembered(2 * len(ENGINES), key=lambda name, lines: (name, hash(tuple(lines))))
def _read(name: str, lines: Sequence[str]) -> Notes:
    """What an engine explains. Who asks whether a text tells of a failure asks next what it tells of it."""
    return ENGINES[name](lines)


def _asked(lines: Sequence[str]) -> dict[str, Notes]:
    """What engines explain; of one that explains nearly every line that alone."""
    filled = sum(map(bool, map(str.strip, lines)))
    claims: dict[str, Notes] = {}
    for name in ENGINES:
        claims[name] = _read(name, lines)
        if len(claims[name]) >= FULL_SHARE * filled:
            return {name: claims[name]}
    return claims


def shortened(
    text: str,
    count: TokenCounter,
    focus: Focus = Focus(),  # noqa: B008
    *,
    counts: bool = True,
) -> ShortForm:
    """The short form of an output, without a head. Where not all lines were read it is made without `counts`:
    then it tells of no numbers of lines alike."""
    relaid = values.relaid(text)
    lines = lines_of(broken(joined(excerpt(text)) if relaid is None else "\n".join(relaid)))
    notes, engine = explained(lines)
    failed = ""
    original = Original(lines)
    for way, form in _forms(lines, notes, original, focus, count):
        if not form.strip(f"\n{GAP}") or not (way or counts):
            continue
        found = falsehoods(original, form)
        if not found:
            return ShortForm(form, engine if way < 2 else "", lines, failed)
        failed = failed or found[0].partition(":")[0]
    return ShortForm(text, "", lines, failed)


def _forms(
    lines: Sequence[str], notes: Sequence[Note], original: Original, focus: Focus, count: TokenCounter
) -> Iterator[tuple[int, str]]:
    """Forms of which the first that is true is taken: as engines would have it, with and without counts, as
    lines quoted by none, and the first lines."""
    taken, named = chosen(lines, notes, ROOM_TOKENS, focus, count)
    rows = with_parents(original, taken)
    yield 0, "\n".join(written(lines, notes, rows, named))
    bare = [note._replace(form=None) for note in notes]
    yield 1, "\n".join(written(lines, bare, rows))
    notes = quoted(lines)
    rows = with_parents(original, chosen(lines, notes, ROOM_TOKENS, focus, count)[0])
    yield 2, "\n".join(written(lines, notes, rows))
    yield 3, "\n".join(written(lines, [Note(0)] * len(lines), _first(lines, count)))


def _first(lines: Sequence[str], count: TokenCounter) -> set[int]:
    """The first rows, as many as fit, without blank ones: under nothing that is left out."""
    used = accumulate(count(clip(line.rstrip(), LINE_CHARS)) + 1 for line in lines)
    fitting = takewhile(lambda tokens: tokens <= ROOM_TOKENS, used)
    return {row for row, _ in enumerate(fitting) if lines[row].strip()}


GIST_CHARS = 20_000
"""Of longer outputs so much of each end is searched for the lines that tell most."""


def compress(text: str, ctx: Context) -> Compressed:
    """The lines worth most; short outputs and forms made before stay."""
    cls = ContentClass.LOG  # the caller's is put in its place
    is_small = len(text) <= SMALL_CHARS and ctx.count(text) <= SMALL_TOKENS
    if is_small or MARKER.match(text.partition("\n")[0]):
        return unchanged(text, cls)
    form = shortened(text, ctx.count, ctx.focus, counts=not ctx.omitted_lines)
    shown = sum(line not in ("", GAP) for line in form.text.split("\n"))
    if not shown:
        return unchanged(text, cls)
    line_count = len(form.lines) - (not form.lines[-1])
    whole = max(text.rstrip("\n").count("\n") + 1, line_count) + ctx.omitted_lines
    summary = streams.summary(form.lines) if form.engine == "logs" and not ctx.omitted_lines else ""
    part = f"{shown} of {whole:,} lines" if shown < whole else f"parts of {counted(whole, 'line')}"
    head = omitted(", ".join(filter(None, [part, summary])), ctx.entry_id)
    return Compressed(f"{head}\n{form.text}", cls, form.engine or "lines")


def reports_failure(text: str) -> bool:
    """Whether an output tells of a failing test, an error at a place or an exception: what it shows of a
    change is a file's."""
    lines = lines_of(_ends(text))
    if all(alarm(line) != "error" for line in lines):  # as of most texts: no engine need be asked
        return False
    changes = _read("diffs", lines)
    return any(
        note.worth >= FAILURE and row not in changes and alarm(lines[row]) == "error"
        for name in ("testruns", "records", "traces")
        for row, note in _read(name, lines).items()
    )


def gist(text: str, most: int = 2) -> list[str]:
    """The few lines of an output that tell most, the weightiest first."""
    lines = lines_of(broken(_ends(text)))
    notes, _engine = explained(lines)
    rows = (row for row, line in enumerate(lines) if notes[row].worth > NOISE and any(map(str.isalnum, line)))
    return [lines[row] for row in sorted(rows, key=lambda row: -notes[row].worth)[:most]]


def _ends(text: str) -> str:
    return text if len(text) <= 2 * GIST_CHARS else f"{text[:GIST_CHARS]}\n{text[-GIST_CHARS:]}"
