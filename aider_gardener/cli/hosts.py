"""`gardener install` and `gardener uninstall`: put the gardener into another agent, take it out again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from aider_gardener.cli.root import json_option, put, working_project

if TYPE_CHECKING:
    from aider_gardener.adapters.hosts import Change

HOSTS = ("claude-code", "codex", "opencode", "gemini", "cursor")
AFTERWARDS = {
    "codex": "In Codex type /hooks and trust the gardener's: until then only its tools work.",
    "cursor": "What is said in Cursor is archived where it runs Claude Code's hooks (Third-party skills).",
    "gemini": "Gemini has the tools; what is said there is not archived.",
}


def options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The argument and options of both commands."""
    for option in (
        click.argument("host", type=click.Choice(HOSTS)),
        click.option("--project", is_flag=True, help="For this project only.  [default: for this user]"),
        click.option("--dry-run", is_flag=True, help="Print what would be changed; change nothing."),
        json_option,
    ):
        command = option(command)
    return command


@click.command(short_help="Put the gardener into another agent.")
@options
def install(host: str, project: bool, dry_run: bool) -> None:
    """Put the gardener into claude-code, codex, opencode, gemini or cursor: its tools (an MCP server), and
    hooks where the agent has them, so that it fills and asks the same archive. Again after a move: it mends
    the path."""
    change(host, project, dry_run, ours=True)


@click.command(short_help="Take the gardener out of another agent again.")
@options
def uninstall(host: str, project: bool, dry_run: bool) -> None:
    """Take the gardener out again. A file that nobody edited since is byte for byte what it was; the archive
    stays."""
    change(host, project, dry_run, ours=False)


def change(host: str, project: bool, dry_run: bool, *, ours: bool) -> None:
    """Install or uninstall, and say what was done."""
    from aider_gardener.adapters import hosts
    from aider_gardener.archive.store.location import user_directory

    root, command = working_project(), hosts.program()
    changes, told = list["Change"](), list[str]()
    if host == hosts.CLAUDE:
        folder = user_directory() / "claude-code"
        steps = hosts.claude_steps(folder, "local" if project else "user", ours=ours)
        told = [hosts.shell_line(["claude", *step]) for step in steps]
        if not dry_run:
            told = [hosts.with_claude(folder, steps, root, command, ours=ours)]
    else:
        parts = hosts.parts_of(host, root if project else None, command, Path.home())
        records = user_directory() / "hosts"
        changes = [hosts.planned(part, records, ours=ours) for part in parts]
        if not dry_run:
            for one in changes:
                hosts.carry_out(one, records, ours=ours)
        told = [AFTERWARDS[host]] if ours and host in AFTERWARDS and not dry_run else []
    made = [one for one in changes if one.before != one.after]
    value = {"host": host, "files": [str(one.path) for one in made], "told": told}

    lines = [one.diff() if dry_run else f"{one.done} {one.path}" for one in made]
    put(value, lambda: [*lines, *told] or [f"{host}: nothing to change"])
