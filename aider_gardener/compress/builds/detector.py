"""Which compiler, linter or installer wrote a text, by the shapes of its lines."""

from __future__ import annotations

import re

from aider_gardener.compress.frame import sample

SIGNS: tuple[tuple[str, int, re.Pattern[str]], ...] = tuple(
    (kind, weight, re.compile(pattern, re.MULTILINE))
    for kind, weight, pattern in (
        ("tsc", 4, r"(?:\(\d+,\d+\): |:\d+:\d+ - )error TS\d+:"),
        ("rustc", 3, r"^(?:error(?:\[E\d+\])?|warning): .+\n *--> \S+:\d+:\d+"),
        ("rustc", 2, r"^ *(?:Compiling|Checking|Finished|Downloaded) (?:\S+ v\d|`?\w+`? (?:profile|\[))"),
        ("eslint", 3, r"^ +\d+:\d+ +(?:error|warning) +\S.*"),
        ("eslint", 3, r"^✖ \d+ problems?"),
        ("eslint", 4, r"^\S.*?:\d+:\d+: .* \[(?:Error|Warning)/\S+\]$"),
        ("eslint", 4, r": line \d+, col \d+, (?:Error|Warning) - "),
        ("pylint", 4, r"^\*{9,} Module |^Your code has been rated|^\S+\.py:\d+:\d+: [CRWEF]\d{4}: "),
        ("mypy", 4, r"^\S+\.pyi?:\d+(?::\d+)?: (?:error|note): "),
        ("mypy", 4, r"^Found \d+ errors? in \d+ files?"),
        ("flake8", 3, r"^\S+\.pyi?:\d+:\d+: [A-Z]{1,4}\d{2,4}:? "),
        ("flake8", 3, r"^[A-Z]{1,4}\d{3} (?:\[\*\] )?.+\n *--> \S+:\d+:\d+"),
        ("javac", 3, r"^(?:\[\w+\] )?\S+\.java:(?:\d+|\[\d+,\d+\]):? (?:error|warning)?"),
        ("maven", 3, r"^\[(?:INFO|ERROR|WARNING)\] (?:BUILD |Building |Scanning|-{5,})"),
        ("gradle", 3, r"^> Task :\S+|^BUILD (?:SUCCESSFUL|FAILED) in"),
        ("dotnet", 4, r"\(\d+,\d+\): (?:error|warning) (?!TS)[A-Z]+\d+:"),
        ("go", 3, r"^(?:vet: )?\.?/?\S+\.go:\d+:\d+: \S"),
        (
            "gcc",
            3,
            r"^(?:[A-Za-z]:)?[^\s:]+\.(?:c|cc|cpp|cxx|h|hpp|hh|m|mm|S|f90|cu)(?::\d+){1,2}: "
            r"(?:fatal )?(?:error|warning|note): ",
        ),
        (
            "gcc",
            2,
            r"^\[ *\d+%\] (?:Building|Linking|Built)|^\[\d+/\d+\] \S|^(?:gcc|g\+\+|cc|c\+\+|clang\S*) -",
        ),
        (
            "gcc",
            2,
            r"undefined reference to|ld returned \d exit status|^make(?:\[\d+\])?: (?:\*\*\*|Entering)",
        ),
        (
            "npm",
            3,
            r"^npm (?:ERR!|WARN|error|warn|notice|verb)|^(?:added|up to date|removed|"
            r"changed) .*\d+ packages?",
        ),
        (
            "npm",
            3,
            r"^(?:yarn install v|➤ YN\d+|Progress: resolved \d+|.*bun install v|Lockfile is up to date)",
        ),
        (
            "pip",
            3,
            r"^(?:Requirement already satisfied: |Collecting \S+|Successfully installed |Obtaining file:)",
        ),
        (
            "pip",
            2,
            r"^ *(?:Downloading|Using cached) \S+(?:\.whl|\.tar\.gz|\.metadata)|^(?:Resolved|"
            r"Installed) \d+ packages",
        ),
        ("docker", 3, r"^#\d+ (?:\[|DONE|CACHED|\d+\.\d+ )|^Step \d+/\d+ : |^ => \["),
        (
            "webpack",
            3,
            r"^(?:ERROR|WARNING) in \S+|^Module not found: Error|^webpack \d.* compiled|^✘ \[ERROR\]",
        ),
    )
)
PRECEDENCE = (
    "dotnet",
    "tsc",
    "mypy",
    "rustc",
    "javac",
    "eslint",
    "pylint",
    "flake8",
    "webpack",
    "maven",
    "gradle",
    "go",
)


def detect(text: str) -> str:
    """The tool ("gcc", "rustc", "tsc", "eslint", "flake8", "mypy", "javac", "npm", "pip", …) or ""."""
    seen = sample(text)
    scores: dict[str, int] = {}
    for kind, weight, sign in SIGNS:
        found = len(sign.findall(seen, 0, 40_000))
        if found:
            scores[kind] = scores.get(kind, 0) + weight + min(found, 10)
    if not scores:
        return ""
    best = max(scores.values())
    for kind in PRECEDENCE:
        if scores.get(kind, 0) >= max(5, best - 4):
            return kind
    kind = max(scores, key=lambda name: scores[name])
    return kind if scores[kind] >= 4 else ""
