"""The commands in the chat, and that aider's own keep their names and prefixes."""

from __future__ import annotations

import gc
import json
import re
from pathlib import Path
from typing import Any

import pytest

from aider_gardener import install, uninstall
from aider_gardener.adapters.aider.commands import COMMANDS, STEPS, USAGE

from .conftest import Begin, Driver, MakeDriver
from .test_entry_commands import say
from .test_overflow import rejection
from .test_wrappers import chatter

RULE = "Never touch the table ledger_lines."
KEYS = {
    "used", "available", "utilization", "history_budget", "history_used", "messages_count", "largest_messages",
    "by_message", "by_class", "entries_tracked", "total_original_tokens", "total_summary_tokens",
    "compression_ratio", "eviction_candidates", "recommendation",
}  # fmt: skip


def pressure(driver: Driver) -> dict[str, Any]:
    say(driver, "/context-pressure --json")
    value: dict[str, Any] = json.loads(driver.said[-1])
    return value


def test_the_pressure_as_json_is_one_line_however_narrow_the_terminal(
    driver: Driver, capsys: pytest.CaptureFixture[str]
) -> None:
    chatter(driver, 4)
    driver.coder.io.console.width = 40
    capsys.readouterr()
    said = pressure(driver)
    (line,) = (line for line in capsys.readouterr().out.splitlines() if line.startswith("{"))
    assert json.loads(line) == said and not driver.coder.io.console.soft_wrap


def test_pressure_has_the_agreed_keys_and_sums_up(driver: Driver) -> None:
    chatter(driver, 4)
    report = pressure(driver)
    assert set(report) >= KEYS
    assert set(report["largest_messages"][0]) == {"index", "role", "class", "tokens"}
    assert set(next(iter(report["by_class"].values()))) == {"count", "orig", "sum", "ratio"}
    assert report["used"] == sum(report["parts"].values())
    assert report["available"] == 128_000 - report["used"]
    assert report["messages_count"] == len(driver.history) == 8
    assert sum(row["tokens"] for row in report["by_message"]) == report["history_used"]


def test_looking_changes_nothing_and_the_plan_shows_swaps_and_what_they_cost(begin: Begin) -> None:
    driver = begin(history_tokens=4_000)
    chatter(driver, 12)
    lists, state = [dict(message) for message in driver.history], driver.coder.gardener.state
    before = dict(state.chat.levels), state.chat.floor, state.plans
    for command in ("/context-pressure", "/gardener status", "/gardener", "/gardener plan"):
        say(driver, command)
        assert driver.history == lists
        assert (dict(state.chat.levels), state.chat.floor, state.plans) == before
    for words in ("whole → ", "tokens", "priority", "uncached once", "nothing was changed"):
        assert words in driver.last_said


def prefixes(driver: Driver) -> dict[str, list[str]]:
    commands = driver.coder.commands
    own = [name for name in commands.get_commands() if name not in COMMANDS]
    words = sorted({name[:length] for name in own for length in range(2, len(name) + 1)})
    found = {}
    for word in words:
        matching, first, _rest = commands.matching_commands(word)
        found[word] = [first] if first in matching else sorted(matching)
    return found


def test_every_prefix_of_aiders_commands_means_what_it_meant(drive: MakeDriver) -> None:
    uninstall()
    before = prefixes(drive())
    install()
    assert prefixes(drive()) == before


def test_help_names_our_commands(driver: Driver) -> None:
    driver.type("/help")
    for name in ("/context-pressure", "/gardener", "/recall", "/compact"):
        assert any(line.startswith(name) and len(line) > 25 for line in driver.said)


def answering(monkeypatch: pytest.MonkeyPatch, driver: Driver, *answers: Any) -> list[str]:
    """Answer what is asked, in this order; the questions."""
    left, asked = list(answers), list[str]()

    def answer(question: str, *_args: Any, **_options: Any) -> Any:
        asked.append(question)
        return left.pop(0)

    for name in ("confirm_ask", "prompt_ask"):
        monkeypatch.setattr(driver.coder.io, name, answer)
    return asked


def test_compact_shows_what_it_would_do_asks_and_can_be_taken_back(
    begin: Begin, monkeypatch: pytest.MonkeyPatch
) -> None:
    driver = begin(history_tokens=4_000)
    driver.type("/run echo word")  # aider says "Ok." to it, which counts as no message
    chatter(driver, 12)
    before = [dict(message) for message in driver.history]
    asked = answering(monkeypatch, driver, False, True)
    say(driver, "/compact")
    assert "would" in driver.said[0] and driver.said[-1] == "Nothing was changed." and len(asked) == 1
    assert driver.history == before
    driver.type("/compact")
    assert driver.said[-1].startswith("Made room: ") and "/gardener undo takes it back" in driver.said[-1]
    assert driver.history != before
    changed = sum(map(int, re.findall(r"(\d+) (?:old message|is|are)", driver.said[-1])))
    driver.type("/gardener undo")
    assert driver.history == before
    assert f": {changed} messages changed." in driver.said[-1]


def test_compact_spares_what_its_words_name(begin: Begin, monkeypatch: pytest.MonkeyPatch) -> None:
    driver = begin(history_tokens=6_000)
    driver.ask("/ask how does the tide table work?", reply="The tide table is read at dawn. " * 20)
    driver.ask("/ask how does the lamp work?", reply="The lamp burns whale oil at night. " * 20)
    chatter(driver, 12)
    assert not driver.coder.gardener.state.plans
    asked = answering(monkeypatch, driver, True, True)
    say(driver, "/compact tide table")
    assert asked == ["Make room now?"]
    assert any('that "tide table" names' in line for line in driver.said)
    shown = "\n".join(str(message["content"]) for message in driver.history)
    assert "The tide table is read at dawn. " * 19 in shown and "burns whale oil at night. " * 19 not in shown
    driver.type("/gardener undo")
    driver.type("/compact the periodic zeppelins")
    assert 'Nothing in the chat fits "the periodic zeppelins".' in driver.said


def test_compact_says_when_nothing_is_worth_it_and_when_it_is_off(driver: Driver) -> None:
    driver.ask("/ask hello")
    driver.type("/compact")
    used, low = driver.coder.gardener.state.history_used, 3_200  # 40 % of aider's limit
    said = (
        f"There is nothing worth compacting now: the history has {used} tokens, and a compaction goes down to"
    )
    assert driver.said[-1] == f"{said} {low:,}."
    driver.type("/gardener off")
    driver.type("/compact")
    assert "The gardener is off in this chat; nothing is compacted." in driver.said


def test_the_status_speaks_in_sentences(driver: Driver) -> None:
    driver.ask("/ask hello")
    say(driver, "/gardener")
    assert driver.said[0].startswith("The gardener is on. Room is made when the history passes")
    assert not any("_" in line for line in driver.said)
    assert driver.said[-1].startswith("Archive .aider.gardener/gardener.db: 2 different messages, ")
    say(driver, "/gardener status --yaml")
    assert [line for line in driver.said if line.startswith("Usage: /gardener")]


def test_the_words_behind_the_command_are_explained(driver: Driver) -> None:
    assert all(word in USAGE for word in STEPS)
    driver.type("/gardener help")
    at = driver.said.index("/gardener and one of these words:")
    words = [line.split()[0] for line in driver.said[at + 1 :] if line[:1].strip()]
    assert words == list(STEPS)


def test_rules_are_listed_added_edited_and_dropped(driver: Driver) -> None:
    assert "No rules were set" in say(driver, "/gardener constraints")
    driver.ask(f"/ask {RULE} What is in it?")
    assert "Set: Answer in German" in say(driver, "/gardener constraints add Answer in German")
    lines = say(driver, "/gardener constraints").splitlines()
    assert lines[-2:] == [f"1. [1] {RULE}", "2. [1] Answer in German"]
    driver.ask("/ask and now?")
    assert "[1] Answer in German" in driver.model.last_prompt()
    assert "Changed rule 2 to: Answer in French" in say(
        driver, "/gardener constraints edit 2 Answer in French"
    )
    driver.ask("/ask and now?")
    assert "Answer in French" in driver.model.last_prompt() and "German" not in driver.model.last_prompt()
    assert "Dropped: Answer in French" in say(driver, "/gardener constraints drop 2")
    driver.ask("/ask and now?")
    assert "French" not in driver.model.last_prompt()
    assert not any("French" in str(message) for message in driver.history)


def test_a_rule_outlives_an_ask_that_a_file_of_load_asked(driver: Driver, tmp_path: Path) -> None:
    driver.type("/gardener constraints add Answer in German")
    steps = tmp_path / "steps"
    steps.write_text("/ask which port is it?\n/ask and the other one?\n/run echo 5433\n", encoding="utf-8")
    driver.type(f"/load {steps}")
    gc.collect()
    assert "Answer in German" in say(driver, "/gardener constraints")
    assert not any("port" in str(message) for message in driver.history), "aider itself knows it no more"
    assert "which port" in say(driver, "/recall which port is it")


def test_a_rule_outlives_a_first_message_that_is_broken_off_or_never_sent(
    driver: Driver, monkeypatch: pytest.MonkeyPatch
) -> None:
    driver.type("/gardener constraints add Answer in German")
    with monkeypatch.context() as patched:
        patched.setattr(type(driver.coder), "check_tokens", lambda _self, _messages: False)
        driver.type("first words")
    assert driver.history == [] and "Answer in German" in say(driver, "/gardener constraints")
    driver.model.replies += [rejection(), rejection()]
    driver.type("first words")
    assert driver.history == [] and "Answer in German" in say(driver, "/gardener constraints")
    driver.model.replies.append(KeyboardInterrupt())
    driver.type("first words")
    assert "Answer in German" in say(driver, "/gardener constraints")
    driver.ask("/ask second words")
    assert "Answer in German" in driver.model.last_prompt()


def test_what_is_no_command_of_it_is_one_line(driver: Driver) -> None:
    none = ": no rules were set in this chat"
    for words, said in (
        ("add", "Usage: /gardener constraints [add TEXT | edit N TEXT | drop N]"),
        ("edit one text", "Usage: "),
        ("edit 1", "Usage: "),
        ("drop", "Usage: "),
        ("drop 1 2", "Usage: "),
        ("sing", "Usage: "),
        ("drop 0", f"there is no rule 0{none}"),
        ("drop 7", f"there is no rule 7{none}"),
        ("edit 99999999999999999999999 x", f"there is no rule 999999{none}"),
    ):
        found = say(driver, f"/gardener constraints {words}")
        assert found.strip().splitlines()[-1].startswith(said)


def test_a_rule_that_stands_in_no_prompt_says_why(begin: Begin) -> None:
    driver = begin(history_tokens=400)
    assert "no room for it: say rules in fewer words" in say(
        driver, f"/gardener constraints add Be {'very ' * 60}brief"
    )
    driver.type("/gardener off")
    assert "stands in no prompt" in say(driver, "/gardener constraints add Be kind")
