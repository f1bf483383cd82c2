"""`gardener run`: any command's output short, its status kept, the whole at hand."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from aider_gardener.cli.child import NOT_FOUND, NOT_RUNNABLE, Output, Progress
from aider_gardener.cli.child import run as run_child
from aider_gardener.cli.pipe import (
    figures,
    nobody_reads,
    printing,
    put_bytes,
    standard_output,
)
from aider_gardener.cli.root import as_json, json_option, tell
from aider_gardener.cli.whole import keep, new_file, write
from aider_gardener.tokens import approximate, default_counter

if TYPE_CHECKING:
    from aider_gardener.compress.shorten import Shortened

SHORT_BYTES = 2_000
"""An output up to this size is printed as it is, without a look at it."""
MOST_SHARE = 0.8
"""A short form that saves less is not worth what it leaves out."""
SHELLS = frozenset("sh bash dash zsh ksh fish".split())
NOT_KEPT = "not kept, --out FILE keeps it"


@click.command(
    "run",
    context_settings={"allow_interspersed_args": False},
    short_help="Run a command and print its output in short.",
)
@click.option("--focus", multiple=True, metavar="WORDS", help="Favour lines with these words (repeatable).")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
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
    file = new_file(out) if out else None
    output = Output(None if as_json() or file else standard_output())
    progress = Progress(output)
    try:
        status = run_child(command, output, progress)
    except OSError as error:
        sys.exit(_not_started(command[0], error))
    finally:
        progress.clear()
    if file:
        write(output, file)
    tell(output.problem)
    if as_json():
        head = {"command": command, "status": status, "seconds": round(progress.seconds, 3)}
        put_bytes(json.dumps(head | _report(output, command_line(command), focus, out)).encode() + b"\n")
    elif output.forsaken:
        nobody_reads()
    elif not output.passed:
        _print(output, command_line(command), focus, out)
    sys.exit(status)


def _not_started(name: str, error: OSError) -> int:
    """Say why there is nothing to run; the status that a shell would give."""
    if isinstance(error, FileNotFoundError):
        hint = "check its name; a line for a shell is run by: gardener run -- sh -c 'LINE'"
        tell(f"there is no command {name}; {hint}")
        return NOT_FOUND
    tell(f"{name} cannot be run ({error.strerror}); is it a program?")
    return NOT_RUNNABLE


def command_line(command: Sequence[str]) -> str:
    """A command as it would be typed; what a shell is given to run stands for the shell."""
    is_line = len(command) > 2 and command[1].startswith("-") and command[1].endswith("c")
    return command[2] if is_line and Path(command[0]).name in SHELLS else shlex.join(command)


def _print(output: Output, command: str, focus: Sequence[str], out: Path | None) -> None:
    """The short form and where the whole is, or where it is not worth it the output itself."""
    text = output.text() if output.size > SHORT_BYTES and not output.binary else ""
    made = _shortened(text, command, focus) if text else None
    if made is None or not _is_worth_it(made, output, text):
        with printing() as stdout:
            output.copy_to(stdout)
        return
    put_bytes(
        (made.text.removesuffix("\n") + "\n").encode("utf-8", "replace")
    )  # to keep a long one takes longer
    size = f"{output.size / 1e6:.1f} MB" if output.size >= 1e6 else f"{output.size / 1e3:.0f} kB"
    read = "" if output.is_read_whole else ", whose middle was not read"
    where = str(out) if out else keep(output, text, command) or NOT_KEPT
    put_bytes(f"[… short for {output.lines:,} lines, {size}{read}; whole: {where}]\n".encode())


def _report(output: Output, command: str, focus: Sequence[str], out: Path | None) -> dict[str, Any]:
    """What --json says of an output; its tokens are counted exactly."""
    text = "" if output.binary else output.text()
    made = _shortened(text, command, focus)
    is_short = _is_worth_it(made, output, text)
    shown = made.text if is_short else text
    is_all = not (is_short or output.binary) and output.is_read_whole
    where = str(out) if out else "" if is_all else keep(output, text, command)
    return {
        "class": None if output.binary else made.cls.value, "engine": made.engine, "text": shown,
        **figures(text, shown, default_counter()), "shortened": is_short, "binary": output.binary,
        "lines": output.lines, "bytes": output.size, "whole": where or None,
    }  # fmt: skip


def _shortened(text: str, command: str, focus: Sequence[str]) -> Shortened:
    from aider_gardener.compress.shorten import shorten

    return shorten(text, command=command, focus=focus, count=approximate)


def _is_worth_it(made: Shortened, output: Output, text: str) -> bool:
    """Whether a short form is printed instead of the text."""
    return output.size > SHORT_BYTES and len(made.text) <= MOST_SHARE * len(text)
