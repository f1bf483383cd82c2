"""A question about the past may recall more than an order to go on; what vectors find has one scale."""

from __future__ import annotations

from dataclasses import replace

import pytest
from made_entries import chat_of, make_gardener, message, talk, words
from made_vectors import LetterCounts

from aider_gardener.archive.archive import Archive
from aider_gardener.archive.store import Chunk, open_store
from aider_gardener.messages import (
    ContentClass,
    Entry,
    Fidelity,
    Message,
    Source,
    SourceKind,
    entry_id,
)
from aider_gardener.plan.chat import Chat
from aider_gardener.recall import candidates as module
from aider_gardener.recall.backlog import Backlog
from aider_gardener.recall.candidates import (
    ORDINARY_SHARE,
    Request,
    asks,
    candidates,
    context_of,
    excluded,
    near_in_meaning,
    reachable,
    recall_part,
    weight,
)
from aider_gardener.recall.embed import MINILM_SCALE, Scale
from aider_gardener.recall.ranking import Passage

ASKING = [
    "how long do we keep the keys?",
    "which port did I give you on the first day",
    "read my rule about logs again. undid it",
    "do it the way we said, same numbers",
    "no: the same header as before",
    "wie lange heben wir die Schlüssel auf?",
    "nimm den Port, den ich vorhin gesagt habe",
    "quel port as-tu choisi déjà",
    "限制是多少？",
    "之前的端口还要用",
    "ポートは何番でしたか。",
    "포트가 몇 번이었나요?",
]
GOING_ON = [
    "do 1, 2 and 3",
    "add a test for the parser, in a file of its own",
    "commit",
    "the build is green, now write the changelog",
    "bitte die Tests laufen lassen",
    "写一个测试",
]


@pytest.mark.parametrize("prompt", ASKING)
def test_these_ask_for_the_past(prompt: str) -> None:
    assert asks(prompt)
    assert recall_part(prompt) == 1.0


@pytest.mark.parametrize("prompt", GOING_ON)
def test_these_go_on(prompt: str) -> None:
    assert not asks(prompt)
    assert recall_part(prompt) == ORDINARY_SHARE


def test_a_long_paste_with_a_question_mark_in_it_is_no_question_about_the_past() -> None:
    paste = "GET /pages?limit=10 200 12ms " * 60
    assert not asks(f"the log of the run:\n{paste}")


def test_similarities_are_on_one_scale_whatever_the_embedder() -> None:
    """A cosine of another embedder counts as MiniLM's that says the same."""

    def nearest(scale: Scale) -> list[float]:
        store, embedder = open_store(None), LetterCounts(scale=scale)
        for seq, text in enumerate(("abc", "abd", "xyz")):
            entry = Entry(
                id=entry_id("user", text), session="s", turn=1, seq=seq, role="user", content=text,
                source=Source(SourceKind.TYPED), cls=ContentClass.PROSE, segments=(), tokens=1,
            )  # fmt: skip
            store.add(entry, chunks=[Chunk(entry.id, 0, len(text))])
        archive = Archive.reading(store)
        archive.backlog = Backlog(store, load=lambda: (embedder, ""), background=False)
        archive.backlog.drain()
        hits = near_in_meaning(archive, "abc", limit=3, session=None, min_seq=None)
        store.close()
        return [hit.similarity for hit in hits]

    cosines = nearest(MINILM_SCALE)
    assert cosines[0] == pytest.approx(1, abs=1e-3) and cosines == sorted(cosines, reverse=True)
    wider = Scale(0.0, 1.2)
    assert nearest(wider) == pytest.approx([0.1 + cosine / 2 for cosine in cosines])


ROWS = (
    ("old", 0, "abc of the first chat", ContentClass.PROSE),
    ("old", 1, "abc in a log", ContentClass.LOG),
    ("now", 2, "abc said today", ContentClass.PROSE),
    ("now", 5, "abc said last", ContentClass.PROSE),
    ("far", 0, "abc of another project", ContentClass.PROSE),
)


def stored(seq: int, text: str, session: str = "now", cls: ContentClass = ContentClass.PROSE) -> Entry:
    return Entry(
        id=entry_id("user", text), session=session, turn=1, seq=seq, role="user", content=text,
        source=Source(SourceKind.TYPED), cls=cls, segments=(), tokens=1, created_at=100.0 + seq, provider="openai",
    )  # fmt: skip


def archive_of(*rows: tuple[str, int, str, ContentClass], meaning: bool = True) -> Archive:
    """The archive of the chat "now" of project p; "old" is of p too, "far" of another one."""
    store = open_store(None)
    for session in ("old", "now", "far"):
        store.open_session(session, project="q" if session == "far" else "p", started_at=0.0)
    for session, seq, text, cls in rows:
        entry = stored(seq, text, session, cls)
        store.add(entry, chunks=[Chunk(entry.id, 0, len(text))])
    archive = Archive(store, session="now", project="p", count=words, clock=lambda: 1.0)
    archive.provider = "openai"
    if meaning:
        archive.backlog = Backlog(store, load=lambda: (LetterCounts(), ""), background=False)
        archive.backlog.drain()
    return archive


def texts(archive: Archive, request: Request, chat: Chat | None = None) -> list[str]:
    return sorted(passage.text for passage in candidates(archive, chat or Chat(), request)[0])


@pytest.mark.parametrize("meaning", [True, False])
def test_a_request_reaches_the_sessions_classes_and_times_that_it_names(meaning: bool) -> None:
    archive = archive_of(*ROWS, meaning=meaning)
    today = ["abc said last", "abc said today"]
    older = ["abc in a log", "abc of the first chat"]
    assert texts(archive, Request("abc")) == sorted([*today, *older, "abc of another project"])
    assert texts(archive, Request("abc", session="old")) == older
    assert texts(archive, Request("abc", classes=frozenset({ContentClass.LOG}))) == ["abc in a log"]
    assert texts(archive, Request("abc", since=102.0)) == today
    assert texts(archive, Request("abc", unasked=True)) == today
    assert texts(archive, Request("abc", unasked=True, floor=3)) == ["abc said last"]
    assert texts(archive, Request("abc", unasked=True, older=True)) == sorted([*today, *older])
    archive.within = "p"
    assert texts(archive, Request("abc")) == sorted([*today, *older])


def test_vectors_are_searched_where_words_are() -> None:
    archive = archive_of(*ROWS)

    def found(**given: object) -> list[str]:
        options = {"limit": 9, "session": None, "min_seq": None, **given}
        hits = near_in_meaning(archive, "abc", **options)  # type: ignore[arg-type]
        return sorted(archive.store.original(hit.entry_id) or "" for hit in hits)

    assert len(found()) == 5 and len(found(limit=2)) == 2
    assert found(session="old") == ["abc in a log", "abc of the first chat"]
    assert found(session="now", min_seq=3) == ["abc said last"]
    assert found(exclude_sessions=["now", "far"]) == ["abc in a log", "abc of the first chat"]
    assert found(classes=[ContentClass.LOG]) == ["abc in a log"]
    archive.within = "q"
    assert found() == ["abc of another project"]


def test_without_a_model_nothing_is_near() -> None:
    archive = archive_of(*ROWS, meaning=False)
    for backlog in (None, Backlog(archive.store, load=lambda: (None, "no model"), background=False)):
        archive.backlog = backlog
        assert near_in_meaning(archive, "abc", limit=9, session=None, min_seq=None) == []
        assert candidates(archive, Chat(), Request("abc"))[1] == 0.0


def test_what_is_not_among_the_nearest_is_taken_to_be_less_near_than_those_but_not_far(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    archive = archive_of(*ROWS)
    monkeypatch.setattr(module, "VECTOR_CANDIDATES", 2)
    passages, far = candidates(archive, Chat(), Request("abc"))
    near = [passage.similarity for passage in passages if passage.similarity != far]
    assert len(near) == 2 and len(passages) == 5
    assert 0.5 * min(near) < far < min(near)


def test_an_older_chat_counts_for_less_but_only_unasked() -> None:
    archive = archive_of()
    here, there = (Passage(stored(0, "abc", session), 0, 3, "abc") for session in ("now", "old"))
    for unasked, less in ((True, True), (False, False)):
        request = Request("abc", unasked=unasked)
        assert weight(here, archive, request) == 1.0
        assert (0.0 < weight(there, archive, request) < 1.0) is less


def test_what_this_chat_said_too_is_its_own_and_found_once() -> None:
    archive = archive_of(("old", 0, "abc said twice", ContentClass.PROSE))

    def admit(chat: Chat, new: Message) -> Entry:
        name = entry_id(new.role, new.content)
        entry = replace(stored(chat.next_seq, new.content), id=name, role=new.role)
        return archive.store.add(entry, chunks=[Chunk(name, 0, len(new.content))])

    chat, _added = Chat().sync((talk(("abc said twice", "yes")), [message("user", "and now?")]), admit)
    chat = replace(chat, fidelity={0: Fidelity.LINE})
    found, _far = candidates(archive, chat, Request("abc", unasked=True, older=True))
    assert [(passage.text, passage.entry.session) for passage in found if "abc" in passage.text] == [
        ("abc said twice", "now")
    ]


def test_what_cannot_be_read_any_more_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    archive = archive_of(*ROWS)
    monkeypatch.setattr(archive.store, "get_many", lambda _ids: {})
    assert texts(archive, Request("abc")) == []


def test_notes_and_notices_are_no_answer() -> None:
    one = stored(0, "abc")
    for kind in SourceKind:
        wanted = Request("abc").wants(replace(one, source=Source(kind)))
        assert wanted is (kind not in (SourceKind.STUB, SourceKind.NOTICE))
    log = Request("abc", classes=frozenset({ContentClass.LOG}))
    assert [log.wants(replace(one, cls=cls)) for cls in (ContentClass.LOG, ContentClass.CODE)] == [
        True,
        False,
    ]
    assert [Request("abc", since=at).wants(one) for at in (99.0, 100.0, 101.0)] == [True, True, False]


def test_only_the_turn_itself_can_be_reached_from_the_floor_on_and_not_the_open_question() -> None:
    chat = chat_of(talk(("one", "first"), ("two", "second")), [message("user", "three")])
    for floor, said in ((0, ["two", "second"]), (2, ["two", "second"]), (3, ["second"])):
        of_turn = reachable(chat, Request("q", floor=floor))
        assert [entry.content for entry in of_turn(2)] == said
        assert of_turn(3) == []


def test_a_reply_has_the_prompt_before_it_as_context_and_an_output_its_command() -> None:
    prompt = "how long is the lease? " * 40
    gardener = make_gardener()
    output = "I ran this command:\n\nmake lease\n\nAnd got this output:\n\n30 s\n"
    gardener.sync(talk((prompt, "It is long."), (output, "So it is 30 seconds.")), [])
    entries = gardener.state.chat.entries
    told = [context_of(gardener.state.chat, entries[seq]) for seq in range(4)]
    assert told[1] == told[3] == prompt[: len(told[1])] and 300 < len(told[1]) < len(prompt)
    assert (told[0], told[2]) == ("", "make lease")


def test_what_was_taken_out_may_come_back_once_it_was_said_again() -> None:
    chat = chat_of(talk(("keep the port", "ok"), ("go on", "done"), ("keep the port", "yes"), ("more", "so")))
    port = chat.entries[0].id
    chat = chat.shown_at({0: Fidelity.HIDDEN, 4: Fidelity.HIDDEN}, lambda entry, _level: entry.content)
    chat = replace(chat, order=tuple(seq for seq in chat.order if seq != 0))
    assert chat.gone == {0} and port not in excluded(chat)
    chat = replace(chat, order=tuple(seq for seq in chat.order if seq != 4))
    assert chat.gone == {0, 4} and port in excluded(chat)
    assert chat.entries[2].id in excluded(chat), "what stands in full"


def test_the_length_of_a_prompt_decides_whether_a_question_mark_in_it_asks() -> None:
    for count, asked in ((60, True), (61, False)):
        assert asks(" ".join(["word"] * (count - 1)) + " what?") is asked
    for count, asked in ((250, True), (251, False)):
        assert asks(" ".join(["word"] * (count - 1)) + " remember") is asked
    assert asks("限" * 100 + "？") and not asks("限" * 200 + "？")


def test_of_what_shares_words_far_more_is_looked_at_than_is_ever_quoted() -> None:
    archive = archive_of(
        *(("now", n, f"abc number{n}", ContentClass.PROSE) for n in range(90)), meaning=False
    )
    assert len(texts(archive, Request("abc"))) == 90
