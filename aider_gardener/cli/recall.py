"""`gardener recall` and `gardener status`: what was said in a project's chats, and what there is of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from aider_gardener import terminal
from aider_gardener.cli.root import (
    archive_options,
    notify,
    open_archive,
    project_of,
    put,
    session_named,
)
from aider_gardener.cli.shared import status_lines
from aider_gardener.errors import UsageError

if TYPE_CHECKING:
    from aider_gardener.recall.recall import Recalled

NOTHING_FITS = "Nothing in the archive fits that. Try other words, or a name or number."


@click.command(short_help="Find what was said in any chat of this project.")
@click.argument("query", nargs=-1, required=True)
@click.option(
    "--limit",
    type=click.IntRange(1),
    default=1_000,
    show_default=True,
    metavar="TOKENS",
    help="At most about so many tokens of text; --passages counts passages.",
)
@click.option(
    "--passages", type=click.IntRange(1), metavar="N", help="At most so many passages  [default: what fits]"
)
@click.option("--class", "classes", multiple=True, metavar="NAME", help="Only messages of this class.")
@click.option(
    "--session", default="", metavar="ID", help="Only what was said in this session (`last`: the last)."
)
@click.option("--full", is_flag=True, help="Whole originals where they fit, instead of passages.")
@click.option(
    "--everywhere",
    is_flag=True,
    help="In all projects that you may read on the server, not in this archive (docs/shared.md); takes only"
    " --passages and --json.",
)
@archive_options
def recall(
    query: tuple[str, ...],
    limit: int,
    passages: int | None,
    classes: tuple[str, ...],
    session: str,
    full: bool,
    everywhere: bool,
) -> None:
    """Find what was said in any session of this project, by words and, with a model of this machine, by
    meaning."""
    if not " ".join(query).strip():
        raise UsageError("the question is empty: ask in the words that may have been used")
    if everywhere:
        from aider_gardener.cli.shared import found_everywhere, found_text

        shared = found_everywhere(" ".join(query), passages or 10)
        put(shared, lambda: found_text(shared) or NOTHING_FITS)
        return
    from aider_gardener.archive.archive import Archive
    from aider_gardener.archive.passages import PASSAGE_CHARS
    from aider_gardener.plan.chat import Chat
    from aider_gardener.recall.backlog import Backlog
    from aider_gardener.recall.embed import USE, USE_NAME, loading
    from aider_gardener.recall.hits import as_text, hits
    from aider_gardener.recall.recall import recall as recalled
    from aider_gardener.recall.request import Request, content_class
    from aider_gardener.settings import Settings

    store = open_archive(read_only=True)
    request = Request(
        " ".join(query),
        token_limit=limit,
        full=full,
        classes=frozenset(map(content_class, classes)),
        session=session_named(store, session).id if session else "",
        passages=passages or 0,
    )
    archive = Archive.reading(store, project_of(store))
    choice = Settings.from_env().embedder
    if choice != USE or store.warm_vectors(USE_NAME):  # else there is nothing for a question to be near to
        archive.backlog = Backlog(store, load=loading(choice), background=False)
    found = recalled(archive, Chat(), request)
    notify(archive.backlog.take_notice() if archive.backlog else "")
    is_tight = limit < PASSAGE_CHARS  # a passage has at most so many tokens
    none = f"No passage fits that in {limit} tokens." if is_tight else NOTHING_FITS
    rows = [passage_row(item, archive.host) for item in found]
    put(rows, lambda: as_text(hits(found, store.original), columns=terminal.columns()) or none)


def passage_row(item: Recalled, host: str) -> dict[str, object]:
    """A passage as --json tells it, said to `host` where it names no other."""
    return {
        "id": item.entry_id,
        "session": item.session,
        "host": item.host or host,
        "author": item.author,
        "turn": item.turn,
        "at": item.created_at,
        "source": item.label,
        "class": item.cls.value,
        "score": item.score,
        "amended": item.amended,
        "words": list(item.words),
        "text": item.text,
    }


@click.command(short_help="What the archive holds and what the chats came to.")
@archive_options
def status() -> None:
    """Tell what the archive of this project holds, how it is kept and shared, and what its chats came to.

    Of the last chat: how full the window was at its end, and where that was heading over its last 50 turns.
    Changes nothing, and asks no server but one that --store names.
    """
    from aider_gardener.archive.postgres.sync import status as sharing
    from aider_gardener.archive.sessions import project_sessions
    from aider_gardener.archive.store.lines import names
    from aider_gardener.archive.store.location import ASIDE, names_in
    from aider_gardener.gardener.past_chats import project_status
    from aider_gardener.tables import archive_table

    store = open_archive(read_only=True)
    stats, project = store.stats(), project_of(store)
    ratio = stats.rendition_tokens / stats.original_tokens if stats.original_tokens else 1.0
    columns = ("entries", "original_tokens", "compressed_tokens")
    directory = store.directory
    tier = ("SQLite" if store.is_file else "JSON lines") if directory else "server"
    aside = ", ".join(names_in(directory, ASIDE)) if directory else ""
    notify(aside and f"set aside: {aside}; delete them when you need nothing of them any more")
    value = {
        "archive": stats.path,
        "sessions": len(project_sessions(store, project)),
        "entries": stats.entries,
        "original_tokens": stats.original_tokens,
        "compressed_tokens": stats.rendition_tokens,
        "compression_ratio": round(ratio, 4),
        "redacted_secrets": stats.redacted,
        "pinned": stats.pinned,
        "bytes": stats.bytes,
        "by_class": {name: dict(zip(columns, row, strict=True)) for name, row in stats.by_class.items()},
        "tier": tier,
        "lines_files": len(names(directory)) if directory else 0,
        "sharing": (shared := sharing(store, project)),
        **project_status(store, project),
    }
    put(value, lambda: archive_table(value, status_lines(shared) if directory else ()))
