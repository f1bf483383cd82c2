"""`gardener run`: any command's output short, its status kept, the whole at hand."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING

import click

from aider_gardener import files
from aider_gardener.cli.child import NOT_FOUND, NOT_RUNNABLE, Output
from aider_gardener.cli.child import run as run_child
from aider_gardener.cli.pipe import figures, is_unread, nobody_reads, printing, put_bytes, standard_output
from aider_gardener.cli.root import (
    FILE,
    archive_directory,
    as_json,
    json_option,
    notify,
    open_archive,
    working_project,
)
from aider_gardener.errors import GardenerError, StoreError, UsageError
from aider_gardener.phrases import command_line, counted, size
from aider_gardener.tokens import approximate, default_counter

if TYPE_CHECKING:
    from aider_gardener.compress.shorten import Shortened

SHORT_BYTES = 2_000
"""An output up to this size is printed as it is, without a look at it."""
MOST_SHARE = 0.8
"""A short form that saves less is not worth what it leaves out."""
NOT_SAVED = "not kept, --out FILE keeps it"
PIECE_BYTES = 4_000_000
"""Secrets are looked for in so much of a text at once."""


@click.command(
    "run",
    context_settings={"allow_interspersed_args": False},
    short_help="Run a command and print its output in short.",
)
@click.option("--focus", multiple=True, metavar="WORDS", help="Favour lines with these words (repeatable).")
@click.option(
    "--out",
    type=FILE,
    metavar="FILE",
    help="Write the whole to this file, which only you can read; one that is there is replaced.",
)
@json_option
@click.argument("command", nargs=-1, required=True, metavar="-- COMMAND...", type=click.UNPROCESSED)
def run(focus: tuple[str, ...], out: Path | None, command: tuple[str, ...]) -> None:
    """Run a command, print its output in short and where the whole is; the exit status is the command's.

    What it prints on both of its streams comes in order on standard output, once it has ended. A short output
    is printed as it is, and a binary one passes as it comes. The whole is kept in the archive of the project,
    else in a temporary file, without the secrets in it.
    """
    if out and not _is_writable(out):
        raise UsageError(f"{out} cannot be written as a plain file; name another for --out")
    output = Output(None if as_json() or out else standard_output())
    began = time.monotonic()
    try:
        status = run_child(command, output)
    except FileNotFoundError:
        hint = "check its name; a line for a shell is run by: gardener run -- sh -c 'LINE'"
        notify(f"there is no command {command[0]}; {hint}")
        sys.exit(NOT_FOUND)
    except OSError as error:
        notify(f"{command[0]} cannot be run ({error.strerror}); is it a program?")
        sys.exit(NOT_RUNNABLE)
    seconds = round(time.monotonic() - began, 3)
    notify(output.problem)
    if output.fault and not is_unread(output.fault):
        raise output.fault
    if out:
        try:
            files.put(out, _without_secrets(output))
        except OSError as error:
            notify(f"{out} was not written ({error.strerror})")
            out = None
    if as_json():
        head = {"command": command, "status": status, "seconds": seconds}
        put_bytes(json.dumps(head | _report(output, command_line(command), focus, out)).encode() + b"\n")
    elif output.fault:
        nobody_reads()
    elif not output.passed:
        _print(output, command_line(command), focus, out)
    sys.exit(status)


def _print(output: Output, command: str, focus: Sequence[str], out: Path | None) -> None:
    """The short form and where the whole is, or where it is not worth it the output itself."""
    text = output.text() if output.size > SHORT_BYTES and not output.binary else ""
    short = _shortened(text, command, focus) if text else None
    if short is None or not _is_worth_it(short, output, text):
        with printing() as stdout:
            output.copy_to(stdout)
        return
    put_bytes((short.text.removesuffix("\n") + "\n").encode("utf-8", "replace"))  # keeping it takes longer
    is_whole = output.spool_bytes == output.size
    read = "" if output.is_read_whole else f", whose {'middle' if is_whole else 'end'} was not read"
    where = str(out) if out else _save(output, text, command) or NOT_SAVED
    what = "whole" if is_whole else f"its first {size(output.spool_bytes)}"
    pointer = f"[… short for {counted(output.lines, 'line')}, {size(output.size)}{read}; {what}: {where}]\n"
    put_bytes(pointer.encode("utf-8", "backslashreplace"))


def _report(output: Output, command: str, focus: Sequence[str], out: Path | None) -> dict[str, object]:
    """What --json says of an output; its tokens are counted exactly."""
    text = "" if output.binary else output.text()
    short = _shortened(text, command, focus)
    is_short = _is_worth_it(short, output, text)
    shown = short.text if is_short else text
    is_all = not (is_short or output.binary) and output.is_read_whole
    is_whole = output.spool_bytes == output.size
    where = str(out) if out else "" if is_all else _save(output, text, command)
    return {
        "class": None if output.binary else short.cls.value, "engine": short.engine, "text": shown,
        **figures(text, shown, default_counter()), "shortened": is_short, "binary": output.binary,
        "lines": output.lines, "bytes": output.size,
        "whole": where if where and is_whole else None, "beginning": None if is_whole else where or None,
    }  # fmt: skip


def _shortened(text: str, command: str, focus: Sequence[str]) -> Shortened:
    from aider_gardener.compress.shorten import shorten

    return shorten(text, command=command, focus=focus, count=approximate)


def _is_worth_it(short: Shortened, output: Output, text: str) -> bool:
    """Whether a short form is printed instead of the text."""
    is_long = output.size > SHORT_BYTES and not output.binary
    return is_long and len(short.text) <= MOST_SHARE * len(text)


# Where the whole is: an entry of the project's archive, or a file of its owner, without its secrets


def _save(output: Output, text: str, command: str) -> str:
    """Keep a whole output, of which `text` is what was read; how to get at it, "" where it could not be kept.

    It goes into the archive of the project where there is one and it is no longer than what is read. One that
    is not there byte for byte, since it is not UTF-8, goes into a temporary file too, as does what is not
    there at all; but not beside an archive that its owner had encrypted.
    """
    from aider_gardener.archive.store.location import MARKER_NAME

    try:
        directory: Path | None = archive_directory()[0]
    except (GardenerError, OSError):  # the last where the current directory is gone
        directory = None
    restore_line = ""
    if directory and text and output.is_read_whole:
        try:
            restore_line = f"gardener restore {_archived(text, command)}"
        except (GardenerError, OSError) as problem:
            notify(str(problem))
    is_encrypted = directory is not None and (directory / MARKER_NAME).exists()
    is_exact = restore_line and "\ufffd" not in text
    return restore_line if is_exact or is_encrypted else _in_temporary_file(output) or restore_line


def _archived(text: str, command: str) -> str:
    """Store an output in the project's archive; the id of its entry."""
    from aider_gardener.archive.archive import Archive
    from aider_gardener.archive.sessions import RUNS
    from aider_gardener.compress.shorten import source_of
    from aider_gardener.messages import Message

    store = open_archive()
    archive = Archive(
        store,
        session=RUNS + os.urandom(8).hex(),
        project=str(working_project()),
        count=default_counter(),
        clock=time.time,
        host="gardener run",
        live=False,
    )
    source = source_of(text, command)
    entry = archive.log(Message("user", text), turn=1, seq=1, source=source, at=time.time())
    if not store.persistent:  # also where the disk is full since it was opened
        raise StoreError("the archive cannot be written; the whole is kept elsewhere")
    return entry.id


def _is_writable(path: Path) -> bool:
    """Whether a file can be made at a path, or be put in place of the plain one there."""
    is_free = not path.is_symlink() and (path.is_file() or not path.exists())
    return is_free and path.parent.is_dir() and os.access(path.parent, os.W_OK)


def _in_temporary_file(output: Output) -> str:
    from tempfile import mkstemp

    with suppress(OSError):
        handle, name = mkstemp(prefix="gardener-", suffix=".bin" if output.binary else ".txt")
        try:
            with open(handle, "wb") as file:
                file.writelines(_without_secrets(output))
        except OSError:  # the disk is full: a part of it would only take room
            os.unlink(name)
            raise
        return name
    return ""


def _without_secrets(output: Output) -> Iterator[bytes]:
    """What an output holds; of a text without the secrets in it."""
    from aider_gardener.archive.store.redact import Redactor

    redact = Redactor()
    for piece in _pieces(output.spool):
        if not output.binary:
            text = redact(piece.decode("utf-8", "surrogateescape")).text
            piece = text.encode("utf-8", "surrogateescape")
        yield piece


def _pieces(file: IO[bytes]) -> Iterator[bytes]:
    """A text in pieces of whole lines, which part no private key."""
    from aider_gardener.archive.store.secrets import KEY_CHARS

    file.seek(0)
    rest = b""
    while chunk := file.read(PIECE_BYTES):
        data = rest + chunk
        end = data.rfind(b"\n") + 1 or len(data)
        key = data.rfind(b"-----BEGIN ", max(0, end - KEY_CHARS), end)
        end = key if key >= 0 and data.find(b"-----END ", key, end) < 0 else end
        yield data[:end]
        rest = data[end:]
    yield rest
