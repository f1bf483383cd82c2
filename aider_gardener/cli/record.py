"""`gardener record`: make a recording of a real chat."""

from __future__ import annotations

import sys
from datetime import datetime
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import click

from aider_gardener import terminal
from aider_gardener.errors import UsageError
from aider_gardener.files import check_place
from aider_gardener.phrases import counted

if TYPE_CHECKING:
    from aider_gardener.replay.session.record import SessionFolder

PROGRAMS = {"aider": "aider.main", "aider-gardener": "aider_gardener.adapters.aider.cli"}
"""Each with the module whose `main` it runs."""


@click.command(
    "record",
    context_settings={"ignore_unknown_options": True},
    short_help="Run aider and record the session.",
)
@click.option(
    "--to",
    "folder",
    type=click.Path(file_okay=False, path_type=Path, resolve_path=True),
    metavar="DIR",
    help="A new folder for the recording.  [default: recordings/DATE beside the archive]",
)
@click.option(
    "--yes", "keep_files", flag_value=True, default=None, help="Store the repository's files without asking."
)
@click.option("--no-files", "keep_files", flag_value=False, help="Store none; edits can't be replayed then.")
@click.argument("command", nargs=-1, metavar="-- aider|aider-gardener ARGS...", type=click.UNPROCESSED)
def record(folder: Path | None, keep_files: bool | None, command: tuple[str, ...]) -> None:
    """Run aider and record the session: prompts, replies, outputs, confirmations; secrets are taken out.

    What is recorded stays on this machine, readable by its owner only.
    """
    from aider_gardener.archive.store.location import RECORDINGS_NAME, prepare_directory
    from aider_gardener.cli.root import notify, place_of, repository_root
    from aider_gardener.replay.session.record import SessionFolder, listed

    program = Path(command[0]).name.removesuffix(".exe") if command else ""
    if program not in PROGRAMS:
        raise UsageError("record what? try: gardener record -- aider-gardener --model gpt-4o")
    root, recordings = repository_root(Path.cwd()), place_of()[0] / RECORDINGS_NAME
    place = folder or recordings / datetime.now().strftime("%Y%m%d-%H%M%S")
    if (place / "session.jsonl").exists():
        raise UsageError(f"{place} holds a recording already; name a new folder with --to")
    check_place(place / "session.jsonl")
    count = len(listed(root)) if root and keep_files is None else 0
    if count and not sys.stdin.isatty():
        notify("no files of the repository are stored; --yes stores them")
    elif count:
        question = (
            f"Store the text of the repository's {count} files too? Edits can't be replayed without it."
        )
        keep_files = click.confirm(question, default=False, err=True)
    if folder is None:  # git is not to see it, with an archive or without one
        prepare_directory(recordings.parent)
    session = SessionFolder(place, bool(keep_files))
    status = recorded(session, program, command[1:])
    if session.events_file.exists():
        words = f"{counted(session.turn, 'turn')} in {place}; {counted(session.redacted, 'secret')} taken out"
        notify(f"{words}. Look through it before you give it away: it holds your chat.")
    else:
        notify("nothing was typed, so nothing is recorded")
    sys.exit(status)


def recorded(session: SessionFolder, program: str, arguments: tuple[str, ...]) -> int:
    """Run the program in this process with the recorder's hooks in it; its exit status."""
    from aider_gardener.replay.session.record import Recorder

    main = import_module(PROGRAMS[program]).main
    recorder = Recorder(session)
    recorder.install()
    sys.argv = [program, *arguments]
    terminal.release()
    try:
        status = main()
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(bool(end.code))
    finally:
        terminal.guard()
        recorder.uninstall()
        if recorder.problem:
            click.echo(f"gardener: the recording ended early ({recorder.problem})", err=True)
    return int(status or 0)
