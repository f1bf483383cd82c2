"""What the user decides about single entries of a chat: forget, pin, restore, and why one was swapped.

Each call looks at the host's lists first and shows the result there afterwards, so that it may be made
at any time, from a command or from Python.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from aider_gardener.archive import entries
from aider_gardener.archive.entries import Why
from aider_gardener.errors import UsageError
from aider_gardener.gardener import compactions
from aider_gardener.gardener.compactions import pinned_entries
from aider_gardener.gardener.report import standing_tokens
from aider_gardener.gardener.state import ChatState
from aider_gardener.messages import Entry, Fidelity, Message
from aider_gardener.plan.priority import parts, priority
from aider_gardener.plan.view import Piece
from aider_gardener.recall.candidates import LEAST_RELEVANCE
from aider_gardener.recall.recall import fate, quote, recall_note

AddNote = Callable[[str], Sequence[Piece]]
"""Adds a note of ours to the end of the chat; gives its messages."""

RESTORED_HEAD = (
    "(The whole original of an earlier message, put back by aider-gardener because the user asked for it."
    " It is a record of what was said; newer messages and files take precedence.)"
)
NO_ROOM = (
    "{id} has {tokens:,} tokens, and the window has room for {room:,}: /recall WORDS brings the passages that"
    " you need; /drop files, or take a model with a larger window"
)


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
def at_host(state: ChatState) -> Iterator[None]:
    """Work on the chat as its host holds it now, and show the result there."""
    if state.host:
        state.host.sync()
    yield
    if state.host:
        state.host.show()


def find(state: ChatState, given: str) -> Entry:
    """The entry that an id or its beginning names, as it stands in this chat if it does, with its content.

    Raises UsageError when there is none or more than one.
    """
    chat, store = state.chat, state.archive.store
    own = {entry.id: entry for entry in chat.entries.values()}
    found = entries.full_id(store, given, own)
    entry = own.get(found) or store.get(found)
    if entry is None:
        raise UsageError(f"no entry has the id {found}; notes and /recall show the ids there are")
    return entry


def forget(state: ChatState, given: str) -> int:
    """Delete an entry for good, from the archive and from the chat, with the notes that quote it.

    Returns how many entries that were. Raises UsageError for an id that is unknown or ambiguous,
    StoreError when nothing could be deleted; then the chat is as before.
    """
    with at_host(state):
        entry = find(state, given)
        chat, archive = state.chat, state.archive
        quoted = [each.id for each in chat.entries.values() if entries.quotes(each, entry.id)]
        ids = list(dict.fromkeys([entry.id, *quoted, *entries.quoting(archive.store, [entry.id])]))
        forgotten = archive.store.forget(ids)
        drop(state, ids)
        state.event("forget", count=forgotten)
    return forgotten


def forget_session(state: ChatState) -> int:
    """Delete everything that this chat added to the archive, and empty the chat; returns the entries.

    What was said in other sessions too stays theirs.
    """
    with at_host(state):
        chat, archive = state.chat, state.archive
        ids = {entry.id for entry in chat.entries.values()}
        forgotten = archive.store.forget_session(archive.session)
        archive.store.open_session(archive.session, project=archive.project, started_at=archive.clock())
        drop(state, ids)
        state.chat = state.chat.cleared()
        state.amendments = ()
    return forgotten


def drop(state: ChatState, ids: Sequence[str] | set[str]) -> None:
    """Keep nothing of forgotten entries in memory and show them no more."""
    state.archive.drop([seq for seq, entry in state.chat.entries.items() if entry.id in ids])
    state.chat = state.chat.forgetting(ids, state.archive.text)
    state.recollection.reset()


def pin(state: ChatState, given: str, add_note: AddNote, *, pinned: bool = True) -> Entry:
    """Hold an entry whole in the chat from now on, or let it go; the mark outlives the process.

    One that is no longer in the chat is put back first. Raises UsageError for an id that is unknown or
    ambiguous, and when the window has no room for what is pinned beside a history of its usual length.
    """
    entry = find(state, given)
    if not pinned:
        return mark(state, entry, pinned=False)
    room = compactions.pinned_room(state) - sum(e.tokens for e in pinned_entries(state))
    if not entry.pinned and entry.tokens > room:
        raise UsageError(
            f"{entry.id} has {entry.tokens:,} tokens, but only {max(room, 0):,} more can be held beside"
            " the rest of the chat; /unpin another, or raise --gardener-history-tokens"
        )
    restore(state, entry.id, add_note)
    return mark(state, entry, pinned=True)


def mark(state: ChatState, entry: Entry, *, pinned: bool) -> Entry:
    """Set or clear the mark of an entry, and of the notes of this chat that quote it whole."""
    notes = [each for each in state.chat.entries.values() if entries.quotes(each, entry.id)]
    for each in [entry, *notes]:
        state.archive.store.pin(each.id, pinned)
        places = state.chat.places(each.id)
        for seq in places[-1:] if pinned else places:
            state.chat = state.chat.with_entry(replace(state.chat.entries[seq], pinned=pinned))
    state.event("pin" if pinned else "unpin", entry_id=entry.id)
    return replace(entry, pinned=pinned)


def restore(state: ChatState, given: str, add_note: AddNote) -> Restored:
    """Put an original back into the chat whole: in its place, or where it has none at the end.

    It is not compacted again before the history has grown. Raises UsageError for an id that is unknown
    or ambiguous, and where the window has no room for it.
    """
    with at_host(state):
        entry = find(state, given)
        places = state.chat.places(entry.id)
        below = [seq for seq in places[-1:] if seq in state.chat.fidelity]
        notes = [each for each in state.chat.entries.values() if entries.quotes(each, entry.id)]
        is_whole = bool(places) or any(state.chat.places(each.id) for each in notes)
        if is_whole and not below:
            state.archive.touch([entry.id])
            return Restored(entry, in_place=bool(places), changed=False)
        if entry.tokens > state.room:
            raise UsageError(NO_ROOM.format(id=entry.id, tokens=entry.tokens, room=max(0, state.room)))
        state.archive.touch([entry.id])
        if below:
            compactions.restore(state, below[0])
            return Restored(entry, in_place=True)
        added = add_note(whole_note(state, entry, RESTORED_HEAD))
        state.event("restore", entry_id=entry.id)
        return Restored(entry, in_place=False, messages=tuple(piece.message for piece in added))


def expire(state: ChatState, given: str, *, context_ttl: int, summarise_after: int) -> None:
    """Give one entry its own terms, in turns since it was said; 0: never by itself."""
    entry_id = find(state, given).id
    state.policy = state.policy.with_own(entry_id, context_ttl, summarise_after)
    state.event("expire", entry_id=entry_id, context_ttl=context_ttl, summarise_after=summarise_after)


def give_back(state: ChatState) -> GivenBack:
    """Put every original that is hidden or shortened back into its place, for good: no compaction of
    before can be undone any more. What the host took out and what was forgotten stays away."""
    with at_host(state):
        before = state.history_used
        changed = compactions.give_back(state)
    return GivenBack(changed, state.history_used - before)


def whole_note(state: ChatState, entry: Entry, head: str) -> str:
    """A note that quotes one entry whole."""
    text = state.archive.store.original(entry.id) or entry.content
    found = quote(entry, text, 0, len(text), 1.0, label=fate(state.archive, state.chat, entry))
    return recall_note([found], session=state.archive.session, head=head)


def why(state: ChatState, given: str) -> Why:
    """What an entry is, how it stands, what was done to it when and why, and what brings it back."""
    entry = find(state, given)
    archive, chat = state.archive, state.chat
    stored = entries.why_stored(archive.store, entry.id) if archive.store.get(entry.id) else None
    if entry.session != archive.session and stored:
        back = f"Only when asked for: /recall finds its passages, /restore {entry.id} adds it to this chat."
        if state.settings.recall_sessions:
            back = f"Passages of it when a prompt asks for them; all of it: /restore {entry.id}."
        return replace(stored, standing="older session", standing_tokens=0, back=back, whole=see(entry))
    places = chat.places(entry.id)
    level = chat.fidelity.get(places[-1], Fidelity.FULL).value if places else "cleared"
    focus = state.focus()
    return Why(
        entry_id=entry.id,
        session=entry.session,
        turn=entry.turn,
        source=entries.source_words(entry),
        cls=entry.cls.value,
        tokens=entry.tokens,
        standing=level,
        standing_tokens=standing_tokens(chat.entries[places[-1]], chat, archive) if places else 0,
        pinned=entry.pinned,
        back=back_words(state, entry, level),
        whole=see(entry),
        changes=stored.changes if stored else (),
        priority=round(priority(entry, turn=chat.turn, focus=focus), 1),
        parts={name: round(points, 1) for name, points in parts(entry, turn=chat.turn, focus=focus).items()},
    )


def back_words(state: ChatState, entry: Entry, level: str) -> str:
    """What brings an entry of this chat back."""
    if level == "cleared":
        return f"Nothing by itself: it was dropped from the chat. /restore {entry.id} adds it again."
    if level == Fidelity.FULL.value:
        return "It stands whole."
    passages = f"Passages of it: a prompt that they fit with a relevance of {LEAST_RELEVANCE:g} or more."
    return f"{passages} All of it: /restore {entry.id}; to stay: /pin {entry.id}."


def see(entry: Entry) -> str:
    """How to see an entry whole without changing the chat."""
    return f"gardener restore {entry.id} prints it."
