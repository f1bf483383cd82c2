"""What is to be sent is read in order, in bounded batches, and only of what may leave the machine."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from shared_archives import Machine, chunks, entry

from aider_gardener.archive.shared import outbox
from aider_gardener.archive.store import open_store, shares
from aider_gardener.archive.store.shares import Share
from aider_gardener.archive.store.sqlite import SqliteStore
from aider_gardener.messages import entry_id

SHARE = Share("/projects/pump", "ana/pump", 1, "server", "ana", True, "machine")


@pytest.fixture
def one(tmp_path: object) -> Machine:
    store = open_store(None)
    assert isinstance(store, SqliteStore)
    store.database.write(lambda db: shares.keep(db, SHARE))
    return Machine(store, {})


def batch(one: Machine, share: Share = SHARE, rows: int = 500) -> outbox.Batch:
    return one.store.database.read(lambda db: outbox.batch(db, share, rows=rows))


def test_batches_follow_each_other_until_nothing_is_left(one: Machine) -> None:
    one.say(*(f"message {n}" for n in range(5)))
    first = batch(one, rows=2)
    second = batch(one, replace(SHARE, sent=first.upto), rows=2)
    third = batch(one, replace(SHARE, sent=second.upto), rows=2)
    assert [len(each.said) for each in (first, second, third)] == [2, 2, 1]
    assert [each.more for each in (first, second, third)] == [True, True, False]
    assert [json.loads(each.entry_line)["content"] for each in first.said] == ["message 0", "message 1"]


def test_what_stays_here_is_passed_over_for_good(one: Machine) -> None:
    one.say("to llama", provider="ollama")
    found = batch(one)
    assert (found.said, found.upto, found.more) == ((), 1, False)


def test_neither_path_nor_marks_nor_short_forms_are_sent(one: Machine) -> None:
    (said,) = one.say("the gasket leaks")
    one.store.pin(said, True)
    one.store.touch([said], 99.0)
    (found,) = batch(one).said
    line = json.loads(found.entry_line)
    assert (line["pinned"], line["access_count"], line["accessed_at"], line["renditions"]) == (0, 0, 0.0, [])
    assert "/projects/pump" not in found.session_line + found.entry_line + found.occurrence_line


def test_what_is_not_as_it_was_stored_is_left_out(one: Machine) -> None:
    one.say("sound", "altered")
    one.store.database.write(lambda db: db.execute("UPDATE bodies SET body = x'00' WHERE original = 2"))
    assert [json.loads(each.entry_line)["content"] for each in batch(one).said] == ["sound"]


def test_words_are_those_of_the_archive_within_bounds() -> None:
    assert set(outbox.indexed("getUserName(\0) Größe")) >= {"user", "name", "getusername", "grosse"}
    assert outbox.indexed("w" * 100_000) == () or len(outbox.indexed("w" * 100_000)[0]) <= outbox.WORD_BYTES
    many = outbox.indexed(" ".join(f"word{n}x" for n in range(300_000)))
    assert sum(map(len, many)) <= outbox.WORDS_BYTES


def test_vectors_wait_for_their_text_and_never_leave_without_it(one: Machine) -> None:
    texts = ("sent before", "to llama", "not sent yet")
    for text, provider in zip(texts, ("openai", "ollama", "openai"), strict=True):
        one.say(text, provider=provider)
    pending = one.store.vectors_pending(10, "e")
    vector = np.array([0.6, 0.8], dtype=np.float32)
    one.store.put_vectors([(each, vector) for each in sorted(pending, key=lambda each: each.number)], "e")
    share = replace(SHARE, sent=2)
    found, upto = one.store.database.read(lambda db: outbox.vectors(db, share))
    assert [(each.start, each.end, each.embedder) for each in found] == [(0, len("sent before"), "e")]
    assert found[0].values == pytest.approx((0.6, 0.8), abs=2e-3)
    share = replace(share, sent=3, vectors_sent=upto)
    found, upto = one.store.database.read(lambda db: outbox.vectors(db, share))
    assert [each.end for each in found] == [len("not sent yet")]
    share = replace(share, vectors_sent=upto)
    assert one.store.database.read(lambda db: outbox.vectors(db, share)) == ([], upto)


def test_what_was_fetched_is_not_sent_back(one: Machine) -> None:
    one.store.open_session("shared:bob:s", project="/projects/pump", started_at=1.0)
    text = "of bob's"
    one.store.add(entry(text, "shared:bob:s", 0, "openai", 1.0), chunks=chunks(text))
    assert batch(one).said == () and entry_id("user", text)


def test_what_waits_is_counted(one: Machine) -> None:
    said, _, _ = one.say("one", "two", "three")
    one.say("to llama", provider="ollama")
    one.store.forget([said])
    assert one.store.database.read(lambda db: outbox.waiting(db, SHARE)) == (2, 1)
