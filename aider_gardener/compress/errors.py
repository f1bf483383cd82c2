"""Compressing a traceback: library frames folded, repeated stacks told once, messages whole.

Its lines are cut into units first: stack frames (with their code) and other text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from aider_gardener.compress.base import Context, omitted, unchanged
from aider_gardener.compress.frame import estimate, framed, plural, touches, untouched
from aider_gardener.compress.places import is_library
from aider_gardener.messages import Compressed, ContentClass
from aider_gardener.reading.detectors import detect_traceback
from aider_gardener.reading.output import clip, lines_of

TOP_FRAMES = 5
"""Frames next to the error that stay, the project's or not."""

OWN_FRAMES = 24
"""The project's frames that stay in one stack; of more, the first and the last halves do."""

SIZES = (
    (TOP_FRAMES, OWN_FRAMES, OWN_FRAMES),
    (TOP_FRAMES, OWN_FRAMES, TOP_FRAMES),
    (TOP_FRAMES, OWN_FRAMES, 2),
    (TOP_FRAMES, 16, 1),
    (TOP_FRAMES, 12, 1),
)
LONG_SHARE = 0.7
"""Frames next to the error that stay, the project's that stay, and those next to the error that show
their code: the first of the sizes with which the result is within its share."""

SHORT_TOKENS = 300
"""Tracebacks up to this size stay whole."""

LONGEST_LINE = 4_000
MANY_TEXT_LINES = 60
HEADS = ("Traceback", "During", "The above", "Caused by", "Thread ", "goroutine ")
ADDRESS = re.compile(r"0x[0-9a-f]+")

PYTHON = re.compile(r'^([\s|+-]*)File "([^"]+)", line (\d+)(?:, in (.*)| in (.*))?$')
AT = re.compile(r"^\s*(?:\d+: )?at (.*)$")
AT_PLACE = re.compile(r"\(([^()]*)\)\s*(?:\{|~?\[.*\])?$")
GO_PLACE = re.compile(r"^\t(\S.*?\.(?:go|s|c)):\d+(?: \+0x[0-9a-f]+)?$")
GO_CALL = re.compile(r"^(?:created by )?[\w./*()\[\]·~-]+\(.*\)$|^created by \S+")
RUST = re.compile(r"^\s*\d+: (?:0x[0-9a-f]+ - )?(\S.*)$")
RUST_AT = re.compile(r"^\s+at (\S+\.\w+:\d+(?::\d+)?)$")
RUBY = re.compile(r"^\s*(?:\d+: )?(?:from )?(\S+\.rb:\d+):in ")
PHP = re.compile(r"^#\d+ (\S+\.php)\(\d+\): |^#\d+ (?:\{main\}|\[internal function\])")
CARETS = re.compile(r"^[\s|]*[\^~]+[\s^~]*$")
NOT_CODE = re.compile(
    r"^(?:[\w.]+(?:Error|Exception|Warning|Exit|Interrupt|Group|Timeout)\b|Traceback|"
    r"During handling|The above|Thread |Exception )"
)


def compress(text: str, ctx: Context) -> Compressed:
    """A traceback with type, message, chain of causes and the project's frames; library frames folded."""
    kind = ctx.kind or detect_traceback(text) or "traceback"
    whole = untouched(text, ctx, ContentClass.ERROR, kind)
    if whole:
        return whole
    if estimate(text, ctx.count) <= SHORT_TOKENS:
        return unchanged(text, ContentClass.ERROR, kind)
    lines = [line for line in lines_of(text) if line.strip()]
    stacks = _stacks(units(lines, kind))
    last = kind == "traceback-python" and "most recent call first" not in text
    limit = LONG_SHARE * estimate(text, ctx.count)
    for size in SIZES:
        body, kept, folded = _write(stacks, last, size, ctx)
        if estimate("\n".join(body), ctx.count) <= limit:
            break
    summary = f"{kind}: {plural(kept['stacks'], 'stack')}, {plural(folded, 'library frame')} folded"
    return framed(text, summary, body, ctx, ContentClass.ERROR, kind, kept)


def _stacks(found: Sequence[ErrorUnit]) -> list[list[ErrorUnit]]:
    """Runs of frames, and runs of other text, in turns."""
    runs: list[list[ErrorUnit]] = []
    for unit in found:
        if runs and runs[-1][0].frame == unit.frame:
            runs[-1].append(unit)
        else:
            runs.append([unit])
    return runs


def _write(
    runs: Sequence[Sequence[ErrorUnit]], innermost_last: bool, size: tuple[int, int, int], ctx: Context
) -> tuple[list[str], dict[str, int], int]:
    """The runs as lines; a stack that stood there already is named, a whole repeated traceback counted."""
    body: list[str] = []
    seen: set[tuple[str, ...]] = set()
    said: set[str] = set()
    kept = {"stacks": 0, "frames": 0}
    folded = repeats = 0
    repeated = False
    stacks = sum(1 for run in runs if run[0].frame)
    for run in runs:
        key = tuple(unit.key() for unit in run)
        if key in seen and (repeated or not run[0].frame):
            repeats += run[0].frame
            repeated = True
            continue
        repeated = False
        if not run[0].frame:
            body.extend(_text(run, said, ctx))
        elif key in seen and len(run) > 1:
            body.append(omitted(f"same {len(run)} frames as above"))
        else:
            kept["stacks"] += 1
            top = size[0] if stacks <= 3 or kept["stacks"] == stacks else size[0] - 2
            lines, own, library = _stack(run, innermost_last, (top, *size[1:]), ctx)
            body.extend(lines)
            kept["frames"] += own
            folded += library
        seen.add(key)
    if repeats:
        body.append(omitted(f"{plural(repeats, 'more stack')} like those above"))
    return body, kept, folded


def _text(run: Sequence[ErrorUnit], said: set[str], ctx: Context) -> list[str]:
    """Lines that are no frames: each once, very long ones clipped; many of them as a log."""
    fresh = []
    for unit in run:
        line = unit.lines[0]
        key = ADDRESS.sub("", line)
        if key not in said or line.lstrip(" |+-").startswith(HEADS):
            fresh.append(clip(line, LONGEST_LINE))
        said.add(key)
    if len(fresh) > MANY_TEXT_LINES:
        from aider_gardener.compress.logs.compressor import digest_lines

        return digest_lines(fresh, 800, ctx)
    return fresh


def _stack(
    run: Sequence[ErrorUnit], innermost_last: bool, size: tuple[int, int, int], ctx: Context
) -> tuple[list[str], int, int]:
    """One run of frames: the top ones and the project's stay, as many as `size` says; the rest is counted."""
    most, projects, coded = size
    top = set(range(len(run))[-most:] if innermost_last else range(len(run))[:most])
    with_code = set(range(len(run))[-coded:] if innermost_last else range(len(run))[:coded])
    own = [at for at, unit in enumerate(run) if unit.own]
    if len(own) > projects:
        own = [*own[: projects // 2], *own[-projects // 2 :]]
    keep = top | set(own)
    keep |= (
        {at for at, unit in enumerate(run) if touches(unit.lines[0], ctx.focus)} if len(run) < 400 else set()
    )
    lines: list[str] = []
    skipped, repeats, own_skipped = 0, 0, False
    previous = ""
    for at, unit in enumerate(run):
        if at in keep and unit.key() == previous and at != len(run) - 1:
            repeats += 1
            continue
        if at not in keep:
            skipped += 1
            own_skipped = own_skipped or unit.own
            continue
        lines.extend(_gap(skipped, repeats, own_skipped))
        skipped, repeats, own_skipped = 0, 0, False
        previous = unit.key()
        last = at == (len(run) - 1 if innermost_last else 0)
        shown = unit.lines if last or (unit.own and at in with_code) or not innermost_last else unit.lines[:1]
        lines.extend(clip(line, LONGEST_LINE) for line in shown if last or not CARETS.match(line))
    lines.extend(_gap(skipped, repeats, own_skipped))
    return lines, len(keep), len(run) - len(keep)


def _gap(skipped: int, repeats: int, own: bool) -> list[str]:
    lines = []
    if repeats:
        lines.append(f"  [… same frame {plural(repeats, 'more time')}]")
    if skipped:
        lines.append(f"  [… {plural(skipped, 'frame' if own else 'library frame')}]")
    return lines


@dataclass
class ErrorUnit:
    """A frame with its lines, or one line of other text. `own` is true for the project's frames."""

    lines: list[str]
    frame: bool = False
    own: bool = False

    def key(self) -> str:
        """What makes two frames the same: their first line without addresses."""
        return re.sub(r"0x[0-9a-f]+", "0x", self.lines[0])


def units(lines: Sequence[str], kind: str) -> list[ErrorUnit]:
    """The units of a traceback of this kind, in order."""
    if kind == "traceback-python":
        return list(_python(lines))
    if kind == "stack-go":
        return list(_go(lines))
    if kind == "stack-rust":
        return list(_rust(lines))
    return [_single(line) for line in lines]


def _python(lines: Sequence[str]) -> Iterator[ErrorUnit]:
    at = 0
    while at < len(lines):
        found = PYTHON.match(lines[at])
        if not found:
            yield ErrorUnit([lines[at]])
            at += 1
            continue
        unit = ErrorUnit([lines[at]], True, not is_library(found.group(2)))
        depth, at = len(found.group(1)), at + 1
        flat = depth == 0
        while at < len(lines) and lines[at].strip() and not PYTHON.match(lines[at]):
            bare = lines[at].lstrip(" |+-")
            if flat and ((len(unit.lines) > 1 and not CARETS.match(lines[at])) or NOT_CODE.match(bare)):
                break
            if not flat and len(lines[at]) - len(bare) <= depth:
                break
            unit.lines.append(lines[at])
            at += 1
        yield unit


def _go(lines: Sequence[str]) -> Iterator[ErrorUnit]:
    held: list[str] = []
    for line in lines:
        place = GO_PLACE.match(line)
        if place and held:
            yield ErrorUnit([*held, line], True, not (is_library(place.group(1)) or is_library(held[0])))
            held = []
            continue
        if held:
            yield ErrorUnit(held)
            held = []
        if GO_CALL.match(line):
            held = [line]
        else:
            yield ErrorUnit([line])
    if held:
        yield ErrorUnit(held)


def _rust(lines: Sequence[str]) -> Iterator[ErrorUnit]:
    frame: ErrorUnit | None = None
    for line in lines:
        place = RUST_AT.match(line)
        if place and frame is not None:
            frame.lines.append(line)
            frame.own = frame.own and not is_library(place.group(1))
            continue
        if frame is not None:
            yield frame
            frame = None
        found = RUST.match(line)
        if found:
            frame = ErrorUnit([line], True, not is_library(found.group(1)))
        else:
            yield ErrorUnit([line])
    if frame is not None:
        yield frame


def _single(line: str) -> ErrorUnit:
    found = AT.match(line)
    if found:
        inside = AT_PLACE.search(found.group(1))
        name = found.group(1)
        library = is_library(name) or bool(inside and is_library(inside.group(1)))
        return ErrorUnit(
            [line],
            True,
            not library and not name.startswith(("<anonymous>", "native", "new Promise", "Array.")),
        )
    found = RUBY.match(line) or PHP.match(line)
    return ErrorUnit([line], True, not is_library(found[1] or "<string>")) if found else ErrorUnit([line])
