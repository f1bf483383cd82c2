"""Typed text that looks like a note of ours is the user's words; a note of ours never is."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_entries import make_gardener, message, talk

from aider_gardener.gardener import care
from aider_gardener.gardener.compactions import compact_to
from aider_gardener.gardener.gardener import Gardener
from aider_gardener.messages import SourceKind
from aider_gardener.notes.chatmap import MAP_HEAD
from aider_gardener.notes.last_chat import HEAD as LAST_HEAD
from aider_gardener.plan.goals import Goal
from aider_gardener.plan.view import NOTE_HEAD
from aider_gardener.reading.source import NOTICE_HEADS
from aider_gardener.recall import recall
from aider_gardener.settings import Settings

OURS = (
    NOTE_HEAD,
    care.RESTORED_HEAD,
    MAP_HEAD,
    care.HEAD,
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


def note_of(gardener: Gardener) -> dict[str, Any]:
    """A plain copy of the note, as somebody pastes it."""
    return next(dict(piece) for piece in gardener.state.chat.done if piece.is_note)


def again(gardener: Gardener) -> Gardener:
    """Another chat over the same archive, as a second process has it."""
    return make_gardener(gardener.state.archive.store, "t", 2_000.0)


@pytest.mark.parametrize("head", OURS)
def test_typed_text_that_begins_like_a_note_is_kept_and_recalled(head: str) -> None:
    gardener = compacted()
    done = list(gardener.state.chat.done)
    typed = f"{head}\n[1] user: zebra [gabcdef012]"
    (entry,) = gardener.sync(done, [asked := message("user", typed)])
    assert entry.source.kind is SourceKind.TYPED
    assert gardener.state.archive.store.original(entry.id) == typed
    gardener.sync([*done, asked, message("assistant", "So.")], [message("user", "on")])
    assert any(entry.id == found.entry_id for found in gardener.recall("zebra"))


def test_a_whole_note_that_is_pasted_forged_or_said_twice_is_a_new_message_of_one_original() -> None:
    gardener = compacted()
    note, done = note_of(gardener), list(gardener.state.chat.done)
    was = gardener.state.archive.store.stats().entries
    levels = gardener.state.chat.levels
    added = gardener.sync(done, [dict(note), message("assistant", "It quotes."), dict(note)])
    assert [entry.content for entry in added] == [note["content"], "It quotes.", note["content"]]
    assert {entry.source.kind for entry in added[::2]} == {SourceKind.TYPED}
    assert gardener.state.archive.store.stats().entries == was + 2, "the same words are one original"
    assert gardener.state.chat.levels == levels
    (entry,) = again(gardener).sync([], [dict(note)])
    assert entry.source.kind is SourceKind.TYPED and entry.id == added[0].id


@pytest.mark.parametrize("tail", ["", "\n\nWhy does it say this?"])
@pytest.mark.parametrize("notice", NOTICE_HEADS)
def test_what_the_host_says_was_typed_is_never_a_notice(notice: str, tail: str) -> None:
    gardener = make_gardener()
    gardener.enter_turn(f"{notice}{tail}")
    (entry,) = gardener.sync([], [message("user", f"{notice}{tail}")])
    assert entry.source.kind is SourceKind.TYPED


@settings(deadline=None, max_examples=25)
@given(TEXTS.filter(str.strip))
def test_every_typed_text_is_archived_whole(text: str) -> None:
    gardener = make_gardener()
    gardener.sync(done := talk(("hello", "Hi.")), [])
    gardener.enter_turn(text)
    (entry,) = gardener.sync(done, [message("user", text)])
    assert entry.source.kind in {SourceKind.TYPED, SourceKind.COMMAND, SourceKind.WEB, SourceKind.LINT}
    assert gardener.state.archive.store.original(entry.id) == text


@settings(deadline=None, max_examples=4)
@given(st.integers(1_800, 3_000), st.integers(1, 5))
def test_no_note_that_is_put_back_is_ever_the_users_words(high: int, more: int) -> None:
    gardener = make_gardener()
    gardener.sync(talk(*LONG), [])
    compact_to(gardener.state, Goal(high, high * 2 // 3, asked=True))
    older = list(gardener.state.chat.done)
    gardener.sync([*older, *talk(*((f"more {n}", f"so {n}") for n in range(more)))], [])
    compact_to(gardener.state, Goal(250, 200, asked=True))
    added = gardener.sync(older, [message("user", "on we go")])
    assert any(piece.is_note for piece in older)
    assert [entry.content for entry in added] == ["on we go"]


def test_what_the_model_asked_for_is_no_words_of_the_user() -> None:
    gardener = compacted()
    gardener.state.settings = Settings(ask_for_originals=True, history_tokens=100_000)
    hidden = next(s for s in gardener.state.chat.levels)
    text, ids = gardener.answer(f'<recall id="{gardener.state.chat.entries[hidden].id}"/>')
    assert ids
    note, _filler = gardener.add_note(text)
    assert gardener.state.chat.entries[note.members[0]].source.kind is SourceKind.STUB
    assert gardener.sync(list(gardener.state.chat.done), list(gardener.state.chat.cur)) == []


def test_a_reply_that_imitates_a_note_is_a_reply() -> None:
    gardener = compacted()
    done = gardener.state.chat.done
    added = gardener.sync([*done, *talk(("and?", f"{NOTE_HEAD}\n[1] user: zebra"))], [])
    assert added[-1].source.kind is SourceKind.REPLY


def test_a_hint_stands_in_no_text_of_the_user() -> None:
    gardener = make_gardener(ask_for_originals=True)
    pasted = f"{NOTE_HEAD}\nwhy?"
    gardener.sync([], [message("user", pasted)])
    gardener.sync([message("user", pasted), message("assistant", "So."), *talk(*LONG)], [])
    compact_to(gardener.state, Goal(2_000, 1_900, asked=True))
    texts = [piece.content for piece in gardener.state.chat.pieces]
    assert not any(text.startswith(f"{NOTE_HEAD}\n{care.HINT}\nwhy?") for text in texts)
