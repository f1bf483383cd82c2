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
from aider_gardener.recall.match import Match
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
    best = recall.RICH
    worth = [recall.worth_taking(share, best) for share in (0.0, 0.5, 1.0)]
    assert 0.0 < worth[0] < worth[1] < worth[2] < best
    assert chat().recall_note(QUESTION, "")
    monkeypatch.setattr(recall, "WORTH_FIRST", 9.0)
    assert chat().recall_note(QUESTION, "") == ""


def test_where_nothing_fits_well_less_is_needed_but_not_nothing() -> None:
    rich, poor = recall.RICH, recall.POOR
    assert recall.worth_taking(0.0, rich) > recall.worth_taking(0.0, poor) > 0.0
    assert recall.worth_taking(0.0, 9.0) == recall.worth_taking(0.0, rich)
    assert recall.worth_taking(0.0, 0.1) == recall.worth_taking(0.0, poor)


def test_an_order_may_recall_a_part_of_what_a_question_may() -> None:
    assert recall_part("add a limit to the second form") <= 0.2 < recall_part(QUESTION)


def test_nothing_is_searched_while_the_chat_stands_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    gardener = make_gardener()
    gardener.sync(talk(("about the escrow account", ANSWER)), [])
    monkeypatch.setattr(gardener.state.recollection, "note", lambda *_given: pytest.fail("it was searched"))
    assert gardener.recall_note(QUESTION, "") == ""


RULE = "Never touch the migrations folder."


@pytest.mark.parametrize(
    "later",
    ["From now on always update the migrations folder too.", "ok, you can touch the migrations folder now"],
)
def test_a_rule_that_was_replaced_says_until_when_and_comes_with_the_newer_one(later: str) -> None:
    gardener = make_gardener()
    rows = [(RULE, "ok"), ("part one", NOISE.format(n=1)), (later, "ok"), ("part two", NOISE.format(n=2))]
    for at in range(len(rows)):
        gardener.enter_turn()
        gardener.leave_turn()
        gardener.sync(talk(*rows[: at + 1]), [])
    gardener.enter_turn()
    found = gardener.recall("what about the migrations folder")
    older, newer = (next(item for item in found if item.text == text) for text in (RULE, later))
    assert (older.until, newer.until) == (newer.turn, 0)
    assert found.index(newer) < found.index(older)
    assert f"until turn {newer.turn}" in recall.recall_note(found)


def test_a_rule_that_holds_says_nothing() -> None:
    gardener = make_gardener()
    gardener.sync(talk((RULE, "ok"), ("and now part one", NOISE.format(n=1)), ("go on", "done")), [])
    found = gardener.recall("what about the migrations folder")
    assert RULE in [item.text for item in found] and not any(item.until for item in found)


EDIT = """The escrow account closes on the 18th now.

fees.py
```python
<<<<<<< SEARCH
ESCROW_DAY = 17
=======
ESCROW_DAY = 18  # the escrow account closes after the reconciliation job
>>>>>>> REPLACE
```
"""
ORDER = "make the escrow account close after the reconciliation job"
FAILED = (
    "# 1 SEARCH/REPLACE block failed to match!\n\n## SearchReplaceNoExactMatch: nothing like it in fees.py"
)


@pytest.mark.parametrize("undone", [True, False])
def test_code_of_an_edit_that_does_not_stand_is_no_evidence(undone: bool) -> None:
    def hidden(said: list[tuple[str, str]]) -> Gardener:
        gardener = make_gardener()
        rows = [*said, *((f"part {n}", NOISE.format(n=n)) for n in range(1, 7))]
        gardener.sync(talk(*rows), [])
        return gardener

    after = [] if undone else [(FAILED, "I see.")]
    gardener = hidden([("move the escrow account", EDIT), *after])
    if undone:
        gardener.edit_undone()
    apply(gardener.state, dict.fromkeys(range(2 + 2 * len(after)), Fidelity.HIDDEN), "made")
    ordered = gardener.recall_note(ORDER, "")
    assert "closes on the 18th now" in ordered and "ESCROW_DAY = 18" not in ordered
    for asked in (gardener.recall_note(QUESTION, ""), recall.recall_note(gardener.recall(QUESTION))):
        assert "ESCROW_DAY = 18" in asked, "who asks for it may see it"
        assert ("its edit was undone" if undone else "its edit was not applied") in asked
    stands = hidden([("move the escrow account", EDIT)])
    apply(stands.state, dict.fromkeys(range(2), Fidelity.HIDDEN), "made")
    assert "ESCROW_DAY = 18" in stands.recall_note(ORDER, "")


def test_each_passage_says_what_made_it_come() -> None:
    match = next(item.match for item in chat().recall(QUESTION) if item.text == ANSWER)
    assert {"escrow", "account", "reconciliation"} <= set(match.words)
    assert str(match).startswith("words: ") and match.meaning == 0.0


def test_what_no_search_found_can_be_told_too() -> None:
    gardener = make_gardener()
    filler = " ".join(f"Sentence {n} of a long prompt says nothing of it at all." for n in range(40))
    newer = "ok, from now on always update the migrations folder too."
    gardener.sync(talk((RULE, "ok"), (f"{newer}\n\n{filler}", "done"), ("go on", "done")), [])
    whole = gardener.recall("migrations folder", full=True)
    assert any(filler in item.text for item in whole)
    replaced = recall.holding(gardener.state.chat.entries[2], newer)
    assert newer in replaced.text and len(replaced.text) < len(filler)
    assert recall.why(whole[0], [], None, {}, 0.0) == Match()
