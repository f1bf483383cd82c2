"""Which kind of log a text is, by what its lines begin with."""

from __future__ import annotations

import re

from aider_gardener.compress.frame import FENCE, sample

TIME = re.compile(
    r"^\W{0,2}(?:\d{4}[-/]\d\d[-/]\d\d[T ,]\d\d:\d\d|\d\d:\d\d:\d\d\b|"
    r"[A-Z][a-z]{2} +\d+ \d\d:\d\d:\d\d|\d{10}(?:\.\d+)? |"
    r"\d\d/[A-Z][a-z]{2}/\d{4}[: ]\d\d:\d\d|\d\d[-/.]\d\d[-/.]\d{4} \d\d:\d\d|"
    r"[A-Z][a-z]{2} [A-Z][a-z]{2} +\d+ \d\d:\d\d)"
)
ACCESS = re.compile(r'^\S+ \S+ \S+ \[\d\d/\w{3}/\d{4}:[^\]]+\] "')
LEVEL = re.compile(
    r"^\W{0,2}(?:TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|CRITICAL|FATAL|ALERT|SEVERE|FINE|"
    r"[DIWEF]\d{4} \d\d:)\b",
    re.IGNORECASE,
)
CONTAINER = re.compile(r"^[\w.-]+ +\| \S")
STRACE = re.compile(
    r"^(?:\[pid +\d+\] |\d+ +)?(?:\d[\d:.]* )?(?:\w+\(.*(?:\) += \S+|<unfinished \.\.\.>)|"
    r"<\.\.\. \w+ resumed>|[+-]{3} \w+)"
)
METRIC = re.compile(r"^(?:# (?:HELP|TYPE) \w|[a-zA-Z_:][\w:.]*(?:\{[^}]*\})? +[-+]?[\d.eE+-]+(?: \d+)?$)")
JSON_LINE = re.compile(r'^\{.*"(?:level|severity|lvl|msg|message|time|timestamp|ts|@timestamp)"\s*:')
LOGFMT = re.compile(r"^(?:\w+=(?:\"[^\"]*\"|\S+) ){2,}")


def detect(text: str) -> str:
    """The kind ("app-log", "strace", "metrics", "json-log", "access-log") of a log, or ""."""
    lines = [line for line in sample(text).split("\n") if line.strip() and not FENCE.match(line)]
    if len(lines) < 3:
        return ""
    signs = (
        ("strace", STRACE),
        ("json-log", JSON_LINE),
        ("access-log", ACCESS),
        ("metrics", METRIC),
        ("app-log", LOGFMT),
    )
    for kind, sign in signs:
        if sum(1 for line in lines if sign.match(line)) >= 0.6 * len(lines):
            return kind
    stamped = sum(1 for line in lines if TIME.match(line) or LEVEL.match(line) or CONTAINER.match(line))
    return "app-log" if stamped >= 0.35 * len(lines) and stamped >= 3 else ""
