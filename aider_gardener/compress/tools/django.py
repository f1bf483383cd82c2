"""Django's management commands: what the system check found, which migrations ran, and what stopped them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from aider_gardener.compress.base import Context
from aider_gardener.compress.pieces import MUST, Reading
from aider_gardener.compress.places import is_library
from aider_gardener.reading.alarms import alarming, warns

APPLIED = re.compile(r"^  (?:Applying|Unapplying|Rendering model states)\b.*?\.\.\. ?(?P<state>\w.*)?$")
FINDING = re.compile(r"^\S.*?: \((?P<code>\w+\.[EWICD]\d+)\) ")
SECTION = re.compile(
    r"^(?:CRITICALS|ERRORS|WARNINGS|INFOS|DEBUGS):$|^System check identified|^SystemCheckError"
)
FRAME = re.compile(r'^  File "(?P<path>[^"]+)", line \d+')
FEW = 40


def read(lines: Sequence[str], ctx: Context) -> Reading | None:
    """The check's findings with their hints, failed migrations, the last that ran, own frames of a trace."""
    reading = Reading()
    known = applied = 0
    last = -1
    own = finding = False
    warned: dict[str, int] = {}
    for at, line in enumerate(lines):
        step, found, frame = APPLIED.match(line), FINDING.match(line), FRAME.match(line)
        if step:
            known += 1
            done = (step["state"] or "").startswith(("OK", "FAKED", "DONE"))
            applied += done
            last = at if done else last
            reading.add(at, line, *((2.0,) if done else ()))
        elif SECTION.match(line):
            known += 1
            finding = False
            reading.add(at, line)
        elif found:
            finding = True
            warned[found["code"]] = warned.get(found["code"], 0) + 1
            reading.add(at, line, MUST if warned[found["code"]] <= FEW else 2.0)
        elif finding and line.startswith("\t"):
            reading.add(at, line, 4.0)
        elif frame:
            own = not is_library(frame["path"])
            reading.add(at, line, MUST if own else 0.5)
        elif line.startswith("    ") and not finding:
            reading.add(at, line, MUST if own and "^" not in line else 0.5)
        elif line.strip():
            loud = alarming(line) or warns(line) or not line.startswith(" ") or line.startswith("  Apply")
            reading.add(at, line, MUST if loud else 3.0)
    if not known:
        return None
    if last >= 0:
        reading.add(last, lines[last])
    reading.summary = (
        f"{applied} migrations applied" if applied > 1 else "1 migration applied" if applied else "check"
    )
    return reading
