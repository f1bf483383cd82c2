"""Older sessions of a project: which of them there are, how one is named, what may come back unasked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise, takewhile
from typing import TYPE_CHECKING

from aider_gardener.archive.providers import SHARED
from aider_gardener.errors import UsageError

if TYPE_CHECKING:  # reason: the host's adapter reads names from here before any chat is there
    from aider_gardener.archive.store import Store
    from aider_gardener.archive.store.base import SessionInfo

AIDER, PYTHON, HOST_KEY = "aider", "python", "host"
"""The agent in which a session was held that says none, one that calls the library, and where it says so."""
RUNS = "runs-"
"""How the id of a session begins that holds the output of a command that was run beside any chat."""
NOTES = "notes-"
"""And of one that holds what agents kept."""
NO_CHAT = "the archive holds no chat of {project} yet; one is there once something was said in it"
LAST = "last"
SHORT_ID = 4
"""An id is shown with so many characters at least; a number with fewer is one of the list."""


def host_of(store: Store, session: str) -> str:
    """The agent in which a session was held."""
    return store.get_state(session, HOST_KEY) or AIDER


def author_of(session: str) -> str:
    """Who shared a session through a server; "" for one of this machine."""
    return session.removeprefix(SHARED).rpartition(":")[0] if session.startswith(SHARED) else ""


def clear_floor(store: Store, session: str) -> int:
    """The first sequence number of a session that no /clear dropped."""
    floors = [event.data.get("floor") for event in store.events(session, "clear")]
    return max((int(floor) for floor in floors if isinstance(floor, int)), default=0)


def project_sessions(store: Store, project: str) -> list[SessionInfo]:
    """The sessions of a project in which anything was said here, the last used first."""
    return last_first(store.sessions(project))


def last_first(infos: Iterable[SessionInfo]) -> list[SessionInfo]:
    """Those sessions in which anything was said here, the last used first."""
    found = [info for info in infos if info.entries and not info.id.startswith((SHARED, RUNS))]
    return sorted(found, key=lambda info: info.last_at, reverse=True)


def session_named(store: Store, project: str, given: str) -> SessionInfo:
    """The session that is meant: `last` (the last chat), a number of the list, or the beginning of an id.

    Raises UsageError, saying what to do, for none or several.
    """
    wanted = given.strip().lower()
    found = project_sessions(store, project)
    chats = [info for info in found if not info.id.startswith(NOTES)]
    if not (chats if wanted == LAST else found):
        raise UsageError(NO_CHAT.format(project=project))
    if wanted == LAST:
        return chats[0]
    if wanted.isdecimal() and len(wanted) < SHORT_ID and 0 < int(wanted) <= len(found):
        return found[int(wanted) - 1]
    fitting = [info for info in found if wanted and info.id.startswith(wanted)]
    if len(fitting) != 1:
        few = f"{len(fitting)} sessions begin" if fitting else "no session of this project begins"
        raise UsageError(f"{few} with {given.strip() or 'nothing'}; `gardener sessions` lists them")
    return fitting[0]


def short_ids(ids: Sequence[str]) -> dict[str, str]:
    """For each id its beginning that no other has, on one line, of at least SHORT_ID characters: a number is
    none."""
    ordered = sorted(ids)
    shared = dict.fromkeys(ids, 0)
    for one, other in pairwise(ordered):
        same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))
        shared[one], shared[other] = max(shared[one], same), max(shared[other], same)
    return {each: each[: max(SHORT_ID, shared[each] + 1)].replace("\n", r"\n") for each in ids}
