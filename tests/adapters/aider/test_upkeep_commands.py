"""/gardener archive, observations and tasks in a real chat."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from .conftest import MakeDriver, ScriptedModel
from .test_entry_commands import say

SAID = ("use httpx, not requests", "no, use httpx instead of requests", "I told you: httpx, not requests!")


def test_the_index_is_written_beside_the_archive(drive: MakeDriver, gardened: Any) -> None:
    gardened()
    driver = drive()
    driver.ask("/ask where is the pool?")
    assert "1 session listed in " in say(driver, "/gardener archive")
    index = Path(driver.coder.root) / ".aider.gardener" / "CONTEXT_ARCHIVE.md"
    assert "where is the pool?" in index.read_text("utf-8")
    assert "Forgot" in say(driver, "/forget session --yes")
    assert "where is the pool?" not in index.read_text("utf-8")


def test_a_taken_observation_is_a_rule_of_this_chat_and_of_the_next(
    drive: MakeDriver, gardened: Any, model: ScriptedModel
) -> None:
    gardened()
    for text in SAID:
        drive().ask(f"/ask {text}")
    driver = drive()
    driver.ask("/ask hello")
    assert "httpx" not in model.last_prompt()
    listed = say(driver, "/gardener observations")
    assert "1. " in listed and listed.count("httpx") >= 4
    assert "Rule of every chat from now on: " in say(driver, "/gardener observations take 1")
    driver.ask("/ask and now?")
    assert "httpx" in model.last_prompt()
    later = drive()
    later.ask("/ask hello")
    assert "httpx" in model.last_prompt() and "httpx" in say(later, "/gardener constraints")
    assert "Refused, it will not come again" in say(later, "/gardener observations refuse 1")
    later.ask("/ask and now?")
    assert "httpx" not in model.last_prompt()
    assert "Nothing was seen" in say(later, "/gardener observations")


def test_done_tasks_move_and_a_dry_run_only_tells(drive: MakeDriver, gardened: Any) -> None:
    gardened()
    driver = drive()
    driver.ask("/ask hello")
    root = Path(driver.coder.root)
    (root / "TODO.md").write_bytes(b"- [x] sweep\n- [ ] paint\n")
    assert "1 task would move to " in say(driver, "/gardener tasks --dry-run")
    assert not (root / "TASK_ARCHIVE.md").exists()
    assert "1 task moved to " in say(driver, "/gardener tasks")
    assert (root / "TODO.md").read_bytes() == b"- [ ] paint\n"
    assert "Nothing is checked off." in say(driver, "/gardener tasks")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("observations sing", "Usage: /gardener observations"),
        ("observations take", "Usage: /gardener observations"),
        ("observations take 7", "there is no observation 7; `gardener upkeep"),
        ("tasks now", "Usage: /gardener tasks"),
        ("archive now", "Usage: /gardener "),
    ],
)
def test_what_is_no_command_of_it_is_one_line(
    words: str, said: str, drive: MakeDriver, gardened: Any
) -> None:
    gardened()
    driver = drive()
    found = say(driver, f"/gardener {words}").strip().splitlines()
    assert found[-1].startswith(said)
