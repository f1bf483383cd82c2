"""Each engine explains the lines of its own shape, leaves others alone, and is quick on lines made to be slow."""

from __future__ import annotations

import time

import pytest
from hanging import HANGS_SECONDS

from aider_gardener.compress.shapes import ENGINES, shortened
from aider_gardener.tokens import approximate

OTHERS = {
    "nothing": "",
    "prose": "The mill stands at the river: it was built in 1802.\nNote: it burned (see page 3).\nNobody was hurt.\n",
    "headings": "# Testing\n\n- Repos: run the tests\n- 3 errors are expected\n\nIt passed all checks.\n",
    "rules": "Only in spring: a list\n- one\n+ three\n--- a rule\n+++ another\n",
    "signals": "--- SIGSEGV {si_signo=SIGSEGV} ---\n+++ killed by SIGSEGV +++\n",
    "python": "def grind(sack):\n    if sack.torn:\n        raise ValueError(sack)\n    return sack.flour\n",
    "c": 'int main() {\n    int x = 1;\n    for (;;) {\n        x = 2;\n    }\n    printf("x");\n}\n',
    "records": "src/a.c:3:5: error: no such thing\n    3 |     x = y;\n      |     ^\nsrc/b.c:9:1: note: see here\n",
    "logs": "2026-01-02 10:00:00 ERROR app: order 3 failed\n2026-01-02 10:00:01 INFO app: 5 passed\n",
    "traces": 'Traceback (most recent call last):\n  File "a.py", line 3, in f\n    g(x)\nValueError: bad: x\n',
    "testruns": "tests/a.py::test_b PASSED\ntests/a.py::test_c FAILED\nE   assert 3 == 4\n== 1 failed, 1 passed in 1s ==\n",
    "tables": "NAME   IMAGE          STATUS\nlamp   lamp:2.0       Exited\nbulb   lamp:2.1       Running\n",
    "quotations": "| The mill stands\n| at the river\n| and burned.\n+-------------\n",
    "documents": "services:\n  web:\n    image: nginx:1.25\n    ports:\n      - '80:80'\n",
    "diffs": "diff --git a/mill.py b/mill.py\n--- a/mill.py\n+++ b/mill.py\n@@ -1,2 +1,2 @@\n-sack = 1\n+sack = 2\n x = 1\n",
}  # fmt: skip
"""By the engine that a text is for, or by what it is where it is for none."""


@pytest.mark.parametrize("shape", OTHERS)
def test_an_engine_explains_its_own_shape_and_no_other(shape: str) -> None:
    lines = (OTHERS[shape] * 9).split("\n")
    assert {name for name, read in ENGINES.items() if read(lines)} == {shape} & set(ENGINES)


HOSTILE = [
    "FAILED a.py::x - assert 1 == 2", "  1) a", "a.c:1:2: error: x", "  3:5  error  x  y", "a/b.c", "    at f (a.js:1:2)",
    "2031-04-05 06:00:00 INFO a b c", "key: value", "  - name: x", "├── a", "a b c d", "a,b,1,2", "| a | b |",
    '  File "a.py", line 3, in f', "@@ -1,90000 +1,90000 @@", "+x = 1", "commit abcdef1", "    ",
    *(unit * (5_900 // len(unit)) for unit in ("a.", "/a", "1:", "a-", "^ ", "[", "(", "_", ".", " ", "A_", '"', "#1 a ")),
    *(unit * (5_900 // len(unit)) for unit in ("word ", "+- ", "expected ", "1 a b c d ", '{"a":1,', "x:1", "-----")),
]  # fmt: skip
BEFORE = "\n".join(OTHERS[name] for name in ENGINES).split("\n")


@pytest.mark.parametrize("line", HOSTILE, ids=lambda line: line[:12])
def test_hostile_lines_are_read_at_once_and_parents_stand_above(line: str) -> None:
    lines = [*BEFORE, *[line] * (2_500 if len(line) < 99 else 50)]
    for name, read in ENGINES.items():
        begun = time.process_time()
        notes = read(lines)
        assert time.process_time() - begun < HANGS_SECONDS, name
        assert all(note.above < row for row, note in notes.items()), name


@pytest.mark.parametrize(("size", "whole"), [(10, True), (60, False)])
def test_every_row_of_a_short_table_is_told(size: int, whole: bool) -> None:
    rows = [f"step-{chr(97 + n % 26)}{n:02}      ready      lamp" for n in range(size)]
    words = [f"{n} lamps were lit in the hall, and the bulb of no. {n} was changed" for n in range(80)]
    form = shortened("\n".join(["NAME           STATE      PLACE", *rows, "", *words]), approximate).text
    assert all(row in form for row in rows) == whole
