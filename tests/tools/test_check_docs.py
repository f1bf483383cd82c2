"""The comparison of the documentation with the code sees each kind of fault."""

from __future__ import annotations

from pathlib import Path

import check_docs
import click
import pytest


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty project: pages under docs/, modules under aider_gardener/."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "aider_gardener" / "adapters" / "aider").mkdir(parents=True)
    (tmp_path / "aider_gardener" / "cli").mkdir()
    monkeypatch.setattr(check_docs, "ROOT", tmp_path)
    monkeypatch.setattr(check_docs, "PACKAGE", tmp_path / "aider_gardener")
    monkeypatch.setattr(check_docs, "CLI_PAGE", tmp_path / "docs" / "cli.md")
    monkeypatch.setattr(check_docs, "SETTINGS_PAGE", tmp_path / "docs" / "settings.md")
    return tmp_path


@click.group()
def tool() -> None:
    """Stands for `gardener`."""


@tool.command()
@click.option("--plot")
@click.option("--json", "as_json", is_flag=True)
def replay(plot: str, as_json: bool) -> None:
    """Stands for `gardener replay`."""


def test_links_to_missing_files_and_headings_are_faults(project: Path) -> None:
    (project / "docs" / "b.md").write_text("# One `two`, three\n", "utf-8")
    (project / "docs" / "a.md").write_text(
        "[ok](b.md#one-two-three) [no](b.md#four) [gone](c.md) [out](https://example.com)\n```\n[code](d.md)\n```\n",
        "utf-8",
    )
    assert list(check_docs.links()) == [
        "docs/a.md:1: b.md#four names no heading of that page",
        "docs/a.md:1: c.md does not exist",
    ]


@pytest.mark.parametrize(
    ("page", "faults"),
    [
        ("## `gardener replay`\n- `--plot FILE`\n- `--json`\n", []),
        (
            "## `gardener replay`\n- `--plot FILE`\n## Next\n--json\n",
            ["docs/cli.md: `gardener replay` lacks --json"],
        ),
        (
            "## `gardener replay`\n--plot --json\n| `--speed` | fast |\n",
            ["docs/cli.md: `gardener replay` lists --speed, which it does not take"],
        ),
        ("# Commands\n", ["docs/cli.md: no heading names `gardener replay`"]),
    ],
)
def test_commands_and_options_are_compared(
    project: Path, monkeypatch: pytest.MonkeyPatch, page: str, faults: list[str]
) -> None:
    monkeypatch.setattr(check_docs, "root_command", lambda: tool)
    check_docs.CLI_PAGE.write_text(page, "utf-8")
    assert list(check_docs.commands()) == faults


def test_a_chat_command_without_a_word_is_a_fault(project: Path) -> None:
    adapter = project / "aider_gardener" / "adapters" / "aider" / "commands.py"
    adapter.write_text("def cmd_context_pressure(self, args): ...\ndef cmd_pin(self, args): ...\n", "utf-8")
    check_docs.CLI_PAGE.write_text("`/context-pressure` shows it\n", "utf-8")
    assert list(check_docs.chat_commands()) == ["docs/cli.md: the chat command /pin is not documented"]


def test_a_settings_row_must_be_the_one_made_from_the_code(project: Path) -> None:
    (project / "aider_gardener" / "settings.py").touch()
    table = check_docs.settings_table()
    check_docs.SETTINGS_PAGE.write_text("\n".join(table), "utf-8")
    assert list(check_docs.settings()) == []
    check_docs.SETTINGS_PAGE.write_text("\n".join(table[:-1]), "utf-8")
    assert len(list(check_docs.settings())) == 1


def test_settings_are_written_in_place_and_a_row_too_many_is_a_fault(project: Path) -> None:
    (project / "aider_gardener" / "settings.py").touch()
    table = check_docs.settings_table()
    page = [
        "# Settings",
        "",
        *table[:3],
        "| `--gardener-gone` | `AIDER_GARDENER_GONE` |  | Was once. |",
        "",
        "The end.",
        "",
    ]
    check_docs.SETTINGS_PAGE.write_text("\n".join(page), "utf-8")
    assert "docs/settings.md: there is no setting --gardener-gone" in list(check_docs.settings())
    check_docs.write_settings()
    assert check_docs.SETTINGS_PAGE.read_text("utf-8") == "\n".join(
        ["# Settings", "", *table, "", "The end.", ""]
    )
    assert list(check_docs.settings()) == []
