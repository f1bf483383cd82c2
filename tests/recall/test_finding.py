"""What fits a question is found wherever the request may reach, by words and by meaning, each passage once."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
from made_entries import entry, make_gardener, message, talk, words
from made_search import rows_in
from made_vectors import LetterCounts

from aider_gardener.archive.archive import Archive
from aider_gardener.archive.store import open_store
from aider_gardener.archive.store.words import query_words
from aider_gardener.errors import StoreError
from aider_gardener.messages import ContentClass, Entry, Level, Message, Source, SourceKind, entry_id
from aider_gardener.plan.chat import Chat
from aider_gardener.recall import finding
from aider_gardener.recall.backlog import Backlog
from aider_gardener.recall.finding import Passage, newest_first, passages
from aider_gardener.recall.request import Request

ROWS = (
    ("old", 0, "abc of the first chat", ContentClass.PROSE),
    ("old", 1, "abc in a log", ContentClass.LOG),
    ("now", 2, "abc said today", ContentClass.PROSE),
    ("now", 5, "abc said last", ContentClass.PROSE),
    ("far", 0, "abc of another project", ContentClass.PROSE),
)


def stored(seq: int, text: str, session: str = "now", cls: ContentClass = ContentClass.PROSE) -> Entry:
    made = entry(seq, "user", text, cls=cls)
    return replace(made, session=session, created_at=100.0 + seq, provider="openai")


def archive_of(*rows: tuple[str, int, str, ContentClass], meaning: bool = True) -> Archive:
    """The archive of the chat "now" of project p; "old" is of p too, "far" of another one."""
    store = open_store(None)
    for session in ("old", "now", "far"):
        store.open_session(session, project="q" if session == "far" else "p", started_at=0.0)
    for session, seq, text, cls in rows:
        entry = stored(seq, text, session, cls)
        store.add(entry, chunks=[(0, len(text))])
    archive = Archive(store, session="now", project="p", count=words, clock=lambda: 1.0)
    archive.provider = "openai"
    if meaning:
        archive.backlog = Backlog(store, load=LetterCounts, background=False)
        archive.backlog.drain()
    return archive


def found(archive: Archive, request: Request, chat: Chat | None = None) -> list[Passage]:
    return passages(archive, chat or Chat(), request, query_words(request.query))


def texts(archive: Archive, request: Request, chat: Chat | None = None) -> list[str]:
    return sorted(passage.text for passage in found(archive, request, chat))


@pytest.mark.parametrize("meaning", [True, False])
def test_a_request_reaches_the_sessions_and_classes_that_it_names(meaning: bool) -> None:
    archive = archive_of(*ROWS, meaning=meaning)
    today = ["abc said last", "abc said today"]
    older = ["abc in a log", "abc of the first chat"]
    assert texts(archive, Request("abc")) == sorted([*today, *older, "abc of another project"])
    assert texts(archive, Request("abc", session="old")) == older
    assert texts(archive, Request("abc", classes=frozenset({ContentClass.LOG}))) == ["abc in a log"]
    assert texts(archive, Request("abc", unasked=True)) == today
    assert texts(archive, Request("abc", unasked=True, floor=3)) == ["abc said last"]
    assert texts(archive, Request("abc", unasked=True, older=True)) == sorted([*today, *older])
    archive.within = "p"
    assert texts(archive, Request("abc")) == sorted([*today, *older])


def test_what_shares_no_word_is_found_by_its_meaning_if_it_is_near() -> None:
    archive = archive_of(("now", 0, "cabbage", ContentClass.PROSE), ("now", 1, "zzz", ContentClass.PROSE))
    (near,) = found(archive, Request("cab"))
    assert near.text == "cabbage"


def test_an_older_chat_counts_for_less_but_only_unasked() -> None:
    archive, request = archive_of(ROWS[0]), Request("first chat", older=True)
    (asked,), (unasked,) = found(archive, request), found(archive, replace(request, unasked=True))
    assert 0 < unasked.relevance < asked.relevance
    assert unasked.relevance == pytest.approx(finding.OLDER_WEIGHT * asked.relevance)


def test_a_word_alone_that_shares_nothing_is_not_quoted_for_what_stands_beside_it() -> None:
    rows = [("now", 0, "the abc", ContentClass.PROSE), ("now", 1, "Noted.", ContentClass.PROSE)]
    archive = archive_of(*rows, ("now", 2, "and so it is done here", ContentClass.PROSE), meaning=False)
    archive.store.add(stored(3, "and so it was done before, ok"), chunks=[(27, 29)])
    assert texts(archive, Request("abc")) == ["and so it is done here", "the abc"]


def test_of_an_older_chat_nothing_comes_unasked_unless_it_clearly_fits() -> None:
    rows = [("old", n, f"the xylophone {n}", ContentClass.PROSE) for n in range(3)]
    archive = archive_of(*rows, ("old", 7, "the kettle whistles at noon", ContentClass.PROSE))
    for question, comes in (("when does the kettle whistle", True), ("when does the ship leave port", False)):
        told = texts(archive, Request(question, unasked=True, older=True))
        assert ("the kettle whistles at noon" in told) is comes and bool(told) is comes
    assert texts(archive, Request("xylophone ship port mast", older=True))


def test_what_this_chat_said_too_is_its_own_and_found_once() -> None:
    archive = archive_of(("old", 0, "abc said twice", ContentClass.PROSE))

    def admit(chat: Chat, new: Message) -> Entry:
        name = entry_id(new.role, new.content)
        entry = replace(stored(chat.next_seq, new.content), id=name, role=new.role)
        return archive.store.add(entry, chunks=[(0, len(new.content))])

    chat, _added = Chat().sync((talk(("abc said twice", "yes")), [message("user", "and now?")]), admit)
    chat = replace(chat, levels={0: Level.LINE})
    told = found(archive, Request("abc", unasked=True, older=True), chat)
    assert [(each.text, each.entry.session) for each in told if "abc" in each.text] == [
        ("abc said twice", "now")
    ]


def test_the_question_itself_asked_before_is_no_answer_and_another_one_may_hold_it() -> None:
    again, other = "Which port does the queue use here?", "Does the mail queue of the third rack use 9317?"
    rows = [("now", seq, text, ContentClass.PROSE) for seq, text in enumerate([again, other])]
    relevance = {
        each.text: each.relevance
        for each in found(archive_of(*rows), Request("Which port does the queue use?"))
    }
    assert relevance[again] == 0 < relevance[other]


def test_what_cannot_be_read_any_more_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    archive = archive_of(*ROWS)
    monkeypatch.setattr(archive.store, "get_many", lambda _ids: {})
    assert texts(archive, Request("abc")) == []


def test_however_much_stands_in_the_prompt_what_does_not_is_found() -> None:
    rows = [("now", n, f"abc number{n}", ContentClass.PROSE) for n in range(finding.READ_AT_ONCE * 3)]
    archive = archive_of(*rows, ("old", 0, "abc is so", ContentClass.LOG), meaning=False)
    assert texts(archive, Request("abc", classes=frozenset({ContentClass.LOG}))) == ["abc is so"]
    counts = [len(found(archive, Request("abc", token_limit=limit))) for limit in (1, 4_000, 10**9)]
    assert counts == [finding.LEAST_TAKEN, 4_000 // finding.TOKENS_EACH, finding.MOST_TAKEN]


def test_who_only_looks_embeds_nothing_but_the_question() -> None:
    archive = archive_of(*ROWS, meaning=False)
    embedder = LetterCounts()
    archive.backlog = Backlog(archive.store, load=lambda: embedder, background=False)
    assert len(found(archive, Request("abc"))) == 5
    assert embedder.embedded == ["abc"] and rows_in(archive.store, "vectors") == 0


def said(seq: int, text: str, relevance: float, kind: SourceKind = SourceKind.REPLY) -> Passage:
    entry = replace(stored(seq, text), source=Source(kind))
    return Passage(entry, 0, len(text), text, relevance)


OLD = "Settled: at most 4 attempts, backoff sleeps capped at 60 seconds."
NEW = "Amending the policy: still at most 4 attempts, backoff sleeps now capped at 30 seconds."
OTHERS = [said(n, f"The page of part{n} has colour{n} and a heading.", 0.1 * n) for n in range(20, 26)]


def test_of_what_was_said_of_the_same_thing_the_later_comes_first_and_the_earlier_says_so() -> None:
    for order in ((said(1, OLD, 9.0), said(7, NEW, 1.0)), (said(7, NEW, 1.0), said(1, OLD, 9.0))):
        told = newest_first([*OTHERS, *order], frozenset())
        assert [each.text for each in told[:2]] == [NEW, OLD]
        assert [each.amended for each in told[:2]] == [False, True]
        assert not any(each.amended for each in told[2:])


@pytest.mark.parametrize(
    ("first", "then", "question"),
    [
        (
            "The staging database listens on port 5432.",
            "No, 5433.",
            "where does the staging database listen?",
        ),
        ("Use a retry limit of 3 for the mailer.", "Make that 5.", "which retry limit has the mailer?"),
        (
            "The owner of the billing module is Anna.",
            "Sorry, it's Petra now.",
            "who is the owner of billing?",
        ),
        ("Der Import läuft nachts um 02:30.", "Nein, um 04:15.", "Wann läuft der Import?"),
        ("O servidor fica em 10.4.0.7.", "Não, 10.4.0.9.", "Onde fica o servidor?"),
    ],
)
def test_what_was_taken_back_in_few_words_comes_behind_them_and_says_so(
    first: str, then: str, question: str
) -> None:
    gardener, done = make_gardener(), list[dict[str, Any]]()
    for said_now in (first, then, "Now the tests.", question):
        gardener.enter_turn()
        done += talk((said_now, "Noted."))
        gardener.sync(done, [])
        gardener.leave_turn()
    told = gardener.recall(question)
    assert [(each.text, each.amended) for each in told[:2]] == [(then, False), (first, True)]
    assert told[-1].text == question, "asked before, it is no answer"


@pytest.mark.parametrize(
    ("first", "then"),
    [
        ("Shall it be 3 tries?", "No, 2."),
        ("It has 3 tries.", "No, I don't like it."),
        ("It has 3.", "And 2 tests."),
    ],
)
def test_not_every_short_answer_takes_something_back(first: str, then: str) -> None:
    both = [said(at, text, 1.0 - at, SourceKind.TYPED) for at, text in enumerate((first, then))]
    both[1] = both[1]._replace(entry=replace(both[1].entry, turn=2))
    assert not any(each.amended for each in newest_first(both, frozenset()))


def test_a_value_that_is_asked_for_is_not_amended_by_another() -> None:
    told = newest_first([said(1, OLD, 9.0), said(7, NEW, 1.0), *OTHERS], frozenset({"60"}))
    assert told[0].text == OLD and not any(each.amended for each in told)


@pytest.mark.parametrize(
    "other",
    [
        said(7, NEW, 1.0, SourceKind.COMMAND),
        said(7, OLD.replace("60", "60 or so, about 60"), 1.0),
        said(7, "Another thing altogether: 30 pages, 7 chapters, 12 figures.", 1.0),
        said(1, NEW, 1.0),
    ],
    ids=["what a program printed", "the same values", "another thing", "said at the same time"],
)
def test_nothing_is_amended_by(other: Passage) -> None:
    told = newest_first([said(1, OLD, 9.0), other, *OTHERS], frozenset())
    assert not any(each.amended for each in told) and told[0].text == OLD


def test_the_best_of_very_many_places_are_taken_in_their_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(finding, "MOST_READ", 3)
    relevance = np.array([0.1, 0.9, 0.5, 0.7, 0.2, 0.7, 0.6, 0.65, 0.3, 0.0], dtype=np.float32)
    assert finding.best_first(np.arange(10), relevance).tolist() == [1, 3, 5]
    assert finding.best_first(np.array([4, 0, 2]), relevance).tolist() == [2, 4, 0]
    assert finding.best_first(np.arange(0), relevance).tolist() == []


def test_a_chat_clearly_fits_by_its_words_and_its_nearest_passage() -> None:
    evidence = archive_of(*ROWS).store.evidence([])
    count, of = len(evidence), evidence.sessions
    words, near = finding.CLEAR_WORDS, finding.CLEAR_COSINE
    one = of == of[0]

    def clear(session: float, cosines: float | None, others: float | None = None) -> list[bool]:
        similarity = np.full(count, np.nan if others is None else others, dtype=np.float32)
        similarity[np.flatnonzero(one)[-1]] = np.nan if cosines is None else cosines
        found = finding.clearly_fit(evidence, np.where(one, session, 0.0).astype(np.float32), similarity)
        assert not found[~one].any()
        return sorted(set(found[one].tolist()))

    assert clear(words + 0.01, near + 0.01) == [True] == clear(0.5, near + 0.01, others=0.0)
    assert clear(words - 0.01, 0.9) == [False] == clear(0.5, near - 0.01)
    alone = finding.CLEAR_WORDS_ALONE
    assert (clear(alone + 0.01, None), clear(alone - 0.01, None)) == ([True], [False])


def test_what_was_said_just_now_and_has_no_vector_yet_is_found_by_its_words() -> None:
    archive = archive_of(*ROWS)
    archive.store.add(stored(9, "the port is 5433"), chunks=[(0, 16)])
    assert found(archive, Request("port"))[0].text == "the port is 5433"


def test_what_fits_by_words_is_embedded_before_the_rest_when_it_is_asked_for() -> None:
    archive = archive_of(*ROWS, ("now", 9, "nothing of it", ContentClass.PROSE), meaning=False)
    embedder = LetterCounts()
    embedder.load()
    archive.backlog = Backlog(archive.store, load=lambda: embedder)
    assert found(archive, Request("abc said", session="now"))
    assert embedder.embedded[0] == "abc said" and embedder.embedded[3] == "nothing of it"
    assert rows_in(archive.store, "vectors") == 3


@pytest.mark.parametrize("trouble", ["the model broke", "no room"])
def test_a_question_is_answered_by_words_where_embedding_fails(trouble: str) -> None:
    archive = archive_of(*ROWS, meaning=False)
    embedder = LetterCounts(fail_on="today" if trouble == "the model broke" else "")
    embedder.load()
    backlog = Backlog(archive.store, load=lambda: embedder)
    archive.backlog = backlog
    if trouble == "no room":
        backlog.store = Mock(put_vectors=Mock(side_effect=StoreError("the disk is full")))
    assert len(found(archive, Request("abc"))) == 5
    assert backlog.off is (trouble == "the model broke")


def test_a_part_of_a_session_that_no_vector_is_known_of_counts_as_the_rest() -> None:
    archive = archive_of(*ROWS)
    archive.store.add(stored(11, "abc unheard"), chunks=[(0, 11)])
    archive.backlog = None
    assert np.isnan(finding.cosines(archive, Chat(), Request("abc"), archive.store.evidence([]))).all()
