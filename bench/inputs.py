"""Texts of every class at any size, the same on each run: what the benchmarks compress.

`made` writes a text of about so many characters by a seeded generator, with new names and numbers in
each unit, so that no text is one block repeated. `recorded` reads the real outputs that the tests use.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path

from aider_gardener.messages import ContentClass

RECORDED = Path(__file__).resolve().parent.parent / "tests" / "data" / "outputs"

WORDS = (
    "account adapter batch buffer cache ledger checkout cluster column commit config cursor decimal discount"
    " endpoint export filter gateway header import index invoice journal kernel latency ledger limit marker"
    " metric migration module number offset order packet parser payload payment pointer policy process queue"
    " record region request response retry route sample schema segment sender server session shard signal"
    " socket status stream tenant thread ticket token tracker transfer update vector voucher window worker"
).split()

CUT = "\f"

Unit = Callable[[random.Random, int], str]
"""Writes the nth unit of a text: a test, a warning, a log line, a function."""


def word(rng: random.Random) -> str:
    return rng.choice(WORDS)


def name(rng: random.Random) -> str:
    return f"{word(rng)}_{word(rng)}_{rng.randrange(1000)}"


def pytest_failure(rng: random.Random, n: int) -> str:
    """One failing test of `pytest -v`: its line among those of tests that passed, `CUT`, its section."""
    module, test, got = f"tests/test_{word(rng)}.py", f"test_{name(rng)}", rng.randrange(10_000)
    passed = "".join(f"{module}::test_{name(rng)} PASSED  [{n % 100:>3}%]\n" for _ in range(30))
    body = "".join(f"        {name(rng)} = {word(rng)}({rng.randrange(100)})\n" for _ in range(12))
    return (
        f"{passed}{module}::{test} FAILED  [{n % 100:>3}%]\n{CUT}"
        f"{'_' * 30} {test} {'_' * 30}\n\n"
        f"    def {test}():\n{body}>       assert {word(rng)}_total == {got}\n"
        f"E       assert {got + 1 + n} == {got}\nE        +  where {got + 1 + n} = total('{name(rng)}')\n\n"
        f"{module}:{rng.randrange(20, 900)}: AssertionError\n"
    )


def pytest_run(units: list[str]) -> str:
    """The units as one run: the lines of all tests, the sections of the failed ones, the summary."""
    lines, sections = zip(*(unit.split(CUT) for unit in units), strict=True)
    failed = [one.rstrip().rpartition("\n")[2].split(" FAILED")[0] for one in lines]
    said = [section.partition("\nE       ")[2].partition("\n")[0] for section in sections]
    summary = "".join(f"FAILED {test} - {why}\n" for test, why in zip(failed, said, strict=True))
    return "".join([
        f"{'=' * 30} test session starts {'=' * 30}\n",
        *lines,
        f"\n{'=' * 36} FAILURES {'=' * 36}\n",
        *sections,
        f"{'=' * 26} short test summary info {'=' * 27}\n{summary}",
        f"{'=' * 20} {len(failed)} failed, {30 * len(failed)} passed in 81.20s {'=' * 20}\n",
    ])  # fmt: skip


def gcc_diagnostic(rng: random.Random, n: int) -> str:
    """A compiler's warning with its source lines; every 60th is an error."""
    place = f"src/{word(rng)}/{word(rng)}.c:{rng.randrange(1, 2000)}:{rng.randrange(1, 80)}"
    flag = rng.choice(("unused-variable", "sign-compare", "implicit-fallthrough", "maybe-uninitialized"))
    variable = name(rng)
    if n % 60 == 59:
        said = f"{place}: error: '{variable}' undeclared (first use in this function)\n"
    else:
        said = f"{place}: warning: variable '{variable}' may be misused [-W{flag}]\n"
    shown = f"  {n % 900:>4} |     int {variable} = {word(rng)}({rng.randrange(99)});\n"
    return f"{said}{shown}       |         ^~~~~~\n"


def log_line(rng: random.Random, n: int) -> str:
    """A line of a service's log; every 200th is an error of one of eight kinds."""
    hours, minutes = n // 3600 % 24, n // 60 % 60
    stamp = f"2026-03-{1 + n // 86_400 % 28:02} {hours:02}:{minutes:02}:{n % 60:02},{n % 1000:03}"
    if n % 200 == 199:
        return f"{stamp} ERROR worker-{n % 8}: {WORDS[n % 8]} refused the {word(rng)} after {n % 30} tries\n"
    number, took = rng.randrange(10**6), rng.randrange(900)
    return f"{stamp} INFO worker-{n % 8}: {word(rng)} {number} handled in {took} ms\n"


def record(rng: random.Random, n: int) -> str:
    """One record of a JSON array; every 500th is unlike the others."""
    status = "failed" if n % 500 == 499 else "settled"
    return json.dumps({
        "id": 100_000 + n,
        "account": {"name": name(rng), "region": word(rng), "limits": [rng.randrange(9) for _ in range(4)]},
        "amount": rng.randrange(10**7) / 100,
        "status": status,
        "tags": [word(rng), word(rng)],
    })  # fmt: skip


def python_function(rng: random.Random, _n: int) -> str:
    """A function of about 20 lines with a docstring."""
    body = "".join(
        f"    {name(rng)} = {word(rng)}_of({word(rng)!r}, {rng.randrange(100)})\n"
        f"    if {word(rng)} is None:\n        raise ValueError({' '.join([word(rng)] * 3)!r})\n"
        for _ in range(6)
    )
    about = f"The {word(rng)} of a {word(rng)}, by its {word(rng)}."
    head = f"def {name(rng)}({word(rng)}: int, limit: int = {rng.randrange(99)}) -> int:"
    return f'{head}\n    """{about}"""\n{body}    return limit\n\n\n'


def paragraph(rng: random.Random, _n: int) -> str:
    """Five sentences, one of them a decision with a number."""
    plain = (
        f"The {word(rng)} of the {word(rng)} {word(rng)} reads every {word(rng)} before the {word(rng)} ends."
        for _ in range(4)
    )
    said = f"We decided to use {name(rng)} with a limit of {rng.randrange(1000)} instead of the {word(rng)}."
    return " ".join([*plain, said]) + "\n\n"


def traceback(rng: random.Random, n: int) -> str:
    """A Python traceback with three frames of the project and eight of a library."""
    frames = "".join(
        f'  File "{"site-packages/lib/" if at % 4 else "app/"}{word(rng)}.py", line {rng.randrange(900)}, in'
        f" {name(rng)}\n    {word(rng)} = {name(rng)}({word(rng)})\n"
        for at in range(11)
    )
    raised = f"ValueError: the {word(rng)} {n} has no {word(rng)}"
    return f"Traceback (most recent call last):\n{frames}{raised}\n\n"


def grep_hit(rng: random.Random, n: int) -> str:
    """A match of `grep -rn`; eight in a row are in one file."""
    path = f"src/{WORDS[n // 40 % len(WORDS)]}/{WORDS[n // 8 % len(WORDS)]}.py"
    return f"{path}:{n % 997 + 1}:    {name(rng)} = {name(rng)}()\n"


def diff_hunk(rng: random.Random, n: int) -> str:
    """A file's diff with one hunk."""
    path, at = f"src/{word(rng)}/{word(rng)}.py", rng.randrange(500)
    marks = [rng.choice("  -+") for _ in range(14)]
    lines = "".join(f"{mark}    {name(rng)} = {rng.randrange(99)}\n" for mark in marks)
    head = f"diff --git a/{path} b/{path}\nindex {n:07x}..{n + 1:07x} 100644\n--- a/{path}\n+++ b/{path}\n"
    return f"{head}@@ -{at},12 +{at},13 @@\n{lines}"


def edit_block(rng: random.Random, _n: int) -> str:
    """A SEARCH/REPLACE block as aider's edit formats ask for."""
    old, new = (f"    {name(rng)} = {rng.randrange(99)}\n    return {word(rng)}\n" for _ in range(2))
    return f"src/{word(rng)}.py\n```python\n<<<<<<< SEARCH\n{old}=======\n{new}>>>>>>> REPLACE\n```\n\n"


GENERATORS: dict[str, tuple[ContentClass, str, Unit]] = {
    "pytest": (ContentClass.LOG, "pytest", pytest_failure),
    "gcc": (ContentClass.LOG, "gcc", gcc_diagnostic),
    "app-log": (ContentClass.LOG, "", log_line),
    "records-json": (ContentClass.STRUCTURED, "json", record),
    "python": (ContentClass.CODE, "", python_function),
    "prose": (ContentClass.PROSE, "", paragraph),
    "traceback": (ContentClass.ERROR, "traceback-python", traceback),
    "grep": (ContentClass.LISTING, "", grep_hit),
    "diff": (ContentClass.DIFF, "", diff_hunk),
    "edits": (ContentClass.EDIT, "search-replace", edit_block),
}
"""Name of a text → its class, its kind as the segmenter would say, and what writes a unit of it."""


def made(kind: str, chars: int, *, seed: int = 1) -> str:
    """A text of one kind with at least `chars` characters, whole units only."""
    rng = random.Random(f"{kind} {seed}")
    write = GENERATORS[kind][2]
    units: list[str] = []
    size = 0
    while size < chars:
        units.append(write(rng, len(units)))
        size += len(units[-1]) + (kind == "records-json")
    if kind == "records-json":
        return "[" + ",\n".join(units) + "]\n"
    return pytest_run(units) if kind == "pytest" else "".join(units)


def recorded(name: str) -> str:
    """A real output that the tests of the compressors use, by its file's stem."""
    return (RECORDED / f"{name}.txt").read_bytes().decode("utf-8", "replace")
