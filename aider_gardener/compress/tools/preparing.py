"""What runs before a build or a commit: configure scripts, Meson, hooks; what is missing or failed."""

from __future__ import annotations

import re
from collections.abc import Sequence

from aider_gardener.compress.base import Context
from aider_gardener.compress.frame import plural
from aider_gardener.compress.pieces import MUST, Reading
from aider_gardener.compress.tools.packing import packed
from aider_gardener.reading.alarms import alarming, warns

CHECK = re.compile(r"^checking .*\.\.\. ?(?:\(cached\) )?(?P<result>.*)$")
TROUBLE = re.compile(r"^configure: (?:error|WARNING)|ERROR: |WARNING: |found: NO\b|^config\.status: error")
HOOK = re.compile(r"^(?P<name>\S.*?)\.{3,}(?:\(.*\))?(?P<result>Passed|Failed|Skipped)$")
HOOK_PART = re.compile(r"^- (?:hook id|exit code|files were modified|duration)")
MOST_ROWS = 60
"""So many lines of one hook that failed stay, beyond them those that tell of trouble."""


def configure(lines: Sequence[str], ctx: Context) -> Reading | None:
    """Errors and warnings with all that follows an error, what was looked for in vain, then other results."""
    reading = Reading()
    failed = False
    known = 0
    for at, line in enumerate(lines):
        check = CHECK.match(line)
        known += bool(check) or "Meson" in line
        failed = failed or bool(re.match(r"configure: error|.*\bERROR: ", line))
        if not line.strip():
            continue
        if failed or TROUBLE.search(line):
            reading.add(at, line)
        elif check:
            reading.add(at, line, 3.0 if check["result"] in ("no", "not found", "none") else 0.2)
        else:
            reading.add(at, line, MUST if alarming(line) else 4.0 if warns(line) else 0.5)
    if not known:
        return None
    reading.summary = "configuration failed" if failed else "configuration"
    return reading


def hooks(lines: Sequence[str], ctx: Context) -> Reading | None:
    """Each hook that failed with what it printed; the others by name."""
    reading = Reading()
    others: dict[str, list[str]] = {}
    failed = rows = 0
    state = ""
    for at, line in enumerate(lines):
        hook = HOOK.match(line)
        if hook:
            state, rows = hook["result"], 0
            failed += state == "Failed"
            if state == "Failed":
                reading.add(at, f"{hook['name']}: {state}")
            else:
                others.setdefault(state, []).append(hook["name"])
        elif line.strip():
            rows += 1
            must = not state or HOOK_PART.match(line) or rows <= MOST_ROWS or alarming(line)
            reading.add(at, line, MUST if must else 2.0)
    if not (failed or others):
        return None
    for state, names in others.items():
        reading.add(-1.0, packed(names, lead=f"{state}: ", between=", "))
    reading.summary = f"{plural(failed, 'hook')} failed" if failed else "hooks"
    reading.kept = {"failed hooks": failed}
    return reading
