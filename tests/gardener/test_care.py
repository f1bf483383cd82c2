"""Single entries: forgotten, pinned, restored, explained, on a chat without a host."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_chats import PROSE, long_talk, shown
from made_entries import make_gardener, message, talk

from aider_gardener.archive.store import open_store
from aider_gardener.errors import UsageError
from aider_gardener.gardener.compactions import compact_to, goal_of, show
from aider_gardener.gardener.gardener import Gardener
from aider_gardener.messages import Level, entry_id
from aider_gardener.plan.goals import Frame, Goal
from aider_gardener.plan.view import FILLER, is_legal


def text(gardener: Gardener) -> str:
    return "\n".join(message.content for message in shown(gardener))


def id_at(gardener: Gardener, seq: int) -> str:
    return gardener.state.chat.entries[seq].id


def filled(turns: int = 8, **options: object) -> Gardener:
    gardener = make_gardener(**{"history_tokens": 2_000, **options})
    gardener.sync(long_talk(turns), [])
    return gardener


@settings(max_examples=10, deadline=None)
@given(
    forgotten=st.lists(st.integers(0, 11), unique=True, max_size=6),
    pinned=st.lists(st.integers(0, 11), unique=True, max_size=2),
    split=st.integers(0, 6),
    undo=st.booleans(),
    compact_first=st.booleans(),
)
def test_laws_of_forgetting_and_pinning(
    forgotten: list[int], pinned: list[int], split: int, undo: bool, compact_first: bool
) -> None:
    """Whatever is forgotten or pinned, and whatever is compacted or undone after it: the chat is legal,
    what is forgotten stands nowhere, what is pinned stands whole."""
    messages = long_talk(6)
    gardener = make_gardener(history_tokens=20_000)
    gardener.sync(messages[: 2 * split], messages[2 * split :])
    goal = Goal(high=1, low=1, hard=1)
    if compact_first:
        compact_to(gardener.state, goal)
    held = [seq for seq in pinned if seq not in forgotten]
    for seq in held:
        gardener.pin(id_at(gardener, seq))
    for seq in forgotten:
        gardener.forget(id_at(gardener, seq))
    compact_to(gardener.state, goal)
    if undo and gardener.state.plans:
        gardener.undo()
    show(gardener.state, dict.fromkeys(range(12), Level.HIDDEN), "all")
    gardener.give_back()
    gardener.compact_after_rejection()
    done, cur = list(gardener.state.chat.done), list(gardener.state.chat.cur)
    for part in (done, cur):
        assert is_legal([piece.message for piece in part])
    standing = text(gardener)
    for seq in forgotten:
        assert messages[seq]["content"] not in standing
        assert gardener.state.archive.store.original(entry_id(**messages[seq])) is None
    assert all(messages[seq]["content"] in standing for seq in held)
    gardener.sync(done, cur)
    assert gardener.state.chat.next_seq == len(messages), "nothing of ours was taken for something new"


def test_forget_session_leaves_what_another_session_said() -> None:
    store = open_store(None)
    old, new = make_gardener(store, "old"), make_gardener(store, "new")
    old.sync(talk(("said in both", "Noted.")), [])
    new.sync(talk(("said in both", "Noted."), ("said here alone", "Fine.")), [])
    assert new.forget_session() == 2
    assert [entry.content for entry in store.session_entries("old")] == ["said in both", "Noted."]
    assert shown(new) == []
    assert "new" in [info.id for info in store.sessions("p")]
    new.sync([], [message("user", "a new beginning")])
    assert [entry.content for entry in store.session_entries("new")] == ["a new beginning"]


def test_pinned_entries_leave_half_of_the_budget_free() -> None:
    gardener = filled(history_tokens=1_000)
    gardener.pin(id_at(gardener, 1))
    with pytest.raises(UsageError, match=r"only 108 more can be held beside the rest.*/unpin"):
        gardener.pin(id_at(gardener, 3))
    gardener.pin(id_at(gardener, 1))  # pinned already: nothing more is taken


def test_a_pin_is_known_to_the_next_process(tmp_path: Path) -> None:
    def chat(session: str) -> Gardener:
        gardener = make_gardener(open_store(tmp_path / "s"), session, history_tokens=2_000)
        gardener.sync(long_talk(8), [])
        return gardener

    first = chat("one")
    first.pin(id_at(first, 1))
    first.state.archive.store.close()
    second = chat("two")
    compact_to(second.state, Goal(high=1, low=1, hard=1))
    assert second.state.chat.entries[1].content in text(second)
    second.state.archive.store.close()


def test_restore_in_place_holds_off_the_next_plan() -> None:
    gardener = filled(12)
    gardener.compact_if_due()
    seq = next(s for s in gardener.state.chat.levels if s % 2)
    found = gardener.restore(id_at(gardener, seq))
    assert (found.in_place, found.changed) == (True, True)
    assert found.entry.content in text(gardener)
    gardener.sync(shown(gardener), [message("user", "short")])
    assert gardener.compact_if_due() is None
    assert gardener.restore(id_at(gardener, seq)).changed is False


def test_what_the_window_has_no_room_for_is_not_restored() -> None:
    gardener = make_gardener(history_tokens=1_000)
    long = "\n".join(f"row {n} has the value {n * n}" for n in range(2_000))
    gardener.state.frame = Frame(window=6_000, parts={"system": 1_000})
    gardener.sync(talk(("here it is", long), ("and?", "So.")), [message("user", "go on")])
    gardener.compact_if_due()
    before, goal = gardener.state.chat, goal_of(gardener.state)
    for step in (gardener.restore, gardener.pin):
        with pytest.raises(UsageError, match=r"has 12,0\d\d tokens"):
            step(id_at(gardener, 1))
    assert gardener.state.chat == before and goal_of(gardener.state) == goal


def test_restoring_what_is_gone_gives_a_note_that_quotes_it() -> None:
    gardener = filled(2)
    gone = id_at(gardener, 1)
    gardener.clear()
    found = gardener.restore(gone)
    assert not found.in_place
    assert [message.role for message in found.messages] == ["user", "assistant"]
    assert f"> Answer 0. {PROSE}" in found.messages[0].content
    assert found.messages[1].content == FILLER
    assert gardener.sync([], shown(gardener)) == [], "it stands in the chat already"
    assert gardener.state.chat.entries[4].source.kind.value == "stub"
    assert gardener.restore(gone).changed is False
    gardener.pin(gone)
    assert gardener.state.chat.entries[4].pinned
    gardener.pin(gone, pinned=False)
    assert PROSE in text(gardener)
    assert gardener.forget(gone) == 2, "the note that quotes it goes with it"
    assert PROSE not in text(gardener)


def test_what_was_found_for_the_open_question_is_looked_for_anew_after_a_forget() -> None:
    gardener = filled()
    compact_to(gardener.state, Goal(high=1, low=1, hard=1))
    question = "what did answer 1 explain of part number 4?"
    gardener.sync(shown(gardener), [message("user", question)])
    forgotten = id_at(gardener, 3)
    for stands in (True, False):
        assert gardener.recall_note(question, "")
        assert (forgotten in [item.entry_id for item in gardener.state.recalled.quoted]) is stands
        if stands:
            gardener.forget(forgotten)
