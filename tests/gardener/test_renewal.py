"""The index of sessions by itself: when it is due, who is left alone, and that no fault reaches the chat."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from gardener.test_account import chat
from gardener.test_learnt import SAID
from made_entries import message

from aider_gardener.archive.store import Store, open_store, writing
from aider_gardener.gardener import pages, renewal
from aider_gardener.gardener.files import index_path, renew_index
from aider_gardener.gardener.gardener import Gardener
from aider_gardener.gardener.pace import PutOff
from aider_gardener.gardener.pages import is_as_made
from aider_gardener.gardener.renewal import TOKENS, Renewal, is_behind, said_since
from aider_gardener.gardener.upkeep import Upkeep

MUCH = "word " * TOKENS
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


def round_of(upkeep: Renewal, gardener: Gardener) -> bool:
    return upkeep.round(gardener.state, lambda: None)


def more(gardener: Gardener, *said: str) -> None:
    """Say more in a chat."""
    before = [piece.message for piece in gardener.state.chat.pieces]
    gardener.enter_turn()
    gardener.sync([*before, *(message("assistant" if n % 2 else "user", t) for n, t in enumerate(said))], [])
    gardener.leave_turn()


def text_of(store: Store) -> str:
    return index_path(store).read_text("utf-8")


def test_it_is_due_again_whenever_so_much_was_said(store: Store) -> None:
    upkeep, gardener = Renewal(), chat(store, "hello there", "Hi.")
    assert not round_of(upkeep, gardener) and not index_path(store).exists()
    more(gardener, "tell me all", MUCH)
    assert round_of(upkeep, gardener) and "tell me all" in text_of(store)
    assert said_since(gardener.state, upkeep.seq) == 0 and not round_of(upkeep, gardener)
    more(gardener, "and a little more", "Yes.")
    assert not round_of(upkeep, gardener) and "a little more" not in text_of(store)
    more(gardener, "and much more", MUCH + "again")
    assert round_of(upkeep, gardener) and "and much more" in text_of(store)


def test_at_the_start_it_is_due_only_if_a_session_is_not_in_it_as_it_ended(store: Store) -> None:
    older = chat(store, "the older chat", "Yes.", session="aaaa", at=1_000.0)
    assert round_of(Renewal(), chat(store, "hello", "Hi.", session="cccc", at=3_000.0))
    assert "the older chat" in text_of(store)
    assert not is_behind(store, "p", "cccc")
    assert not round_of(Renewal(), chat(store, "hi", "Hi.", session="cccc", at=3_000.0))
    more(older, "but it went on", "Yes.")
    assert is_behind(store, "p", "cccc")
    assert round_of(Renewal(), chat(store, "hi", "Hi.", session="dddd", at=4_000.0))
    assert "but it went on" in text_of(store)


def test_of_what_the_index_has_no_room_for_nothing_is_missing(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "INDEX_SESSIONS", 2)
    for number in range(5):
        chat(store, f"chat {number}", "Yes.", session=f"a{number}", at=1_000.0 + number * 100)
    last = chat(store, "hello", "Hi.", session="b", at=2_000.0)
    assert round_of(Renewal(), last) and pages.OLDER in text_of(store)
    assert not is_behind(store, "p", "b") and not is_behind(store, "p", "another")
    chat(store, "one more", "Yes.", session="c", at=3_000.0)
    assert is_behind(store, "p", "another")


def test_a_chat_that_goes_on_is_left_alone_and_one_that_was_killed_is_listed(store: Store) -> None:
    code = HELD.format(path=[str(Path(__file__).parent.parent)], directory=str(store.directory))
    other = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    try:
        assert other.stdout is not None and other.stdout.readline() == "said\n"
        gardener = chat(store, "hello", "Hi.", session="cccc", at=3_000.0)
        assert not round_of(Renewal(), gardener)
        other.send_signal(signal.SIGTERM if sys.platform == "win32" else signal.SIGKILL)
        other.wait(20)
    finally:
        other.kill()
        other.wait(20)
        other.stdout.close()
    assert round_of(Renewal(), gardener) and "said by another" in text_of(store)


def test_the_end_writes_it_unless_nothing_was_said_since(store: Store) -> None:
    upkeep, gardener = Renewal(), chat(store, "hello there", "Hi.")
    upkeep.at_end(gardener.state)
    assert "hello there" in text_of(store)
    index_path(store).unlink()
    upkeep.at_end(gardener.state)
    assert not index_path(store).exists()
    Renewal().at_end(chat(open_store(None)).state)
    assert gardener.state.untold == []


def test_the_end_waits_so_long_and_no_longer(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    gardener = chat(store, "hello there", "Hi.")
    monkeypatch.setattr(renewal, "EXIT_SECONDS", 0.0)
    Renewal().at_end(gardener.state)
    assert not index_path(store).exists()
    assert [line for line in gardener.state.untold if "the next chat writes it" in line]
    assert is_behind(store, "p", "another")


def test_a_turn_that_begins_puts_it_off_until_the_next_round(store: Store) -> None:
    for number in range(3):
        chat(store, f"chat {number}", "Yes.", session=f"a{number}", at=1_000.0 + number)
    upkeep, gardener = Renewal(), chat(store, "hello", "Hi.", session="b", at=2_000.0)
    steps = iter(range(2))

    def pace() -> None:
        if next(steps, None) is None:
            raise PutOff("a turn began")

    assert not upkeep.round(gardener.state, pace) and not index_path(store).exists()
    assert round_of(upkeep, gardener) and "chat 0" in text_of(store) and gardener.state.untold == []


def test_the_loop_stops_reading_sessions_as_soon_as_a_turn_begins(store: Store) -> None:
    for number in range(5):
        chat(store, f"chat {number}", "Yes.", session=f"a{number}", at=1_000.0 + number)
    gardener = chat(store, "hello", "Hi.", session="b", at=2_000.0)
    loop = Upkeep(gardener.state, renewal=Renewal())
    loop._rest = lambda seconds: gardener.enter_turn()  # type: ignore[method-assign]  # reason: a turn begins
    assert not loop.round().renewed and not index_path(store).exists()
    gardener.leave_turn()
    assert Upkeep(gardener.state, renewal=loop.renewal).round().renewed


@pytest.mark.parametrize("theirs", ["mine", "{made}and a line of mine\n"])
def test_what_somebody_else_wrote_is_never_written_over_and_told_once(store: Store, theirs: str) -> None:
    upkeep, gardener = Renewal(), chat(store, "hello there", MUCH)
    assert round_of(upkeep, gardener)
    held = theirs.replace("{made}", text_of(store)).encode()
    index_path(store).write_bytes(held)
    for number in range(3):
        more(gardener, f"more {number}", MUCH + str(number))
        assert not round_of(upkeep, gardener)
    upkeep.at_end(gardener.state)
    assert index_path(store).read_bytes() == held
    (line,) = gardener.state.untold
    assert str(index_path(store)) in line and "\n" not in line
    if held != b"mine":
        renew_index(store, "p")  # asked for, as `gardener forget` does: what was deleted may not stay
        assert is_as_made(index_path(store).read_bytes())


def test_somebody_who_writes_while_it_is_made_wins(store: Store) -> None:
    chat(store, "hello there", "Yes.", session="a")
    gardener = chat(store, "hello", "Hi.", session="b", at=2_000.0)
    Renewal().round(gardener.state, lambda: index_path(store).write_text("mine") and None)
    assert index_path(store).read_text() == "mine" and len(gardener.state.untold) == 1


def test_a_directory_that_is_read_only_costs_a_line(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Played by the call that opens a file to write: root may write anywhere."""

    def refuse(path: Path) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(writing, "open_private", refuse)
    upkeep, gardener = Renewal(), chat(store, "hello there", MUCH)
    for number in range(3):
        assert not round_of(upkeep, gardener)
        more(gardener, f"more {number}", MUCH + str(number))
    upkeep.at_end(gardener.state)
    (line,) = gardener.state.untold
    assert "cannot be written (Permission denied)" in line


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere")
def test_a_directory_that_really_is(store: Store) -> None:
    gardener = chat(store, "hello there", MUCH)
    assert store.directory is not None
    store.directory.chmod(0o500)
    try:
        assert not round_of(Renewal(), gardener) and len(gardener.state.untold) == 1
    finally:
        store.directory.chmod(0o700)


def test_whatever_fails_reaches_no_chat(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("a fault of ours")

    monkeypatch.setattr(renewal, "renew_unasked", broken)
    upkeep, gardener = Renewal(), chat(store, "hello there", MUCH)
    assert not round_of(upkeep, gardener) and not round_of(upkeep, gardener)
    upkeep.at_end(gardener.state)
    assert gardener.state.untold == ["the index of sessions is left as it is: ZeroDivisionError"]


def test_two_chats_at_once_write_whole_indexes_that_hold_both(tmp_path: Path) -> None:
    stores = [open_store(tmp_path / "archive") for _ in range(2)]
    chats = [
        chat(each, f"chat of {name}", "Yes.", session=name * 4, at=at)
        for each, name, at in zip(stores, "ab", (1_000.0, 2_000.0), strict=True)
    ]
    upkeeps, over = [Renewal(), Renewal()], threading.Event()
    torn: list[bytes] = []

    def go_on(number: int) -> None:
        for turn in range(8):
            more(chats[number], f"turn {turn} of {number}", f"{number} {turn} {MUCH}")
            upkeeps[number].round(chats[number].state, lambda: None)
        upkeeps[number].at_end(chats[number].state)

    def watch() -> None:
        while not over.is_set():
            held = index_path(stores[0]).read_bytes() if index_path(stores[0]).exists() else b""
            if held and not is_as_made(held):
                torn.append(held)
            time.sleep(0.001)

    with ThreadPoolExecutor(3) as threads:
        watched = threads.submit(watch)
        list(threads.map(go_on, range(2)))
        over.set()
        watched.result()
    assert torn == [] and [each.state.untold for each in chats] == [[], []]
    renewed = Renewal()
    last = chat(stores[0], "hello", "Hi.", session="cccc", at=3_000.0)
    renewed.round(last.state, lambda: None)
    assert "chat of a" in text_of(stores[0]) and "chat of b" in text_of(stores[0])
    assert not is_behind(stores[0], "p", "cccc")
    assert not list((tmp_path / "archive").glob("*.part"))
    for each in stores:
        each.close()


def test_new_observations_are_told_once_in_all_chats(store: Store) -> None:
    for number, text in enumerate(SAID):
        chat(store, text, "Fine.", session=f"s{number}", at=1_000.0 + number)
    first = chat(store, "hello", "Hi.", session="a", at=2_000.0)
    upkeep = Renewal()
    round_of(upkeep, first)
    assert first.state.untold == ["1 observation waits: /gardener observations"]
    more(first, "go on", MUCH)
    assert round_of(upkeep, first) and len(first.state.untold) == 1
    second = chat(store, "hello", "Hi.", session="b", at=3_000.0)
    round_of(Renewal(), second)
    assert second.state.untold == []
    for number in range(3):
        chat(store, "always use tabs in Makefiles", "Fine.", session=f"t{number}", at=4_000.0 + number)
        chat(store, "never log passwords", "Fine.", session=f"u{number}", at=4_000.0 + number)
    third = chat(store, "hello", "Hi.", session="c", at=5_000.0)
    round_of(Renewal(), third)
    assert third.state.untold == ["2 observations wait: /gardener observations"]


def test_an_archive_in_memory_has_no_index(store: Store) -> None:
    memory = open_store(None)
    chat(memory, "the first", "Yes.", session="a")
    gardener = chat(memory, "hello", "Hi.", session="b", at=2_000.0)
    assert not round_of(Renewal(), gardener) and "in no directory" in gardener.state.untold[0]
