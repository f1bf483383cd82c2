"""Stack traces: what was raised and why is worth most, then the project's frames; libraries' are not shown."""

from __future__ import annotations

import pytest

from aider_gardener.compress.outline import CAUSE, FAILURE, Note
from aider_gardener.compress.traces import read

PYTHON = """Traceback (most recent call last):
  File "/srv/pier/db.py", line 9, in seat
    return rows[seat]
KeyError: 4

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "/srv/pier/app.py", line 30, in <module>
    book(4)
  File "/srv/venv/lib/python3.12/site-packages/web/call.py", line 71, in call
    return handler()
  File "/srv/pier/book.py", line 21, in book
    raise BookingError("seat 4 is taken\\nask again")
pier.BookingError: seat 4 is taken
ask again"""
JAVA = """java.lang.IllegalStateException: order 17 failed
\tat org.example.Order.book(Order.java:30)
\tat java.base/java.lang.Thread.run(Thread.java:840)
Caused by: java.io.IOException: no key
\tat org.example.Key.turn(Key.java:8)
\t... 3 more"""
NODE = """StockError: stock file unreadable
    at read (file:///srv/s/crash.mjs:3:77)
    at Module._compile (node:internal/modules/cjs/loader:1105:14) {
  [cause]: Error: ENOENT: no such file, open 'fig.json'
      at async main (file:///srv/s/crash.mjs:4:50)
}"""
GO = """panic: runtime error: index out of range [4] with length 4

goroutine 34 [running]:
panic({0x10292a0?, 0xc00001c1e0?})
\t/usr/local/go/src/runtime/panic.go:770 +0x132
example.org/render.(*Page).Line(...)
\t/srv/render/page.go:58"""
RUST = """thread 'main' panicked at src/oar.rs:52:44:
called `Result::unwrap()` on an `Err` value: BadHeading
stack backtrace:
   0: rust_begin_unwind
             at /rustc/90b35/library/std/src/panicking.rs:665:5
   1: skiff::oar::heading
             at ./src/oar.rs:52:44"""
MEMORY = """==77==ERROR: LeakSanitizer: detected memory leaks

Direct leak of 120 byte(s) in 3 object(s) allocated from:
    #0 0x7f11 in malloc (/lib/libasan.so.8+0xb4)
    #1 0x5601 in read_row /srv/t/rows.c:18

SUMMARY: AddressSanitizer: 120 byte(s) leaked in 3 allocation(s)."""


def notes_of(text: str) -> dict[str, Note]:
    lines = text.split("\n")
    return {lines[row].strip(): note for row, note in read(lines).items()}


@pytest.mark.parametrize(
    ("text", "raised", "own", "library"),
    [
        (
            PYTHON,
            "pier.BookingError: seat 4 is taken",
            'File "/srv/pier/book.py", line 21, in book',
            "return handler()",
        ),
        (PYTHON, "KeyError: 4", 'File "/srv/pier/db.py", line 9, in seat', "return handler()"),
        (JAVA, "Caused by: java.io.IOException: no key", "at org.example.Key.turn(Key.java:8)", "... 3 more"),
        (NODE, "StockError: stock file unreadable", "at read (file:///srv/s/crash.mjs:3:77)", ""),
        (
            NODE,
            "[cause]: Error: ENOENT: no such file, open 'fig.json'",
            "at async main (file:///srv/s/crash.mjs:4:50)",
            "",
        ),
        (GO, "panic: runtime error: index out of range [4] with length 4", "/srv/render/page.go:58", ""),
        (RUST, "thread 'main' panicked at src/oar.rs:52:44:", "at ./src/oar.rs:52:44", "1: core"),
        (
            MEMORY,
            "Direct leak of 120 byte(s) in 3 object(s) allocated from:",
            "#1 0x5601 in read_row /srv/t/rows.c:18",
            "",
        ),
    ],
)
def test_what_was_raised_and_the_projects_frame_are_worth_most(
    text: str, raised: str, own: str, library: str
) -> None:
    notes = notes_of(text)
    assert notes[raised].worth >= CAUSE - 1
    assert notes[own].worth >= FAILURE - 1
    assert library not in notes or notes[library].worth < 1


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
