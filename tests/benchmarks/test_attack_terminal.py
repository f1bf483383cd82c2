"""Every command that is registered, over an archive of hostile texts: a terminal is given none of them raw."""

from __future__ import annotations

import os

import pytest

from aider_gardener.adapters.aider.commands import COMMANDS, STEPS
from aider_gardener.cli.root import main
from bench.attacks import terminal

SHOWING = {
    "/recall", "/context-pressure", "/gardener constraints", "gardener recall", "gardener pressure", "gardener restore",
    "gardener sessions", "gardener sessions show", "gardener doctor", "gardener store status", "gardener compress",
    "gardener run", "gardener upkeep session", "gardener status",
}  # fmt: skip
"""Some that quote what is hostile here: it is to be seen there, not left out."""


@pytest.mark.skipif(os.name != "posix", reason="needs names with control characters")
def test_no_command_gives_a_terminal_anything_raw() -> None:
    found = terminal.outcome_of(3, terminal.ROOT)
    assert {command: row for command, row in found.items() if row[0] != row[1]} == {}
    registered = {f"gardener {path}" for path, _ in terminal.leaves(main) if path not in terminal.SERVERS}
    assert found.keys() == {*registered, *COMMANDS, *(f"/gardener {step}" for step in STEPS)}
    assert {command for command in SHOWING if not found[command][2]} == set()


def test_the_attack_knows_what_is_raw() -> None:
    held = "a\tb\n日本 👩\u200d💻 \\x1b"
    assert terminal.raw(held) == []
    for char in "\x1b\r\x07\x7f\x9b\u202e\u2066\u200e\u061c\u2028\u200b\ufeff\U000e0041\ud800":
        assert terminal.raw(f"a{char}b") == [char]
