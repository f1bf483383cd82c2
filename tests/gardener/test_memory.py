"""The archive of a project for agents that keep their chats themselves."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import cycle
from threading import Barrier, BrokenBarrierError
from types import SimpleNamespace
from typing import Any

import pytest

from aider_gardener.archive.archive import Archive
from aider_gardener.archive.store import Store, open_store
from aider_gardener.errors import UsageError
from aider_gardener.gardener.memory import KINDS, ProjectMemory
from aider_gardener.messages import Focus, Message, Source, SourceKind
from aider_gardener.notes.last_chat import state_of_last
from aider_gardener.settings import Settings
from aider_gardener.tokens import approximate

PROJECT = "/project"
FACT = "Never use the port 8080, our queue listens on 9317."


@pytest.fixture
def store() -> Iterator[Store]:
    store = open_store(None)
    yield store
    store.close()


def memory(store: Store, **more: str) -> ProjectMemory:
    return ProjectMemory(store, PROJECT, settings=Settings(), **more)  # type: ignore[arg-type]


def say(
    store: Store,
    session: str,
    text: str,
    *,
    at: float = 1e9,
    host: str = "aider",
    turn: int = 1,
    source: Source | None = None,
) -> str:
    archive = Archive(
        store, session=session, project=PROJECT, count=approximate, clock=lambda: at, host=host, live=False
    )
    archive.provider = "openai"
    return archive.add(Message("user", text), turn=turn, seq=turn, focus=Focus(), source=source).id


def test_recall_names_the_host_where_it_is_another_one(store: Store) -> None:
    say(store, "one", FACT)
    say(store, "two", "The queue has 4 workers.", host="Claude Code")
    found = memory(store, host="Claude Code").recall("queue")
    assert {item.text: item.host for item in found} == {FACT: "aider", "The queue has 4 workers.": ""}


def test_nothing_is_embedded_while_a_recall_is_waited_for(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    say(store, "one", FACT)
    asking, told = memory(store), list[str]()
    asking.archive.backlog = SimpleNamespace(  # type: ignore[assignment]  # reason: only these are called
        pause=lambda: told.append("pause"), resume=lambda: told.append("resume")
    )
    monkeypatch.setattr(
        "aider_gardener.gardener.memory.recall_counted", lambda *_asked: told.append("find") or []
    )
    assert asking.recall("queue") == []
    assert told == ["pause", "find", "resume"]


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_kept_is_no_chat_and_can_be_recalled(store: Store, kind: str) -> None:
    one = memory(store, host="codex")
    entry = one.remember("The staging host is k7.", kind)
    assert (entry.source.kind, entry.source.detail) == (SourceKind.REMEMBERED, kind)
    with pytest.raises(UsageError, match="no chat"):
        one.timeline()
    (found,) = memory(store).recall("staging host")
    assert (found.label, found.host) == (f"an agent's note ({kind})", "codex")


def test_what_is_kept_at_once_stands_in_one_session(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    one, calls = memory(store), Barrier(4)

    def slow(*given: Any, **more: Any) -> Archive:
        with suppress(BrokenBarrierError):
            calls.wait(0.3)  # as many as come at once are here at once
        return Archive(*given, **more)

    monkeypatch.setattr("aider_gardener.gardener.memory.Archive", slow)
    with ThreadPoolExecutor(8) as threads:
        kept = list(threads.map(one.remember, (f"The host is k{n}." for n in range(24)), cycle(KINDS)))
    assert len({entry.session for entry in kept}) == 1
    assert sorted(entry.turn for entry in kept) == list(range(1, 25))


def test_the_state_is_that_of_the_last_chat_of_which_anything_may_be_told(store: Store) -> None:
    say(store, "one", FACT, at=1e9)
    say(store, "two", "Hello.", at=2e9)

    def state(session: str = "new", host: str = "aider", *, everywhere: bool = True) -> str:
        archive = Archive(
            store,
            session=session,
            project=PROJECT,
            count=approximate,
            clock=lambda: 3e9,
            host=host,
            live=False,
        )
        archive.provider = "remote"
        return state_of_last(archive, token_limit=400, everywhere=everywhere)

    assert FACT in state() and "in aider" in state(host="Claude Code") and "in aider" not in state()
    assert state(host="Claude Code", everywhere=False) == "" == state("one")


def test_the_pressure_of_a_chat_that_its_host_tends_is_that_of_its_last_prompt(store: Store) -> None:
    say(store, "one", FACT, host="Claude Code")
    store.set_state("one", "frame", '{"window": 1000, "parts": {"prompt": 800}, "model": "claude"}')
    found = memory(store).pressure()
    assert (found["used"], found["available"], found["level"]) == (800, 200, "WARNING")
    assert found["host"] == "Claude Code" and found["recommendation"].startswith("The window fills up")
