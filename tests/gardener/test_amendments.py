"""Rules changed by hand stand in the list and in prompts, in the order in which everything was said."""

from __future__ import annotations

import pytest
from made_entries import make_gardener, message, talk

from aider_gardener.errors import UsageError
from aider_gardener.gardener import care
from aider_gardener.gardener.compactions import show
from aider_gardener.gardener.gardener import Gardener
from aider_gardener.messages import Level
from aider_gardener.notes.rules import RULE_CHARS
from aider_gardener.settings import Settings

TYPED = "Never touch the table ledger_lines."


def texts(gardener: Gardener) -> list[str]:
    return [rule.text for rule in gardener.constraints()]


def note(gardener: Gardener) -> str:
    return gardener.map_note(lambda: "")


def test_a_dropped_rule_is_noted_no_more_until_it_is_said_again() -> None:
    gardener = make_gardener(history_tokens=2_000)
    gardener.sync(talk((TYPED, "Noted."), ("go on", "Yes.")), [message("user", "and now?")])
    show(gardener.state, dict.fromkeys(range(2), Level.HIDDEN), "test")
    assert TYPED in note(gardener)
    assert gardener.drop_rule(1).text == TYPED
    assert texts(gardener) == [] and TYPED not in note(gardener)
    done = gardener.state.chat.pieces
    gardener.sync([*done, message("assistant", "Hm."), *talk((TYPED + " Really.", "Noted again."))], [])
    assert TYPED in texts(gardener)


def test_an_edited_rule_keeps_its_place_and_a_later_word_still_replaces_it() -> None:
    gardener = make_gardener(history_tokens=2_000)
    gardener.sync(talk((TYPED, "Noted."), ("Always use tabs for the indentation.", "Yes.")), [])
    assert gardener.edit_rule(1, "Never touch the table ledger_rows.").turn == gardener.state.chat.turn
    assert texts(gardener)[0] == "Never touch the table ledger_rows." and len(texts(gardener)) == 2
    done = list(gardener.state.chat.done)
    gardener.sync([*done, *talk(("Forget the rule about the table ledger_rows.", "Fine."))], [])
    assert texts(gardener) == ["Always use tabs for the indentation."]
    gardener.add_rule("Never use tabs for the indentation.")
    assert texts(gardener) == ["Never use tabs for the indentation."]


def test_nothing_and_the_same_again_are_refused_and_what_is_long_is_cut() -> None:
    gardener = make_gardener()
    assert gardener.add_rule("Be brief").turn == 1, "of the first turn, though nothing was said yet"
    with pytest.raises(UsageError, match="say what"):
        gardener.add_rule(" \n ")
    with pytest.raises(UsageError, match="rule 1 already"):
        gardener.add_rule("Be  brief")
    assert len(gardener.add_rule("Mind the " + "details " * 99).text) <= RULE_CHARS + 2


def test_after_clear_and_forget_no_rule_is_left() -> None:
    gardener = make_gardener(history_tokens=2_000)
    gardener.sync(talk((TYPED, "Noted.")), [])
    gardener.add_rule("Be brief")
    gardener.clear()
    assert texts(gardener) == [] and note(gardener) == ""
    gardener.add_rule("Be kind")
    gardener.forget_session()
    assert texts(gardener) == []


def test_what_was_changed_is_kept_with_the_session() -> None:
    gardener = make_gardener()
    gardener.add_rule("Be brief")
    gardener.add_rule("Mind the tests")
    gardener.edit_rule(1, "Be very brief")
    archive = gardener.state.archive
    archive.event(1, care.RULE, {"text": "not one of ours"})
    again = Gardener(Settings(), archive)
    again.go_on(archive.store.sessions("p")[0])
    assert texts(again) == ["Be very brief", "Mind the tests"]
