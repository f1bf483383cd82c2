"""Tasks that are done leave their list, and nothing else does; in the archive the last ten keep their detail."""

from __future__ import annotations

import pytest
from gardener.test_account import chat
from hypothesis import given
from hypothesis import strategies as st

from aider_gardener.archive.store import open_store
from aider_gardener.notes.tasks import (
    DETAILED,
    OLDER,
    Box,
    Done,
    Task,
    archived,
    as_task,
    boxes_in,
    checked_off,
    done_in,
)

LIST = """\
# Work

Some words.

- [ ] open
- [x] done
    - a detail
    - [x] a part

      more of it
- [x] not quite
    - [ ] still open
* [X] starred

## Later
1. [x] numbered
goes on here
- plain
    - [x] below a plain one
    - [ ] open one
"""
PIECES = st.sampled_from(
    ["- [ ] a", "- [x] b", "  - [x] c", "\t- [ ] d", "    text", "text", "", "# h", "```", "  ```", "> q", "- e", "\r",
     "1. [x] f", "- [x]", "- [x] é漢", "---", "\x0c", "    - [x] g"]
)  # fmt: skip


def texts(text: str) -> list[str]:
    return [task.text for task in done_in(text)[1]]


def test_what_is_done_leaves_with_all_that_stands_below_it() -> None:
    left, found = done_in(LIST)
    assert [task.text for task in found] == ["done", "starred", "numbered", "below a plain one"]
    assert found[0].lines == ("- [x] done", "    - a detail", "    - [x] a part", "", "      more of it")
    assert found[2].lines == ("1. [x] numbered", "goes on here") and found[2].heading == "Later"
    assert found[3].lines == ("- [x] below a plain one",)
    assert left == (
        "# Work\n\nSome words.\n\n- [ ] open\n- [x] not quite\n    - [ ] still open\n\n## Later\n- plain\n"
        "    - [ ] open one\n"
    )


@pytest.mark.parametrize(
    "text",
    [
        "```\n- [x] an example\n```\n",
        "- [x] never closed\n  ```\nin the fence\n",
        "- [x]no space\n- [y] no box\n[x] no item\n",
        "- [ ] parent\n  - [x] child\n",
        "",
    ],
)
def test_what_is_no_done_task_stays(text: str) -> None:
    assert done_in(text) == (text, ())


def test_lists_of_windows_keep_their_line_ends() -> None:
    assert done_in("- [x] a\r\n- [ ] b\r\n") == ("- [ ] b\r\n", (Task("a", ("- [x] a",)),))


@given(st.lists(st.tuples(PIECES, st.sampled_from(["\n", "\r\n"])), max_size=25))
def test_no_line_is_lost_and_none_changed(rows: list[tuple[str, str]]) -> None:
    text = "".join(line + end for line, end in rows)
    left, found = done_in(text)
    moved = [line for task in found for line in task.lines]
    before = sorted(line.strip() for line in text.splitlines())
    assert (
        sorted([*(line.strip() for line in left.splitlines()), *(line.strip() for line in moved)]) == before
    )
    assert done_in(left)[0] == left or len(done_in(left)[1]) < len(texts(text)) + 1
    assert all("[ ]" not in line for task in found for line in task.lines)


def done(number: int, **changes: str) -> Done:
    task = Task(f"task {number}", (f"- [x] task {number}", f"    - detail {number}"), "Work")
    return Done(task, **{"origin": "TODO.md", "session": "3fa29c0d11", "day": "2026-11-23", **changes})


def test_the_archive_has_the_newest_first_with_session_and_day() -> None:
    text = archived("", [done(1), done(2, session="")])
    lines = text.splitlines()
    assert lines[0] == "# Done tasks"
    heads = [line for line in lines if line.startswith("## ")]
    assert heads[0].startswith("## 2026-11-23, no session: task 2 <!-- done ")
    assert heads[1].startswith("## 2026-11-23, session 3fa29c0d: task 1 <!-- done ")
    assert "From TODO.md, Work." in text and "    - detail 1" in text and OLDER not in text


def test_older_ones_keep_a_line() -> None:
    text = ""
    for number in range(1, 15):
        text = archived(text, [done(number)])
    assert text.count("    - detail ") == DETAILED and "    - detail 5\n" in text
    older = text[text.index(OLDER) :]
    assert [line for line in older.splitlines() if line.startswith("- ")] == [
        f"- 2026-11-23, session 3fa29c0d: task {number}" for number in (4, 3, 2, 1)
    ]
    assert text == archived("", [done(number) for number in range(1, 15)])


def test_what_somebody_wrote_into_the_archive_stays() -> None:
    text = archived("", [done(number) for number in range(1, 11)])
    text = text.replace("    - detail 1\n", "    - detail 1\n    - mine\n").replace(
        "# Done tasks\n", "# Done tasks\n\nMy words.\n"
    )
    text += "\n## My own section\n\nkept\n"
    later = archived(text, [done(number) for number in range(11, 21)])
    assert "My words." in later and "    - mine" in later and "## My own section\n\nkept\n" in later
    assert "    - detail 2\n" not in later and "- 2026-11-23, session 3fa29c0d: task 2\n" in later


def test_an_archive_of_the_users_own_is_added_to() -> None:
    text = archived("# Ours\r\n\r\n- old\r\n", [done(1)])
    assert text.startswith("# Ours\r\n\r\n- old\r\n\r\n## 2026-11-23") and "\n" not in text.replace(
        "\r\n", ""
    )


def box(text: str, checked: bool) -> Box:
    return Box(text, checked, "s", 1, 1.0, "g1")


def test_a_task_of_a_chat_is_done_when_it_was_open_before() -> None:
    rows = [
        box("Mend  the pool", False),
        box("never open", True),
        box("mend the pool", True),
        box("b", False),
    ]
    assert [each.text for each in checked_off(rows)] == ["mend the pool"]
    assert checked_off([*rows, box("mend the pool", False)]) == []
    assert as_task(box("*x* <b>", True)).lines == (r"- [x] \*x\* &lt;b&gt;",)


def test_lists_in_a_chat_are_read_where_somebody_says_them() -> None:
    store = open_store(None)
    chat(
        store,
        "- [ ] one\n- [ ] two\n\n> - [ ] quoted\n\n```\n- [ ] code\n```",
        "Plan:\n\n- [x] one\n- [ ] two\n",
    )
    entries = store.session_entries("s")
    assert [(b.text, b.checked, b.turn) for e in entries for b in boxes_in(e, "s")] == [
        ("one", False, 1), ("two", False, 1), ("one", True, 1), ("two", False, 1),
    ]  # fmt: skip
