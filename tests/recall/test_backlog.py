"""The backlog: vectors come between turns, a turn waits for nothing, and trouble costs one notice."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
from made_lines import put
from made_search import found, rows_in
from made_vectors import LetterCounts

from aider_gardener.archive.store import Store, open_store
from aider_gardener.errors import StoreError
from aider_gardener.recall.backlog import FETCH, WRITE, Backlog
from aider_gardener.recall.embed import Embedder, EmbedderError, Load

LONG_SECONDS = 120.0
"""What happens at all happens within so long, however busy the machine is."""


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + LONG_SECONDS
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.002)


def loading(embedder: LetterCounts) -> Load:
    def load() -> Embedder:
        embedder.load()
        return embedder

    return load


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    found = open_store(tmp_path)
    yield found
    found.close()


@pytest.fixture
def embedder() -> LetterCounts:
    return LetterCounts()


def wanted(store: Store, embedder: LetterCounts, **options: Any) -> Backlog:
    """A backlog that was told that questions are likely."""
    found = Backlog(store, load=loading(embedder), **options)
    found.want()
    return found


@pytest.fixture
def backlog(store: Store, embedder: LetterCounts) -> Iterator[Backlog]:
    found = wanted(store, embedder)
    yield found
    embedder.gate.set()
    found.stop()


@pytest.mark.parametrize("asked", ["want", "query_vector"])
def test_the_model_waits_until_it_is_wanted(asked: str, store: Store, embedder: LetterCounts) -> None:
    put(store, "a text", seq=0)
    backlog = Backlog(store, load=loading(embedder))
    backlog.resume()
    until(lambda: not backlog._work)
    assert embedder.loads == 0 and len(store.vectors_pending(9, "letters")) == 1
    getattr(backlog, asked)(*(["what?"] if asked == "query_vector" else []))
    until(lambda: not store.vectors_pending(9, "letters"))
    backlog.stop()


def test_it_rests_during_a_turn_and_goes_on_after_it(
    backlog: Backlog, store: Store, embedder: LetterCounts
) -> None:
    for n in range(3 * WRITE):
        put(store, f"text {n}", seq=n)
    embedder.gate.clear()
    backlog.resume()
    until(lambda: embedder.loads == 1)
    backlog.pause()
    embedder.gate.set()
    put(store, "said during the turn", seq=500)
    until(lambda: rows_in(store, "vectors") == len(embedder.embedded))
    time.sleep(0.05)
    assert len(embedder.embedded) <= WRITE, "at most what was under way"
    backlog.resume()
    until(lambda: rows_in(store, "vectors") == 3 * WRITE + 1)
    assert store.vectors_pending(9, "letters") == []


def test_two_chats_pause_one_backlog(backlog: Backlog, store: Store) -> None:
    put(store, "a text", seq=0)
    backlog.pause()
    backlog.resume()
    time.sleep(0.05)
    assert rows_in(store, "vectors") == 0
    backlog.resume()
    until(lambda: rows_in(store, "vectors") == 1)
    backlog.resume()
    backlog.pause()
    put(store, "another", seq=1)
    time.sleep(0.05)
    assert rows_in(store, "vectors") == 1


def test_it_rests_as_long_as_it_works(store: Store) -> None:
    class Working(LetterCounts):
        def embed(self, texts: Sequence[str]) -> Any:
            until_worked = time.thread_time() + 0.1
            while time.thread_time() < until_worked:
                continue
            ended.append(time.monotonic())
            return super().embed(texts)

    ended: list[float] = []
    backlog = wanted(store, Working())
    for n in range(3 * WRITE):
        put(store, f"text {n}", seq=n)
    backlog.resume()
    until(lambda: rows_in(store, "vectors") == 3 * WRITE)
    assert ended[-1] - ended[0] >= 2 * 2 * 0.1
    backlog.stop()


def test_draining_needs_no_thread_and_is_the_same_twice(tmp_path: Path) -> None:
    runs = []
    for name in ("one", "two"):
        store, embedder = open_store(tmp_path / name), LetterCounts()
        for n in range(FETCH + 40):
            put(store, f"text {n % 290}", seq=n)
        backlog = Backlog(store, load=loading(embedder), background=False)
        backlog.resume()
        assert backlog.drain(limit=7) == 7
        assert backlog.drain() == 283 and backlog.drain() == 0
        vector = backlog.query_vector("text 5")
        found = store.similarities(vector, embedder="letters", chunks=np.arange(1, 291))
        runs.append((embedder.embedded, found.tolist()))
        backlog.stop()
        store.close()
    assert runs[0] == runs[1] and max(runs[0][1]) > 0.99
    assert not [each for each in threading.enumerate() if each.name == "gardener-backlog"]


def test_a_question_loads_the_model_and_waits_for_neither_longer_than_a_turn_may(
    store: Store, embedder: LetterCounts
) -> None:
    embedder.gate.clear()
    backlog = Backlog(store, load=loading(embedder))
    assert backlog.query_vector("a question") is None
    until(lambda: backlog.embedder_name == "letters")
    assert backlog.query_vector("slow") is None
    embedder.gate.set()
    embedder.question_seconds = LONG_SECONDS  # type: ignore[attr-defined]  # reason: it may say that
    found = backlog.query_vector("a question")
    assert found is not None and np.array_equal(found, LetterCounts().embed(["a question"])[0])
    assert embedder.loads == 1
    backlog.stop()


def test_the_model_is_unloaded_when_idle_and_comes_back(store: Store, embedder: LetterCounts) -> None:
    backlog = wanted(store, embedder, idle_seconds=0.05, question_seconds=LONG_SECONDS)
    put(store, "one", seq=0)
    backlog.resume()
    until(lambda: rows_in(store, "vectors") == 1 and not embedder.loaded)
    assert backlog.query_vector("a question") is not None and embedder.loads == 2
    backlog.stop()


def test_a_host_that_has_time_gets_the_vector_though_the_model_is_to_be_loaded(store: Store) -> None:
    class Slow(LetterCounts):
        def load(self) -> None:
            if not self.loaded:
                time.sleep(0.3)
            super().load()

    def asked(seconds: float) -> bool:
        backlog = Backlog(store, load=Slow, question_seconds=seconds)
        try:
            return backlog.query_vector("a question") is not None
        finally:
            backlog.stop()

    assert asked(LONG_SECONDS) and not asked(0.02)


def test_a_model_that_is_asked_stays(
    store: Store, embedder: LetterCounts, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The thread looks every 0.05 s; how long that is since the last question says a clock of the test's."""
    now = [1_000.0]
    clock = SimpleNamespace(monotonic=lambda: now[0], thread_time=time.thread_time)
    monkeypatch.setattr("aider_gardener.recall.backlog.time", clock)
    backlog = wanted(store, embedder, idle_seconds=0.05, question_seconds=LONG_SECONDS)
    backlog.resume()
    for _ in range(4):
        assert backlog.query_vector("a question") is not None
        now[0] += 0.04
        time.sleep(0.1)
    assert embedder.loads == 1
    now[0] += 0.04
    until(lambda: not embedder.loaded)
    backlog.stop()


def test_without_an_embedder_it_says_so_once(store: Store) -> None:
    backlog = Backlog(store, load=Mock(side_effect=EmbedderError("the package x is not installed")))
    put(store, "one", seq=0)
    assert backlog.take_notice() == ""
    backlog.want()
    backlog.resume()
    until(lambda: backlog.off)
    notice = backlog.take_notice()
    assert "full text alone" in notice and "package x" in notice and "\n" not in notice
    assert backlog.drain() == 0 and backlog.query_vector("q") is None and backlog.take_notice() == ""
    backlog.stop()


@pytest.mark.parametrize("by", ["a passage", "a question"])
def test_a_broken_model_ends_it_with_one_notice(by: str, store: Store) -> None:
    backlog = wanted(store, LetterCounts(fail_on="poison"), question_seconds=LONG_SECONDS)
    if by == "a passage":
        put(store, "poison", seq=0)
        backlog.resume()
        until(lambda: backlog.off)
    assert backlog.query_vector("poison") is None and backlog.off
    assert "the model broke" in backlog.take_notice() and backlog.take_notice() == ""
    backlog.stop()
    assert by == "a question" or found(store, "poison")


class Refusing:
    """A store in front of another that refuses vectors as often as it is told."""

    def __init__(self, store: Store, times: int) -> None:
        self.store, self.times = store, times

    def __getattr__(self, name: str) -> Any:
        return getattr(self.store, name)

    def put_vectors(self, items: Any, embedder: str) -> int:
        self.times -= 1
        if self.times >= 0:
            raise StoreError("the archive is locked")
        return self.store.put_vectors(items, embedder)


def test_a_locked_archive_is_tried_again_after_each_turn(store: Store, embedder: LetterCounts) -> None:
    refusing: Any = Refusing(store, 2)
    backlog = wanted(refusing, embedder)
    put(store, "one", seq=0)
    for left in (1, 0):
        backlog.resume()
        until(lambda left=left: refusing.times == left and not backlog._work)  # type: ignore[misc]  # reason: bound at once
        backlog.pause()
    backlog.resume()
    until(lambda: rows_in(store, "vectors") == 1)
    assert not backlog.off
    backlog.stop()


def test_upkeep_runs_once_and_tells_of_it(store: Store, embedder: LetterCounts) -> None:
    runs: list[int] = []

    def upkeep() -> str:
        runs.append(1)
        return "three were pruned"

    backlog = wanted(store, embedder, upkeep=upkeep)
    for _turn in range(2):
        backlog.resume()
        until(lambda: not backlog._work)
        backlog.pause()
    until(lambda: backlog.embedder_name == "letters")
    assert len(runs) == 1 and backlog.take_notice() == "three were pruned"
    backlog.stop()


def test_stopping_is_quick_even_in_the_middle(
    store: Store, embedder: LetterCounts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("aider_gardener.recall.backlog.STOP_SECONDS", 0.05)
    backlog = wanted(store, embedder)
    put(store, "one", seq=0)
    embedder.gate.clear()
    backlog.resume()
    until(lambda: embedder.waits)
    backlog.stop()
    backlog.stop()
    assert backlog._thread is not None and backlog._thread.is_alive(), "it was not waited for"
    assert backlog.take_notice() == ""
    embedder.gate.set()


def test_the_process_ends_cleanly_whatever_the_thread_is_doing(root: Path) -> None:
    """With the real model where it is installed, else with its absence."""
    code = (
        "import sys, time\n"
        f"sys.path[:0] = [{str(root)!r}, {str(root / 'tests')!r}]\n"
        "from aider_gardener.recall.backlog import Backlog\n"
        "from made_lines import put\n"
        "from aider_gardener.archive.store import open_store\n"
        "store = open_store(None)\n"
        "for n in range(300):\n"
        "    put(store, f'{n} some words of a passage to embed ' * 9, seq=n)\n"
        "backlog = Backlog(store)\n"
        "backlog.want()\n"
        "backlog.resume()\n"
        "time.sleep(0.3)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=LONG_SECONDS, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
