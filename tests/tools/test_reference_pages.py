"""The parts of pages that the code says: commands with their options, chat commands, settings."""

from __future__ import annotations

from pathlib import Path

import click
import pytest
import reference_pages

from aider_gardener.cli.root import main as gardener


@pytest.fixture
def pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The two pages, their parts empty, and a tool in place of `gardener`."""
    for name, parts in reference_pages.PARTS.items():
        places = "".join(f"<!-- {part} -->\n<!-- /{part} -->\nBy hand.\n" for part in parts)
        (tmp_path / name).write_text(f"# Page\n{places}", "utf-8")
    monkeypatch.setattr(reference_pages, "DOCS", tmp_path)
    monkeypatch.setattr(reference_pages, "CHAT_COMMANDS", (tmp_path / "commands.py",))
    (tmp_path / "commands.py").write_text(
        'def cmd_pin_all(self, args):\n    "Hold | all of <them>"\ndef helper(): ...\n', "utf-8"
    )
    monkeypatch.setattr(reference_pages, "gardener", tool)
    monkeypatch.setattr(reference_pages, "GROUPS", {"All": ("look", "store")})
    monkeypatch.setattr("sys.argv", ["reference_pages.py"])
    return tmp_path


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


def test_a_chat_command_is_told_by_its_docstring(pages: Path) -> None:
    assert list(reference_pages.chat_commands())[-2:] == ["| `/pin-all` | Hold \\| all of &lt;them> |", ""]


def test_parts_are_written_into_their_places_and_compared(pages: Path) -> None:
    assert [fault.split(":")[0] for fault in reference_pages.faults()] == ["docs/cli.md", "docs/settings.md"]
    assert reference_pages.main() == 0
    assert list(reference_pages.faults()) == []
    text = (pages / "cli.md").read_text("utf-8")
    assert text.startswith("# Page\n") and text.count("By hand.") == 2 and "`gardener look`" in text
    (pages / "cli.md").write_text(text.replace("Look.", "See."), "utf-8")
    assert len(list(reference_pages.faults())) == 1


def test_a_page_without_a_place_for_a_part_is_left_as_it_is(
    pages: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (pages / "settings.md").write_text("# Settings\n", "utf-8")
    assert reference_pages.main() == 1
    assert "docs/settings.md: the lines <!-- settings -->" in capsys.readouterr().err
    assert (pages / "settings.md").read_text("utf-8") == "# Settings\n"


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
