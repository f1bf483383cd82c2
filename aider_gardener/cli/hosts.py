"""`gardener install` and `gardener uninstall`: put the gardener into another agent, take it out again."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from aider_gardener import __version__
from aider_gardener.cli.root import json_option, put, repository_root
from aider_gardener.errors import UsageError

if TYPE_CHECKING:
    from aider_gardener.adapters.claude_code.config_files import FileChange
    from aider_gardener.adapters.claude_code.levels import InstallLevel

LEVELS = ("project", "user")


@click.group(short_help="Put the gardener into another agent: claude-code.")
def install() -> None:
    """Put the gardener into another agent, so that it fills and asks the same archive."""


@click.group(short_help="Take the gardener out of another agent again.")
def uninstall() -> None:
    """Take the gardener out of another agent again."""


def level_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options of both commands: where, whether really, and how to answer."""
    for option in (
        click.option("--dry-run", is_flag=True, help="Print the changes as a diff; change nothing."),
        click.option("--user", "level", flag_value="user", help="For this user, in every project."),
        click.option("--project", "level", flag_value="project", help="For this project.  [default]"),
        json_option,
    ):
        command = option(command)
    return command


@install.command("claude-code", short_help="Hooks and the MCP server for Claude Code.")
@level_options
@click.option(
    "--recall-sessions",
    is_flag=True,
    help="Let what was said in other chats and agents of the project come back unasked too.",
)
@click.option("--no-mcp", is_flag=True, help="Leave .mcp.json alone, and say nothing of the server.")
@click.option("--status", "asks_status", is_flag=True, help="Say what is installed where; change nothing.")
@click.option(
    "--plugin",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Write a plugin's folder instead, which finds gardener by PATH.",
)
def install_claude_code(
    level: str | None,
    dry_run: bool,
    recall_sessions: bool,
    no_mcp: bool,
    asks_status: bool,
    plugin: Path | None,
    as_json: bool,
) -> None:
    """Put hooks and the MCP server into Claude Code's settings; what stands there stays as it is.

    For a project the hooks go to .claude/settings.local.json, which git is told to ignore because it names
    a path of this machine; Claude Code reads it only when it is started in that very folder. The server goes
    to .mcp.json, which you may share. For a user the hooks go to ~/.claude/settings.json, and the line to
    type for the server is printed. To install again after a move mends the path.
    """
    from aider_gardener.adapters.claude_code import levels
    from aider_gardener.adapters.claude_code.install import program

    if asks_status:
        if dry_run or recall_sessions or no_mcp or plugin:
            raise UsageError("--status goes with --project, --user and --json only")
        tell_status([chosen(name) for name in LEVELS if level in (None, name)], as_json)
    elif plugin:
        if level or recall_sessions or no_mcp:
            raise UsageError("--plugin goes with --dry-run and --json only: a plugin belongs to no level")
        after = [
            f"Try it with: claude --plugin-dir {plugin}",
            "Where the hooks stand in the settings as well, Claude Code runs both: uninstall those first.",
        ]
        carry_out(levels.planned_plugin(plugin, __version__), dry_run, as_json, after)
    else:
        place, command = chosen(level), program()
        changes = levels.planned_install(
            place, command, records(), recall_sessions=recall_sessions, with_server=not no_mcp
        )
        carry_out(changes, dry_run, as_json, next_steps(place, command, no_mcp))


@uninstall.command("claude-code", short_help="Take hooks and server out of Claude Code again.")
@level_options
def uninstall_claude_code(level: str | None, dry_run: bool, as_json: bool) -> None:
    """Take hooks and server out of Claude Code's settings again.

    A file that nobody edited since is what it was before, byte for byte. From another one only the entries of
    the gardener are taken. The archive stays.
    """
    from aider_gardener.adapters.claude_code import levels

    place = chosen(level)
    changes = levels.planned_uninstall(place, records())
    command = levels.remove_command(place)
    carry_out(changes, dry_run, as_json, [f"Take the server out with: {command}"] if command else [])


def chosen(level: str | None) -> InstallLevel:
    """The level of that name, by default this project."""
    from aider_gardener.adapters.claude_code.levels import project_level, user_level

    if level == "user":
        return user_level(Path.home(), os.environ)
    return project_level(repository_root(Path.cwd()) or Path.cwd(), Path.home(), os.environ)


def records() -> Path:
    """Where it is written down what was changed."""
    from aider_gardener.archive.store.location import user_directory

    return user_directory() / "hosts"


def next_steps(level: InstallLevel, command: Sequence[str], no_mcp: bool) -> list[str]:
    """What is left to do for the user, a line each."""
    from aider_gardener.adapters.claude_code.install import SERVER, add_command, runs

    lines = []
    if not level.is_project and not no_mcp:
        lines = [f"Add the server with: {add_command('user', command)}"]
    elif not no_mcp and not runs([SERVER]):
        line = add_command("local", command)
        lines = [
            f"{SERVER} is not on PATH, where .mcp.json looks for it; put it there, or add it with: {line}"
        ]
    place = f" in {level.base}" if level.is_project else ""
    return [*lines, f"Start Claude Code anew{place}; /hooks there lists what was added."]


def carry_out(changes: Sequence[FileChange], dry_run: bool, as_json: bool, after: Sequence[str]) -> None:
    """Make the changes, or with `dry_run` only show them, and say what was done."""
    from aider_gardener.adapters.claude_code.config_files import apply, unified_diff

    real = [change for change in changes if change.is_one]
    if not dry_run:
        for change in real:
            apply(change, records())
    if as_json:
        rows = [
            {"file": str(each.file.path), "real": str(each.file.real), "what": done(each)} for each in real
        ]
        put({"changed": rows, "dry_run": dry_run, "next": list(after)}, True, None)
        return
    for change in real:
        if change.file.is_linked:
            click.echo(f"{change.file.path} is a link: {change.file.real} is changed", err=True)
        shown = unified_diff(change) if dry_run else [f"{done(change)} {change.file.path}"]
        click.echo("\n".join(shown))
    if not real:
        click.echo("There is nothing to change.")
    for line in () if dry_run else after:
        click.echo(line)


def done(change: FileChange) -> str:
    """One word for a change."""
    if change.text is None:
        return "removed"
    return "created" if change.file.text is None else "changed"


def tell_status(levels: Sequence[InstallLevel], as_json: bool) -> None:
    """Say how each of these levels stands."""
    from aider_gardener.adapters.claude_code.install import program
    from aider_gardener.adapters.claude_code.levels import status

    rows = [status(level, program()) for level in levels]
    put(rows, as_json, lambda: "\n".join(line for row in rows for line in status_lines(row)))


def status_lines(row: dict[str, Any]) -> list[str]:
    """The status of one level for a screen."""
    lines = [f"{row['level']}: {row['settings']}"]
    if row["problem"]:
        lines.append(f"  problem: {row['problem']}")
    for event, hook in row["events"].items():
        state = "" if hook["current"] else "  (of another installation; install again to renew it)"
        if not hook["exists"]:
            state = "  (that program is gone; install again)"
        lines.append(f"  {event}: {hook['command']}{state}")
    if row["missing"]:
        lines.append(f"  not installed: {', '.join(row['missing'])}")
    if row["hooks_off"]:
        lines.append("  disableAllHooks is set: Claude Code runs no hook")
    if row["recall_sessions"]:
        lines.append("  what was said in other sessions may come back unasked")
    server = row["server"]
    if server is None:
        return [*lines, "  MCP server: not installed"]
    gone = "" if server["exists"] else "  (that program is not found)"
    return [*lines, f"  MCP server: {server['command']}{gone} in {server['file']}"]
