"""The index of sessions by itself: when it is written, who is left alone, and that no fault reaches the chat."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from gardener.test_account import chat
from gardener.test_learnt import SAID
from made_entries import message

from aider_gardener import files as archive_files
from aider_gardener.archive.store import Store, open_store
from aider_gardener.gardener import files, upkeep
from aider_gardener.gardener.files import index_path, is_as_made, is_behind, renew_index, write_index
from aider_gardener.gardener.gardener import Gardener
from aider_gardener.gardener.upkeep import Upkeep, upkeep_for

HELD = """
import sys, time
from pathlib import Path
sys.path[:0] = {path!r}
from gardener.test_account import chat
from aider_gardener.archive.store import open_store
chat(open_store(Path({directory!r})), "said by another", "Yes.", session="bbbb", at=2_000.0)
print("said", flush=True)
time.sleep(60)
"""


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    made = open_store(tmp_path / "archive")
    yield made
    made.close()


def begun(gardener: Gardener) -> Upkeep:
    """The upkeep of a chat of a project that has an index."""
    return Upkeep(gardener.state, keeps_index=True)


def is_renewed(gardener: Gardener) -> bool:
    return begun(gardener).round()


def more(gardener: Gardener, *said: str) -> None:
    """Say more in a chat."""
    new = (message("assistant" if n % 2 else "user", text) for n, text in enumerate(said))
    gardener.enter_turn()
    gardener.sync([*gardener.state.chat.pieces, *new], [])
    gardener.leave_turn()


def text_of(store: Store) -> str:
    return index_path(store).read_text("utf-8")


def test_without_an_index_none_is_begun(store: Store) -> None:
    gardener = chat(store, "hello there", "Hi.")
    assert not upkeep_for(gardener.state, None).keeps_index
    write_index(store, "p")
    assert upkeep_for(gardener.state, None).keeps_index
    assert not upkeep_for(chat(open_store(None)).state, None).keeps_index


def test_at_the_start_it_is_due_only_if_a_session_is_not_in_it_as_it_ended(store: Store) -> None:
    older = chat(store, "the older chat", "Yes.", session="aaaa", at=1_000.0)
    assert is_renewed(chat(store, "hello", "Hi.", session="cccc", at=3_000.0))
    assert "the older chat" in text_of(store)
    assert not is_behind(store, "p", "cccc")
    assert not is_renewed(chat(store, "hi", "Hi.", session="cccc", at=3_000.0))
    more(older, "but it went on", "Yes.")
    assert is_behind(store, "p", "cccc")
    assert is_renewed(chat(store, "hi", "Hi.", session="dddd", at=4_000.0))
    assert "but it went on" in text_of(store)


def test_of_what_the_index_has_no_room_for_nothing_is_missing(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "INDEX_SESSIONS", 2)
    for number in range(5):
        chat(store, f"chat {number}", "Yes.", session=f"a{number}", at=1_000.0 + number * 100)
    assert is_renewed(chat(store, "hello", "Hi.", session="b", at=2_000.0)) and files.OLDER in text_of(store)
    assert not is_behind(store, "p", "b") and not is_behind(store, "p", "another")
    chat(store, "one more", "Yes.", session="c", at=3_000.0)
    assert is_behind(store, "p", "another")


def test_a_chat_that_goes_on_is_left_alone_and_one_that_was_killed_is_listed(store: Store) -> None:
    code = HELD.format(path=[str(Path(__file__).parent.parent)], directory=str(store.directory))
    other = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    try:
        assert other.stdout is not None and other.stdout.readline() == "said\n"
        gardener = chat(store, "hello", "Hi.", session="cccc", at=3_000.0)
        assert not is_renewed(gardener)
        other.send_signal(signal.SIGTERM if sys.platform == "win32" else signal.SIGKILL)
        other.wait(20)
    finally:
        other.kill()
        other.wait(20)
        other.stdout.close()
    assert is_renewed(gardener) and "said by another" in text_of(store)


def test_the_end_writes_it_unless_nothing_was_said_since(store: Store) -> None:
    gardener = chat(store, "hello there", "Hi.")
    kept = begun(gardener)
    kept.index_at_end()
    assert "hello there" in text_of(store)
    index_path(store).unlink()
    kept.index_at_end()
    assert not index_path(store).exists()
    more(gardener, "and more", "Yes.")
    kept.index_at_end()
    assert "and more" in text_of(store) and gardener.state.pending_lines == []


def test_the_end_waits_so_long_and_no_longer(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    gardener = chat(store, "hello there", "Hi.")
    monkeypatch.setattr(upkeep, "EXIT_SECONDS", 0.0)
    begun(gardener).index_at_end()
    assert not index_path(store).exists()
    assert [line for line in gardener.state.pending_lines if "the next chat writes it" in line]
    assert is_behind(store, "p", "another")


def test_a_turn_that_begins_puts_it_off_until_the_next_round(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(5):
        chat(store, f"chat {number}", "Yes.", session=f"a{number}", at=1_000.0 + number)
    gardener, read, entries = chat(store, "hello", "Hi.", session="b", at=2_000.0), [], store.session_entries

    def interrupted(session: str) -> object:
        read.append(session)
        if len(read) == 2:
            gardener.enter_turn()
        return entries(session)

    monkeypatch.setattr(store, "session_entries", interrupted)
    kept = begun(gardener)
    assert not kept.round() and len(read) == 2 and not index_path(store).exists()
    gardener.leave_turn()
    assert kept.round() and "chat 0" in text_of(store) and gardener.state.pending_lines == []
    assert not kept.round()


@pytest.mark.parametrize("theirs", ["mine", "{made}and a line of mine\n"])
def test_what_somebody_else_wrote_is_never_written_over_and_told_once(store: Store, theirs: str) -> None:
    chat(store, "the older chat", "Yes.", session="aaaa")
    gardener = chat(store, "hello there", "Hi.", session="b", at=2_000.0)
    write_index(store, "p")
    held = theirs.replace("{made}", text_of(store)).encode()
    index_path(store).write_bytes(held)
    chat(store, "one more", "Yes.", session="c", at=1_500.0)
    kept = begun(gardener)
    assert not kept.round() and not kept.round()
    kept.index_at_end()
    assert index_path(store).read_bytes() == held
    (line,) = gardener.state.pending_lines
    assert str(index_path(store)) in line and "\n" not in line
    if held != b"mine":
        renew_index(store, "p")  # asked for, as `gardener forget` does: what was deleted may not stay
        assert is_as_made(index_path(store).read_bytes())


def test_somebody_who_writes_while_it_is_made_wins(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    gardener, entries = chat(store, "hello", "Hi."), store.session_entries

    def write(session: str) -> object:
        index_path(store).write_text("mine")
        return entries(session)

    monkeypatch.setattr(store, "session_entries", write)
    begun(gardener).index_at_end()
    assert index_path(store).read_text() == "mine" and len(gardener.state.pending_lines) == 1


def test_a_directory_that_is_read_only_costs_a_line(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Played by the call that opens a file to write: root may write anywhere."""

    def refuse(path: Path) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(archive_files, "open_private", refuse)
    chat(store, "the older chat", "Yes.", session="aaaa")
    gardener = chat(store, "hello there", "Hi.", session="b", at=2_000.0)
    kept = begun(gardener)
    assert not kept.round()
    kept.index_at_end()
    (line,) = gardener.state.pending_lines
    assert "cannot be written (Permission denied)" in line


def test_whatever_fails_reaches_no_chat(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("a fault of ours")

    monkeypatch.setattr(upkeep, "write_index", broken)
    chat(store, "the older chat", "Yes.", session="aaaa")
    gardener = chat(store, "hello there", "Hi.", session="b", at=2_000.0)
    kept = begun(gardener)
    assert not kept.round() and not kept.round()
    kept.index_at_end()
    assert gardener.state.pending_lines == ["the index of sessions is left as it is: ZeroDivisionError"]


def test_two_chats_that_end_at_once_leave_a_whole_index(tmp_path: Path) -> None:
    stores = [open_store(tmp_path / "archive") for _ in range(2)]
    chats = [
        chat(each, f"chat of {name}", "Yes.", session=name * 4, at=at)
        for each, name, at in zip(stores, "ab", (1_000.0, 2_000.0), strict=True)
    ]
    with ThreadPoolExecutor(2) as threads:
        for _ in range(8):
            list(threads.map(lambda each: begun(each).index_at_end(), chats))
            assert is_as_made(index_path(stores[0]).read_bytes())
    assert [each.state.pending_lines for each in chats] == [[], []]
    assert "chat of a" in text_of(stores[0]) and "chat of b" in text_of(stores[0])
    assert not list((tmp_path / "archive").glob("*.part"))
    for each in stores:
        each.close()


def test_new_observations_are_told_once_in_all_chats(store: Store) -> None:
    for number, text in enumerate(SAID):
        chat(store, text, "Fine.", session=f"s{number}", at=1_000.0 + number)
    first = chat(store, "hello", "Hi.", session="a", at=2_000.0)
    begun(first).round()
    assert first.state.pending_lines == ["1 observation waits: /gardener observations"]
    second = chat(store, "hello", "Hi.", session="b", at=3_000.0)
    begun(second).round()
    assert second.state.pending_lines == []
    for number in range(3):
        chat(store, "always use tabs in Makefiles", "Fine.", session=f"t{number}", at=4_000.0 + number)
        chat(store, "never log passwords", "Fine.", session=f"u{number}", at=4_000.0 + number)
    third = chat(store, "hello", "Hi.", session="c", at=5_000.0)
    begun(third).round()
    assert third.state.pending_lines == ["2 observations wait: /gardener observations"]
