"""Reading Elixir's ExUnit: numbered failures with code, both sides and a stack trace."""

from __future__ import annotations

import re
from collections.abc import Sequence

from aider_gardener.compress.places import is_library
from aider_gardener.compress.testruns.run import Failure, SuiteRun, dedent

HEAD = re.compile(r"^ {1,4}\d+\) (.+ \([\w.]+\))$")
TEST_AT = re.compile(r"^ {5}(\S+\.exs?:\d+)$")
FRAME = re.compile(r"^ {6,}(?:\((?P<app>\w+) [^)]*\) )?(?P<place>\S+\.exs?:\d+): (?:\S.*)$")
TOTAL = re.compile(r"^\d+ (?:doctests?, |propert(?:y|ies), |tests?, )(?:\d+ [\w ]+, )*\d+ failures?\b.*$")
NOTE = re.compile(r"^(?:Running ExUnit with seed: |Excluding tags: |Including tags: |Randomized with seed )")
WARNING = re.compile(r"^ *warning: \S")
WARNED_AT = re.compile(r"^ +(?:└─ )?(\S+\.exs?:\d+(?::\d+)?)\b")
ENDS = re.compile(r"^(?:Finished in |[.*]+$|\S)")
NOISE = re.compile(r"^(?:[.*?]+|Finished in .*|Compiling \d+ files? .*|Generated \w+ app)$")
DEPENDENCIES = frozenset(
    ("elixir", "ex_unit", "stdlib", "kernel", "ecto", "ecto_sql", "phoenix", "plug", "mox")
)


def parse_exunit(lines: Sequence[str]) -> SuiteRun:
    """Read the output of `mix test`."""
    run, block, failure = SuiteRun(), list[str](), None
    warning = ""
    for line in lines:
        head = HEAD.match(line)
        ends = failure is not None and bool(ENDS.match(line))
        if failure is not None and (head or ends):
            _finish(run, failure, block)
            failure = None
        if head:
            failure, block = Failure(head[1]), []
        elif failure is not None:
            block.append(line)
        elif TOTAL.match(line):
            run.totals.append(line)
        elif NOTE.match(line):
            run.notes.append(line)
        elif WARNING.match(line):
            warning = line.strip()
        elif warning and (place := WARNED_AT.match(line)):
            run.notes.append(f"{place[1]}: {warning}")
            warning = ""
        elif not NOISE.match(line):
            run.outside.append(line)
    if failure is not None:
        _finish(run, failure, block)
    return run


def _finish(run: SuiteRun, failure: Failure, block: Sequence[str]) -> None:
    message, frames, library = list[str](), list[str](), ""
    tested_at = ""
    for line in block:
        at = TEST_AT.match(line)
        frame = FRAME.match(line)
        if at and not message:
            tested_at = at[1]
        elif frame:
            if frame["app"] in DEPENDENCIES or is_library(frame["place"]):
                library = library or frame["place"]
            else:
                frames.append(frame["place"])
        elif line.strip() and line.strip() not in ("stacktrace:", "The following output was logged:"):
            message.append(line)
    failure.message = dedent(message)
    failure.where = frames[::-1] or [place for place in (tested_at or library,) if place]
    run.failures.append(failure)
