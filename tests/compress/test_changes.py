"""Diffs are quoted by file, hunk and changed line, under the commit that they belong to."""

from __future__ import annotations

from difflib import context_diff

from made_entries import words

from aider_gardener.compress.changes import read
from aider_gardener.compress.outline import CAUSE
from aider_gardener.compress.shapes import shortened
from aider_gardener.compress.shorten import shorten


def patch(name: str, *changes: str, at: int = 1, git: bool = True) -> list[str]:
    """One file's diff with one hunk."""
    old = sum(1 for line in changes if line[0] != "+")
    new = sum(1 for line in changes if line[0] != "-")
    head = [f"diff --git a/{name} b/{name}", "index 1234567..89abcde 100644"] if git else []
    return [*head, f"--- a/{name}", f"+++ b/{name}", f"@@ -{at},{old} +{at},{new} @@ class Shop:", *changes]


def test_a_file_is_worth_more_than_its_lines_and_the_last_as_much_as_the_first() -> None:
    lines = [
        line for n in range(40) for line in patch(f"shop/part_{n}.py", f"-rate = {n}", f"+def rate{n}():")
    ]
    text = "\n".join(lines)
    shown = shortened(text, words).text
    assert all(f"+++ b/shop/part_{n}.py" in shown for n in range(40))
    assert "diff --git" not in shown


def test_a_combined_diff_has_two_columns_and_its_conflict_is_a_cause() -> None:
    lines = [
        "diff --cc a.py",
        "index 1,2..3",
        "--- a/a.py",
        "+++ b/a.py",
        "@@@ -1,2 -1,2 +1,6 @@@",
        "  x = 0",
    ]
    lines += ["++<<<<<<< HEAD", " +rate = 1", "++=======", "+ rate = 2", "++>>>>>>> tax", "after"]
    notes = read(lines)
    assert [notes[row].worth for row in (6, 8, 10)] == [CAUSE] * 3
    assert notes[9].above == 4
    assert 11 not in notes


def commit(n: int, subject: str, *body: str) -> list[str]:
    head = [f"commit {n:040x}", f"Author: Jo <{n}@x>", "Date:   Mon", "", f"    {subject}"]
    return [*head, *(f"    {line}" for line in body), ""]


def test_a_subject_stands_under_its_commit_and_what_is_indented_under_its_line() -> None:
    lines = [*commit(1, "Add rates"), *commit(2, "Fix rates", "", "* one", "  more of one")]
    notes = read(lines)
    assert notes[4].above == 0
    assert notes[10].above == 6
    assert lines[notes[13].above] == "    * one"
    assert [
        read(["commit abcdef1", "Date: x", "", "    s", *patch("a", "+x")])[row].above for row in (3, 4)
    ] == [0, 0]


def test_what_git_sums_up_of_a_commit_stands_before_what_it_says_of_each_file() -> None:
    files = [f" src/pier_{n}.py | {n} ++--" for n in range(1, 13)]
    sums = [f" 12 files changed, {n} insertions(+)" for n in range(8)]
    lines = [line for n, last in enumerate(sums) for line in [*commit(n, f"Move pier {n}"), *files, last, ""]]
    form = shortened("\n".join(lines), words).text.split("\n")
    assert set(sums) <= set(form) and sum(line in files for line in form) < len(sums)


def test_of_a_context_diff_each_changed_line_stands_whole_under_its_own_side() -> None:
    old = [f"line {n} of the ledger, value {n * 7 % 23}" for n in range(60)]
    new = [f"{line} to be paid" if n % 15 == 3 else line for n, line in enumerate(old)]
    text = "\n".join(context_diff(old, new, "old", "new", lineterm=""))
    side, changed = "", []
    for line in shorten(text, command="diff -c old new", count=words).text.split("\n"):
        side = line[0] if line[:4] in ("*** ", "--- ") else side
        changed += [(side, line)] if line.startswith("!") else []
    assert len(changed) > 3
    assert all(line[2:] in (old if side == "*" else new) for side, line in changed)
