"""A chat over an archive on disk, driven as an adapter drives it: what the attacks on long chats play.

What it says is made from its name and the turn, so whoever knows these knows every text.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path

from aider_gardener.archive.archive import Archive
from aider_gardener.archive.store import open_store
from aider_gardener.archive.store.sqlite import SqliteStore
from aider_gardener.errors import UsageError
from aider_gardener.gardener.gardener import Gardener
from aider_gardener.messages import Entry, Message
from aider_gardener.settings import Settings


def words(text: str) -> int:
    return len(text.split())


def question(name: str, turn: int) -> str:
    return f"What about widget {name}-{turn}, and what was setting_{max(0, turn - 3)} of {name}?"


def reply(name: str, turn: int) -> str:
    reason = f"Because of reason {turn} it is so in {name}. " * (5 + turn * 7 % 20)
    return f"The widget {name}-{turn} needs setting_{turn} = {turn * 7}.\n{reason}é\n"


class Played:
    """One chat of a project. `told` gets the entries that `sync` has just returned as archived."""

    def __init__(
        self,
        directory: Path,
        *,
        name: str = "s",
        project: str = "p",
        clock: Callable[[], float] = time.time,
        told: Callable[[Sequence[Entry]], None] = lambda entries: None,
        settings: Settings | None = None,
    ) -> None:
        store = open_store(directory)
        assert isinstance(store, SqliteStore)
        self.store, self.name, self.told = store, name, told
        archive = Archive(store, session=name, project=project, count=words, clock=clock)
        self.gardener = Gardener(settings or Settings(history_tokens=600), archive)
        self.done: list[Message] = []
        self.notices: list[str] = []
        self.turns = 0
        self.listen()

    def turn(self) -> None:
        """One exchange: archive it, compact if due, recall for the question, look after the rest."""
        number, gardener = self.turns, self.gardener
        self.turns += 1
        asked = Message("user", question(self.name, number))
        gardener.enter_turn(asked.content)
        self.sync([asked])
        gardener.recall_note(asked.content, "")
        if gardener.tend() is not None:
            self.show()
        self.done = [*self.done, asked, Message("assistant", reply(self.name, number))]
        self.sync([])
        gardener.recall(f"widget {number}")
        gardener.leave_turn()
        self.listen()

    def sync(self, cur: list[Message]) -> None:
        self.told(self.gardener.sync(self.done, cur))

    def show(self) -> None:
        self.done = [piece.message for piece in self.gardener.pieces[0]]

    def undo(self) -> int:
        """Take the last compaction back, if there is one."""
        try:
            changed = self.gardener.undo()
        except UsageError:
            return 0
        self.show()
        return changed

    def forget(self, entry_id: str) -> int:
        """Delete one entry for good."""
        count = self.gardener.forget(entry_id)
        self.show()
        return count

    def listen(self) -> None:
        """Read the notice that a user would be shown."""
        if notice := self.gardener.take_notice():
            self.notices.append(notice)

    def said(self) -> list[str]:
        return [entry.content for entry in self.gardener.state.chat.entries.values()]

    def close(self) -> None:
        self.store.close()
