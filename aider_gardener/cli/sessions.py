"""`gardener sessions`: the chats of a project, listed, read and forgotten."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import click

from aider_gardener.archive.sessions import AIDER
from aider_gardener.cli.root import archive_options, as_json, open_archive, project_of, put, session_named
from aider_gardener.phrases import counted, short, when

if TYPE_CHECKING:
    from rich.table import Table

    from aider_gardener.gardener.past_chats import PastChat, PastMessage

LISTED = 20
OUTPUT_LINES = 40
"""So many lines of an output are shown unless all is asked for: half at its head, half at its tail."""
NAMES_SHOWN = 6


@click.group(invoke_without_command=True)
@click.option(
    "--limit", type=click.IntRange(1), default=LISTED, show_default=True, metavar="N", help="At most so many."
)
@archive_options
@click.pass_context
def sessions(ctx: click.Context, limit: int) -> None:
    """List the chats of this project, the last used first.

    For each: when, turns, tokens sent, what that cost, how many files, an id, the first prompt. `show` takes
    the id or its beginning, the number in the list, or `last`, as do gardener forget --session ID and
    aider-gardener --gardener-resume=ID, which goes on with one.
    """
    if ctx.invoked_subcommand:
        return
    from aider_gardener.archive.sessions import project_sessions
    from aider_gardener.gardener.past_chats import past_chats

    store = open_archive(read_only=True)
    project = project_of(store)
    found = past_chats(store, project, limit)
    put(found, lambda: chats_table(found) if found else f"The archive holds no chat of {project}.")
    more = len(project_sessions(store, project)) - len(found)
    if more and not as_json():
        click.echo(f"{more:,} older: --limit {len(found) + more}")


@sessions.command("show")
@click.argument("session", metavar="ID")
@click.option("--full", is_flag=True, help="Long outputs whole.")
@archive_options
def show(session: str, full: bool) -> None:
    """Print one chat turn by turn: prompts, replies, outputs. ID may be `last`.

    Of a long output both ends are shown. How a message stood in prompts is told by gardener why ID.
    """
    from aider_gardener.gardener.past_chats import transcript

    store = open_archive(read_only=True)
    chat, turns = transcript(store, project_of(store), session_named(store, session))
    turn_rows = [{"number": number, "said": rows} for number, rows in turns.items()]
    put({"chat": chat, "turns": turn_rows}, lambda: transcript_lines(chat, turns, full=full))


def chats_table(chats: Sequence[PastChat]) -> Table:
    """A head and a line for each chat; where it is too narrow for the first prompt, that is cut."""
    from rich.text import Text

    from aider_gardener.tables import grid

    rows = (
        (
            str(chat.number),
            when(chat.last_at),
            str(chat.turns),
            short(chat.sums.prompt_tokens) if chat.sums else "",
            chat.cost,
            str(len({*chat.in_chat, *chat.edited}) or ""),
            chat.short,
            Text(first_words(chat), no_wrap=True, overflow="ellipsis"),
        )
        for chat in chats
    )
    columns = (">", "when", ">turns", ">sent", ">cost", ">files", "id", "first prompt")
    return grid(columns, rows, box=None, header_style="", padding=(0, 2, 0, 0))


def first_words(chat: PastChat) -> str:
    """How a chat began, on one line, with the agent in which it was held where that is not aider."""
    words = " ".join(chat.first_prompt.split())
    return words if chat.host == AIDER else f"({chat.host}) {words or 'kept for later chats'}"


def transcript_lines(
    chat: PastChat, turns: Mapping[int, Sequence[PastMessage]], *, full: bool
) -> Iterator[str]:
    """A chat turn by turn; of long outputs both ends, unless `full`."""
    sent = f"{short(chat.sums.prompt_tokens)} tokens sent" if chat.sums else ""
    times = f"{when(chat.started_at)} to {when(chat.last_at)}"
    host_name = "" if chat.host == AIDER else chat.host
    yield ", ".join(filter(None, [f"Session {chat.short}", times, host_name, chat.model]))
    yield ", ".join(filter(None, [counted(chat.turns, "turn"), sent, chat.cost]))
    for head, names in (("In the chat at its end", chat.in_chat), ("Edited", chat.edited)):
        if names:
            yield f"{head}: {', '.join(names[:NAMES_SHOWN])}{' …' if len(names) > NAMES_SHOWN else ''}"
    was_cleared = False
    for number, rows in turns.items():
        if was_cleared and not rows[0].cleared:
            yield "\n(What stands above was cleared or taken out: it went to the model no more.)"
        was_cleared = rows[0].cleared
        yield f"\n── turn {number} · {when(rows[0].at)} ──"
        for message in rows:
            yield from message_lines(message, full=full)


def message_lines(message: PastMessage, *, full: bool) -> Iterator[str]:
    """One message with a line above it that says whose it is."""
    yield f"\n[{message.speaker}{f': {message.detail}' if message.detail else ''}]"
    lines = message.text.strip("\n").split("\n")
    is_own = message.speaker in ("user", "reply")
    if full or is_own or len(lines) <= OUTPUT_LINES:
        yield from lines
    else:
        half = OUTPUT_LINES // 2
        hidden_lines = len(lines) - 2 * half
        yield from lines[:half]
        yield f"… {hidden_lines:,} lines more: --full, or gardener restore {message.id}"
        yield from lines[-half:]
