"""What the code says stands in the pages as words (that they are fresh, `make docs` says)."""

from __future__ import annotations

from pathlib import Path

import click
import pytest
import reference_pages


def test_a_chat_command_is_told_by_its_docstring(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "commands.py"
    file.write_text('def cmd_pin_all(self, args):\n    "Hold | all of <them>"\ndef helper(): ...\n', "utf-8")
    monkeypatch.setattr(reference_pages, "CHAT_COMMANDS", (file,))
    assert list(reference_pages.chat_commands())[-2:] == ["| `/pin-all` | Hold \\| all of &lt;them> |", ""]


def test_an_option_of_many_commands_is_told_once(monkeypatch: pytest.MonkeyPatch) -> None:
    def command(name: str) -> click.Command:
        return click.Command(name, params=[click.Option(["--json"], is_flag=True, help="As data.")])

    monkeypatch.setattr(reference_pages, "GROUPS", {"All": ("a", "b")})
    monkeypatch.setattr(reference_pages, "MANY", 2)
    lines = list(reference_pages.commands(click.Group("gardener", {name: command(name) for name in "ab"})))
    assert lines.count("- `--json`: As data.") == 1 and lines.count("- `--json`") == 2
