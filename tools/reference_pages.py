"""Write the parts of docs/cli.md and docs/settings.md that the code says, or with `--check` compare them.

`gardener`'s commands come from click, with their usage, help and options; the commands in the chat from the
docstrings of the adapter's `cmd_…` functions; the settings from their fields. Each part stands between two
comments in its page; what is said around it is written by hand.
"""

from __future__ import annotations

import ast
import dataclasses
import inspect
import sys
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

import click
from pages import Section, main

from aider_gardener.cli.root import GROUPS
from aider_gardener.cli.root import main as gardener
from aider_gardener.settings import Settings, variable

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
ADAPTER = ROOT / "aider_gardener" / "adapters" / "aider"
CHAT_COMMANDS = (ADAPTER / "commands.py",)
TOOL = "reference_pages"
MANY = 5
"""An option of so many commands is told once."""


def commands(group: click.Command) -> Iterator[str]:
    """The options that many commands have, then a section for each command, in groups by the first words."""
    tree = dict(command_tree(group))
    uses = Counter(option for command in tree.values() for option in options(command))
    common = [option for option, count in uses.items() if count >= MANY]
    yield from ("", "Options that many commands have; below only their names stand:", "", *map(item, common))
    for title, names in GROUPS.items():
        yield from ("", f"### {title}")
        chosen = {name: command for name, command in tree.items() if name.split()[0] in names}
        yield from sections(chosen, common)
    yield ""


def options(command: click.Command) -> list[tuple[str, str]]:
    """Each option of a command as it is written, and its help."""
    context = click.Context(command)
    return [record for option in command.params if (record := option.get_help_record(context))]


def item(option: tuple[str, str]) -> str:
    return f"- `{option[0]}`: {plain(option[1])}"


def sections(chosen: Mapping[str, click.Command], common: Collection[tuple[str, str]]) -> Iterator[str]:
    """A section for each of these commands: how it is called, its help, its options."""
    for name, command in chosen.items():
        context = click.Context(command, info_name=f"gardener {name}")
        usage = [] if isinstance(command, click.Group) else command.collect_usage_pieces(context)
        words = ["gardener", name, *(piece for piece in usage if piece != "[OPTIONS]")]
        yield from ("", f"#### `{' '.join(words)}`")
        for paragraph in inspect.cleandoc(command.help or "").split("\n\n"):
            yield from ("", plain(paragraph))
        found = options(command)
        listed = [item(option) for option in found if option not in common]
        named = ", ".join(f"`{option[0]}`" for option in found if option in common)
        yield from ("", *listed, *([f"- {named}"] if named else ())) if found else ()


def command_tree(group: click.Command, path: str = "") -> Iterator[tuple[str, click.Command]]:
    """Each command that does something, by its full name: "replay", "store export"."""
    if isinstance(group, click.Group):
        if path and group.invoke_without_command:
            yield path, group
        context = click.Context(group)
        for name in group.list_commands(context):
            command = group.get_command(context, name)
            if command is not None and not command.hidden:
                yield from command_tree(command, f"{path} {name}".strip())
    else:
        yield path, group


def chat_commands() -> Iterator[str]:
    """A Markdown table of the commands that are added to aider's chat."""
    yield from ("", "| command | what it does |", "|---|---|")
    for node in (node for path in CHAT_COMMANDS for node in ast.parse(path.read_text("utf-8")).body):
        if isinstance(node, ast.FunctionDef) and node.name.startswith("cmd_"):
            name = node.name.removeprefix("cmd_").replace("_", "-")
            yield f"| `/{name}` | {cell(ast.get_docstring(node) or '')} |"
    yield ""


def settings_table() -> Iterator[str]:
    """A Markdown table of all settings."""
    yield from ("", "| flag | variable | default | meaning |", "|---|---|---|---|")
    for field in dataclasses.fields(Settings):
        words = field.name.replace("_", "-")
        flag = "--gardener, --no-gardener" if field.name == "enabled" else f"--gardener-{words}"
        help_text = cell(field.metadata["help"])
        default = shown((field.default or False) if field.metadata["switch"] else field.default)
        yield f"| `{flag}` | `{variable(field.name)}` | {default} | {help_text} |"
    yield ""


def shown(default: object) -> str:
    """A default value as the table writes it; an empty text is left empty."""
    if isinstance(default, bool):
        return "on" if default else "off"
    return f"`{default}`" if default != "" else ""


def plain(text: str) -> str:
    """A help text in one line of Markdown that shows it as it is."""
    return " ".join(text.split()).replace("<", "&lt;")


def cell(text: str) -> str:
    """The same for a table."""
    return plain(text).replace("|", "\\|")


SECTIONS = [
    Section(DOCS / "cli.md", "chat commands", lambda: "\n".join(chat_commands()) + "\n"),
    Section(DOCS / "cli.md", "commands", lambda: "\n".join(commands(gardener)) + "\n"),
    Section(DOCS / "settings.md", "settings", lambda: "\n".join(settings_table()) + "\n"),
]


if __name__ == "__main__":
    sys.exit(main(SECTIONS, TOOL))
