"""Which test runner wrote a text, by the shapes of its lines."""

from __future__ import annotations

import re

from aider_gardener.compress.frame import sample

SIGNS: tuple[tuple[str, int, re.Pattern[str]], ...] = tuple(
    (kind, weight, re.compile(pattern, re.MULTILINE))
    for kind, weight, pattern in (
        ("pytest", 3, r"^=+ test session starts =+|^=+ short test summary info =+"),
        (
            "pytest",
            3,
            r"^=* ?\d+ (?:passed|failed|errors?|skipped|deselected|x(?:failed|passed))\b.* in \d[\d.]*s",
        ),
        ("pytest", 2, r"^=+ (?:FAILURES|ERRORS|warnings summary) =+"),
        ("pytest", 2, r"^(?:FAILED|ERROR) \S+\.py(?:::\S+)?"),
        ("pytest", 2, r"^(?:\[gw\d+\] .*)?\S+\.py::\S.* ?(?:PASSED|FAILED|ERROR|SKIPPED|XFAIL)"),
        ("pytest", 2, r"^(?:\S+\.py )?[.FEsxX]{5,} *\[ *\d+%\]"),
        ("pytest", 1, r"^E   +\S"),
        ("pytest", 1, r"^(?:_ ){20}_?|^\S+\.py:\d+: \w*(?:Error|Exception|Failed|Exit)$"),
        ("unittest", 3, r"^Ran \d+ tests? in [\d.]+s"),
        ("unittest", 2, r"^(?:FAIL|ERROR): \w+ \([\w.]+\)"),
        ("node-test", 3, r"^ℹ (?:tests|pass|fail) \d+"),
        ("node-test", 1, r"^ *[▶✔✖] .*\(\d[\d.]*ms\)"),
        ("node-test", 2, r"^✖ failing tests:"),
        ("tap", 3, r"^TAP version \d+"),
        ("tap", 1, r"^ *(?:not )?ok \d+(?: -)? "),
        ("tap", 1, r"^ *1\.\.\d+$"),
        ("jest", 3, r"^Tests?: +(?:\d+ \w+, )*\d+ total|^ *Test Files +\d+ (?:passed|failed)"),
        ("jest", 3, r"^bun test v\d|^ *\d+ passing \([\d.]+m?s\)|^Ran \d+ tests across \d+ files?"),
        ("jest", 2, r"^ *(?:PASS|FAIL) +\S+\.(?:test|spec)\.\w+|^ *Tests +\d+ (?:passed|failed)"),
        ("jest", 2, r"^ *● .+ › .+|^ \d+ pass$|^ FAIL  \S+ > "),
        ("jest", 1, r"^[✓✗✕×] .+ > .+"),
        ("cargo-test", 3, r"^test result: (?:ok|FAILED)\. \d+ passed"),
        (
            "cargo-test",
            2,
            r"^error: could not compile .*\btest\b|^ *Running (?:unittests|tests/)|^ *Doc-tests \w",
        ),
        ("cargo-test", 2, r"^running \d+ tests?$|^---- \S+.* stdout ----$"),
        ("cargo-test", 2, r"^test \S+.* \.\.\. (?:ok|FAILED|ignored)"),
        ("go-test", 3, r"^ *--- (?:FAIL|PASS|SKIP): \S+ \([\d.]+s\)"),
        ("go-test", 3, r"^(?:ok|FAIL)\s+\S+\s+(?:[\d.]+s|\(cached\)|\[build failed\])"),
        (
            "go-test",
            2,
            r'^=== (?:RUN|PAUSE|CONT) +\S+|^\{"Time":.*"Action":"(?:run|pass|fail|output|'
            r'start)"',
        ),
        ("junit", 3, r"Tests run: *\d+, +Failures: *\d+"),
        ("junit", 3, r"^(?:Failed|Passed)! +- Failed: +\d+|^Total tests: \d+"),
        ("junit", 3, r"^\d+ tests completed, \d+ failed"),
        ("junit", 2, r"^\S+ > .+ (?:PASSED|FAILED|SKIPPED)$"),
        ("junit", 2, r"^\s+(?:Passed|Failed|Skipped) \S+.* \[(?:< )?\d+ m?s\]"),
        ("rspec", 3, r"^\d+ examples?, \d+ failures?|^\d+ (?:runs|tests), \d+ assertions, \d+ failures"),
        ("phpunit", 3, r"^PHPUnit \d|^Tests: \d+, Assertions: \d+|^OK \(\d+ tests?, \d+ assertions?\)"),
        ("ctest", 3, r"^\d+% tests passed, \d+ tests failed out of \d+"),
        ("ctest", 3, r"^\[ +(?:RUN|OK|FAILED|PASSED) +\] \S+"),
    )
)


def detect(text: str) -> str:
    """The runner ("pytest", "unittest", "jest", "node-test", "tap", "cargo-test", …) or ""."""
    seen = sample(text)
    scores: dict[str, int] = {}
    for kind, weight, sign in SIGNS:
        if sign.search(seen):
            scores[kind] = scores.get(kind, 0) + weight
    if not scores:
        return ""
    kind = max(scores, key=lambda name: scores[name])
    return kind if scores[kind] >= 2 else ""
