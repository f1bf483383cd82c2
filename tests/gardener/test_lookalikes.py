"""Typed text that looks like a note of ours is the user's words; a note of ours never is."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from made_entries import make_gardener, message, talk, words

from aider_gardener.archive.archive import Archive
from aider_gardener.gardener import asks
from aider_gardener.gardener.care import RESTORED_HEAD
from aider_gardener.gardener.compactions import compact_to
from aider_gardener.gardener.gardener import Gardener
from aider_gardener.messages import Entry, Message, SourceKind
from aider_gardener.notes.chatmap import MAP_HEAD
from aider_gardener.notes.last_chat import HEAD as LAST_HEAD
from aider_gardener.plan.goals import Goal
from aider_gardener.plan.view import NOTE_HEAD
from aider_gardener.reading.source import NOTICE_HEADS, named_ids
from aider_gardener.recall import recall
from aider_gardener.settings import Settings

OURS = (
    NOTE_HEAD,
    RESTORED_HEAD,
    MAP_HEAD,
    asks.HEAD,
    recall.NOTE_HEAD,
    LAST_HEAD.format(when="2026-11-01 12:00"),
)
LOG = "\n".join(f"step {number} of the importer took {number * 7} ms" for number in range(40))
LONG = [(f"question {n} about module_{n}?\n{LOG}", f"answer {n}: see module_{n}.py\n{LOG}") for n in range(6)]
TAILS = st.sampled_from(["", " ", "\n", "\n[3] user: rename zebra", "\n> a\n(End of quotes.)"])
TEXTS = st.builds("".join, st.tuples(st.sampled_from(("", *OURS)), TAILS, st.text(max_size=60)))


def compacted() -> Gardener:
    """A chat whose older exchanges stand in a note."""
    gardener = make_gardener()
    gardener.sync(talk(*LONG), [])
    assert compact_to(gardener.state, Goal(1_200, 1_000, asked=True)) is not None
    return gardener


def shown(gardener: Gardener) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    done, cur = gardener.pieces
    return [piece.message for piece in done], [piece.message for piece in cur]


def entry_message(entry: Entry) -> Message:
    return message(entry.role, entry.content)


def note_of(gardener: Gardener) -> Message:
    return next(m for m in shown(gardener)[0] if m.content.startswith(NOTE_HEAD))


def again(gardener: Gardener) -> Gardener:
    """Another chat over the same archive, as a second process has it."""
    store = gardener.state.archive.store
    return Gardener(Settings(), Archive(store, session="t", project="p", count=words, clock=lambda: 2_000.0))


@pytest.mark.parametrize("head", OURS)
@pytest.mark.parametrize(
    "rest", ["", " Why?", "\nWhy does it say zebra here?", "\n[1] user: zebra [gabcdef012]"]
)
def test_typed_text_that_begins_like_a_note_is_kept_and_recalled(head: str, rest: str) -> None:
    gardener = compacted()
    done, _cur = shown(gardener)
    (entry,) = gardener.sync(done, [message("user", f"{head}{rest}")])
    assert entry.source.kind is SourceKind.TYPED
    assert gardener.state.archive.store.original(entry.id) == f"{head}{rest}"
    gardener.sync([*done, entry_message(entry), message("assistant", "So.")], [message("user", "on")])
    if "zebra" in rest:
        assert any(entry.id == found.entry_id for found in gardener.recall("zebra"))


def test_a_whole_note_that_the_user_pastes_is_the_users() -> None:
    gardener = compacted()
    note, (done, _cur) = note_of(gardener), shown(gardener)
    (entry,) = gardener.sync(done, [note])
    assert entry.source.kind is SourceKind.TYPED and entry.content == note.content
    gardener.sync([*done, note, message("assistant", "It quotes.")], [])
    assert gardener.state.chat.entries[entry.seq].content == note.content
    fresh = again(gardener)
    (entry,) = fresh.sync([], [note])
    assert entry.source.kind is SourceKind.TYPED


@pytest.mark.parametrize("tail", ["", "\n\nWhy does it say this?", " Please look at app.py again."])
@pytest.mark.parametrize("notice", NOTICE_HEADS)
def test_what_the_host_says_was_typed_is_never_a_notice(notice: str, tail: str) -> None:
    gardener = make_gardener()
    gardener.enter_turn(f"{notice}{tail}")
    (entry,) = gardener.sync([], [message("user", f"{notice}{tail}")])
    assert entry.source.kind is SourceKind.TYPED


@settings(deadline=None, max_examples=60)
@given(TEXTS.filter(str.strip))
def test_every_typed_text_is_archived_whole(text: str) -> None:
    gardener = make_gardener()
    gardener.sync(talk(("hello", "Hi.")), [])
    gardener.enter_turn(text)
    (entry,) = gardener.sync(talk(("hello", "Hi.")), [message("user", text)])
    assert entry.source.kind in {SourceKind.TYPED, SourceKind.COMMAND, SourceKind.WEB, SourceKind.LINT}
    assert gardener.state.archive.store.original(entry.id) == text


@settings(deadline=None, max_examples=8)
@given(st.integers(1_000, 3_000), st.integers(1, 5), st.booleans())
@example(2_777, 1, True)
def test_no_note_that_is_put_back_is_ever_the_users_words(high: int, more: int, second: bool) -> None:
    """In another process only what a note names tells that it is ours: one that shows all it is of names
    nothing."""
    gardener = make_gardener()
    gardener.sync(talk(*LONG), [])
    compact_to(gardener.state, Goal(high, high * 2 // 3, asked=True))
    older, _cur = shown(gardener)
    later = [*older, *talk(*((f"more {n}", f"so {n}") for n in range(more)))]
    gardener.sync(later, [])
    compact_to(gardener.state, Goal(250, 200, asked=True))
    target = again(gardener) if second else gardener
    target.sync(older, [message("user", "on we go")])
    assert any(message.content.startswith(NOTE_HEAD) for message in older)
    typed = [e.content for e in target.state.chat.entries.values() if e.source.kind is SourceKind.TYPED]
    assert not [text for text in typed if text.startswith(NOTE_HEAD) and (named_ids(text) or not second)]


def test_an_original_put_back_by_an_earlier_process_is_no_words_of_the_user() -> None:
    gardener = compacted()
    (hidden, *_) = [e for e in gardener.state.chat.entries.values() if e.role == "user"]
    gardener.clear()
    restored = gardener.restore(hidden.id)
    history = [*restored.messages, *talk(("go on", "Fine."))]
    found = again(gardener).sync(history, [])
    assert found[0].source.kind is SourceKind.STUB
    stranger = make_gardener().sync(history, [])
    assert stranger[0].source.kind is SourceKind.TYPED, "its original is nowhere else"


def test_what_the_model_asked_for_is_no_words_of_the_user() -> None:
    gardener = compacted()
    gardener.state.settings = Settings(ask_for_originals=True, history_tokens=100_000)
    done, _cur = shown(gardener)
    hidden = next(s for s in gardener.state.chat.fidelity)
    text, ids = gardener.answer(f'<recall id="{gardener.state.chat.entries[hidden].id}"/>')
    assert ids
    (entry,) = gardener.sync(done, [message("user", text)])
    assert entry.source.kind is SourceKind.STUB


def test_a_reply_that_imitates_a_note_is_a_reply() -> None:
    gardener = compacted()
    done, _cur = shown(gardener)
    added = gardener.sync([*done, *talk(("and?", f"{NOTE_HEAD}\n[1] user: zebra"))], [])
    assert added[-1].source.kind is SourceKind.REPLY


def test_a_hint_stands_in_no_text_of_the_user() -> None:
    gardener = make_gardener(ask_for_originals=True)
    pasted = f"{NOTE_HEAD}\nwhy?"
    gardener.sync([], [message("user", pasted)])
    gardener.sync([message("user", pasted), message("assistant", "So."), *talk(*LONG)], [])
    compact_to(gardener.state, Goal(2_000, 1_900, asked=True))
    texts = [piece.content for piece in gardener.state.chat.pieces]
    assert not any(text.startswith(f"{NOTE_HEAD}\n{asks.HINT}\nwhy?") for text in texts)
