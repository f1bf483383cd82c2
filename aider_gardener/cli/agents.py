"""`gardener install`, `uninstall`, `mcp` and `hook`: the archive for other agents. Argument parsing only."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from aider_gardener import __version__
from aider_gardener.adapters import CLAUDE, NAMES
from aider_gardener.cli.root import (
    has_archive,
    json_option,
    notify,
    place_of,
    put,
    repository_root,
    working_project,
)
from aider_gardener.errors import StoreError, UsageError

if TYPE_CHECKING:
    from aider_gardener.adapters.hosts import Change
    from aider_gardener.archive.store import Store
    from aider_gardener.gardener.memory import ProjectMemory
    from aider_gardener.recall.backlog import Backlog

IDLE_SECONDS = 30.0
"""So long the model stays in memory behind a question: agents ask seldom, and to load it takes 0.2 s."""
QUESTION_SECONDS = 2.0
"""So long a recall waits for the model to come back: without it words alone would serve most questions."""


@click.command(short_help="Serve the archive to other agents (MCP).")
@click.option(
    "--project",
    type=click.Path(file_okay=False, path_type=Path),
    help="The project  [default: the work tree around the current directory]",
)
def mcp(project: Path | None) -> None:
    """Serve the archive of a project to any agent that speaks the Model Context Protocol, over standard input
    and output. AIDER_GARDENER_LOCAL=true says that the agent's model runs on this machine: it may see what
    was said to one.

    The tools: recall, timeline, get, context_pressure, pin, remember, forget.
    """
    try:
        import mcp as sdk  # noqa: F401  # reason: asked for before anything is opened
    except ImportError:
        raise UsageError("gardener mcp needs an extra: uv tool install '.[mcp]' in the checkout") from None
    from aider_gardener.adapters.mcp.server import make_server, over_stdio
    from aider_gardener.archive.postgres.sync import sync_if_due
    from aider_gardener.recall.embed import share_memory

    share_memory()
    import logging  # late, as all that the help of commands needs none of

    logging.disable(logging.ERROR)  # the SDK's warnings, the root logger's too, quote the request
    is_unfilled = str(project).startswith("${")  # a variable that the host does not know
    memory, backlog = _memory_of(Path(os.path.realpath("." if project is None or is_unfilled else project)))

    def changed() -> None:
        sync_if_due(memory.store, memory.project, os.environ)

    def end(*signalled: object) -> None:
        if not signalled:
            backlog.stop()
        memory.store.close()
        if signalled:  # while threads wait for standard input or embed, or nobody reads what is said
            os._exit(0)

    for name in {"SIGTERM", "SIGINT", "SIGHUP", "SIGPIPE"} & set(dir(signal)):  # before anything is left
        number = getattr(signal, name)
        if name != "SIGHUP" or signal.getsignal(number) is not signal.SIG_IGN:  # by nohup
            signal.signal(number, end)
    try:
        over_stdio(make_server(memory, __version__, changed=changed))
    finally:
        end()


def _memory_of(start: Path) -> tuple[ProjectMemory, Backlog]:
    """The memory of the project around a folder, and what embeds the questions to it. Raises UsageError and
    StoreError."""
    from aider_gardener.adapters.claude_code.hooks import is_local
    from aider_gardener.gardener.memory import REMOTE, ProjectMemory
    from aider_gardener.recall.backlog import Backlog
    from aider_gardener.recall.embed import loading
    from aider_gardener.settings import Settings

    settings = Settings.from_env()
    if not start.is_dir():
        raise UsageError(f"{start} is no folder; name that of the project")
    store = _served(*place_of(start=start))
    notify(store.notice)
    backlog = Backlog(
        store, load=loading(settings.embedder), idle_seconds=IDLE_SECONDS, question_seconds=QUESTION_SECONDS
    )
    backlog.resume()
    reader = "agent@here" if is_local(os.environ) else REMOTE
    memory = ProjectMemory(store, str(repository_root(start) or start), settings=settings, reader=reader)
    memory.archive.backlog = backlog
    return memory, backlog


def _served(directory: Path, key_source: str) -> Store:
    """The archive in a directory: to be read only where it cannot be written, as on a read-only disk, and in
    memory where it cannot be begun there. A server that ends at its start takes its host's chat with it.
    Raises StoreError for one that is not to be used."""
    from aider_gardener.archive.store import open_store, open_to_read
    from aider_gardener.archive.store.location import check_whose

    try:
        return open_store(directory, key_source=key_source, or_memory=False)
    except StoreError as error:
        if not has_archive(directory):
            check_whose(directory)
            return open_store(directory)
        store = open_to_read(directory, key_source=key_source)
        store.notice = f"{error}; what is there can be recalled, nothing is kept"
        return store


@click.command(short_help="Answer one hook of another agent.")
@click.argument("event", default="")
@click.argument("host", default="")
def hook(event: str, host: str) -> None:
    """Answer one hook: its JSON on standard input, one JSON object or nothing on standard output. The event
    is one of Claude Code's, or of HOST: gemini or cursor. `gardener install` enters the hooks there.

    It ends with 0 whatever happens, also where it is called in a wrong way: another exit code would block the
    host. A fault is one line in gardener.db.hooks-log beside the archive.
    """
    # Listed here for its help: `cli.main` answers a hook before this module is imported.


def options(command: Callable[..., object]) -> Callable[..., object]:
    """The argument and options of both commands."""
    for option in (
        click.argument("host", type=click.Choice(NAMES), metavar="HOST"),
        click.option("--project", is_flag=True, help="For this project only.  [default: for this user]"),
        click.option("--dry-run", is_flag=True, help="Print what would be changed; change nothing."),
        json_option,
    ):
        command = option(command)
    return command


@click.command(short_help="Put the gardener into another agent.")
@options
def install(host: str, project: bool, dry_run: bool) -> None:
    """Put the gardener into HOST (claude-code, codex, opencode, gemini or cursor): its tools (an MCP server),
    and hooks where the agent has them, so that it fills and asks the same archive. Again after a move: it
    mends the path."""
    change(host, project, dry_run, ours=True)


@click.command(short_help="Take the gardener out of another agent again.")
@options
def uninstall(host: str, project: bool, dry_run: bool) -> None:
    """Take the gardener out of HOST again. A file that nobody edited since is byte for byte what it was; the
    archive stays."""
    change(host, project, dry_run, ours=False)


def change(host: str, project: bool, dry_run: bool, *, ours: bool) -> None:
    """Install or uninstall, and say what was done."""
    from aider_gardener.adapters import hosts

    changes, refused = list[hosts.Change](), list[str]()
    if host == CLAUDE:
        host_lines = change_claude(project, dry_run, ours=ours)
    else:
        changes, refused = change_files(host, project, dry_run, ours=ours)
        host_lines = [hosts.AFTERWARDS[host]] if ours and host in hosts.AFTERWARDS and not dry_run else []
    changed = [one for one in changes if one.before != one.after]
    value = {"host": host, "files": [str(one.path) for one in changed], "told": host_lines}
    lines = [one.diff() if dry_run else f"{one.done} {one.path}" for one in changed]
    nothing = [f"{host}: nothing to change"] if changes and not changed else []
    put(value, lambda: [*lines, *nothing, *host_lines])
    if refused:
        raise UsageError("; ".join(refused))


def change_claude(project: bool, dry_run: bool, *, ours: bool) -> list[str]:
    """Have Claude Code take or drop our plugin by its own command; what it is told, or what it said."""
    from aider_gardener.adapters import hosts
    from aider_gardener.archive.store.location import user_directory

    folder = user_directory() / "claude-code"
    steps = hosts.claude_steps(folder, "local" if project else "user", ours=ours)
    if dry_run:
        return [hosts.shell_line(["claude", *step]) for step in steps]
    said = hosts.with_claude(folder, steps, working_project(), hosts.program(), ours=ours)
    if not (ours or project):
        hosts.remove_marketplace(folder)
    return [said]


def change_files(host: str, project: bool, dry_run: bool, *, ours: bool) -> tuple[list[Change], list[str]]:
    """Put what is ours into the files of a host, or take it out; the changes, and why a file was left as it
    is. Raises UsageError for one that leads out of the project."""
    from aider_gardener.adapters import hosts
    from aider_gardener.archive.store.location import user_directory

    root, records = working_project(), user_directory() / "hosts"
    changes, refused = list[hosts.Change](), list[str]()
    parts = hosts.parts_of(host, root if project else None, hosts.program(), Path.home())
    for part in parts if project and ours else ():  # its links may lead anywhere
        if root.resolve() not in (place := Path(os.path.realpath(part.path))).parents:
            raise UsageError(f"{part.path} is {place}, outside of the project; install without --project")
    for part in parts:
        if not project and part.path.is_symlink():  # the user's own settings may lie elsewhere
            part = replace(part, path=Path(os.path.realpath(part.path)))
        try:
            changes.append(hosts.planned(part, records, ours=ours))
        except UsageError as error:  # what goes into the other files is of use alone
            refused.append(str(error))
    if not dry_run:
        for one in changes if ours else reversed(changes):  # a folder goes behind what was put into it
            hosts.carry_out(one, records, ours=ours)
    return changes, refused
