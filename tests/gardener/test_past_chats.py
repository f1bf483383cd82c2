"""What is kept of chats that have ended, for a list and to be read."""

from __future__ import annotations

from made_chats import with_outputs
from made_entries import make_gardener, message, talk

from aider_gardener.archive.sessions import session_named
from aider_gardener.archive.store import Store, open_store
from aider_gardener.gardener.compactions import compact_to
from aider_gardener.gardener.past_chats import Said, Transcript, past_chats, transcript
from aider_gardener.gardener.report import turn_over
from aider_gardener.messages import Fidelity
from aider_gardener.plan.goals import Frame, Goal
from aider_gardener.plan.usage import Call, Prices


def read(store: Store, session: str = "last") -> Transcript:
    return transcript(store, "p", session_named(store, "p", session))


def all_said(store: Store) -> list[Said]:
    return [said for turn in read(store).turns for said in turn.said]


def test_a_list_has_what_was_asked_first_what_it_cost_and_the_files() -> None:
    store = open_store(None)
    gardener = make_gardener(store)
    gardener.state.frame = Frame(9_000, {"files": 3}, {"app.py": 3}, "gpt-x", read_only=("docs/a.md",))
    gardener.enter_turn()
    gardener.sync(talk(("Mend the pool", "It is mended.")), [])
    gardener.state.usage.add(Call(prompt_tokens=700, completion_tokens=9), Prices(input=1e-5))
    turn_over(gardener.state)
    gardener.leave_turn()
    make_gardener(store, "older", at=900.0).sync(talk(("Hello", "Hi.")), [])
    make_gardener(store, "empty", at=2_000.0)
    first, second = past_chats(store, "p")
    assert (first.number, first.id, first.short, first.turns) == (1, "s", "s", 1)
    assert (first.first_prompt, first.model, first.cost) == ("Mend the pool", "gpt-x", "$0.01")
    assert first.in_chat == ("app.py", "docs/a.md") and first.sums and first.sums.prompt_tokens == 700
    assert (second.id, second.sums, second.cost, second.model) == ("older", None, "", "")
    assert [each.id for each in past_chats(store, "p", limit=1)] == ["s"]
    assert past_chats(store, "elsewhere") == []


def test_a_history_that_comes_at_once_has_each_question_in_the_turn_of_its_answer() -> None:
    store = open_store(None)
    make_gardener(store).sync(talk(*((f"question {n}", f"answer {n}") for n in range(3))), [])
    turns = [(turn.number, *(said.text for said in turn.said)) for turn in read(store).turns]
    assert turns == [(n + 1, f"question {n}", f"answer {n}") for n in range(3)]


def test_a_transcript_has_every_form_in_which_a_message_stood() -> None:
    store = open_store(None)
    gardener = make_gardener(store)
    gardener.sync(with_outputs(8), [])
    assert compact_to(gardener.state, Goal(high=1_400, low=1_100)) is not None
    rows = all_said(store)
    assert len(rows) == 17 and [row.speaker for row in rows[:3]] == ["output", "you", "model"]
    answer = next(row for row in rows if row.shown and row.shown[0].level is not Fidelity.HIDDEN)
    assert 0 < answer.shown[0].tokens < answer.tokens and answer.shown[0].text != answer.text
    assert answer.remark.startswith("In prompts: shorter from turn 8 (")
    assert any(row.remark == "In prompts: left out from turn 8." for row in rows)
    assert rows[-1].shown == () and rows[-1].remark == ""
    gardener.undo()
    again = next(row for row in all_said(store) if row.id == answer.id)
    assert again.remark.endswith("whole again from turn 8.")


def test_what_was_cleared_is_told_and_what_says_nothing_is_left_out() -> None:
    store = open_store(None)
    gardener = make_gardener(store)
    gardener.sync(talk(("one", "Ok."), ("two", "Two it is.")), [])
    gardener.clear()
    gardener.sync([], [message("user", "three")])
    assert [(said.text, said.cleared) for said in all_said(store)] == [
        ("one", True), ("two", True), ("Two it is.", True), ("three", False),
    ]  # fmt: skip
