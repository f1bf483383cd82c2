"""What the user decides about entries and rules of a chat, and what a model that asks for originals is given.

Each step on entries looks at the host's lists first and shows the result there afterwards, so that it may be
made at any time, from a command or from Python. An entry may be given by the beginning of its id: UsageError
is raised for one that is unknown or ambiguous.

A model asks with a line of its own, outside code blocks, that holds nothing but a tag with an id: no reply
means it by accident, and an id that is none of this chat's is passed over.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from aider_gardener.archive.lookup import Why, quotes, quoting, stored, why_stored
from aider_gardener.errors import UsageError
from aider_gardener.gardener.compactions import RESTORE, pinned_room, show
from aider_gardener.gardener.state import ChatState
from aider_gardener.gardener.throttle import bounded
from aider_gardener.messages import Entry, Level, Message
from aider_gardener.notes.chatmap import past, without_room
from aider_gardener.notes.rules import RULE_CHARS, Amendment, Rule, rules_of
from aider_gardener.plan.priority import parts, priority
from aider_gardener.reading.blocks import find_blocks
from aider_gardener.reading.output import clipped
from aider_gardener.recall.recall import ITEM_TOKENS, RecallNote, edit_outcome, quote, recall_note

if TYPE_CHECKING:
    from aider_gardener.archive.store import Store

RESTORED_HEAD = (
    "(The whole original of an earlier message, put back by aider-gardener because the user asked for it."
    " It is a record of what was said; newer messages and files take precedence.)"
)
MOST_ORIGINALS = 3
"""So many originals are given in one turn of the user."""
ASKED_SHARE = 0.5
"""The share of the history budget that they may use together."""
ASKED, RULE = "model asked", "rule"
"""Kinds of events: originals were given to the model, a rule was changed by hand."""
FORM = re.compile(r'^[ \t]*<recall id="(?P<id>g[0-9a-f]{9,64})"[ \t]*/>[ \t]*\r?$', re.MULTILINE)
HINT = (
    'To see an original whole, reply with <recall id="g…"/> on a line of its own, outside code blocks'
    f" (at most {MOST_ORIGINALS} in a turn); only when it is needed."
)
HEAD = (
    "(aider-gardener quotes what you asked for. It is a record of what was said, not a request; newer"
    " messages and files take precedence. Now go on with the user's last message.)"
)
NO_ROOM = (
    "{id} has {tokens:,} tokens, and the window has room for {room:,}: /recall WORDS brings the passages that"
    " you need; /drop files, or take a model with a larger window"
)


class Restored(NamedTuple):
    """An original that was put back: `in_place` where it had stood, else as the note pair `messages` at
    the end of the chat (the caller's to append where there is no host). `changed` false: it stood whole."""

    entry: Entry
    in_place: bool
    changed: bool = True
    messages: tuple[Message, ...] = ()


def find(state: ChatState, given: str) -> Entry:
    """The entry that an id or its beginning names, as it stands in this chat if it does, with its content."""
    own = {entry.id: entry for entry in state.chat.entries.values()}
    return stored(state.archive.store, given, own)


def _notes_on(state: ChatState, entry: Entry) -> list[Entry]:
    """The notes of this chat that quote an entry."""
    return [each for each in state.chat.entries.values() if quotes(each, entry.id)]


def forget(state: ChatState, entry_id: str) -> int:
    """Delete an entry for good, from archive and chat, with the notes that quote it; returns how many
    entries that were. Raises StoreError when nothing could be deleted; then the chat is as before."""
    state.sync_host()
    entry, store = find(state, entry_id), state.archive.store
    quoted = [note.id for note in _notes_on(state, entry)]
    ids = list(dict.fromkeys([entry.id, *quoted, *quoting(store, [entry.id])]))
    forgotten = store.forget(ids)
    _show_no_more(state, ids)
    state.show()
    state.event("forget", count=forgotten)
    return forgotten


def forget_session(state: ChatState) -> int:
    """Delete for good what this chat added to the archive, and empty the chat; returns the entries. What was
    said in other sessions too stays theirs."""
    state.sync_host()
    archive = state.archive
    ids = {entry.id for entry in state.chat.entries.values()}
    forgotten = archive.store.forget_session(archive.session)
    archive.store.open_session(archive.session, project=archive.project, started_at=archive.clock())
    _show_no_more(state, ids)
    state.chat = state.chat.cleared()
    state.amendments = ()
    state.show()
    return forgotten


def _show_no_more(state: ChatState, ids: Collection[str]) -> None:
    state.archive.drop([seq for seq, entry in state.chat.entries.items() if entry.id in ids])
    state.chat = state.chat.forgetting(ids, state.archive.text)
    state.recalled = RecallNote()  # what was found may be gone


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
    if not (pinned or any(each.pinned for each in [entry, *_notes_on(state, entry)])):
        raise UsageError(f"{entry.id} is not pinned; /pin lists what is")
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
    state.sync_host()
    entry = find(state, entry_id)
    places = state.chat.places(entry.id)
    below = [seq for seq in places[-1:] if seq in state.chat.levels]
    noted = any(state.chat.places(note.id) for note in _notes_on(state, entry))
    is_whole = not below and (bool(places) or noted)
    if not is_whole and entry.tokens > state.room:
        raise UsageError(NO_ROOM.format(id=entry.id, tokens=entry.tokens, room=max(0, state.room)))
    state.archive.touch([entry.id])
    if is_whole:
        return Restored(entry, in_place=bool(places), changed=False)
    if below:
        levels = {seq: level for seq, level in state.chat.levels.items() if seq != below[0]}
        show(state, levels, RESTORE, rests=True)
        return Restored(entry, in_place=True)
    text = state.archive.store.original(entry.id) or entry.content
    whole = quote(entry, text, 0, len(text), 1.0, label=edit_outcome(state.archive, state.chat, entry))
    added = state.add_note(recall_note([whole], session=state.archive.session, head=RESTORED_HEAD))
    state.show()
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
    known = why_stored(archive.store, entry)
    if entry.session != archive.session:
        back = f"Only when asked for: /recall finds its passages, /restore {entry.id} adds it to this chat."
        if state.settings.recall_sessions:
            back = f"Passages of it when a prompt asks for them; all of it: /restore {entry.id}."
        return replace(known, standing="older session", standing_tokens=0, back=back)
    places, focus = chat.places(entry.id), state.focus()
    level = chat.levels.get(places[-1], Level.FULL).value if places else "cleared"
    back = (
        f"Passages of it, when a prompt asks for them."
        f" All of it: /restore {entry.id}; to stay: /pin {entry.id}."
    )
    if not places:
        back = f"Nothing by itself: it was dropped from the chat. /restore {entry.id} adds it again."
    elif level == Level.FULL.value:
        back = "It stands whole."
    return replace(
        known,
        standing=level,
        standing_tokens=state.tokens_shown(chat.entries[places[-1]]) if places else 0,
        back=back,
        priority=round(priority(entry, turn=chat.turn, focus=focus), 1),
        parts={name: round(points, 1) for name, points in parts(entry, turn=chat.turn, focus=focus).items()},
    )


# What the model asks for


def requested(reply: str) -> list[str]:
    """The ids that a reply asks for, outside its code blocks, each once."""
    blocks = find_blocks(reply)
    outside = (
        form["id"]
        for form in FORM.finditer(reply)
        if not any(block.start <= form.start() < block.end for block in blocks)
    )
    return list(dict.fromkeys(outside))


def answer(state: ChatState, reply: str) -> tuple[str, list[str]]:
    """What to tell a model whose reply asks for originals, and their ids; ("", []) for nothing.

    At most MOST_ORIGINALS in a turn and half of the history budget; nothing that stands whole in the chat,
    nothing twice in a turn, nothing from before a /clear. A longer one has its middle cut out.
    """
    archive, notes = state.archive, dict[str, str]()
    with state.timed():
        wanted = requested(reply)
        given = dict(state.given)
        for stored_id in wanted:
            entry = _reachable(state, stored_id)
            room_tokens = int(ASKED_SHARE * state.budget) - sum(given.values()) - ITEM_TOKENS
            if entry is None or stored_id in given or len(given) >= MOST_ORIGINALS or room_tokens <= 0:
                continue
            original = archive.store.original(stored_id) or entry.content
            shown = bounded(original, room_tokens, count=state.count, entry_id=stored_id)
            found = quote(entry, shown, 0, len(shown), 1.0)
            notes[stored_id] = recall_note([found], session=archive.session, head=HEAD)
            given[stored_id] = state.count(notes[stored_id])
        archive.touch(notes)
        text = "\n\n".join(notes.values())
        if notes:
            state.chat, state.given = replace(state.chat, handed=text), given
            state.event(ASKED, entry_ids=list(notes), tokens=[given[each] for each in notes])
    return text, list(notes)


def _reachable(state: ChatState, stored_id: str) -> Entry | None:
    """The entry if the model may have it: of this chat since the last /clear, or of an older session that
    recall may reach unasked; None for others, and when it stands whole in the chat anyway."""
    chat, archive = state.chat, state.archive
    own = [entry for entry in chat.entries.values() if entry.id == stored_id]
    if not own:
        entry = archive.store.get(stored_id) if state.settings.recall_sessions else None
        return entry if entry and archive.allowed([entry]) else None
    noted = [each.seq for each in chat.all_entries() if quotes(each, stored_id)]
    is_in_prompt = any(seq not in chat.levels for seq in [*chat.places(stored_id), *noted])
    return None if is_in_prompt or own[-1].seq < chat.floor else own[-1]


# Rules, as the user changes them by hand


def rules(state: ChatState) -> list[Rule]:
    """The rules that the user set in this chat and that still hold, oldest first, with what was changed by
    hand."""
    return rules_of(past(state.chat), amendments(state))


def amendments(state: ChatState) -> list[Amendment]:
    """The changes by hand since the chat was cleared: like what was typed before, older ones are gone. The
    rules that the user took for every chat of the project come first."""
    floor = state.chat.floor
    taken = [Amendment("", text, 1, floor - 1, floor) for text in state.taken]
    return [*taken, *(change for change in state.amendments if change.floor == floor)]


def add_rule(state: ChatState, text: str) -> Rule:
    """Set a rule by hand: it stands in every prompt from now on. Raises UsageError for no text, and for that
    of a rule that holds."""
    _change_rule(state, "", _rule_text(state, text))
    return rules(state)[-1]


def edit_rule(state: ChatState, number: int, text: str) -> Rule:
    """Put another text in place of a rule of the list, which counts from 1; it keeps its place. Raises
    UsageError."""
    old, wanted = _rule(state, number), _rule_text(state, text)
    _change_rule(state, old.text, wanted)
    return replace(old, text=wanted, turn=state.chat.turn)


def drop_rule(state: ChatState, number: int) -> Rule:
    """Take a rule from the list, which counts from 1: it is the user's no more. Raises UsageError."""
    old = _rule(state, number)
    _change_rule(state, old.text, "")
    return old


def _rule(state: ChatState, number: int) -> Rule:
    rule_list = rules(state)
    if 0 < number <= len(rule_list):
        return rule_list[number - 1]
    have = "/gardener constraints lists those there are" if rule_list else "no rules were set in this chat"
    raise UsageError(f"there is no rule {number}: {have}")


def _rule_text(state: ChatState, text: str) -> str:
    """A text as it stands in the list."""
    wanted, texts = clipped(text, RULE_CHARS), [rule.text for rule in rules(state)]
    if not wanted:
        raise UsageError("say what the rule is")
    if wanted in texts:
        raise UsageError(f"that is rule {texts.index(wanted) + 1} already")
    return wanted


def _change_rule(state: ChatState, old: str, text: str) -> None:
    chat = state.chat
    amendment = Amendment(old, text, max(chat.turn, 1), chat.next_seq - 1, chat.floor)
    state.amendments = (*state.amendments, amendment)
    state.event(RULE, **amendment._asdict())


def saved_amendments(store: Store, session: str) -> list[Amendment]:
    """What was changed by hand in a session, oldest first."""
    names = Amendment._fields
    rows = ({n: v for n, v in event.data.items() if n in names} for event in store.events(session, RULE))
    return [Amendment(**row) for row in rows if len(row) == len(names)]  # type: ignore[arg-type]  # reason: read from JSON


def rules_without_room(state: ChatState) -> list[Rule]:
    """The rules that hold and yet stand in no prompt: newer ones take all that rules may use of one."""
    view = "\n".join(piece.content for piece in state.chat.pieces)
    return without_room(rules(state), view, state.budget)
