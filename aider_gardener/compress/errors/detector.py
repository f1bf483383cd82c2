"""Which language's traceback a text mainly is."""

from __future__ import annotations

import re

from aider_gardener.compress.frame import sample

FRAMES: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("traceback-python", re.compile(r'^[\s|+-]*File "[^"\n]+", line \d+(?:,)? in ', re.MULTILINE)),
    ("stack-js", re.compile(r"^\s+at (?:.+ \()?(?:\S+:\d+:\d+|<anonymous>|native)\)?", re.MULTILINE)),
    (
        "stack-java",
        re.compile(
            r"^\s*at [\w$.<>/@-]+\((?:[\w$]+\.(?:java|kt|scala|groovy):\d+|Native Method|Unknown Source)\)",
            re.MULTILINE,
        ),
    ),
    ("stack-dotnet", re.compile(r"^\s+at [\w.`<>\[\],+]+\(.*\)(?: in \S.*:line \d+)?$", re.MULTILINE)),
    ("stack-go", re.compile(r"^\t\S+\.(?:go|s):\d+(?: \+0x[0-9a-f]+)?$", re.MULTILINE)),
    (
        "stack-rust",
        re.compile(
            r"^\s+\d+: (?:0x[0-9a-f]+ - )?\S+|"
            r"^\s+at \S+\.rs:\d+(?::\d+)?$",
            re.MULTILINE,
        ),
    ),
    ("stack-ruby", re.compile(r"^\s*(?:from |\d+: from )?\S+\.rb:\d+:in ", re.MULTILINE)),
)
HEADS: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "traceback-python",
        re.compile(r"^[\s|+-]*(?:Exception Group )?Traceback \(most recent call last\):", re.MULTILINE),
    ),
    ("stack-go", re.compile(r"^panic: |^goroutine \d+ \[|^fatal error: ", re.MULTILINE)),
    ("stack-rust", re.compile(r"^thread '.*' (?:\(\d+\) )?panicked at |^stack backtrace:", re.MULTILINE)),
    ("stack-java", re.compile(r'^Exception in thread "|^Caused by: [\w.$]+(?::|$)', re.MULTILINE)),
    (
        "stack-js",
        re.compile(
            r"^(?:Uncaught )?(?:\w*Error|AssertionError[^:\n]*): .*\n(?:.*\n){0,12}\s+at ", re.MULTILINE
        ),
    ),
)


def detect(text: str) -> str:
    """The kind ("traceback-python", "stack-js", …) of a text that is mainly a traceback, else ""."""
    seen = sample(text)
    lines = sum(1 for line in seen.split("\n") if line.strip())
    if not lines:
        return ""
    best, frames = "", 0
    for kind, frame in FRAMES:
        found = len(frame.findall(seen))
        if found > frames:
            best, frames = kind, found
    heads = [kind for kind, head in HEADS if head.search(seen)]
    if (
        heads
        and heads[0] != best
        and (best == "" or heads[0] in ("stack-rust", "stack-go", "traceback-python"))
    ):
        best = heads[0]
    per_frame = 1.0 if best in ("stack-js", "stack-java", "stack-dotnet", "stack-ruby") else 2.5
    share = (frames * per_frame + 2 * len(heads)) / lines
    return best if (heads and share >= 0.3) or (frames >= 2 and share >= 0.6) else ""
