"""The archive of one project for agents that keep their chats themselves: what they may look up, add and
delete. A chat of their own that the gardener tends is a `Gardener`."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from aider_gardener.archive.archive import Archive
from aider_gardener.archive.lookup import quoting, stored
from aider_gardener.archive.providers import SAY_LOCAL, WITHHELD, may_go
from aider_gardener.archive.sessions import LAST, NOTES, host_of, session_named
from aider_gardener.errors import UsageError
from aider_gardener.messages import ContentClass, Entry, Message, Source, SourceKind
from aider_gardener.plan.chat import Chat
from aider_gardener.plan.view import is_filler
from aider_gardener.recall.recall import Recalled, recall_counted
from aider_gardener.recall.request import Request
from aider_gardener.settings import Settings
from aider_gardener.tokens import approximate

if TYPE_CHECKING:
    from aider_gardener.archive.store import Store

REMOTE = "remote"
"""A provider of which nothing is known but that it is not on this machine."""
KINDS = ("rule", "decision", "fact", "task")
"""What an agent may keep."""
LONGEST_NOTE_CHARS = 20_000
STAYS_HERE = (
    "{entry_id} was said to a model of this machine, or to none that is known, and goes to no other;"
    f" {SAY_LOCAL} where the server starts"
)


class ProjectMemory:
    """What was said in a project, to whichever agent. `host` is the agent that asks, `reader` the provider of
    its model: it gets nothing that was said to a model of this machine, unless it is one itself. What is kept
    for it goes into a session of its own, begun with the first. Times are seconds since the epoch."""

    def __init__(
        self,
        store: Store,
        project: str,
        *,
        settings: Settings,
        host: str = "an agent",
        reader: str = REMOTE,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.store, self.project, self.settings = store, project, settings
        self.host, self.reader, self.count, self.clock = host, reader, approximate, clock
        self.archive = Archive(store, session="", project=project, count=approximate, clock=clock, host=host)
        self._own: Archive | None = None
        self._number = 0
        self._saving = threading.Lock()

    def recall(
        self,
        query: str,
        *,
        classes: Iterable[ContentClass] = (),
        limit: int = 0,
        token_limit: int = 1_000,
        full: bool = False,
    ) -> list[Recalled]:
        """Passages that fit the question best, of any chat of the project, best first; see
        `Gardener.recall`."""
        kinds = frozenset(classes)
        wanted = Request(query, token_limit, full, classes=kinds, passages=limit, reader=self.reader)
        with self.archive.undisturbed():
            return recall_counted(self.archive, Chat(), wanted)

    @property
    def withheld(self) -> str:
        """What did not come with the last recall or timeline and why, in a line; "" for nothing."""
        count = len(self.archive.withheld)
        return WITHHELD.format(count=count, how=SAY_LOCAL) if count else ""

    def get(self, entry_id: str) -> Entry:
        """A whole original by its id or the beginning of it. Raises UsageError."""
        entry = stored(self.store, entry_id)
        if not may_go(entry.provider, self.reader):
            raise UsageError(STAYS_HERE.format(entry_id=entry.id))
        return entry

    def timeline(self, around: str = "", turns: int = 3) -> list[Entry]:
        """What was said around an entry, in order: its turn and so many before and after; without an entry
        the last turns of the last chat. Raises UsageError."""
        if around:
            entry = self.get(around)
            session, low, high = entry.session, entry.turn - turns, entry.turn + turns
        else:
            last = session_named(self.store, self.project, LAST)
            session, low, high = last.id, last.turns - turns + 1, last.turns
        turn_entries = (each for each in self.store.session_entries(session) if low <= each.turn <= high)
        shown = [
            each
            for each in turn_entries
            if each.source.kind not in (SourceKind.NOTICE, SourceKind.STUB) and not is_filler(each)
        ]
        self.archive.withheld = {each.id for each in shown if not may_go(each.provider, self.reader)}
        return [each for each in shown if each.id not in self.archive.withheld]

    def forget(self, entry_id: str) -> list[str]:
        """Delete an original for good, with the notes that quote it; returns their ids. Raises UsageError."""
        ids = [self.get(entry_id).id]
        ids += quoting(self.store, ids)
        self.store.forget(ids)
        return ids

    def remember(self, text: str, kind: str) -> Entry:
        """Keep what an agent found worth it, of one of KINDS, so that any agent of the project may recall it.
        Raises UsageError for nothing or too much."""
        if not text.strip() or len(text) > LONGEST_NOTE_CHARS:
            raise UsageError(f"text must have 1 to {LONGEST_NOTE_CHARS:,} characters, not {len(text):,}")
        with self._saving:
            if self._own is None:
                self._own = Archive(
                    self.store,
                    session=NOTES + secrets.token_hex(8),
                    project=self.project,
                    count=self.count,
                    clock=self.clock,
                    host=self.host,
                    live=False,
                )
                self._own.provider = self.reader
            self._number += 1
            own, number, source = self._own, self._number, Source(SourceKind.REMEMBERED, kind)
        return own.log(Message("assistant", text), turn=number, seq=number, source=source, at=self.clock())

    def pressure(self) -> dict[str, Any]:
        """What the last chat of the project used of its window, as it was left: the keys of `Pressure`, with
        the chat's session, host and model. Raises UsageError where there is no chat."""
        from aider_gardener.gardener.report import last_pressure  # late: the other tools need none of it

        last = session_named(self.store, self.project, LAST)
        report, state = last_pressure(self.store, last, self.settings, self.count)
        host, model = host_of(self.store, last.id), state.frame.model
        return {"session": last.id, "host": host, "model": model, **report.as_json()}
