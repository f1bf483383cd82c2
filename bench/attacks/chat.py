"""A chat over an archive on disk, driven as an adapter drives it: what the attacks on long chats play.

What it says is made from its name and the turn, so whoever knows these knows every text.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from aider_gardener.archive.archive import Archive
from aider_gardener.archive.store import Store, open_store
from aider_gardener.errors import UsageError
from aider_gardener.gardener.gardener import Gardener
from aider_gardener.messages import ContentClass, Entry, Level, Rendition, Source, SourceKind, entry_id
from aider_gardener.settings import Settings


def words(text: str) -> int:
    return len(text.split())


def question(name: str, turn: int) -> str:
    return f"What about widget {name}-{turn}, and what was setting_{max(0, turn - 3)} of {name}?"


def reply(name: str, turn: int) -> str:
    reason = f"Because of reason {turn} it is so in {name}. " * (5 + turn * 7 % 20)
    return f"The widget {name}-{turn} needs setting_{turn} = {turn * 7}.\n{reason}é\n"


def put(
    store: Store, text: str, *, session: str = "s", seq: int = 0, at: float = 1.0, short: str = ""
) -> Entry:
    """Say one thing in an archive, in one passage."""
    made = [Rendition(Level.COMPRESSED, short, 5)] if short else []
    new = Entry(
        entry_id("user", text), session, seq, seq, "user", text, Source(SourceKind.TYPED),
        ContentClass.PROSE, (), len(text) // 4, created_at=at,
    )  # fmt: skip
    return store.add(new, chunks=[(0, len(text))], renditions=made)


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
        self.store, self.name, self.told = store, name, told
        archive = Archive(store, session=name, project=project, count=words, clock=clock)
        self.gardener = Gardener(settings or Settings(history_tokens=600), archive)
        self.done: list[dict[str, Any]] = []
        self.cur: list[dict[str, Any]] = []
        self.notices = [store.notice] if store.notice else []
        self.turns = 0
        self.listen()

    def turn(self) -> None:
        """One exchange: archive it, compact if due, recall for the question, look after the rest."""
        number, gardener = self.turns, self.gardener
        self.turns += 1
        asked = question(self.name, number)
        gardener.enter_turn(asked)
        self.cur = [{"role": "user", "content": asked}]
        self.sync()
        gardener.recall_note(asked, "")
        if gardener.compact_if_due() is not None:
            self.show()
        answer = {"role": "assistant", "content": reply(self.name, number)}
        self.done, self.cur = [*self.done, *self.cur, answer], []
        self.sync()
        gardener.recall(f"widget {number}")
        gardener.leave_turn()
        self.listen()

    def play(self, turns: int) -> None:
        for _ in range(turns):
            self.turn()

    def sync(self) -> None:
        self.told(self.gardener.sync(self.done, self.cur))

    def show(self) -> None:
        chat = self.gardener.state.chat
        self.done, self.cur = list(chat.done), list(chat.cur)

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
        if notice := self.gardener.state.archive.take_notice():
            self.notices.append(notice)

    def said(self) -> list[str]:
        return [entry.content for entry in self.gardener.state.chat.entries.values()]

    def close(self) -> None:
        self.store.close()


def stored(directory: Path, name: str = "s") -> list[str]:
    """What the archive holds of a session, after a check that it is sound."""
    store = open_store(directory)
    assert store.persistent and store.notice == "" and store.verify() == []
    found = [entry.content for entry in store.session_entries(name)]
    store.close()
    return found
