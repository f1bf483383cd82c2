"""The facade: one chat's whole flow, in order. Adapters hold one `Gardener` for each chat."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from typing import Any

from aider_gardener.archive.archive import Archive
from aider_gardener.archive.entries import Why
from aider_gardener.archive.store.base import SessionInfo
from aider_gardener.errors import StoreError
from aider_gardener.gardener import amendments, asks, care, compactions, stored_chat
from aider_gardener.gardener.care import GivenBack, Restored
from aider_gardener.gardener.learnt import taken_rules
from aider_gardener.gardener.report import pressure_report, status_record
from aider_gardener.gardener.state import ChatState
from aider_gardener.messages import (
    ContentClass,
    Entry,
    Fidelity,
    Message,
    Plan,
    Source,
    SourceKind,
    TokenCounter,
)
from aider_gardener.notes.chatmap import past, renewed, room_for
from aider_gardener.notes.decisions import Decision, decided
from aider_gardener.notes.last_chat import LastTime, last_time
from aider_gardener.notes.rules import Constraint
from aider_gardener.notes.summary import summary
from aider_gardener.plan.chat import Chat
from aider_gardener.plan.goals import Pressure
from aider_gardener.plan.planner import has_edit
from aider_gardener.plan.view import FILLER, Piece, failed_edits
from aider_gardener.reading.source import infer_source
from aider_gardener.recall.candidates import LEAST_RELEVANCE, ORDINARY_SHARE, Request, recall_part
from aider_gardener.recall.recall import EDIT_UNDONE, MARGIN_TOKENS, NOTE_HEAD, Recalled
from aider_gardener.settings import Settings

ACCOUNT_SHARE, LEAST_ACCOUNT_TOKENS = 0.3, 240
"""The part of the high mark that the account of the last chat may take, and what it needs to say anything."""


class Gardener:
    """Memory of one chat. Lists go in as messages and come out as the messages to show instead.

    `state` is all that is known of the chat. An entry's id may be given by its beginning.
    """

    def __init__(self, settings: Settings, archive: Archive) -> None:
        self.state = ChatState.new(settings, archive)
        self.state.chat = Chat(hint=asks.HINT if settings.ask_for_originals else "")
        with suppress(StoreError):
            self.state.taken = taken_rules(archive.store, archive.project)

    # What enters

    def enter_turn(self, typed: str = "") -> bool:
        """The user entered something: unless a turn is going on, one is due (and True returned). It counts
        once something enters the chat or a prompt is sent, so that a command that only looks ages nothing.

        A message of just the `typed` words is the user's, however it begins."""
        state = self.state
        state.turns_open += 1
        is_due = state.turns_open == 1
        state.chat = replace(state.chat, typed=typed, turn_due=state.chat.turn_due or is_due)
        return is_due

    def leave_turn(self) -> None:
        """What the user entered has been dealt with."""
        state = self.state
        state.turns_open = max(0, state.turns_open - 1)
        if state.busy:
            return
        if state.frame.parts:
            stored_chat.save_measures(state)

    def sync(self, done: list[dict[str, Any]], cur: list[dict[str, Any]]) -> list[Entry]:
        """Archive every message that is new in the host's two lists, and mark it there; returns their
        entries."""
        state = self.state
        with state.timed():
            chat, added = state.chat.sync((done, cur), self.admit)
            self.replace_chat(chat)
            return added

    def admit(self, chat: Chat, message: Message, source: Source | None = None) -> Entry:
        """Store a message that is new in the chat; returns its entry. Without a `source` its text tells where
        it came from, but what the host says was typed is the user's."""
        state = self.state
        if source is None:
            source = infer_source(message.role, message.content)
            if source.kind is SourceKind.NOTICE and chat.says(message):
                source = Source(SourceKind.TYPED)
        return state.archive.add(
            message, turn=max(chat.turn, 1), seq=chat.next_seq, focus=state.focus(chat), source=source
        )

    def replace_chat(self, chat: Chat) -> None:
        """Put the chat as its host holds it now in the place of what was known of it."""
        state, before = self.state, self.state.chat
        state.chat = chat
        state.archive.set_active(before, chat)
        if chat.floor != before.floor:
            state.event("clear", floor=chat.floor)
        state.archive.add_again(chat.entries.values())

    def add_note(self, text: str, detail: str = "") -> list[Piece]:
        """The messages of a note of ours for the end of the host's list, archived and marked."""
        state = self.state

        def admit(chat: Chat, message: Message) -> Entry:
            kind = SourceKind.STUB if message.role == "user" else SourceKind.NOTICE
            return self.admit(chat, message, Source(kind, detail))

        messages = [{"role": "user", "content": text}, {"role": "assistant", "content": FILLER}]
        chat = state.chat
        added: list[Piece] = []
        for message in messages:
            chat, entry = chat.enter(Message(message["role"], message["content"]), admit)
            added.append(Piece(message, {entry.seq: Fidelity.FULL}, chat.mark))
        state.chat = chat.with_lists(list(chat.done), [*chat.cur, *added])
        return added

    def clear(self) -> None:
        """Note that the user cleared the chat: nothing older comes back unless asked for."""
        self.state.chat = self.state.chat.cleared()
        self.state.event("clear", floor=self.state.chat.floor)

    def edit_undone(self) -> None:
        """Note that the user undid the last edit: where it is shown in a note, the note says so."""
        chat = self.state.chat
        entries = chat.all_entries()
        passed = failed_edits(entries) | chat.undone
        for entry in [e for e in entries if has_edit(e) and e.seq not in passed][-1:]:
            self.state.chat = replace(chat, undone=chat.undone | {entry.seq})
            self.state.event(EDIT_UNDONE, entry_id=entry.id)

    def set_counter(self, count: TokenCounter) -> None:
        """Count with another model's tokenizer from now on."""
        self.state.archive.count = count

    def idle(self) -> int:
        """Work off what is left to embed, now and in this thread; returns how many passages that were.

        Between turns a thread does it by itself; a replay, which has no time between turns, calls this.
        """
        backlog = self.state.archive.backlog
        return backlog.drain() if backlog else 0

    @contextmanager
    def preview(self) -> Iterator[ChatState]:
        """A context in which prompts are computed and nothing is kept of them: chat, archive and timings are
        as before when it ends. Gives the state of the prompts made in it."""
        before = self.state
        self.state = before.unwritten()
        try:
            yield self.state
        finally:
            self.state = before

    # What stands

    def compact_if_due(self, *, cold: bool = False) -> Plan | None:
        """Apply the plan that is due, if any."""
        if not self.state.acts:
            return None
        with self.state.timed():
            return compactions.compact_if_due(self.state, cold=cold)

    def compact_after_rejection(self, room: int = 0) -> Plan | None:
        """Compact harder: the provider rejected the prompt as too long. Halves what stands, or goes down
        to `room` tokens if that is less (0: unknown)."""
        if not self.state.acts:
            return None
        with self.state.timed():
            return compactions.compact_after_rejection(self.state, room)

    def plan(self, focus: str = "") -> Plan | None:
        """What a compaction down to the low mark would do now, sparing what the words of the focus name.
        Changes nothing."""
        asked = compactions.asked_for(self.state, focus)
        return asked.plan if asked else None

    def compact(self, focus: str = "") -> Plan | None:
        """Do what `plan` shows; None when there is nothing worth it."""
        if not self.state.acts:
            return None
        with self.state.timed():
            began = time.perf_counter()
            asked = compactions.asked_for(self.state, focus)
            return compactions.apply(self.state, asked.draft, began) if asked else None

    def undo(self, *, every: bool = False) -> int:
        """Take back the last compaction (or every one) as far as its entries are still there; returns how
        many entries changed. Raises UsageError when there is nothing to take back."""
        return compactions.undo(self.state, every=every)

    def give_back(self) -> GivenBack:
        """Put every original that is hidden or shortened back into the chat whole, each in its place."""
        return care.give_back(self.state)

    # What comes back, and what is settled

    def recall(
        self,
        query: str,
        *,
        token_limit: int = 1_000,
        limit: int = 0,
        classes: Iterable[ContentClass] = (),
        session: str = "",
        since: float = 0.0,
        full: bool = False,
    ) -> list[Recalled]:
        """Passages of originals that fit the question best, within a token budget, best first.

        It reaches what was cleared and older sessions of the project too. A hit counts as an access.
        At most `limit` passages come (0: as many as fit), of messages of these `classes` (none: all), of
        one `session` (its whole id) and not older than `since` (seconds since the epoch). `full` gives whole
        originals where they fit.
        """
        return self.recall_for(
            Request(
                query,
                token_limit=token_limit,
                full=full,
                classes=frozenset(classes),
                session=session,
                since=since,
                passages=limit,
            )
        )

    def recall_for(self, request: Request) -> list[Recalled]:
        """What answers a request; see `recall`."""
        return self.state.recollection.find(self.state.chat, request, self.state.count)

    def recall_note(self, question: str, standing: str) -> str:
        """What is recalled for the prompt that asks `question`, as one note; "" when nothing fits.

        `standing` is the text of the files in the chat: what stands there is not recalled.
        """
        state = self.state
        part = recall_part(question)
        budget = min(int(state.recall_budget * part), state.room)
        stands = not state.chat.fidelity and not state.settings.recall_sessions
        left = budget - MARGIN_TOKENS - state.count(NOTE_HEAD)
        if not state.acts or stands or left <= 0 or not question.strip():
            return ""
        with state.timed():
            request = Request(
                question,
                token_limit=left,
                floor=state.chat.floor,
                unasked=True,
                threshold=LEAST_RELEVANCE,
                standing=standing,
                older=state.settings.recall_sessions,
                order=part == ORDINARY_SHARE,
            )
            return state.recollection.note(state.chat, request, state.count)

    def answer(self, reply: str) -> tuple[str, list[str]]:
        """What to tell a model whose reply asks for originals, and their ids; ("", []) for nothing."""
        with self.state.timed():
            return asks.answer(self.state, reply)

    def map_note(self, around: Callable[[], str]) -> str:
        """Rules, summary and chat map as one note before the history; "" while all stands in full.

        It stays the same until the view changes. `around` gives the text of the prompt beside the
        history: what stands there is not named. At HARD pressure there is no note.
        """
        state = self.state
        if not state.acts or state.is_hard:
            return ""
        with state.timed():
            room = room_for(state.settings, state.budget, state.note, state.plans)
            tell = partial(
                summary,
                state.chat,
                token_limit=room.summary,
                renditions=state.archive.renditions,
                count=state.count,
            )
            state.note = renewed(
                state.note,
                state.chat,
                room,
                around=around,
                summary=tell,
                count=state.count,
                amendments=amendments.since_clear(state),
            )
            return state.note.text

    def constraints(self) -> list[Constraint]:
        """The rules that the user set in this chat and that still hold, oldest first."""
        return amendments.rules(self.state)

    def add_rule(self, text: str) -> Constraint:
        """Set a rule by hand: it stands in every prompt from now on. Raises UsageError."""
        return amendments.add(self.state, text)

    def edit_rule(self, number: int, text: str) -> Constraint:
        """Put another text in place of a rule of the list, which counts from 1. Raises UsageError."""
        return amendments.edit(self.state, number, text)

    def drop_rule(self, number: int) -> Constraint:
        """Take a rule from the list, which counts from 1: it is the user's no more. Raises UsageError."""
        return amendments.drop(self.state, number)

    def decisions(self) -> list[Decision]:
        """What was decided or rejected in this chat, oldest first."""
        return decided(past(self.state.chat))

    def last_time(self) -> LastTime | None:
        """A short account of the last chat in this project, within the recall budget; None without one.

        It takes a small part of what the history may use, or the first exchanges would push it out.
        """
        state = self.state
        most = max(LEAST_ACCOUNT_TOKENS, int(ACCOUNT_SHARE * compactions.goal_of(state).high))
        return last_time(state.archive, token_limit=min(state.recall_budget, most))

    def go_on(self, info: SessionInfo) -> None:
        """Take up the session of this chat's archive, which was held before: what was said stands as it
        stood, with its turns, its rules and what it came to. For a chat in which nothing was said yet."""
        stored_chat.go_on(self.state, info)

    # Single entries

    def why(self, entry_id: str) -> Why:
        """What an entry is, how it stands, what was done to it when and why, what brings it back."""
        return care.why(self.state, entry_id)

    def pin(self, entry_id: str, *, pinned: bool = True) -> Entry:
        """Hold an entry whole in the chat, or with `pinned` false let it go."""
        return care.pin(self.state, entry_id, self.add_note, pinned=pinned)

    def restore(self, entry_id: str) -> Restored:
        """Put an original back into the chat whole: in its place, or where it has none at the end. Raises
        UsageError for an id that is unknown or ambiguous, and where the window has no room for it."""
        return care.restore(self.state, entry_id, self.add_note)

    def expire(self, entry_id: str, *, context_ttl: int = 0, summarise_after: int = 0) -> None:
        """Give one entry its own terms, in turns since it was said: `context_ttl` after which a line of
        it is enough, `summarise_after` after which its compressed form is. 0: never by itself."""
        care.expire(self.state, entry_id, context_ttl=context_ttl, summarise_after=summarise_after)

    def forget(self, entry_id: str) -> int:
        """Delete an entry for good, from archive and chat, with notes that quote it; returns how many."""
        return care.forget(self.state, entry_id)

    def forget_session(self) -> int:
        """Delete for good what this chat added to the archive, and empty the chat; returns the entries."""
        return care.forget_session(self.state)

    # Reports

    def pressure(self) -> Pressure:
        """What the next prompt uses of window and budget, with what could be saved."""
        return pressure_report(self.state)

    def status(self) -> dict[str, Any]:
        """One value for `/gardener status`: mode, budget, store, compactions, time spent."""
        return status_record(self.state)

    def take_notice(self) -> str:
        """What the user should know of the archive, in one line, once; "" when there is nothing."""
        return self.state.archive.take_notice()
