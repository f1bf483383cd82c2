"""Tasks that are done go to the archive; where somebody changed a list meanwhile, nothing is lost or doubled."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from gardener.test_account import chat

from aider_gardener.archive.store import Store, open_store
from aider_gardener.errors import StoreError, UsageError
from aider_gardener.gardener import done_tasks
from aider_gardener.gardener.done_tasks import ARCHIVE_NAME, Moves, apply, moves, noted, told

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


def test_what_is_checked_off_moves_with_its_session_and_day(store: Store, tmp_path: Path) -> None:
    plan = do(store, tmp_path)
    assert (tmp_path / "TODO.md").read_bytes() == b"# Now\r\n\r\n- [ ] paint it\r\n"
    text = (tmp_path / ARCHIVE_NAME).read_text("utf-8")
    assert f"## {DAY}, session aaaa0000: mend the pool <!-- done " in text
    assert f"## {DAY}, session bbbb0000: sweep <!-- done " in text and "From TODO.md, Now." in text
    assert list(told(plan, would=False))[-1].startswith("2 tasks moved to ")
    assert len(noted(store, str(tmp_path))) == 2


def test_looking_changes_nothing(store: Store, tmp_path: Path) -> None:
    before = (tmp_path / "TODO.md").read_bytes()
    assert list(told(found(store, tmp_path), would=True))[-1].startswith("2 tasks would move to ")
    assert (tmp_path / "TODO.md").read_bytes() == before and not (tmp_path / ARCHIVE_NAME).exists()
    assert noted(store, str(tmp_path)) == []


def test_done_twice_is_done_once(store: Store, tmp_path: Path) -> None:
    do(store, tmp_path)
    text = (tmp_path / ARCHIVE_NAME).read_bytes()
    assert list(told(do(store, tmp_path), would=False)) == ["Nothing is checked off."]
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
    assert noted(store, str(tmp_path)) == []
    do(store, tmp_path)
    assert todo.read_bytes().endswith(b"- [ ] paint it\r\n- [ ] the user's\n")


def test_an_archive_that_was_changed_meanwhile_leaves_the_lists(store: Store, tmp_path: Path) -> None:
    plan = found(store, tmp_path)
    (tmp_path / ARCHIVE_NAME).write_bytes(b"new")
    with pytest.raises(StoreError, match="TASK_ARCHIVE"):
        apply(store, str(tmp_path), plan)
    assert b"[x] sweep" in (tmp_path / "TODO.md").read_bytes()
    assert (tmp_path / ARCHIVE_NAME).read_bytes() == b"new"


def test_a_list_of_the_chat_is_followed_once(tmp_path: Path) -> None:
    store = open_store(None)
    name = str(tmp_path)
    chat(store, "plan it", "- [ ] read\n- [ ] write\n", session="aaaa0000", at=AT - 90_000, project=name)
    chat(store, "and?", "- [x] read\n- [ ] write\n", session="bbbb0000", at=AT - 50_000, project=name)
    plan = do(store, tmp_path)
    assert [(each.task.text, each.origin, each.session) for each in plan.done] == [
        ("read", "the chat", "bbbb0000")
    ]
    assert "From the chat." in (tmp_path / ARCHIVE_NAME).read_text("utf-8")
    assert do(store, tmp_path).done == ()
    chat(store, "so", "- [x] write", session="cccc0000", at=AT, project=name)
    assert [each.task.text for each in do(store, tmp_path).done] == ["write"]


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
