"""Which tool wrote an output, by signs that only its own lines bear; `compress.tools` reads them."""

from __future__ import annotations

import re
from collections import Counter

from aider_gardener.messages import ContentClass
from aider_gardener.reading.output import sample

LOG, ERROR, LISTING = ContentClass.LOG, ContentClass.ERROR, ContentClass.LISTING

LEAST = 3
"""A kind is told from so much weight of its signs."""

SIGNS: tuple[tuple[str, ContentClass, int, re.Pattern[str]], ...] = tuple(
    (kind, cls, weight, re.compile(pattern, re.MULTILINE))
    for kind, cls, weight, pattern in (
        # What a program in trouble writes.
        ("sanitizer", ERROR, 3, r"^(?:==\d+==)?(?:ERROR|WARNING): (?:\w+Sanitizer|ThreadSanitizer): "),
        ("sanitizer", ERROR, 3, r"^SUMMARY: \w+Sanitizer: "),
        (
            "valgrind",
            ERROR,
            3,
            r"^==\d+== (?:Memcheck|Helgrind|DRD|HEAP SUMMARY:|ERROR SUMMARY:|Using Valgrind)",
        ),
        ("threads", ERROR, 3, r"^Full thread dump |^Found (?:one|\d+) Java-level deadlocks?"),
        ("threads", ERROR, 2, r"^\"[^\"\n]+\" (?:#\d+ |daemon |prio=).*\n\s+java\.lang\.Thread\.State: "),
        ("threads", ERROR, 1, r"^\s+java\.lang\.Thread\.State: "),
        ("threads", ERROR, 3, r"^Thread \d+ \((?:Thread 0x|LWP ).*\):?\n#0 "),
        ("threads", ERROR, 3, r"^(?:Thread \d+ .*|Program) (?:received|terminated with) signal SIG"),
        ("sanitizer", ERROR, 3, r"^WARNING: DATA RACE$"),
        # Builds and deployments.
        # Tables, listings and sessions.
        # Test runs.
    )
)
"""Kind, its class, the weight of the sign, and the sign: a line or lines of the output."""

CLASSES = {kind: cls for kind, cls, _, _ in SIGNS}
KINDS = frozenset(CLASSES)


def detect_tool(text: str) -> str:
    """The kind of a tool's output ("sanitizer", …) or "". Each sign counts once, however often it occurs."""
    seen = sample(text)
    scores: Counter[str] = Counter()
    for kind, _, weight, sign in SIGNS:
        if sign.search(seen):
            scores[kind] += weight
    best = scores.most_common(1)
    return best[0][0] if best and best[0][1] >= LEAST else ""
