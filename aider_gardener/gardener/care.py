"""What the user decides about single entries of a chat: forget, pin, restore, and why one was swapped.

Each step looks at the host's lists first and shows the result there afterwards, so that it may be made at
any time, from a command or from Python. An entry may be given by the beginning of its id: UsageError is
raised for one that is unknown or ambiguous.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from aider_gardener.archive import entries
from aider_gardener.archive.entries import Why
from aider_gardener.errors import UsageError
from aider_gardener.gardener.compactions import RESTORE, pinned_room, show
from aider_gardener.gardener.report import tokens_shown
from aider_gardener.gardener.state import ChatState
from aider_gardener.messages import Entry, Fidelity, Message
from aider_gardener.plan.evict import parts, priority
from aider_gardener.recall.candidates import LEAST_RELEVANCE
from aider_gardener.recall.recall import fate, quote, recall_note

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


def find(state: ChatState, given: str) -> Entry:
    """The entry that an id or its beginning names, as it stands in this chat if it does, with its content."""
    own = {entry.id: entry for entry in state.chat.entries.values()}
    found = entries.full_id(state.archive.store, given, own)
    entry = own.get(found) or state.archive.store.get(found)
    if entry is None:
        raise UsageError(f"no entry has the id {found}; notes and /recall show the ids there are")
    return entry


def _notes_on(state: ChatState, entry: Entry) -> list[Entry]:
    """The notes of this chat that quote an entry."""
    return [each for each in state.chat.entries.values() if entries.quotes(each, entry.id)]


def forget(state: ChatState, given: str) -> int:
    """Delete an entry for good, from archive and chat, with the notes that quote it; returns how many
    entries that were. Raises StoreError when nothing could be deleted; then the chat is as before."""
    with state.at_host():
        entry, store = find(state, given), state.archive.store
        quoted = [note.id for note in _notes_on(state, entry)]
        ids = list(dict.fromkeys([entry.id, *quoted, *entries.quoting(store, [entry.id])]))
        forgotten = store.forget(ids)
        _show_no_more(state, ids)
        state.event("forget", count=forgotten)
    return forgotten


def forget_session(state: ChatState) -> int:
    """Delete for good what this chat added to the archive, and empty the chat; returns the entries. What was
    said in other sessions too stays theirs."""
    with state.at_host():
        archive = state.archive
        ids = {entry.id for entry in state.chat.entries.values()}
        forgotten = archive.store.forget_session(archive.session)
        archive.store.open_session(archive.session, project=archive.project, started_at=archive.clock())
        _show_no_more(state, ids)
        state.chat = state.chat.cleared()
        state.amendments = ()
    return forgotten


def _show_no_more(state: ChatState, ids: Collection[str]) -> None:
    state.archive.drop([seq for seq, entry in state.chat.entries.items() if entry.id in ids])
    state.chat = state.chat.forgetting(ids, state.archive.text)
    state.recollection.reset()


def pin(state: ChatState, entry_id: str, *, pinned: bool = True) -> Entry:
    """Hold an entry whole in the chat from now on, or with `pinned` false let it go; the mark outlives the
    process. One that is no longer in the chat is put back first. Raises UsageError when the window has no
    room for what is pinned beside a history of its usual length."""
    entry, room = find(state, entry_id), max(0, pinned_room(state))
    if pinned and not entry.pinned and entry.tokens > room:
        raise UsageError(
            f"{entry.id} has {entry.tokens:,} tokens, but only {room:,} more can be held beside"
            " the rest of the chat; /unpin another, or raise --gardener-history-tokens"
        )
    if pinned:
        restore(state, entry.id)
    for each in [entry, *_notes_on(state, entry)]:
        state.archive.store.pin(each.id, pinned)
        places = state.chat.places(each.id)
        for seq in places[-1:] if pinned else places:
            state.chat = state.chat.with_entry(replace(state.chat.entries[seq], pinned=pinned))
    state.event("pin" if pinned else "unpin", entry_id=entry.id)
    return replace(entry, pinned=pinned)


def restore(state: ChatState, entry_id: str) -> Restored:
    """Put an original back into the chat whole: in its place, or where it has none at the end. It is not
    compacted again before the history has grown. Raises UsageError where the window has no room for it; then
    the marks are as before."""
    with state.at_host():
        entry = find(state, entry_id)
        places = state.chat.places(entry.id)
        below = [seq for seq in places[-1:] if seq in state.chat.fidelity]
        noted = any(state.chat.places(note.id) for note in _notes_on(state, entry))
        is_whole = not below and (bool(places) or noted)
        if not is_whole and entry.tokens > state.room:
            raise UsageError(NO_ROOM.format(id=entry.id, tokens=entry.tokens, room=max(0, state.room)))
        state.archive.touch([entry.id])
        if is_whole:
            return Restored(entry, in_place=bool(places), changed=False)
        if below:
            levels = {seq: level for seq, level in state.chat.fidelity.items() if seq != below[0]}
            show(state, levels, RESTORE, rests=True)
            return Restored(entry, in_place=True)
        text = state.archive.store.original(entry.id) or entry.content
        whole = quote(entry, text, 0, len(text), 1.0, label=fate(state.archive, state.chat, entry))
        added = state.add_note(recall_note([whole], session=state.archive.session, head=RESTORED_HEAD))
        state.event(RESTORE, entry_id=entry.id)
    return Restored(entry, in_place=False, messages=tuple(piece.message for piece in added))


def expire(state: ChatState, entry_id: str, *, context_ttl: int = 0, summarise_after: int = 0) -> None:
    """Give one entry its own terms, in turns since it was said: `context_ttl` after which a line of it is
    enough, `summarise_after` after which its compressed form is. 0: never by itself."""
    found = find(state, entry_id).id
    state.policy = state.policy.with_own(found, context_ttl, summarise_after)
    state.event("expire", entry_id=found, context_ttl=context_ttl, summarise_after=summarise_after)


def why(state: ChatState, entry_id: str) -> Why:
    """What an entry is, how it stands, what was done to it when and why, and what brings it back."""
    entry, archive, chat = find(state, entry_id), state.archive, state.chat
    stored = entries.why_stored(archive.store, entry.id)
    if entry.session != archive.session:
        back = f"Only when asked for: /recall finds its passages, /restore {entry.id} adds it to this chat."
        if state.settings.recall_sessions:
            back = f"Passages of it when a prompt asks for them; all of it: /restore {entry.id}."
        return replace(stored, standing="older session", standing_tokens=0, back=back)
    places, focus = chat.places(entry.id), state.focus()
    level = chat.fidelity.get(places[-1], Fidelity.FULL).value if places else "cleared"
    back = (
        f"Passages of it: a prompt that they fit with a relevance of {LEAST_RELEVANCE:g} or more."
        f" All of it: /restore {entry.id}; to stay: /pin {entry.id}."
    )
    if not places:
        back = f"Nothing by itself: it was dropped from the chat. /restore {entry.id} adds it again."
    elif level == Fidelity.FULL.value:
        back = "It stands whole."
    return replace(
        stored,
        session=entry.session,
        turn=entry.turn,
        source=entries.source_words(entry),
        cls=entry.cls.value,
        tokens=entry.tokens,
        standing=level,
        standing_tokens=tokens_shown(state, chat.entries[places[-1]]) if places else 0,
        pinned=entry.pinned,
        back=back,
        priority=round(priority(entry, turn=chat.turn, focus=focus), 1),
        parts={name: round(points, 1) for name, points in parts(entry, turn=chat.turn, focus=focus).items()},
    )
