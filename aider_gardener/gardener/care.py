"""What the user decides about single entries of a chat: forget, pin, restore, and why one was swapped.

Each call takes in the host's lists first and shows the result there afterwards, so that it may be made
at any time, from a command or from Python.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from aider_gardener.archive import entries
from aider_gardener.archive.entries import Why
from aider_gardener.errors import UsageError
from aider_gardener.gardener.compactions import history_used
from aider_gardener.gardener.report import standing_tokens
from aider_gardener.messages import Entry, Fidelity, Message
from aider_gardener.plan.priority import parts, priority
from aider_gardener.plan.view import FILLER
from aider_gardener.recall.recall import Recalled, quote, recall_note, was_undone

if TYPE_CHECKING:
    from aider_gardener.gardener.gardener import Gardener

PINNED_SHARE = 0.5
"""Pinned entries may take this share of the history budget: what is left is for the chat to go on."""
RESTORED_HEAD = (
    "(The whole original of an earlier message, put back by aider-gardener because the user asked for it."
    " It is a record of what was said; newer messages and files take precedence.)"
)


class Host(Protocol):
    """The chat as its host holds it."""

    def take_in(self) -> None:
        """Hand the gardener what the host's lists hold now."""
        ...

    def show(self) -> None:
        """Make the host's lists what the gardener shows."""
        ...

    def append(self, messages: Sequence[Message]) -> None:
        """Add messages to the end of the chat."""
        ...


@dataclass(frozen=True)
class Restored:
    """An original that was put back: `in_place` where it had stood, else as the note pair `messages` at
    the end of the chat (the caller's to append where there is no host). `changed` false: it stood whole."""

    entry: Entry
    in_place: bool
    changed: bool = True
    messages: tuple[Message, ...] = ()


@dataclass(frozen=True)
class GivenBack:
    """The originals that were put back into their places: how many messages, and by how many tokens the
    history is longer for it."""

    messages: int
    tokens: int


@contextmanager
def at_host(gardener: Gardener) -> Iterator[None]:
    """Work on the chat as its host holds it now, and show the result there."""
    if gardener.host:
        gardener.host.take_in()
    yield
    if gardener.host:
        gardener.host.show()


def find(gardener: Gardener, given: str) -> Entry:
    """The entry that an id or its beginning names, as it stands in this chat if it does, with its content.

    Raises UsageError when there is none or more than one.
    """
    chat, store = gardener.chat, gardener.archive.store
    own = {entry.id: entry for entry in chat.entries.values()}
    found = entries.full_id(store, given, own)
    entry = own.get(found) or store.get(found)
    if entry is None:
        raise UsageError(f"no entry has the id {found}; notes and /recall show the ids there are")
    return entry


def forget(gardener: Gardener, given: str) -> int:
    """Delete an entry for good, from the archive and from the chat, with the notes that quote it.

    Returns how many entries that were. Raises UsageError for an id that is unknown or ambiguous,
    StoreError when nothing could be deleted; then the chat is as before.
    """
    with at_host(gardener):
        entry = find(gardener, given)
        chat, archive = gardener.chat, gardener.archive
        quoted = [each.id for each in chat.entries.values() if entries.quotes(each, entry.id)]
        ids = list(dict.fromkeys([entry.id, *quoted, *entries.quoting(archive.store, [entry.id])]))
        forgotten = archive.store.forget(ids)
        drop(gardener, ids)
        archive.event(chat.turn, "forget", {"count": forgotten})
    return forgotten


def forget_session(gardener: Gardener) -> int:
    """Delete everything that this chat added to the archive, and empty the chat; returns the entries.

    What was said in other sessions too stays theirs.
    """
    with at_host(gardener):
        chat, archive = gardener.chat, gardener.archive
        ids = {entry.id for entry in chat.entries.values()}
        forgotten = archive.store.forget_session(archive.session)
        archive.store.open_session(archive.session, project=archive.project, started_at=archive.clock())
        drop(gardener, ids)
        chat.clear()
        gardener.compactions.forget()
    return forgotten


def drop(gardener: Gardener, ids: Sequence[str] | set[str]) -> None:
    """Keep nothing of forgotten entries in memory and show them no more."""
    chat = gardener.chat
    gardener.archive.drop([seq for seq, entry in chat.entries.items() if entry.id in ids])
    chat.forget(ids, gardener.archive.text)
    gardener.recollection.reset()


def pin(gardener: Gardener, given: str, *, pinned: bool = True) -> Entry:
    """Hold an entry whole in the chat from now on, or let it go; the mark outlives the process.

    One that is no longer in the chat is put back first. Raises UsageError for an id that is unknown or
    ambiguous, and when pinned entries would take more than half of the history budget.
    """
    entry = find(gardener, given)
    if not pinned:
        return mark(gardener, entry, pinned=False)
    room = int(PINNED_SHARE * gardener.budget) - sum(e.tokens for e in pinned_entries(gardener))
    if not entry.pinned and entry.tokens > room:
        raise UsageError(
            f"{entry.id} has {entry.tokens:,} tokens, but pinned entries may take {max(room, 0):,} more"
            f" (half of the history budget); /unpin another or raise --gardener-history-tokens"
        )
    restore(gardener, entry.id)
    return mark(gardener, entry, pinned=True)


def mark(gardener: Gardener, entry: Entry, *, pinned: bool) -> Entry:
    """Set or clear the mark of an entry, and of the notes of this chat that quote it whole."""
    chat, archive = gardener.chat, gardener.archive
    notes = [each for each in chat.entries.values() if entries.quotes(each, entry.id)]
    for each in [entry, *notes]:
        archive.store.pin(each.id, pinned)
        places = chat.standing(each.id)
        for seq in places[-1:] if pinned else places:
            chat.replace(replace(chat.entries[seq], pinned=pinned))
    archive.event(chat.turn, "pin" if pinned else "unpin", {"entry_id": entry.id})
    return replace(entry, pinned=pinned)


def pinned_entries(gardener: Gardener) -> list[Entry]:
    """The entries that this chat holds whole because the user wants it, in their order."""
    return [entry for entry in gardener.chat.all_entries() if entry.pinned]


def restore(gardener: Gardener, given: str) -> Restored:
    """Put an original back into the chat whole: in its place, or where it has none at the end.

    It is not compacted again before the history has grown. Raises UsageError for an id that is unknown
    or ambiguous.
    """
    with at_host(gardener):
        entry = find(gardener, given)
        chat = gardener.chat
        places = chat.standing(entry.id)
        gardener.archive.touch([entry.id])
        if not places:
            return append(gardener, entry)
        below = [seq for seq in places[-1:] if seq in chat.fidelity]
        if below:
            gardener.show_originals(below)
            gardener.compactions.hold_off(gardener)
    return Restored(entry, in_place=True, changed=bool(below))


def give_back(gardener: Gardener) -> GivenBack:
    """Put every original that is hidden or shortened back into its place, for good: no compaction of
    before can be undone any more. What the host took out and what was forgotten stays away."""
    with at_host(gardener):
        before = history_used(gardener)
        changed = gardener.compactions.give_back(gardener, "all given back")
    return GivenBack(changed, history_used(gardener) - before)


def append(gardener: Gardener, entry: Entry) -> Restored:
    """Add an original to the end of the chat as a note, unless such a note stands there already."""
    chat = gardener.chat
    if any(entries.quotes(each, entry.id) and chat.standing(each.id) for each in chat.entries.values()):
        return Restored(entry, in_place=False, changed=False)
    whole = whole_note(gardener, entry, RESTORED_HEAD)
    messages = (Message("user", whole), Message("assistant", FILLER))
    if gardener.host:
        gardener.host.append(messages)
    gardener.archive.event(chat.turn, "restore", {"entry_id": entry.id})
    return Restored(entry, in_place=False, messages=messages)


def whole_note(gardener: Gardener, entry: Entry, head: str) -> str:
    """A note that quotes one entry whole."""
    text = gardener.archive.store.original(entry.id) or entry.content
    undone = was_undone(gardener.archive, gardener.chat, entry)
    found: Recalled = quote(entry, text, 0, len(text), 1.0, undone=undone)
    return recall_note([found], session=gardener.archive.session, head=head)


def why(gardener: Gardener, given: str) -> Why:
    """What an entry is, how it stands, what was done to it when and why, and what brings it back."""
    entry = find(gardener, given)
    archive, chat = gardener.archive, gardener.chat
    stored = entries.why_stored(archive.store, entry.id) if archive.store.get(entry.id) else None
    if entry.session != archive.session and stored:
        back = f"Only when asked for: /recall finds its passages, /restore {entry.id} adds it to this chat."
        if gardener.settings.recall_sessions:
            back = f"Passages of it when a prompt asks for them; all of it: /restore {entry.id}."
        return replace(stored, standing="older session", standing_tokens=0, back=back, whole=see(entry))
    places = chat.standing(entry.id)
    level = chat.fidelity.get(places[-1], Fidelity.FULL).value if places else "cleared"
    focus = gardener.focus()
    return Why(
        entry_id=entry.id,
        session=entry.session,
        turn=entry.turn,
        source=entries.source_words(entry),
        cls=entry.cls.value,
        tokens=entry.tokens,
        standing=level,
        standing_tokens=standing_tokens(chat.entries[places[-1]], gardener) if places else 0,
        pinned=entry.pinned,
        back=back_words(gardener, entry, level),
        whole=see(entry),
        changes=stored.changes if stored else (),
        priority=round(priority(entry, turn=chat.turn, focus=focus), 1),
        parts={name: round(points, 1) for name, points in parts(entry, turn=chat.turn, focus=focus).items()},
    )


def back_words(gardener: Gardener, entry: Entry, level: str) -> str:
    """What brings an entry of this chat back."""
    if level == "cleared":
        return f"Nothing by itself: it was dropped from the chat. /restore {entry.id} adds it again."
    if level == Fidelity.FULL.value:
        return "It stands whole."
    least = gardener.settings.recall_threshold
    passages = f"Passages of it: a prompt that they fit with a relevance of {least:g} or more."
    return f"{passages} All of it: /restore {entry.id}; to stay: /pin {entry.id}."


def see(entry: Entry) -> str:
    """How to see an entry whole without changing the chat."""
    return f"gardener restore {entry.id} prints it."
