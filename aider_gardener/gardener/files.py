"""Sessions as Markdown files for people: the whole account of one, and beside the archive an index of all of
them that stays small.

The same archive gives the same bytes on every machine: times are in UTC. Whatever was said stands on a line
of its own as plain words, so that nothing of it can be taken for a part of the page.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aider_gardener.archive.retention import keep_to_policy
from aider_gardener.archive.sessions import project_sessions, short_ids
from aider_gardener.archive.store.base import SessionInfo, Store
from aider_gardener.errors import GardenerError, StoreError, UsageError
from aider_gardener.files import read_bytes, write_private
from aider_gardener.gardener.account import Account, account
from aider_gardener.notes.markdown import code, quoted
from aider_gardener.phrases import counted

if TYPE_CHECKING:
    from jinja2 import Environment

    from aider_gardener.settings import Settings

INDEX_NAME = "CONTEXT_ARCHIVE.md"
"""The index of an archive's sessions, beside it."""
MADE = "<!-- made by gardener archive, which writes it anew: what is changed here is lost -->"
"""The first line of every page, by which it is known as ours."""
SEAL = "\n<!-- as it was made: {} -->\n"
"""The last line of the index, by which it is known that nobody changed it."""
INDEX_SESSIONS, INDEX_BYTES = 200, 64 * 1024
"""Beyond so many sessions, or so many bytes, the older ones are a line a month."""
OLDER = "## Older sessions"
MONTH_BYTES = 80
"""Room for the line of a month, which is never longer."""
NOT_OURS = "{path} is there already and no page of `gardener archive`; name another file"
CHANGED = "{path} was changed by somebody and stays as it is; `gardener archive --all` writes it anew"
STILL_HELD = "the index of sessions still holds them: {error}"


# Pages as texts


@cache
def _templates() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    made = Environment(  # without escapes for HTML: `code` and `quoted` make words of what was said
        loader=FileSystemLoader(Path(__file__).parent),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters.update(code=code, quoted=quoted, counted=counted)
    made.globals.update(made=MADE, span=_span, heading=index_heading)
    return made


def _rendered(name: str, **values: Any) -> str:
    return _templates().get_template(name).render(**values)


def _moment(at: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.gmtime(at))


def _span(info: SessionInfo) -> str:
    """From when to when a session was held."""
    began, ended = _moment(info.started_at), _moment(info.last_at)
    return f"{began} to {ended[11:] if began[:10] == ended[:10] else ended} UTC"


def session_page(found: Account, short: str) -> str:
    """The account of a session as a page. `short` is the beginning of its id that no other one has."""
    return _rendered("session.md.jinja", found=found, short=short)


def index_heading(info: SessionInfo, short: str) -> str:
    """The line under which a session stands in the index: it is another one once more was said."""
    return f"## {short}, {_span(info)}, {counted(info.turns, 'turn')}"


def index_page(
    infos: Sequence[SessionInfo], short: Callable[[str], str], account_of: Callable[[SessionInfo], Account]
) -> str:
    """The index of sessions, given the newest first; only those that it shows are read by `account_of`.

    At most INDEX_SESSIONS of them and INDEX_BYTES in all: of the older ones a line a month.
    """
    blocks: list[str] = []
    left = INDEX_BYTES - MONTH_BYTES * (len({_moment(info.last_at)[:7] for info in infos}) + 10)
    for info in infos[:INDEX_SESSIONS]:
        block = _rendered("in_index.md.jinja", found=account_of(info), short=short(info.id))
        left -= len(block.encode("utf-8", "replace"))
        if left < 0:
            break
        blocks.append(block)
    months: dict[str, list[int]] = {}
    for info in infos[len(blocks) :]:
        months.setdefault(_moment(info.last_at)[:7], []).append(info.turns)
    return _rendered("index.md.jinja", infos=infos, blocks=blocks, months=months).rstrip("\n") + "\n"


def is_ours(held: bytes | None) -> bool:
    """Whether a page may be written where these bytes stand: one of ours does, or nothing."""
    return not held or held.startswith(MADE.encode())


def sealed(page: str) -> str:
    """A page with a last line that tells whether it is still as it was made."""
    digest = hashlib.sha256(page.encode("utf-8", "replace")).hexdigest()[:16]
    return page + SEAL.format(digest)


def is_as_made(held: bytes | None) -> bool:
    """Whether an index may be put where these bytes stand without being asked for: one does that nobody
    changed since it was made, or nothing."""
    page, begins, _rest = (held or b"").decode("utf-8", "replace").rpartition(SEAL.partition("{")[0])
    return not held or (bool(begins) and is_ours(held) and held == sealed(page).encode("utf-8", "replace"))


def project_index(store: Store, project: str, pace: Callable[[], None] = lambda: None) -> str:
    """The index of a project's sessions; `pace` is called before each is read. Raises StoreError."""
    infos = project_sessions(store, project)

    def read(info: SessionInfo) -> Account:
        pace()
        return account(store, info)

    return sealed(index_page(infos, short_ids([info.id for info in infos]).__getitem__, read))


# Files


def write_page(path: Path, page: str) -> None:
    """Write a page of ours. Raises UsageError where something else is there, and StoreError."""
    write_private(path, page, lambda: _check(path))


def _check(path: Path, *, unasked: bool = False) -> None:
    """Raise UsageError unless a page may be written there: one of ours is, or nothing; `unasked` only where
    nobody changed it."""
    held = read_bytes(path)
    if not is_ours(held):
        raise UsageError(NOT_OURS.format(path=path))
    if unasked and not is_as_made(held):
        raise UsageError(CHANGED.format(path=path))


def index_path(store: Store) -> Path:
    """Where the index of an archive's sessions belongs. Raises StoreError for an archive without a
    directory."""
    if store.directory is None:
        raise StoreError("the archive is in no directory; name a file for the index with --output")
    return store.directory / INDEX_NAME


def is_kept(store: Store) -> bool:
    """Whether the archive has an index beside it: it is kept up to date, and never begun unasked."""
    return store.directory is not None and index_path(store).exists()


def write_index(
    store: Store,
    project: str,
    output: Path | None = None,
    *,
    unasked: bool = False,
    pace: Callable[[], None] = lambda: None,
) -> Path:
    """Write the index of a project's sessions where it belongs, or to a file; returns where. `unasked`: not
    if somebody changed it. `pace` is called before each session is read. Raises UsageError and StoreError."""
    path = output or index_path(store)
    _check(path, unasked=unasked)  # before all of it is read
    page = project_index(store, project, pace)
    write_private(path, page, lambda: _check(path, unasked=unasked))
    return path


def is_behind(store: Store, project: str, besides: str = "") -> bool:
    """Whether a session that ended does not stand in the index as it ended, of those that it has room for.
    `besides` is one that goes on; those that other processes hold open do too. Raises StoreError."""
    infos, going_on = project_sessions(store, project), {besides, *store.open_elsewhere()}
    short = short_ids([info.id for info in infos])
    held = (read_bytes(index_path(store)) or b"").decode("utf-8", "replace").split("\n")
    shown = len([line for line in held if line.startswith("## ") and line != OLDER])
    room = shown if OLDER in held else INDEX_SESSIONS
    return any(
        index_heading(info, short[info.id]) not in held for info in infos[:room] if info.id not in going_on
    )


def keep_to_policy_and_renew(store: Store, project: str, settings: Settings) -> str:
    """What is done once a session between turns (`keep_to_policy`); an index beside the archive loses what
    was pruned. Returns the line for the user, or ""."""
    failed: list[str] = []

    def renew() -> None:
        try:
            if is_kept(store):
                write_index(store, project, unasked=True)
        except GardenerError as error:
            failed.append(STILL_HELD.format(error=error))

    return "; ".join([keep_to_policy(store, settings, renew), *failed])


def renew_index(store: Store, project: str) -> None:
    """Write the index beside the archive anew if there is one, so that nothing forgotten stands in it."""
    if is_kept(store):
        write_index(store, project)


def renew_now(store: Store, project: str, *, would: bool) -> str:
    """Write the index, or only say what `would` be written; what was done in one line."""
    count = counted(len(project_sessions(store, project)), "session")
    path = index_path(store) if would else write_index(store, project)
    return f"{count} {'would be ' if would else ''}listed in {path}"
