"""Stack traces of any language: what was raised, its whole chain of causes, and the frames of the project.

A stack is a run of frames, each with the lines that are indented more: its code. What was raised stands above
the frames, in Python below them. Of frames that stood there already nothing is worth showing again.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import log2
from typing import NamedTuple

from aider_gardener.compress.outline import CAUSE, CONTEXT, DETAIL, FAILURE, WARNING, Note
from aider_gardener.compress.quoting import form_of
from aider_gardener.reading.late import late

LIBRARY_PATH = late(
    r"site-packages|dist-packages|node_modules|^node:|\(node:|(?:^|[/\\])node:|internal/(?:process|modules|"
    r"timers)|^internal|[/\\]lib[/\\]python\d|[/\\]Lib[/\\](?!site)\w+\.py|[/\\]Lib[/\\](?:asyncio|unittest|"
    r"concurrent|json|threading|importlib|multiprocessing|http|urllib)\b|<frozen|<string>|"
    r"<__array_function__|^bun:|[/\\]\.cargo[/\\]registry|^/rustc/|/rustlib/|library/(?:std|core|alloc|"
    r"test)/|[/\\]go[/\\]pkg[/\\]mod|/usr/(?:local/)?(?:lib/)?go(?:-[\d.]+)?/src/|/go/src/(?:runtime|testing|"
    r"net|os)/|hostedtoolcache|[/\\](?:gems|rubies|\.rbenv|\.rvm)[/\\]|[/\\]vendor[/\\]|"
    r"[/\\]Python\.framework[/\\]|[/\\]python\d[\d.]*[/\\]lib[/\\]"
)
LIBRARY_NAME = late(
    r"^(?:app//|java\.\w+/|jdk\.\w+/)?(?:javax?|jdk|sun|com\.sun|kotlin|kotlinx|scala|groovy|org\.(?:junit|"
    r"opentest4j|apache|gradle|springframework|hibernate|mockito|assertj|hamcrest|testng|codehaus|eclipse|"
    r"aspectj|jboss|slf4j)|reactor|io\.(?:netty|micronaut|quarkus|vertx|grpc)|ch\.qos|com\.(?:fasterxml|"
    r"google|zaxxer)|junit|worker\.org|System|Microsoft|Xunit|NUnit|InvokeStub_|lambda_method|runtime|"
    r"testing|reflect|created by testing|std|core|alloc|test|backtrace|rust_begin_unwind|__rust|_start|"
    r"__libc|<?(?:alloc|core|std)::)(?:[.:\b$(@]|$|\()"
)
FOREIGN = late(
    r"/usr/|\.so\b|\.dylib|<null>|\?\? |sysdeps/|csu/|libsanitizer|__interceptor|^\[internal|^\{main\}|"
    r"/stdlib/| from /(?:lib|usr)|/vendor/|std::|\b_start\b|node::|v8::|\((?:package:(?:test|flutter)|dart:)"
)

PYTHON = late(r'^[\s|+-]*File "([^"]+)", line \d+(?:,? in .*)?$')
SHORT = late(r"^([\w./\\-]+\.py):\d+: in \S")
NUMBERED = late(
    r"^\s*(?:frame )?#\d+:? +(?=0x[0-9a-f]|.* at \S+:\d|.* from /|\S+\.\w+\(\d+\)|\{main\}|\[internal|<signal"
    r"|.*\((?:package|dart|file):|.*\+0x[0-9a-f]+\)|.* \S+\.(?:cc?|cpp|cxx|hh?|hpp|rs|go|swift|mm?):\d+)(.*)$"
)
MEMORY = late(r"^==\d+==\s+(?:at|by) 0x[0-9A-Fa-f]+: (.*)$|^\s*\d+: 0x[0-9a-f]+ +(\S.*)$")
NAMED = late(
    r"^\s*(?:\d+: )?(?:from |# |\[\d+\] )?(\.?[\w/~.@:+-]*\.(?:rb|erb|rake|lua|php)):\d+:?(?: ?in\b.*)?$|"
    r"^\s+from (\S+):\d+:in |^\s+(?:\([\w. ]+\) )?(\S+\.(?:exs?|erl|eex)):\d+: |"
    r"^\s+.* called at (\S+) line \d+|^\s*(\S+\.dart) \d+:\d+\s+\S|^\s{2,}\S.* \((\S+\.py):\d+\)$|"
    r"^.* called at (\S+):\d+:\d+ in |^\s+@ .*?(\S+):\d+"
)
CALL = late(
    r"^\s*(?:created by )?[\w./*()\[\]·~{}$-]*[\w)\]]\(.*\)$|^\s*created by \S|^\s*\d+: (?:0x[0-9a-f]+ - )?\S"
)
PLACE = late(r"^\s+(?:at )?(\S+\.\w+):\d+(?::\d+)?(?: \+0x[0-9a-f]+)?$")
AT = late(r"^\s*(?:\d+: )?(?:at|❯|›) (?:async )?(\S.*)$")
AT_LIKE = late(r"[\w>\])]\(|\((?:native|index \d+)\)|:\d+\)?(?: \{)?$|<anonymous>|<Jasmine>|:line \d+$")


SIGN = late(r"\.\w+:\d|\", line |#\d|0x|at |❯|›|from |@ |\.dart ")
"""Without one of these a line is no frame of its own."""


class Frame(NamedTuple):
    """A frame of a stack: its rows, the one of them that names its file, what it is called, whose it is."""

    rows: range
    place: int
    name: str
    own: bool


@lru_cache(maxsize=20_000)
def is_library(path_or_name: str) -> bool:
    """True for a file path or a qualified function name that is not the project's own."""
    return bool(LIBRARY_PATH.search(path_or_name) or LIBRARY_NAME.match(path_or_name))


def frame_at(lines: Sequence[str], row: int) -> Frame | None:
    """The frame that begins in the row."""
    line = lines[row]
    signed = SIGN.search(line)
    for pattern in (PYTHON, SHORT, NUMBERED, MEMORY, NAMED) if signed else ():
        if (found := pattern.match(line)) and not (
            pattern is NAMED and line.endswith(("Error)", "Exception)"))
        ):
            name = next((part for part in found.groups() if part), line)
            return Frame(range(row, row + 1), row, name, not (is_library(name) or FOREIGN.search(name)))
    below = PLACE.match(lines[row + 1]) if row + 1 < len(lines) else None
    if below and CALL.match(line):
        name = line.strip().removeprefix("created by ").lstrip("0123456789: ")
        return Frame(range(row, row + 2), row + 1, name, not (is_library(below[1]) or is_library(name)))
    found = AT.match(line) if signed else None
    if not found or not AT_LIKE.search(found[1]):
        return None
    name = found[1]
    own = ("." in name or ":" in name) and not is_library(name)
    return Frame(range(row, row + 1), row, name, own)


LINE_CHARS = 400
TITLE_LINES, TOLD_LINES = 8, 12
"""What was raised is looked for in so many lines above the frames; a message has at most so many lines."""

HEAD = late(r"^[\s|+-]*(?:\w.* )?(?:Traceback|Backtrace) \(most recent call (?P<end>last|first)\)")
_RAISED = (
    r"\(?(?:[\w$]+[.:/\\]+)*[A-Z]\w*(?:Error|Exception|Failure|Panic|Fault|Timeout|Interrupt|Exit|Group|"
    r"Abort)\w*"
)
TITLE = late(
    r"^[\s|+-]*(?:(?:\[cause\]|Caused by|Suppressed|Unhandled exception|Uncaught|Error|Next|PHP \w+ error|"
    r"Fatal error)\b"
    rf".{{0,40}}[:.]? |Exception in thread |---> |\(Inner Exception #\d+\) |\*\* \()?{_RAISED}|"
    r"^\s*(?:Caused by|\[cause\]|Suppressed): |\bpanic(?:ked)?(?: at |: )|^(?:fatal error|terminate called|"
    r"SIG[A-Z]+|Trace|Segmentation fault|Error|Uncaught .*): ?|: .*\((?:\w+::)*\w*(?:Error|Exception)\)$|"
    r"ERROR: \w+Sanitizer|WARNING: (?:\w+Sanitizer|DATA RACE)|runtime error: |(?:received|with) signal|"
    r"^(?:Ind|D)irect leak of|^==\d+== (?:Invalid|Conditional|Use of|Mismatched|Process term|Syscall|"
    r"Source and|[\d,]+ .*bytes? in)"
)
ADDRESS = late(r"0x[0-9a-fA-F]+|@[0-9a-f]{6,}")


def read(lines: Sequence[str]) -> dict[int, Note]:
    """What the lines of stack traces are worth."""
    lines = [line[:LINE_CHARS] for line in lines]
    notes: dict[int, Note] = {}
    seen: set[str] = set()
    row = done = 0
    while row < len(lines):
        frames, end = _stack(lines, row)
        if not frames:
            row += 1
            continue
        heads = [at for at in range(max(done, row - TITLE_LINES), row) if HEAD.match(lines[at])]
        is_last = bool(SHORT.match(lines[row])) or any("call last" in lines[at] for at in heads)
        raised = _below(lines, end) if is_last else _above(lines, row, done)
        if raised or len(frames) > 1:
            notes.update((at, Note(CONTEXT, -1, ("head", lines[at].strip()))) for at in heads)
            top = raised[0] if raised and not is_last else heads[-1] if heads else -1
            notes.update(_raised(lines, raised, top, is_last))
            notes.update(_frames(lines, frames, end, top, is_last, seen))
        row = done = max([end, *(at + 1 for at in raised)])
    return notes


def _stack(lines: Sequence[str], row: int) -> tuple[list[Frame], int]:
    """The frames that begin in the row, and the row behind them and what belongs to them."""
    frames: list[Frame] = []
    while row < len(lines) and lines[row].strip():
        if frame := frame_at(lines, row):
            frames.append(frame)
            row = frame.rows.stop
        elif frames and _deeper(lines[row], lines[frames[-1].rows.start]):
            row += 1
        else:
            break
    return frames, row


def _deeper(line: str, frame: str) -> bool:
    """True for a line that is indented more than the frame above it, and says nothing of its own."""
    depth, least = (len(one) - len(one.lstrip(" \t|+-")) for one in (line, frame))
    return depth > least and not TITLE.search(line)


def _above(lines: Sequence[str], first: int, done: int) -> list[int]:
    """The rows above the frames that say what was raised, two where no words tell which."""
    rows: list[int] = []
    for row in range(first - 1, max(done, first - TITLE_LINES) - 1, -1):
        if TITLE.search(lines[row]):
            return [at for at in range(row, first) if lines[at].strip()]
        rows += [row] * (bool(lines[row].strip()) and row + len(rows) == first - 1)
    return rows[1::-1]


def _below(lines: Sequence[str], row: int) -> list[int]:
    """The rows below the frames that say what was raised."""
    end = row
    while end < len(lines) and end - row < TOLD_LINES and lines[end].strip(" |"):
        line = lines[end]
        if HEAD.match(line) or PYTHON.match(line):
            break
        end += 1
    return list(range(row, end))


def _raised(lines: Sequence[str], rows: Sequence[int], top: int, is_last: bool) -> dict[int, Note]:
    """Notes for what was raised."""
    notes: dict[int, Note] = {}
    for at, row in enumerate(rows):
        sure = is_last or TITLE.search(lines[rows[0]])
        worth = max(DETAIL, FAILURE - 2.0 * (at - 1)) if at else CAUSE + 1
        worth = worth if sure else WARNING + 1
        notes[row] = Note(worth, rows[0] if at else top if is_last else -1, ("raised", form_of(lines[row])))
    return notes


def _frames(
    lines: Sequence[str],
    frames: Sequence[Frame],
    end: int,
    top: int,
    is_last: bool,
    seen: set[str],
) -> dict[int, Note]:
    """Notes for the frames and what belongs to them; of those `seen` already, worth nothing."""
    own = [frame for frame in frames if frame.own]
    notes: dict[int, Note] = {}
    inner, outer = (-1, 0) if is_last else (0, -1)
    middle = 0
    for frame, stop in zip(frames, [*(frame.rows.start for frame in frames[1:]), end], strict=True):
        first = frame.rows.start
        key = ADDRESS.sub("", f"{frame.name} {lines[frame.place].strip()}")
        innermost = bool(own) and frame is own[inner]
        if frame.own:
            middle += not innermost and frame is not own[outer]
            worth = FAILURE + 0.5 if innermost else FAILURE - 1.5
            worth -= 1 + log2(middle) if not innermost and frame is not own[outer] else 0
        else:
            worth = CONTEXT / 2 if frame is not frames[inner] else DETAIL if own else WARNING
        known = f"innermost {key}" if innermost else key
        worth = 0.0 if known in seen else worth
        seen |= {key, known}
        for row in frame.rows:
            above = top if row == first else first
            notes[row] = Note(worth - (row != frame.place), above, ("frame", known, row - first))
        for row in range(frame.rows.stop, stop):
            value = 0.0 if not worth else FAILURE - 1 if innermost else DETAIL * frame.own
            notes[row] = Note(value, first, ("held", lines[row].strip()))
    return notes
