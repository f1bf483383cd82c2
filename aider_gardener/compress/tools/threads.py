"""Dumps of all threads: of a JVM (jstack, kill -3) and of a debugger (gdb, lldb `thread apply all bt`).

A deadlock that the JVM found stays whole. Of each thread its name and state are told with the frames on top;
threads that stand at the same place are one, and those that only wait for work are counted.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from aider_gardener.compress.base import Context
from aider_gardener.compress.frame import plural
from aider_gardener.compress.pieces import MUST, Reading
from aider_gardener.compress.places import is_library

JAVA_HEAD = re.compile(r'^"(?P<name>[^"]+)".*?(?:(?P<state>waiting[\w ]*|runnable|sleeping))?\b.*$')
STATE = re.compile(r"^\s+java\.lang\.Thread\.State: (\w+)")
GDB_HEAD = re.compile(r"^(?:Thread \d+ \(.*\):?|\* thread #\d+.*|  thread #\d+.*)$")
FRAME = re.compile(r"^\s+at \S|^#\d+ |^\s+(?:\* )?frame #\d+:|^\s+- (?:locked|waiting|parking)")
SIGNAL = re.compile(r"received signal|terminated with signal|stop reason = |^Core was generated|^\$\d+ = ")
ENDS = re.compile(rf"{GDB_HEAD.pattern}|\((?:gdb|lldb)\) |\$\d+ = ")
DEADLOCK = re.compile(r"^Found (?:one|\d+) (?:Java-level )?deadlocks?", re.IGNORECASE)
FRAMES, FEW_PLACES = 6, 12
"""So many frames are told of a stack; of few places where threads stand, each must stay."""


def read(lines: Sequence[str], ctx: Context) -> Reading | None:
    """The deadlock and the signal whole, each place where threads stand once, with the threads there."""
    reading = Reading()
    states: Counter[str] = Counter()
    places: dict[tuple[str, ...], list[str]] = {}
    begun: dict[tuple[str, ...], int] = {}
    at = threads = 0
    while at < len(lines):
        line = lines[at]
        if DEADLOCK.match(line):
            end = len(lines)
            reading.add(at, [one for one in lines[at:end] if one.strip()])
            break
        if not (line.startswith('"') or GDB_HEAD.match(line)):
            if line.strip() and not FRAME.match(line):
                reading.add(at, line, *(() if SIGNAL.search(line) else (4.0,)))
            elif FRAME.match(line):
                reading.add(at, _frame(line), 5.0)
            at += 1
            continue
        head, at = at, at + 1
        body: list[str] = []
        while at < len(lines) and lines[at].strip() and not ENDS.match(lines[at]):
            body.append(lines[at])
            at += 1
        threads += 1
        state = next((found[1] for one in body if (found := STATE.match(one))), "")
        states[state] += bool(state)
        stack = tuple(_frame(one) for one in body if FRAME.match(one))
        own = tuple(one for one in stack if not is_library(one))
        key = (state, *(own or stack)[:FRAMES])
        begun.setdefault(key, head)
        places.setdefault(key, []).append(_name(line))
    if not threads:
        return None
    for key, names in places.items():
        state, stack = key[0], key[1:]
        told = ", ".join(names[:6]) + (f" and {len(names) - 6} more" if len(names) > 6 else "")
        must = len(places) <= FEW_PLACES and stack and not state.endswith("WAITING")
        weight = MUST if must or state == "BLOCKED" else 6.0 if stack else 2.0
        reading.add(
            begun[key], (f"{told}{': ' if state else ''}{state}", *(f"    {one}" for one in stack)), weight
        )
    counts = ", ".join(f"{number} {state}" for state, number in states.most_common())
    reading.summary = f"{plural(threads, 'thread')}{': ' if counts else ''}{counts}"
    reading.kept = {"threads": threads}
    return reading


def _name(head: str) -> str:
    return head.split('"')[1] if head.startswith('"') else head.strip(" :")


def _frame(line: str) -> str:
    """A frame without its number and address."""
    return re.sub(r"^#(\d+) +(?:0x[0-9a-f]+ in )?", r"#\1 ", line.strip())
