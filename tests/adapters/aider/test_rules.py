"""/gardener constraints in a real chat."""

from __future__ import annotations

from typing import Any

import pytest

from .conftest import MakeDriver, ScriptedModel
from .test_entry_commands import say

RULE = "Never touch the table ledger_lines."


def test_rules_are_listed_added_edited_and_dropped(
    drive: MakeDriver, gardened: Any, model: ScriptedModel
) -> None:
    gardened()
    driver = drive()
    assert "No rules were set" in say(driver, "/gardener constraints")
    driver.ask(f"/ask {RULE} What is in it?")
    assert "Set: Answer in German" in say(driver, "/gardener constraints add Answer in German")
    lines = say(driver, "/gardener constraints").splitlines()
    assert lines[-2:] == [f"1. [1] {RULE}", "2. [1] Answer in German"]
    driver.ask("/ask and now?")
    assert "[1] Answer in German" in model.last_prompt()
    assert "Changed rule 2 to: Answer in French" in say(
        driver, "/gardener constraints edit 2 Answer in French"
    )
    driver.ask("/ask and now?")
    assert "Answer in French" in model.last_prompt() and "German" not in model.last_prompt()
    assert "Dropped: Answer in French" in say(driver, "/gardener constraints drop 2")
    driver.ask("/ask and now?")
    assert "French" not in model.last_prompt()
    assert not any("French" in str(message) for message in driver.history)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("add", "Usage: /gardener constraints [add TEXT | edit N TEXT | drop N]"),
        ("edit one text", "Usage: "),
        ("edit 1", "Usage: "),
        ("drop", "Usage: "),
        ("drop 1 2", "Usage: "),
        ("sing", "Usage: "),
        ("drop 7", "there is no rule 7: no rules were set in this chat"),
        ("edit 99999999999999999999999 x", "there is no rule 999999: "),
    ],
)
def test_what_is_no_command_of_it_is_one_line(
    words: str, said: str, drive: MakeDriver, gardened: Any
) -> None:
    gardened()
    driver = drive()
    found = say(driver, f"/gardener constraints {words}")
    assert found.strip().splitlines()[-1].startswith(said)


def test_a_rule_that_stands_in_no_prompt_says_why(drive: MakeDriver, gardened: Any) -> None:
    gardened(rules_share=0.0)
    driver = drive()
    assert "raise --gardener-rules-share" in say(driver, "/gardener constraints add Be brief")
    driver.type("/gardener off")
    assert "stands in no prompt" in say(driver, "/gardener constraints add Be kind")
