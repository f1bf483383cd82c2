"""What every store promises, run against each tier: memory, a file of SQLite's, an encrypted one, lines of JSON,
a PostgreSQL server.

A further tier needs one line in TIERS: how it is opened in a directory.
"""

from __future__ import annotations

import itertools
import json
import tracemalloc
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from made_search import found, rows_in
from made_vectors import LetterCounts
from shared_archives import postgres

from aider_gardener.archive.passages import spans
from aider_gardener.archive.postgres.lines import Address, open_on_server
from aider_gardener.archive.store import Store, open_store, search
from aider_gardener.archive.store.encryption import VARIABLE
from aider_gardener.archive.store.location import prepare_directory
from aider_gardener.archive.store.opening import open_lines
from aider_gardener.archive.store.words import query_words
from aider_gardener.errors import StoreError
from aider_gardener.messages import (
    ContentClass,
    Entry,
    Level,
    Rendition,
    Segment,
    Source,
    SourceKind,
    entry_id,
)
from bench.postgres_server import Server

__all__ = ["postgres"]

SEQS = itertools.count()
ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=200)


def memory(directory: Path, url: str) -> Store:
    return open_store(None, clock=lambda: 1_000.0)


def file(directory: Path, url: str) -> Store:
    return open_store(directory, clock=lambda: 1_000.0)


def encrypted(directory: Path, url: str) -> Store:
    return open_store(directory, clock=lambda: 1_000.0, key_source="env")


def lines(directory: Path, url: str) -> Store:
    return open_lines(prepare_directory(directory), clock=lambda: 1_000.0)


def server(directory: Path, url: str) -> Store:
    return open_on_server(Address(url, directory.as_posix()), create=True, clock=lambda: 1_000.0)


Opener = Callable[[str], Store]
TIERS: dict[str, Callable[[Path, str], Store]] = {
    "memory": memory, "file": file, "encrypted": encrypted, "lines": lines, "server": server
}  # fmt: skip
"""How a store is opened, by tier: in a directory, which may not be there yet, or under its name on a server."""


@pytest.fixture(scope="session")
def url(postgres: Server) -> str:
    """The address of a database with pgvector."""
    return postgres.url("ana", postgres.database("ana"))


def opener(tier: str, request: pytest.FixtureRequest, tmp_path: Path) -> Opener:
    """What opens stores of a tier, by their name."""
    address = request.getfixturevalue("url") if tier == "server" else ""
    if tier == "encrypted":
        request.getfixturevalue("monkeypatch").setenv(VARIABLE, "ab" * 32)
    return lambda name: TIERS[tier](tmp_path / name, address)


@pytest.fixture(params=TIERS)
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Opener:
    return opener(request.param, request, tmp_path)


@pytest.fixture
def store(opened: Opener) -> Store:
    found = opened("archive")
    found.open_session("s1", project="p", started_at=10.0)
    return found


def entry(content: str, *, session: str = "s1", turn: int = 1, seq: int = 0, role: str = "user",
          cls: ContentClass = ContentClass.PROSE) -> Entry:  # fmt: skip
    return Entry(
        id=entry_id(role, content), session=session, turn=turn, seq=seq, role=role, content=content,
        source=Source(SourceKind.COMMAND, "pytest -q"), cls=cls,
        segments=(Segment(0, len(content), cls, "plain", "python"),), tokens=len(content) // 4,
        created_at=100.0 + seq, accessed_at=100.0 + seq, provider="openai",
    )  # fmt: skip


def put(
    store: Store, content: str, *, chunk_chars: int = 400, renditions: tuple[Rendition, ...] = (), **rest: Any
) -> Entry:
    new = entry(content, **rest)
    chunks = [(at, min(at + chunk_chars, len(content))) for at in range(0, len(content), chunk_chars)]
    return store.add(new, chunks=chunks, renditions=renditions)


def test_what_goes_in_comes_out(store: Store) -> None:
    stored = put(store, "the retry budget is 7", turn=3, seq=5)
    got = store.get(stored.id)
    assert got == stored
    assert got is not None and got.segments == (Segment(0, 21, ContentClass.PROSE, "plain", "python"),)
    assert store.original(stored.id) == "the retry budget is 7"
    assert store.get("gffffffff") is None and store.original("gffffffff") is None


@given(texts=st.lists(ANY_TEXT, min_size=1, max_size=8))
@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_text_comes_back_byte_for_byte(store: Store, texts: list[str]) -> None:
    for text in texts:
        stored = put(store, text, seq=next(SEQS))
        back = store.original(stored.id)
        assert back.encode("utf-8", "surrogatepass") == text.encode("utf-8", "surrogatepass")
        found(store, text)


def test_a_source_of_any_text_is_stored(store: Store) -> None:
    odd = replace(entry("of a file"), source=Source(SourceKind.COMMAND, "cat caf\udce9 \ud83d \0"))
    got = store.get(store.add(odd, chunks=[(0, 9)]).id)
    assert got is not None and got.source.detail.startswith("cat caf? ? ")


def test_one_content_is_stored_once_and_occurs_twice(store: Store) -> None:
    first = put(store, "same text", turn=1, seq=0)
    store.open_session("s2", project="p", started_at=20.0)
    again = put(store, "same text", turn=7, seq=9)
    other = put(store, "same text", session="s2", turn=2, seq=0)
    assert first.id == again.id == other.id
    assert (again.turn, again.seq) == (7, 9)
    assert store.stats().entries == 1 and rows_in(store, "occurrences") == 3
    assert [(e.turn, e.seq) for e in store.session_entries("s1")] == [(1, 0), (7, 9)]
    latest = store.get(first.id)
    assert latest is not None and latest.session == "s2"


def test_role_belongs_to_the_content(store: Store) -> None:
    assert put(store, "Ok.", seq=0).id != put(store, "Ok.", seq=1, role="assistant").id


def test_adding_again_changes_nothing(store: Store) -> None:
    put(store, "once", seq=4)
    store.set_active("s1", [4], False)
    again = put(store, "once", seq=4)
    assert again.seq == 4 and again.active is False
    assert rows_in(store, "occurrences") == 1


def test_a_taken_place_loses_nothing(store: Store) -> None:
    put(store, "one", seq=4)
    other = put(store, "two", seq=4)
    assert other.seq == 5
    assert [e.content for e in store.session_entries("s1")] == ["one", "two"]


def test_ids_by_their_beginning(store: Store) -> None:
    ids = sorted(put(store, f"text {n}", seq=n).id for n in range(20))
    assert store.resolve("g") == ids
    assert store.resolve(ids[3].upper()) == [ids[3]]
    assert store.resolve(ids[3][:6]) == [each for each in ids if each.startswith(ids[3][:6])]
    assert store.resolve("") == [] and store.resolve("nothing") == [] and store.resolve("%") == []


def test_renditions_are_replaced(store: Store) -> None:
    stored = put(
        store,
        "long text",
        renditions=(Rendition(Level.FULL, "long text", 3), Rendition(Level.LINE, "l", 1)),
    )
    assert store.renditions(stored.id) == {Level.LINE: Rendition(Level.LINE, "l", 1)}
    store.put_renditions(stored.id, [Rendition(Level.LINE, "other line", 2), Rendition(Level.HIDDEN, "", 0)])
    assert store.renditions(stored.id)[Level.LINE].text == "other line"
    assert store.renditions("gffffffff") == {}
    with pytest.raises(StoreError):
        store.put_renditions("gffffffff", [Rendition(Level.LINE, "x", 1)])


def test_words_of_a_rendition_alone_find_nothing(store: Store) -> None:
    stored = put(store, "plain words", renditions=(Rendition(Level.LINE, "a summary about zebras", 3),))
    store.put_renditions(stored.id, [Rendition(Level.COMPRESSED, "about zebras and giraffes", 3)])
    assert found(store, "zebras giraffes") == [] and found(store, "plain") == [stored.id]
    assert rows_in(store, "chunks") == 1


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("def getUserName(self): ...", "user name"),
        ("def get_user_name(self): ...", "getUserName"),
        ("see src/checkout/retry_policy.py:44", "retry policy"),
        ("HTTPServerError raised", "server"),
        ("Überprüfung der Eingabe", "uberprufung"),
        ("データベース接続エラーが発生しました", "接続"),
        ("数据库连接失败", "数"),
        ("데이터베이스 연결 실패", "데이터베이스"),
        ("version 2.1.220 of the library", "2.1.220"),
        ("the migrations were configured", "migration configuration"),
        ("ошибка соединения с базой", "ошибку соединение"),
        ("ﾃﾞｰﾀﾍﾞｰｽ接続", "データベース"),
        ("把timeout改成30秒，在config.py里", "30秒"),
        ("ฐานข้อมูลล้มเหลว", "ข้อมูล"),
        ("डेटाबेस कनेक्शन विफल", "कनेक्शन"),
        ("الخوادم لا تستجيب", "خوادم"),
        ("τα αρχεία λείπουν", "αρχείο"),
        ("połączenie zostało odrzucone", "polaczenie"),
        ("İstanbul sunucusu yanıt vermiyor", "istanbul yanit"),
        ("les requêtes échouent", "requete"),
        ("we run it daily", "running"),
        ("die Fehlermeldungen kamen spät", "Fehlermeldung"),
        ("it was configured once", "configuration"),
        ("after three retries", "retry"),
        ("ошибке соединения", "ошибка"),
        ("هذا هو الخطأ", "خطأ"),
        ("ｆｕｌｌ and CAFÉ Straße", "full cafe strasse"),
        ("Łódź œuvre", "lodz oeuvre"),
        ("ガス", "ガス"),
        ("log接続", "接"),
        ("std::vector __init__ a\0b", "vector init"),
        ("x" * 70, "x" * 70),
    ],
)
def test_words_are_found_as_people_write_them(text: str, query: str) -> None:
    store = open_store(None)  # what is searched is the same in every tier
    put(store, "something else entirely, of no interest", seq=0)
    stored = put(store, text, seq=1)
    assert found(store, query)[:1] == [stored.id]


@pytest.mark.parametrize(
    ("text", "query"), [("カス", "ガス"), ("ticket 12345678", "12345679"), ("bus", "but")]
)
def test_what_is_another_word_is_not_found(text: str, query: str) -> None:
    store = open_store(None)
    put(store, text)
    assert found(store, query) == []


@pytest.mark.parametrize(
    "query",
    ["", "   ", '"', "'", "a AND", "NOT x", "x NEAR(", "col:val", "words : x", "*", "a*", "(", ")", "^a", "-a", "{}", "\0",
     "\ud800", "🙂", "'; DROP TABLE originals; --", "x" * 100_000, "word " * 20_000],
)  # fmt: skip
def test_any_query_is_safe(query: str) -> None:
    store = open_store(None)
    put(store, "a plain text about x and col:val")
    found(store, query)


def test_what_holds_a_word_is_a_span_of_its_text(store: Store) -> None:
    text = "".join(f"line {n} nothing here\n" for n in range(100)) + "the flux capacitor is broken\n"
    stored = put(store, text, chunk_chars=500)
    other = put(store, "a capacitor among many other things, " + "none of which matters here " * 12, seq=1)
    evidence = store.evidence(query_words("flux capacitor"))
    at = int(evidence.has_word.all(axis=0).argmax())
    span, chunk = text[evidence.starts[at] : evidence.ends[at]], int(evidence.chunks[at])
    assert "flux capacitor" in span and [each.text for each in store.quoted([chunk, 999]).values()] == [span]
    assert found(store, "flux capacitor") == [stored.id, other.id]


def test_what_is_quoted_again_and_again_takes_no_more_memory() -> None:
    store = open_store(None)
    for seq in range(100):
        put(store, f"the capacitor number {seq} is broken", seq=seq)
    chunks = store.evidence(query_words("capacitor")).chunks.tolist()
    assert len(store.quoted(chunks)) == 100
    tracemalloc.start()
    for _ in range(30):
        store.quoted(chunks)
    assert tracemalloc.get_traced_memory()[0] < 100_000
    tracemalloc.stop()


def test_words_are_looked_for_in_one_session_in_some_or_in_all(store: Store) -> None:
    store.open_session("s2", project="p", started_at=20.0)
    one = put(store, "alpha one", seq=0)
    two = put(store, "alpha two", seq=1)
    three = put(store, "alpha three", session="s2", seq=0)
    assert found(store, "alpha") == [three.id, two.id, one.id]
    assert found(store, "alpha", ["s1"]) == [two.id, one.id]
    assert found(store, "alpha", sessions=["s2", "gone"]) == [three.id]
    assert found(store, "alpha", sessions=[]) == found(store, "alpha", ["gone"]) == []
    put(store, "alpha three", session="s1", seq=7)
    assert three.id in found(store, "alpha", ["s1"])


@pytest.mark.parametrize("word", ["row", "Reihe für"])
def test_a_very_long_original_is_indexed_bit_by_bit(
    store: Store, word: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "LONG_CHARS", 1_000)
    text = "".join(f"{word} {n:06d} is here\n" for n in range(4_000))
    stored, other = (
        store.add(entry(each, seq=seq), chunks=spans(each, ()))
        for seq, each in enumerate([text, text.replace(f"{word} 0", f"{word} 1")])
    )
    assert found(store, "000000") == [stored.id] and found(store, "003999") == [stored.id]
    assert found(store, "002000") == found(store, "102000") == []
    passages = store.evidence([])
    assert (passages.ends - passages.starts).max() < 1_000
    while store.work_off(100):
        pass
    assert found(store, "002000") == [stored.id] and found(store, "102000") == [other.id]
    assert store.original(stored.id) == text


def test_marks(store: Store) -> None:
    stored = put(store, "marked")
    store.touch([stored.id, stored.id, "gffffffff"], 500.0)
    store.touch([stored.id], 300.0)
    store.pin(stored.id, True)
    store.set_active("s1", [0], False)
    got = store.get(stored.id)
    assert (got.pinned, got.active, got.accessed_at, got.access_count) == (True, False, 500.0, 2)
    put(store, "marked", seq=9)
    store.pin(stored.id, False)
    got = store.get(stored.id)
    assert got is not None and got.active and not got.pinned


def test_sessions_and_state(store: Store) -> None:
    store.open_session("s2", project="p", started_at=5.0)
    store.open_session("s3", project="other", started_at=1.0)
    put(store, "x", turn=4, seq=0)
    put(store, "y", session="unopened", seq=0)
    begun = [each.id for each in store.sessions("p")]
    assert begun == ["s1", "s2"], "in the order in which they were begun, whatever the clock said"
    info = store.sessions("p")[0]
    assert (info.entries, info.turns, info.last_at) == (1, 4, 100.0)
    store.open_session("s1", project="changed", started_at=99.0)
    assert store.sessions("p")[0].started_at == 10.0
    assert store.get_state("s1", "view") is None
    store.set_state("s1", "view", "1\0\ud800")
    store.set_state("s1", "view", "2\0\ud800")
    assert store.get_state("s1", "view") == "2\0\ud800" and store.get_state("s2", "view") is None


def test_events(store: Store) -> None:
    one, two = put(store, "one", seq=0), put(store, "two", seq=1)
    store.record_event("s1", 1, "swap", {"entry_id": one.id, "why": "old", "saved": 5}, 11.0)
    store.record_event("s1", 2, "plan", {"entry_ids": [one.id, two.id]}, 12.0)
    store.record_event("s2", 1, "clear", {"seen": two.id, "said": f'"{one.id}" and {one.id}'}, 13.0)
    assert [e.kind for e in store.events()] == ["swap", "plan", "clear"]
    assert [e.kind for e in store.events(entry_id=two.id)] == ["plan", "clear"]
    assert [e.kind for e in store.events(entry_id=one.id)] == ["swap", "plan"], "not what a text quotes"
    assert [e.kind for e in store.events("s1", entry_id=two.id)] == ["plan"]
    assert [e.at for e in store.events(kind="swap", entry_id=one.id)] == [11.0]
    assert store.events("s1", "swap")[0].data == {"entry_id": one.id, "why": "old", "saved": 5}


def test_forgetting(store: Store) -> None:
    one = put(store, "forget the aardvark", seq=0, renditions=(Rendition(Level.LINE, "stub one", 1),))
    two = put(store, "keep the badger", seq=1)
    swaps = [{"entry_id": one.id, "why": "aardvark"}, {"entry_id": two.id, "why": "badger"}]
    store.record_event("s1", 1, "swap", {"entry_id": one.id}, 1.0)
    store.record_event("s1", 1, "plan", {"entry_ids": [one.id, two.id], "swaps": swaps}, 1.0)
    assert store.forget([one.id, one.id, "gffffffff"]) == 1
    assert store.get(one.id) is None and store.resolve(one.id) == []
    assert found(store, "aardvark") == [] and found(store, "badger") == [two.id]
    assert [e.content for e in store.session_entries("s1")] == ["keep the badger"]
    left = store.events()
    assert [e.data for e in left] == [{"entry_ids": [two.id], "swaps": [swaps[1]]}]
    assert store.verify() == []
    again = put(store, "forget the aardvark", seq=2)
    assert again.id == one.id and store.original(one.id) == "forget the aardvark"


def test_what_comes_in_place_of_what_was_forgotten_is_not_found_by_its_words(store: Store) -> None:
    store.forget([put(store, "forget the aardvark", seq=0).id])
    badger = put(store, "keep the badger", seq=1)
    assert found(store, "aardvark") == [] and found(store, "badger") == [badger.id]


def test_forgetting_a_session(store: Store) -> None:
    store.open_session("s2", project="p", started_at=20.0)
    put(store, "only here", seq=0)
    shared = put(store, "in both", seq=1)
    put(store, "in both", session="s2", seq=0)
    store.set_state("s1", "k", "v")
    store.record_event("s1", 1, "clear", {}, 1.0)
    assert store.forget_session("s1") == 1
    assert (
        store.session_entries("s1") == [] and store.get_state("s1", "k") is None and store.events("s1") == []
    )
    assert [e.id for e in store.session_entries("s2")] == [shared.id]
    assert [each.id for each in store.sessions("p")] == ["s2"]
    assert store.forget_session("never") == 0


def test_a_failing_write_leaves_nothing_half_done(store: Store) -> None:
    bad = entry("never stored", seq=3)
    no_number: Any = object()
    with pytest.raises((StoreError, TypeError, ValueError)):
        store.add(bad, chunks=[], renditions=[Rendition(Level.LINE, "x", no_number)])
    assert store.stats().entries == 0 and store.session_entries("s1") == []


def test_stats_count_by_class(store: Store) -> None:
    put(store, "x" * 400, seq=0, renditions=(Rendition(Level.COMPRESSED, "x", 10),))
    put(store, "y" * 40, seq=1, cls=ContentClass.LOG)
    stats = store.stats()
    assert (stats.original_tokens, stats.rendition_tokens) == (110, 20)
    assert stats.by_class == {"prose": (1, 100, 10), "log": (1, 10, 10)}
    assert stats.bytes > 0


def fill(store: Store) -> None:
    """All that an export has, some of it twice."""
    one = put(store, "one \0\ud83d\ude00", seq=0, renditions=(Rendition(Level.LINE, "stub", 1),))
    two = put(store, 'two, and password = "Zx9-marker-4711"', seq=1)
    put(store, "one \0\ud83d\ude00", seq=2, turn=8)
    put(store, "two of the same", seq=3)
    put(store, "two of the same", seq=4, turn=1)
    gone = put(store, "to be forgotten", seq=5)
    store.open_session("s2", project="p", started_at=20.0)
    put(store, "one \0\ud83d\ude00", session="s2", seq=0)
    store.pin(one.id, True)
    store.set_active("s1", [1], False)
    store.touch([one.id, two.id], 900.0)
    for at in (1.0, 2.0):
        store.record_event("s1", 1, "swap", {"entry_id": one.id, "saved": 5}, at)
    store.record_event("s1", 1, "plan", {"entry_ids": [one.id, gone.id]}, 1.0)
    store.set_state("s1", "k", "v")
    store.put_renditions(two.id, [Rendition(Level.COMPRESSED, "2", 1)])
    store.forget([gone.id])


def exported(store: Store, path: Path) -> bytes:
    store.export(path)
    return path.read_bytes()


def held_by(store: Store) -> tuple[object, ...]:
    """All that a store tells of what `fill` put there; texts as an export writes them."""
    sessions = store.sessions("p")
    entries = [entry for info in sessions for entry in store.session_entries(info.id)]
    forms = {entry.id: store.renditions(entry.id) for entry in entries}
    texts = [replace(entry, content=json.dumps(entry.content)) for entry in entries]
    return sessions, texts, forms, store.events(), store.get_state("s1", "k")


@pytest.mark.parametrize("to", ["file", "lines", "server"])
def test_a_round_trip_over_the_tiers_gives_the_same_bytes(
    store: Store, to: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    fill(store)
    before = exported(store, tmp_path / "out.jsonl")
    open_other = opener(to, request, tmp_path)
    for way in ("import", "copy"):
        other = open_other(way)
        for is_new in (True, False):
            count = other.copy_from(store) if way == "copy" else other.import_(tmp_path / "out.jsonl")
            assert count == is_new * (before.count(b"\n") - 1), "all but the line that says what it is"
            assert exported(other, tmp_path / "again.jsonl") == before
        assert held_by(other) == held_by(store)
        assert found(other, "same") and other.verify() == []
        other.close()
        again = open_other(way)
        assert exported(again, tmp_path / "again.jsonl") == before
        again.close()


@pytest.mark.parametrize("kind", ["forget", "pin", "touch", "renditions", "active"])
def test_an_export_of_anothers_can_only_add(tmp_path: Path, kind: str) -> None:
    store = open_store(None)  # an export is read before any tier is asked
    kept = put(store, "mine")
    line = {"kind": kind, "id": kept.id, "ids": [kept.id], "told": True, "pinned": True, "at": 9.0}
    line |= {"renditions": [["line", "theirs", 1]], "active": False}
    path = tmp_path / "the{irs}.jsonl"
    path.write_text(f'{{"kind":"meta","format":2}}\n{json.dumps(line)}\n')
    with pytest.raises(StoreError, match="line 2, cannot be read: nothing was imported"):
        store.import_(path)
    assert store.get(kept.id) == kept and store.renditions(kept.id) == {}


@pytest.mark.parametrize("at", [1e15, 1e308, float("-inf"), float("nan"), -1.0, "now", None, [1]])
def test_an_export_with_a_time_of_no_calendar_is_refused(tmp_path: Path, at: object) -> None:
    """Whoever shows it would fail at it: `gardener sessions`, `recall`, and a chat that recalls it."""
    store = open_store(None)
    put(store, "theirs")
    path = tmp_path / "x.jsonl"
    store.export(path)
    first, session, *others = map(json.loads, path.read_text().splitlines())
    for line in ({**session, "started_at": at}, *({**each, "at": at} for each in others)):
        path.write_text(f"{json.dumps(first)}\n{json.dumps(line)}\n")
        with pytest.raises(StoreError, match="line 2, cannot be read: nothing was imported"):
            open_store(None).import_(path)


def test_threads_share_a_store(store: Store) -> None:
    def work(name: str) -> None:
        for n in range(25):
            stored = put(store, f"{name} text {n}", session=name, seq=n)
            assert store.original(stored.id) == f"{name} text {n}"
            found(store, f"text {n}")

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(work, ("t0", "t1", "t2", "t3")))
    assert store.stats().entries == 100


def test_vectors(store: Store) -> None:
    embedder = LetterCounts()
    anything = np.array([1, 2, 3])
    assert np.isnan(store.similarities(embedder.embed(["x"])[0], embedder="letters", chunks=anything)).all()
    assert store.warm_vectors("letters") == 0
    text = "aaaa aaaa bbbb bbbb \0\ud800 cccc cccc"
    stored = put(store, text, chunk_chars=10, renditions=(Rendition(Level.LINE, "a line", 1),))
    passages = store.vectors_pending(99, "letters")
    assert [text[p.start : p.end] for p in passages] == [p.text for p in passages]
    assert "".join(p.text for p in reversed(passages)) == text
    vectors = embedder.embed([p.text for p in passages])
    assert store.put_vectors(list(zip(passages, vectors, strict=True)), "letters") == len(passages)
    assert store.put_vectors(list(zip(passages, vectors, strict=True)), "letters") == 0
    assert store.put_vectors([], "letters") == 0 and store.vectors_pending(99, "letters") == []
    chunks = np.array([passage.number for passage in passages])
    question = embedder.embed(["b"])[0]
    found = store.similarities(question, embedder="letters", chunks=chunks)
    assert passages[int(found.argmax())].text == "bbbb bbbb "
    assert np.allclose(found, vectors @ question, atol=0.01)
    assert np.isnan(store.similarities(question, embedder="another", chunks=chunks)).all()
    for wrong in (vectors[0][:5], vectors[0] * float("nan")):
        put(store, "one more text", seq=9)
        with pytest.raises(StoreError):
            store.put_vectors([(store.vectors_pending(1, "letters")[0], wrong)], "letters")
    with pytest.raises(StoreError):
        store.similarities(vectors[0][:5], embedder="letters", chunks=chunks)
    store.forget([stored.id])
    assert np.isnan(store.similarities(question, embedder="letters", chunks=chunks)).all()
    assert rows_in(store, "vectors") == 0
    assert store.verify() == []


def test_closing(store: Store) -> None:
    store.close()
    store.close()
    with pytest.raises(StoreError, match="closed"):
        store.stats()
