"""Stack traces of any language: what was raised, its whole chain of causes, and the frames of the project.

A stack is a run of frames, each with the lines that are indented more: its code. What was raised stands above
the frames, in Python below them. Of frames that stood there already nothing is worth showing again.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log2

from aider_gardener.compress.outline import CAUSE, DETAIL, FAILURE, WARNING, Note
from aider_gardener.compress.quoting import form_of
from aider_gardener.messages import remembered
from aider_gardener.reading.alarms import alarm
from aider_gardener.reading.late import late

LIBRARY = late(
    r"site-packages|dist-packages|node_modules|\bnode:|\binternal/|[/\\][Ll]ib[/\\]python\d|[/\\]Lib[/\\](?!site)|"
    r"<frozen|<string>|<__array_function__|[/\\]\.cargo[/\\]registry|/rustc/|/rustlib/|"
    r"library/(?:std|core|alloc|test)/|[/\\]go[/\\]pkg[/\\]mod|/go/src/|hostedtoolcache|"
    r"[/\\](?:gems|rubies|vendor|stdlib)[/\\]|/usr/|\.so\b|\.dylib|<null>|\?\? |libsanitizer|__interceptor|"
    r"\[internal|\{main\}|\b(?:std|core|alloc|test|backtrace|node|v8)::|\b_+(?:start|libc|rust)|rust_begin|"
    r"\((?:package:(?:test|flutter)|dart:|elixir |stdlib )|(?:^|[ /])(?:javax?|jdk|sun|com\.sun|kotlinx?|"
    r"scala|groovy|org\.(?:junit|opentest4j|apache|gradle|springframework|hibernate|mockito|assertj|hamcrest|testng|"
    r"eclipse)|reactor|io\.(?:netty|micronaut|quarkus|vertx|grpc)|com\.(?:fasterxml|google)|junit|System|"
    r"Microsoft|Xunit|NUnit|runtime|testing|reflect)\."
)
"""What is in a frame that is not the project's own."""

PYTHON = late(r'[\s|+-]*File "[^"]+", line \d|[\w./\\-]+\.py:\d+: in \S')
FRAME = late(
    rf"{PYTHON.pattern}|[\s\"|+*-]*(?:==\d+==\s+)?(?:at (?=.*[\w>]\()|(?:at|by|from|frame|[❯›@]|#\d+:?)\s+"
    r"(?=.*(?:\.\w+[:(]\d|:\d+\)?[\",]*$|line \d|0x|<anonymous>|\{main\})))|\s*#\s+(?=.*\.\w+:\d)|"
    r"\s*\d+: +0x|.* called at \S+(?::| line )\d|\s*\S+:\d+:? ?in\b|\s+\S+\.dart \d+:\d+ |"
    r"\s+\([\w. ]+\) \S+:\d+: "
)
CALL = late(r"\s*(?:created by |\d+: )|.*\)$")
PLACE = late(r"\s+(?:at )?\S+\.\w+:\d+(?::\d+)?(?: \+0x[0-9a-f]+)?$")
"""Go and Rust tell a frame in two lines: a call, and its place."""

ADDRESS = late(r"0x[0-9a-fA-F]+|@[0-9a-f]{6,}")

LINE_CHARS = 400
MESSAGE_LINES = 8
"""What was raised is looked for in so many lines above the frames, or below them."""


@remembered(2, key=lambda lines: hash(tuple(lines)))  # the engine of test runs asks for them too
def read(lines: Sequence[str]) -> dict[int, Note]:
    """What the lines of stack traces are worth."""
    lines = [line[:LINE_CHARS] for line in lines]
    notes: dict[int, Note] = {}
    noted: set[str] = set()
    row = done = 0
    while row < len(lines):
        frames, end = _stack(lines, row)
        if not frames:
            row += 1
            continue
        is_last = bool(PYTHON.match(lines[row])) and "call first" not in lines[row - 1]
        raised = _below(lines, end) if is_last else _above(lines, row, done)
        if raised or len(frames) > 1:
            sure = is_last or alarm(lines[raised[0]]) if raised else ""
            for nth, at in enumerate(raised, 1):
                worth = CAUSE + 1 - 3 * log2(nth) if sure else WARNING
                notes[at] = Note(worth, raised[0] if nth > 1 else -1, ("raised", form_of(lines[at])))
            notes.update(_frames(lines, frames, -1 if is_last or not raised else raised[0], is_last, noted))
        row = done = max([end, *(at + 1 for at in raised)])
    return notes


def _stack(lines: Sequence[str], row: int) -> tuple[list[range], int]:
    """The frames that begin in the row, each with what belongs to it, and the row behind them."""
    starts: list[int] = []
    while row < len(lines) and lines[row].strip():
        if FRAME.match(lines[row]):
            starts.append(row)
        elif CALL.match(lines[row]) and row + 1 < len(lines) and PLACE.match(lines[row + 1]):
            starts.append(row)
            row += 1
        elif not starts or _depth(lines[row]) <= _depth(lines[starts[-1]]):
            break
        row += 1
    return [range(*pair) for pair in zip(starts, [*starts[1:], row], strict=False)], row


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip(" \t|+-"))


def _above(lines: Sequence[str], first: int, done: int) -> list[int]:
    """The rows above the frames that say what was raised, two where no words tell which."""
    near = range(first - 1, max(done, first - MESSAGE_LINES) - 1, -1)
    start = next((row for row in near if alarm(lines[row]) == "error"), max(done, first - 2))
    return [row for row in range(start, first) if lines[row].strip()]


def _below(lines: Sequence[str], row: int) -> list[int]:
    """The rows below the frames that say what was raised."""
    end = row
    while end < min(len(lines), row + MESSAGE_LINES) and lines[end].strip(" |"):
        if "most recent call" in lines[end]:
            break
        end += 1
    return [*range(row, end)]


def _frames(
    lines: Sequence[str], frames: Sequence[range], top: int, is_last: bool, noted: set[str]
) -> dict[int, Note]:
    """Notes for the frames and what belongs to them; of those `noted` already, worth nothing."""
    notes: dict[int, Note] = {}
    names = [ADDRESS.sub("", " ".join(lines[row].strip() for row in frame[:2])) for frame in frames]
    own = [at for at, name in enumerate(names) if not LIBRARY.search(name)]
    nth_own = {at: nth for nth, at in enumerate(own)}
    inner = (own or range(len(frames)))[-is_last]
    for at, (frame, name) in enumerate(zip(frames, names, strict=True)):
        if at == inner:
            worth = FAILURE + 0.5 if own else DETAIL
        else:
            worth = FAILURE - 1 - 1.5 * log2(nth_own[at] or 1) if at in nth_own else 0.0
        frame_name = f"{name} innermost" if at == inner else name
        worth = 0.0 if frame_name in noted else worth
        noted |= {name, frame_name}
        for row in frame:
            under = row > frame[0]
            value = worth - under if any(map(str.isalnum, lines[row])) else 0.0  # only marks the code above
            notes[row] = Note(value, frame[0] if under else top, ("frame", frame_name, row - frame[0]))
    return notes
