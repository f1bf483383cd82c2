"""The report of a month has its chats, what they cost and what was done in them, and of no other month."""

from __future__ import annotations

from datetime import datetime

import pytest
from gardener.test_account import COMMIT, EDIT, chat

from aider_gardener.archive.store import Store, open_store
from aider_gardener.gardener.past_chats import month_report, render_month
from aider_gardener.gardener.report import turn_over
from aider_gardener.plan.usage import Call, Prices

NOVEMBER = datetime(2026, 11, 20, 12).timestamp()
OCTOBER = datetime(2026, 10, 31, 23, 59).timestamp()


@pytest.fixture
def store() -> Store:
    """Two chats in November, the first of which called a model, and one in the last minute of October."""
    made = open_store(None)
    chat(made, "the old one", "Yes.", session="cccc", at=OCTOBER)
    said = ("make it two", EDIT.format(path="a.py"), COMMIT, "Ok.")
    gardener = chat(made, *said, session="aaaa", at=NOVEMBER)
    gardener.state.usage.add(Call(prompt_tokens=700, completion_tokens=9), Prices(input=1e-3))
    turn_over(gardener.state)
    chat(made, "and now?", "Yes.", session="bbbb", at=NOVEMBER + 9)
    return made


def test_a_month_has_its_own_chats_with_figures_and_what_was_done(store: Store) -> None:
    found = month_report(store, "p", "2026-11")
    first, second = found["chats"]
    assert (first["session"], first["first_prompt"], first["turns"]) == ("aaaa", "make it two", 2)
    assert (first["prompt_tokens"], first["cost"], first["commits"], first["files"]) == (700, "$0.70", 1, 1)
    assert (second["prompt_tokens"], second["commits"]) == (0, 0)
    assert found["sums"]["sessions"] == 1
    (old,) = month_report(store, "p", "2026-10")["chats"]
    assert old["first_prompt"] == "the old one"


def test_the_text_begins_with_what_was_sent_and_saved(store: Store) -> None:
    lines = list(render_month(month_report(store, "p", "2026-11")))
    assert (
        lines[0].startswith("2026-11: those with figures, 1 chat")
        and "Sent 700 tokens in 1 call for $0.70" in lines[0]
    )
    assert "no cost is known" not in lines[0]
    assert lines[1] == "2026-11-20 aaaa make it two (2 turns, 700 tokens, $0.70, 1 commit, 1 file edited)"
