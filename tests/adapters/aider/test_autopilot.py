"""Status line, report and status of a real chat, and what `gardener status` says of it afterwards."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from aider_gardener import uninstall
from aider_gardener.adapters.aider import after_turn
from aider_gardener.cli.root import main

from .conftest import MakeDriver

PROSE = "words of prose about the worker. " * 60


def test_by_default_nothing_is_added_to_what_aider_says(drive: MakeDriver, gardened: Any) -> None:
    gardened()
    driver = drive()
    driver.ask("/ask hello")
    assert not any("compaction" in line for line in driver.said)


def test_the_status_line_follows_each_reply_and_no_command(drive: MakeDriver, gardened: Any) -> None:
    gardened(status_line=True)
    driver = drive()
    driver.ask("/ask hello", "/ask again")
    driver.type("/tokens")
    lines = [line for line in driver.said if "compactions" in line]
    assert len(lines) == 2
    assert "%" in lines[0]


def test_the_report_names_what_was_saved(drive: MakeDriver, gardened: Any) -> None:
    gardened(history_tokens=1_000)
    driver = drive()
    driver.ask(*(f"/ask question {n}" for n in range(12)), reply=PROSE)
    gardener = driver.coder.gardener
    assert gardener.plans_applied
    session = gardener.autopilot.session(gardener)
    assert session.calls == 12
    assert session.saved_tokens > 2_000
    after_turn.report_at_exit(gardener, driver.coder.io)
    assert "12 turns" in driver.said[-1]
    assert "fewer than with the whole history" in driver.said[-1]


def test_gardener_status_knows_the_last_chat_and_the_month(
    drive: MakeDriver, gardened: Any, repository: Path
) -> None:
    gardened()
    driver = drive()
    driver.ask("/ask hello", "/ask again", reply=PROSE)
    uninstall()
    shown = CliRunner().invoke(main, ["status", "--json"])
    value = json.loads(shown.stdout)
    assert value["last_chat"]["level"] == "OK"
    assert value["last_chat"]["turns_seen"] == 2
    assert value["all_chats"]["calls"] == 2
    month = json.loads(CliRunner().invoke(main, ["status", "--month", "--json"]).stdout)
    assert month["month"] == time.strftime("%Y-%m")
    assert month["calls"] == 2
    text = CliRunner().invoke(main, ["status"]).stdout
    assert "Last chat" in text
    none = CliRunner().invoke(main, ["status", "--month", "1999-01"])
    assert "No chat of this project ended in 1999-01." in none.stdout
    wrong = CliRunner().invoke(main, ["status", "--month", "soon"])
    assert wrong.exit_code == 2
