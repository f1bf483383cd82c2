"""Stack traces: what stands there again is shown once. What is raised in which language is in tests/data/facts."""

from __future__ import annotations

import pytest

from aider_gardener import shorten
from aider_gardener.compress.outline import FAILURE
from aider_gardener.compress.traces import read

JAVA = """java.lang.IllegalStateException: order 17 failed
\tat org.example.Order.book(Order.java:30)
\tat java.base/java.lang.Thread.run(Thread.java:840)
Caused by: java.io.IOException: no key
\tat org.example.Key.turn(Key.java:8)
\t... 3 more"""


def test_a_stack_that_stood_there_already_is_worth_nothing_again() -> None:
    lines = [*JAVA.split("\n"), "2026-01-02 retry 2", *JAVA.split("\n")]
    notes = read(lines)
    assert notes[8].worth == 0 < notes[1].worth
    assert notes[8].form == notes[1].form


def test_recursion_shows_each_frame_once_and_how_often_it_was_left_out() -> None:
    frame = ['  File "rec.py", line 2, in walk', "    return walk(node)"]
    told = "  [Previous line repeated 970 more times]"
    lines = [HEAD, *frame * 3, told, "RecursionError: maximum recursion depth exceeded"]
    notes = read(lines)
    assert notes[3].worth == 0 < notes[1].worth
    assert notes[7].worth >= FAILURE


HEAD = "Traceback (most recent call last):"

STACKS = {
    "python": f'{HEAD}\n  File "/w/mill.py", line 3, in grind\n  File "/w/lib/python3.12/json/a.py", line 9, in b\nKeyError: 1',
    "pytest": "mill.py:3: in grind\n    sack()\n/v/site-packages/a.py:9: in b\n    c()\nE   KeyError: 1",
    "node": "TypeError: no sack\n    at Mill.grind (/w/mill.js:3:5)\n    at node:internal/main:9:1",
    "json": '  "message": "Error: no sack",\n  "stack": [\n    "at Mill.grind (/w/mill.js:3:5)",\n'
    '    "at Module.run (node:internal/main:9:1)"\n  ]',
    "java": "a.NoSack: none\n\tat a.Mill.grind(Mill.java:3)\n\tat java.base/java.lang.Thread.run(Thread.java:9)",
    "dotnet": "System.Exception: no sack\n   at Mill.Grind(Int32 n) in /w/mill.cs:line 3\n   at System.Run()",
    "go": "panic: no sack\n\nmain.grind(0x1)\n\t/w/mill.go:3 +0x1d\nruntime.main()\n\t/usr/lib/go/src/runtime/proc.go:9 +0x2",
    "rust": "panicked at no sack:\n   0: std::panicking::begin\n             at /rustc/a/library/std/src/b.rs:9:5\n"
    "   1: mill::grind\n             at ./src/mill.rs:3:5",
    "ruby": "no sack (RuntimeError)\n\tfrom /w/mill.rb:3:in 'grind'\n\tfrom /g/gems/rake/a.rb:9:in 'b'",
    "php": "Fatal error: no sack\n#0 /w/mill.php(3): grind()\n#1 /w/vendor/a.php(9): b()\n#2 {main}",
    "gdb": "SIGSEGV, no sack\n#0  0x01 in grind (n=1) at mill.c:3\n#1  0x02 in __libc_start_main () from /lib/libc.so.6",
    "elixir": "** (RuntimeError) no sack\n    (mill 0.1.0) lib/mill.ex:3: Mill.grind/1\n    (stdlib 5.0) a.erl:9: :b.c/1",
}  # fmt: skip


@pytest.mark.parametrize("language", STACKS)
def test_a_frame_of_the_project_is_told_from_those_of_libraries(language: str) -> None:
    lines = STACKS[language].split("\n")
    own = next(row for row, line in enumerate(lines) if "rind" in line)
    notes = read(lines)
    frames = {
        row: note.worth
        for row, note in notes.items()
        if isinstance(note.form, tuple) and note.form[0] == "frame"
    }
    assert max(frames, key=lambda row: frames[row]) == own and frames[own] >= FAILURE
    assert any(worth <= 0 for worth in frames.values())


def test_a_hash_begins_a_frame_only_before_a_place_in_a_file() -> None:
    report = ["# Query 1: 0.05 QPS at byte 812", "# Time range: 2026-01-02T07:00:01 to 2026-01-02T08:10:02"]
    assert read([*report, "# 1 0x5A1F SELECT invoices"]) == {}
    assert read(
        ["Failure: expected 3", "     # ./spec/stop_spec.rb:21:in 'block'", "     # ./lib/stop.rb:8:in 'add'"]
    )


def test_what_each_of_a_group_of_exceptions_raised_is_told_below_a_record_of_a_log() -> None:
    library = [
        '  |   File "/v/site-packages/web/routing.py", line {n}, in call_{n}',
        "  |     return await self.app(scope, receive, send)",
        "  |            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^",
    ]
    raised = [("TimeoutError: no tide in 1.5 s", 23), ("KeyError: 'draught'", 24), ("OSError: no berth", 31)]
    group = [
        line
        for nth, (says, place) in enumerate(raised, 1)
        for line in (
            f"  {'+-' if nth == 1 else '  '}+---------------- {nth} ----------------",
            "    | Traceback (most recent call last):",
            f'    |   File "/w/plan.py", line {place}, in one',
            f"    | {says}",
        )
    ]
    lines = [
        *(f'INFO:     10.0.0.1:{n} - "GET /health HTTP/1.1" 200 OK' for n in range(60)),
        "ERROR:    Exception in ASGI application",
        "  + Exception Group Traceback (most recent call last):",
        *(line.format(n=n) for n in range(20) for line in library),
        "  | ExceptionGroup: unhandled errors in a TaskGroup (3 sub-exceptions)",
        *group,
        "    +------------------------------------",
        *(f'INFO:     10.0.0.1:{n} - "GET /health HTTP/1.1" 200 OK' for n in range(60)),
    ]
    form = shorten("\n".join(lines), command="uvicorn app:app").text
    for says, place in raised:
        assert f'    |   File "/w/plan.py", line {place}, in one\n    | {says}\n' in form
