"""The parts of pages that the code says: commands with their options, chat commands, settings."""

from __future__ import annotations

from pathlib import Path

import click
import pytest
import reference_pages

from aider_gardener.cli.root import main as gardener


@click.group()
def tool() -> None:
    """Stands for `gardener`."""


@tool.group()
def store() -> None:
    """Has commands below it."""


@store.command()
@click.argument("file")
@click.option("--limit", default=7, show_default=True, metavar="N", help="At most so many,\nas DIR/<name>.")
def export(file: str, limit: int) -> None:
    """Write it
    to a file.

    All of it.
    """


@tool.command(hidden=True)
def secret() -> None:
    """Is not shown."""


@tool.command()
def look() -> None:
    """Look."""


def test_a_command_is_told_with_its_usage_help_and_options(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reference_pages, "GROUPS", {"All": ("look", "store")})
    assert "\n".join(reference_pages.commands(tool)) == (
        "\n### All\n\n#### `gardener look`\n\nLook.\n\n"
        "#### `gardener store export`\n\n`gardener store export FILE`\n\nWrite it to a file.\n\nAll of it.\n\n"
        "- `--limit N`: At most so many, as DIR/&lt;name>. [default: 7]\n"
    )


def test_every_command_has_its_section() -> None:
    told = "\n".join(reference_pages.commands(gardener))
    assert all(f"#### `gardener {path}`\n" in told for path in dict(reference_pages.command_tree(gardener)))


def test_a_chat_command_is_told_by_its_docstring(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "commands.py"
    file.write_text('def cmd_pin_all(self, args):\n    "Hold | all of <them>"\ndef helper(): ...\n', "utf-8")
    monkeypatch.setattr(reference_pages, "CHAT_COMMANDS", (file,))
    assert list(reference_pages.chat_commands())[-2:] == ["| `/pin-all` | Hold \\| all of &lt;them> |", ""]


def test_a_setting_is_a_row_with_flag_variable_default_and_meaning() -> None:
    rows = list(reference_pages.settings_table())
    assert rows[3].startswith("| `--gardener-mode` | `AIDER_GARDENER_MODE` | `garden` | garden: archive")
    assert any(row.startswith("| `--gardener-store` | `AIDER_GARDENER_STORE` |  | Directory") for row in rows)


def test_a_group_that_does_something_by_itself_is_told_with_the_commands_below_it() -> None:
    @click.group()
    def both() -> None:
        """Holds one."""

    @both.group(invoke_without_command=True)
    def chats() -> None:
        """List them."""

    @chats.command()
    def show() -> None:
        """Print one."""

    assert [name for name, _ in reference_pages.command_tree(both)] == ["chats", "chats show"]
