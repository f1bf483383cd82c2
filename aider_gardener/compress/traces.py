"""Stack traces of any language: what was raised, its whole chain of causes, and the frames of the project.

A stack is a run of frames, each with what belongs to it (its code, its locks). What was raised stands above
the frames, in Python below them. Of frames that stood there already nothing is worth showing again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from math import log2
from typing import NamedTuple

from aider_gardener.compress.outline import CAUSE, CONTEXT, DETAIL, FAILURE, OUTCOME, WARNING, Note
from aider_gardener.compress.quoting import form_of
from aider_gardener.reading.late import late

LIBRARY_PATH = re.compile(
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
FOREIGN = re.compile(
    r"/usr/|\.so\b|\.dylib|<null>|\?\? |sysdeps/|csu/|libsanitizer|__interceptor|^\[internal|^\{main\}|"
    r"/stdlib/| from /(?:lib|usr)|/vendor/|std::|\b_start\b|node::|v8::|\((?:package:(?:test|flutter)|dart:)"
)

PYTHON = re.compile(r'^[\s|+-]*File "([^"]+)", line \d+(?:,? in .*)?$')
SHORT = re.compile(r"^([\w./\\-]+\.py):\d+: in \S")
NUMBERED = late(
    r"^\s*(?:frame )?#\d+:? +(?=0x[0-9a-f]|.* at \S+:\d|.* from /|\S+\.\w+\(\d+\)|\{main\}|\[internal|<signal"
    r"|.*\((?:package|dart|file):|.*\+0x[0-9a-f]+\)|.* \S+\.(?:cc?|cpp|cxx|hh?|hpp|rs|go|swift|mm?):\d+)(.*)$"
)
MEMORY = re.compile(r"^==\d+==\s+(?:at|by) 0x[0-9A-Fa-f]+: (.*)$|^\s*\d+: 0x[0-9a-f]+ +(\S.*)$")
NAMED = late(
    r"^\s*(?:\d+: )?(?:from |# |\[\d+\] )?(\.?[\w/~.@:+-]*\.(?:rb|erb|rake|lua|php)):\d+:?(?: ?in\b.*)?$|"
    r"^\s+from (\S+):\d+:in |^\s+(?:\([\w. ]+\) )?(\S+\.(?:exs?|erl|eex)):\d+: |"
    r"^\s+.* called at (\S+) line \d+|^\s*(\S+\.dart) \d+:\d+\s+\S|^\s{2,}\S.* \((\S+\.py):\d+\)$|"
    r"^.* called at (\S+):\d+:\d+ in |^\s+@ .*?(\S+):\d+"
)
CALL = re.compile(
    r"^\s*(?:created by )?[\w./*()\[\]·~{}$-]*[\w)\]]\(.*\)$|^\s*created by \S|^\s*\d+: (?:0x[0-9a-f]+ - )?\S"
)
PLACE = re.compile(r"^\s+(?:at )?(\S+\.\w+):\d+(?::\d+)?(?: \+0x[0-9a-f]+)?$")
AT = re.compile(r"^\s*(?:\d+: )?(?:at|❯|›) (?:async )?(\S.*)$")
AT_LIKE = re.compile(r"[\w>\])]\(|\((?:native|index \d+)\)|:\d+\)?(?: \{)?$|<anonymous>|<Jasmine>|:line \d+$")
PAREN = re.compile(r"\(([^()]*)\)\s*(?:\{|~?\[[^\]]*\])?$| in (\S.*):line \d+$")


SIGN = re.compile(r"\.\w+:\d|\", line |#\d|0x|at |❯|›|from |@ |\.dart ")
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
    inside = PAREN.search(name)
    place = (inside and (inside[1] or inside[2])) or name
    own = ("." in place or ":" in place) and not (is_library(name) or is_library(place))
    return Frame(range(row, row + 1), row, name, own)


LINE_CHARS = 400
FADE = 0.7
"""What the frames of later stacks are worth less, for each doubling of the stacks above."""

TITLE_LINES, TOLD_LINES = 8, 12
"""What was raised is looked for in so many lines above the frames; a message has at most so many lines."""

HEAD = re.compile(r"^[\s|+-]*(?:\w.* )?(?:Traceback|Backtrace) \(most recent call (?:last|first)\)")
CARETS = re.compile(r"^[\s|]*[\^~]+[\s^~]*$")
HELD = re.compile(
    rf"^\s+- (?:locked|waiting|parking|eliminated)|^\s*\.\.\. \d+ |^\s*\[?Previous line rep|{CARETS.pattern}|"
    rf"^\d+\t"
)
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
THREAD = re.compile(r'^"[^"]+"|^\s*(?:Thread|[Gg]oroutine|Current thread|\* thread)\b.*(?:[:\])]|\d)$')
OF_THREAD = re.compile(r"^\s+java\.lang\.Thread\.State: ")
BLOCKED = re.compile(r"BLOCKED|deadlock|\[running\]")
ANNOUNCED = re.compile(r"(?i)^\W*(?:stack ?trace|call stack|(?:stack )?backtrace)\W*$")
ENDS = re.compile(
    r"^SUMMARY: \w+Sanitizer|^==\d+== ?ERROR SUMMARY|^Found \d+ .*deadlock|^\w+Sanitizer: reported"
)
LINK = re.compile(
    r"^[\s|]*(?:The above exception was|During handling of the above|Found one .*deadlock|--- End of inner)"
)
STANDING = late(
    r"^(?:panic|fatal error): |^\[signal |^thread '.*' panicked|^Unhandled exception|^\s+(?:which is held by|"
    r"waiting to lock)|^==\d+==ERROR: |^(?:READ|WRITE) of size|^(?:freed|previously allocated|allocated) by|"
    r"\bis located \d+ bytes|^\s*(?:Previous )?(?:[Rr]ead|[Ww]rite|atomic \w+) (?:of size|at 0x)|"
    r"^\s+Location is |^==\d+==\s+(?:Address|definitely lost: [1-9]|Uninit)|^\s+\w+: '.*',?$|^\s+(?:errno|"
    r"code|syscall): |^\S+:\d+:in .*\(\S*(?:Error|Exception)\)$"
)
NEW_RECORD = re.compile(
    r"^\W?\d{2,4}[-/.:]\d\d|^\W?(?:TRACE|DEBUG|INFO|WARN|ERROR|FATAL)\b|^\w{3} +\d+ \d\d:|^[\s|]*\+-|"
    r"^\S+: (?:error|warning): "
)
ADDRESS = re.compile(r"0x[0-9a-fA-F]+|@[0-9a-f]{6,}")


@dataclass
class Stack:
    """A run of frames; `held` are the rows that belong to each, `raised` the rows of what was raised."""

    frames: list[Frame] = field(default_factory=list)
    held: list[list[int]] = field(default_factory=list)
    raised: list[int] = field(default_factory=list)
    head: int = -1
    innermost_last: bool = False


def read(lines: Sequence[str]) -> dict[int, Note]:
    """What the lines of stack traces are worth, of later ones less."""
    return explained(lines, FADE)


def explained(lines: Sequence[str], fading: float) -> dict[int, Note]:
    """What the lines of stack traces are worth, frames less by `fading` for each doubling of stacks above."""
    lines = [line[:LINE_CHARS] for line in lines]
    found = [stack for stack in _stacks(lines) if stack.raised or len(stack.frames) > 1]
    if not found:
        return {}
    notes: dict[int, Note] = {}
    for row, line in enumerate(lines):
        if ENDS.search(line):
            notes[row] = Note(OUTCOME, -1, ("end", form_of(line)))
        elif LINK.match(line):
            notes[row] = Note(WARNING, -1, ("link", line.strip()))
        elif STANDING.search(line):
            notes[row] = Note(CAUSE - 1, -1, ("standing", form_of(line)))
    seen: set[object] = set()
    for at, stack in enumerate(found):
        fade = min(3.0, fading * log2(1 + at))
        notes.update(_raised(lines, stack, fade))
        notes.update(_frames(lines, stack, seen, fade))
    return notes


def _stacks(lines: Sequence[str]) -> Iterator[Stack]:
    """The stacks of the text in their order."""
    row = done = 0
    head = -1
    while row < len(lines):
        if "(most recent call" in lines[row] and HEAD.match(lines[row]):
            head = row
        frame = frame_at(lines, row) if lines[row].strip() else None
        if frame is None:
            row += 1
            continue
        stack = Stack(head=head if head >= done and row - head <= TITLE_LINES else -1)
        stack.innermost_last = bool(SHORT.match(lines[row])) or (
            stack.head >= 0 and "call last" in lines[stack.head]
        )
        if stack.head < 0 and not stack.innermost_last:
            stack.raised = _above(lines, row, done)
        row = _fill(lines, row, stack)
        if stack.innermost_last:
            stack.raised = _below(lines, row)
            row += len(stack.raised)
        done = row
        yield stack


def _fill(lines: Sequence[str], row: int, stack: Stack) -> int:
    """Reads the frames of a stack with what belongs to each; the row behind them."""
    while row < len(lines) and lines[row].strip():
        frame = frame_at(lines, row)
        if frame:
            stack.frames.append(frame)
            stack.held.append([])
            row = frame.rows.stop
        elif HELD.match(lines[row]) or _deeper(lines[row], lines[stack.frames[-1].rows.start]):
            stack.held[-1].append(row)
            row += 1
        else:
            break
    return row


def _deeper(line: str, frame: str) -> bool:
    """True for a line that is indented more than the frame above it, and says nothing of its own."""
    depth, least = (len(one) - len(one.lstrip(" \t|+-")) for one in (line, frame))
    return depth > least and not (TITLE.search(line) or STANDING.search(line))


def _above(lines: Sequence[str], first: int, done: int) -> list[int]:
    """The rows above the frames that say what was raised, or whose stack it is."""
    rows: list[int] = []
    for row in range(first - 1, max(done, first - TITLE_LINES) - 1, -1):
        line = lines[row]
        if not line.strip():
            if rows:
                break
            continue
        if ANNOUNCED.match(line) or CARETS.match(line):
            continue
        rows.append(row)
        if TITLE.search(line) or THREAD.match(line):
            return rows[::-1]
    return rows[:1] if rows[:1] == [first - 1] else []


def _below(lines: Sequence[str], row: int) -> list[int]:
    """The rows below the frames that say what was raised."""
    end = row
    while end < len(lines) and end - row < TOLD_LINES and lines[end].strip(" |"):
        line = lines[end]
        if (end > row and NEW_RECORD.match(line)) or HEAD.match(line) or PYTHON.match(line):
            break
        end += 1
    return list(range(row, end))


def _raised(lines: Sequence[str], stack: Stack, fade: float) -> dict[int, Note]:
    """Notes for what was raised, and for the line that announces it."""
    notes: dict[int, Note] = {}
    if stack.head >= 0:
        notes[stack.head] = Note(CONTEXT, -1, ("head", lines[stack.head].strip()))
    for at, row in enumerate(stack.raised):
        line = ADDRESS.sub("", lines[row])
        sure = stack.innermost_last or TITLE.search(line) or STANDING.search(line)
        worth = max(DETAIL, FAILURE - 2.0 * (at - 1)) if at else CAUSE + 1 if sure else WARNING + 1
        if THREAD.match(line) or OF_THREAD.match(line):
            worth = FAILURE if BLOCKED.search(line) else WARNING - fade
        above = stack.raised[0] if at else stack.head
        notes[row] = Note(worth, above, ("raised", form_of(line)))
    return notes


def _frames(lines: Sequence[str], stack: Stack, seen: set[object], fade: float) -> dict[int, Note]:
    """Notes for the frames and what belongs to them; of those `seen` already, worth nothing."""
    top = stack.raised[0] if stack.raised and not stack.innermost_last else stack.head
    own = [at for at, frame in enumerate(stack.frames) if frame.own]
    inner, outer = (-1, 0) if stack.innermost_last else (0, -1)
    keys = [ADDRESS.sub("", f"{frame.name} {lines[frame.place].strip()}") for frame in stack.frames]
    known = tuple(keys) in seen
    notes: dict[int, Note] = {}
    for at, (frame, key) in enumerate(zip(stack.frames, keys, strict=True)):
        first = frame.rows.start
        innermost = bool(own) and at == own[inner]
        if frame.own:
            worth = FAILURE + 0.5 if innermost else FAILURE - 1.5 if at == own[outer] else FAILURE - 2.5
        else:
            worth = CONTEXT / 2 if at != inner % len(keys) else DETAIL if own else WARNING
        worth = max(worth - fade, 0.1) if not known and (innermost or key not in seen) else 0.0
        seen.add(key)
        for row in frame.rows:
            above = top if row == first else first
            notes[row] = Note(worth - (row != frame.place), above, ("frame", key, row - first))
        for row in stack.held[at]:
            line = lines[row]
            value = (
                0.0
                if HELD.match(line) and not line[0].isdigit()
                else FAILURE - 1
                if innermost
                else DETAIL * frame.own
            )
            value = (
                FAILURE
                if "line repeated" in line
                else WARNING
                if "- waiting to" in line
                else value * (worth > 0)
            )
            notes[row] = Note(value, first, ("held", line.strip()))
    seen.add(tuple(keys))
    return notes
