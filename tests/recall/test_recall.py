"""What is recalled unasked earns its tokens, beside what stands in the prompt and what was taken already."""

from __future__ import annotations

import pytest
from made_entries import entry as made
from made_entries import make_gardener, talk

from aider_gardener.gardener.compactions import apply
from aider_gardener.gardener.gardener import Gardener
from aider_gardener.messages import Fidelity
from aider_gardener.recall import recall
from aider_gardener.recall.candidates import Request, recall_part
from aider_gardener.recall.ranking import Passage

QUESTION = "On which day does the escrow account close after the reconciliation job?"
ANSWER = "The escrow account closes on the 17th, after the reconciliation job of that day."
NOISE = "Part {n} of the importer reads its rows from file {n} and skips what is blank."


def chat() -> Gardener:
    """A chat whose first exchange, with the answer, is hidden."""
    gardener = make_gardener()
    rows = [("about the escrow account", ANSWER), *((f"part {n}", NOISE.format(n=n)) for n in range(1, 7))]
    gardener.sync(talk(*rows), [])
    apply(gardener.state, {0: Fidelity.HIDDEN, 1: Fidelity.HIDDEN}, "made")
    return gardener


def test_what_is_missing_comes_back() -> None:
    assert "closes on the 17th" in chat().recall_note(QUESTION, "")


def test_what_fits_less_than_half_as_well_as_what_stands_is_left_out() -> None:
    entry = made(0, "assistant", "text")
    standing, near, far = (
        (points, points, Passage(entry, at, at + 1, "t")) for at, points in enumerate((1.0, 0.6, 0.4))
    )
    least = recall.least_points([standing, near, far], [near, far], Request(QUESTION, unasked=True))
    assert far[0] < least < near[0]
    assert recall.least_points([near, far], [near, far], Request(QUESTION, unasked=True)) == 0.0


def test_a_passage_must_fit_the_better_the_more_was_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    assert recall.worth_taking(0.0) < recall.worth_taking(0.5) < recall.worth_taking(1.0)
    assert chat().recall_note(QUESTION, "")
    monkeypatch.setattr(recall, "WORTH_FIRST", 9.0)
    assert chat().recall_note(QUESTION, "") == ""


def test_an_order_may_recall_a_part_of_what_a_question_may() -> None:
    assert recall_part("add a limit to the second form") <= 0.2 < recall_part(QUESTION)


def test_nothing_is_searched_while_the_chat_stands_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    gardener = make_gardener()
    gardener.sync(talk(("about the escrow account", ANSWER)), [])
    monkeypatch.setattr(gardener.state.recollection, "note", lambda *_given: pytest.fail("it was searched"))
    assert gardener.recall_note(QUESTION, "") == ""
