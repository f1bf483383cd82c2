"""Tasks that are done go to the archive; where somebody changed a list meanwhile, nothing is lost or doubled."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from gardener.test_account import chat
from hypothesis import given
from hypothesis import strategies as st

from aider_gardener.archive.store import Store, open_store
from aider_gardener.errors import StoreError, UsageError
from aider_gardener.gardener import done_tasks
from aider_gardener.gardener.done_tasks import (
    ARCHIVE_NAME,
    DETAILED,
    EVENT,
    OLDER,
    Moves,
    Task,
    apply,
    archived,
    done_in,
    moves,
    render,
    section_of,
)
from aider_gardener.gardener.learnt import project_events

AT = 1_780_000_000.0
DAY = time.strftime("%Y-%m-%d", time.localtime(AT))


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """An archive of two chats of the repository at `tmp_path`."""
    made = open_store(None)
    chat(made, "- [x] mend the pool was it", "Yes.", session="aaaa0000", at=AT - 9, project=str(tmp_path))
    chat(made, "hello", "Hi.", session="bbbb0000", at=AT, project=str(tmp_path))
    (tmp_path / "TODO.md").write_bytes(
        b"# Now\r\n\r\n- [x] mend the pool\r\n- [ ] paint it\r\n- [x] sweep\r\n"
    )
    return made


def found(store: Store, root: Path, listed: Path | None = None) -> Moves:
    return moves(store, str(root), listed=listed, clock=lambda: AT)


def do(store: Store, root: Path) -> Moves:
    plan = found(store, root)
    apply(store, str(root), plan, clock=lambda: AT)
    return plan


def noted(store: Store, root: Path) -> list[object]:
    return [event.data["text"] for event in project_events(store, str(root), EVENT)]


def test_what_is_checked_off_moves_with_its_session_and_day(store: Store, tmp_path: Path) -> None:
    plan = do(store, tmp_path)
    assert (tmp_path / "TODO.md").read_bytes() == b"# Now\r\n\r\n- [ ] paint it\r\n"
    text = (tmp_path / ARCHIVE_NAME).read_text("utf-8")
    assert f"## {DAY}, session bbbb0000: mend the pool <!-- done " in text
    assert f"## {DAY}, session bbbb0000: sweep <!-- done " in text and "From TODO.md, Now." in text
    assert list(render(plan, would=False))[-1].startswith("2 tasks moved to ")
    assert noted(store, tmp_path) == ["mend the pool", "sweep"]


def test_looking_changes_nothing(store: Store, tmp_path: Path) -> None:
    before = (tmp_path / "TODO.md").read_bytes()
    assert list(render(found(store, tmp_path), would=True))[-1].startswith("2 tasks would move to ")
    assert (tmp_path / "TODO.md").read_bytes() == before and not (tmp_path / ARCHIVE_NAME).exists()
    assert noted(store, tmp_path) == []


def test_done_twice_is_done_once(store: Store, tmp_path: Path) -> None:
    do(store, tmp_path)
    text = (tmp_path / ARCHIVE_NAME).read_bytes()
    assert list(render(do(store, tmp_path), would=False)) == ["Nothing is checked off."]
    assert (tmp_path / ARCHIVE_NAME).read_bytes() == text


@pytest.mark.parametrize("held", [None, b"# Ours\n\nkept\n"])
def test_a_list_that_was_changed_meanwhile_stays_and_nothing_of_it_is_archived(
    store: Store, tmp_path: Path, held: bytes | None
) -> None:
    archive, todo, tasks = (tmp_path / name for name in (ARCHIVE_NAME, "TODO.md", "TASKS.md"))
    tasks.write_bytes(b"- [x] first of all\n")
    if held is not None:
        archive.write_bytes(held)
    plan = found(store, tmp_path)
    assert [change.path.name for change in plan.lists] == ["TASKS.md", "TODO.md"]
    todo.write_bytes(todo.read_bytes() + b"- [ ] the user's\n")
    edited = todo.read_bytes()
    with pytest.raises(StoreError, match=r"TODO\.md was changed meanwhile"):
        apply(store, str(tmp_path), plan)
    assert todo.read_bytes() == edited and tasks.read_bytes() == b"- [x] first of all\n"
    assert (archive.read_bytes() if held else archive.exists()) == (held or False)
    assert noted(store, tmp_path) == []
    do(store, tmp_path)
    assert todo.read_bytes().endswith(b"- [ ] paint it\r\n- [ ] the user's\n")


def test_an_archive_that_was_changed_meanwhile_leaves_the_lists(store: Store, tmp_path: Path) -> None:
    plan = found(store, tmp_path)
    (tmp_path / ARCHIVE_NAME).write_bytes(b"new")
    with pytest.raises(StoreError, match="TASK_ARCHIVE"):
        apply(store, str(tmp_path), plan)
    assert b"[x] sweep" in (tmp_path / "TODO.md").read_bytes()
    assert (tmp_path / ARCHIVE_NAME).read_bytes() == b"new"


def test_a_list_may_be_named_and_must_be_there(store: Store, tmp_path: Path) -> None:
    other = tmp_path / "plan.txt"
    other.write_bytes(b"- [x] other\n")
    assert [change.path for change in found(store, tmp_path, other).lists] == [other]
    with pytest.raises(UsageError, match="--tasks-file"):
        found(store, tmp_path, tmp_path / "none.md")


def test_what_is_no_text_is_left_alone(store: Store, tmp_path: Path) -> None:
    (tmp_path / "TODO.md").write_bytes(b"- [x] \xff\n")
    with pytest.raises(StoreError, match="not UTF-8"):
        found(store, tmp_path)
    assert done_tasks.lists_in(tmp_path) == [tmp_path / "TODO.md"]


# Lists: what is done leaves them, and nothing else does

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
        "> - [x] quoted\n\n    - [x] code\n",
        "- [x]no space\n- [y] no box\n[x] no item\n",
        "- [ ] parent\n  - [x] child\n",
        "",
    ],
)
def test_what_is_no_done_task_stays(text: str) -> None:
    assert done_in(text) == (text, ())


def test_a_list_of_open_brackets_takes_no_time() -> None:
    began = time.process_time()
    text = "[a](" * 200_000
    assert done_in(text) == (text, ())
    assert time.process_time() - began < 5


def test_lists_of_windows_keep_their_line_ends() -> None:
    assert done_in("- [x] a\r\n- [ ] b\r\n") == ("- [ ] b\r\n", (Task("a", ("- [x] a",)),))


@given(st.lists(st.tuples(PIECES, st.sampled_from(["\n", "\r\n"])), max_size=25))
def test_no_line_is_lost_and_none_changed(rows: list[tuple[str, str]]) -> None:
    text = "".join(line + end for line, end in rows)
    left, found = done_in(text)
    rows_left = [*left.splitlines(), *(line for task in found for line in task.lines)]
    kept, before = (
        [line.strip() for line in each if line.strip()] for each in (rows_left, text.splitlines())
    )
    assert sorted(kept) == sorted(before)
    assert done_in(left)[0] == left or len(done_in(left)[1]) < len(texts(text)) + 1
    is_code = "```" in text  # there a box is no open task
    assert is_code or all("[ ]" not in line for task in found for line in task.lines)


def section(number: int, session: str = "3fa29c0d11") -> str:
    task = Task(f"task {number}", (f"- [x] task {number}", f"    - detail {number}"), "Work")
    return section_of(task, "TODO.md", session, "2026-11-23")


def test_the_archive_has_the_newest_first_with_session_and_day() -> None:
    text = archived("", [section(1), section(2, session="")])
    lines = text.splitlines()
    assert lines[0] == "# Done tasks"
    heads = [line for line in lines if line.startswith("## ")]
    assert heads[0].startswith("## 2026-11-23, no session: task 2 <!-- done ")
    assert heads[1].startswith("## 2026-11-23, session 3fa29c0d: task 1 <!-- done ")
    assert "From TODO.md, Work." in text and "    - detail 1" in text and OLDER not in text


def test_older_ones_keep_a_line() -> None:
    text = ""
    for number in range(1, 15):
        text = archived(text, [section(number)])
    assert text.count("    - detail ") == DETAILED and "    - detail 5\n" in text
    older = text[text.index(OLDER) :]
    assert [line for line in older.splitlines() if line.startswith("- ")] == [
        f"- 2026-11-23, session 3fa29c0d: task {number}" for number in (4, 3, 2, 1)
    ]
    assert text == archived("", [section(number) for number in range(1, 15)])


def test_what_somebody_wrote_into_the_archive_stays() -> None:
    text = archived("", [section(number) for number in range(1, 11)])
    text = text.replace("    - detail 1\n", "    - detail 1\n    - mine\n").replace(
        "# Done tasks\n", "# Done tasks\n\nMy words.\n"
    )
    text += "\n## My own section\n\nkept\n"
    later = archived(text, [section(number) for number in range(11, 21)])
    assert "My words." in later and "    - mine" in later and "## My own section\n\nkept\n" in later
    assert "    - detail 2\n" not in later and "- 2026-11-23, session 3fa29c0d: task 2\n" in later


def test_an_archive_of_the_users_own_is_added_to() -> None:
    text = archived("# Ours\r\n\r\n- old\r\n", [section(1)])
    assert text.startswith("# Ours\r\n\r\n- old\r\n\r\n## 2026-11-23") and "\n" not in text.replace(
        "\r\n", ""
    )
