"""The facade: one chat's whole flow, in order. Adapters hold one `Gardener` for each chat."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any

from aider_gardener.archive.archive import Archive
from aider_gardener.gardener import asks
from aider_gardener.gardener.care import Host
from aider_gardener.gardener.compactions import Compactions, history_used
from aider_gardener.gardener.growth import Autopilot
from aider_gardener.gardener.report import pressure_report, status_record
from aider_gardener.gardener.settled import Settled
from aider_gardener.gardener.single import SingleEntries
from aider_gardener.messages import Entry, Fidelity, Focus, Message, Plan, SourceKind, TokenCounter
from aider_gardener.notes.chatmap import ChatMap
from aider_gardener.plan.chat import Chat
from aider_gardener.plan.expiry import Policy
from aider_gardener.plan.goals import HARD_AT, Frame, Goal, Level, Pressure, level
from aider_gardener.plan.planner import Applied, Draft, has_edit, open_exchange
from aider_gardener.plan.priority import focus_words
from aider_gardener.plan.usage import Usage
from aider_gardener.plan.view import Piece, failed_edits
from aider_gardener.recall.candidates import Request, recall_part
from aider_gardener.recall.recall import EDIT_UNDONE, MARGIN_TOKENS, Recalled, Recollection
from aider_gardener.settings import Settings

UNKNOWN_LIMIT = 1_024
"""Tokens that the history may have, and recall may use, where host and model name no limit."""
FREE_WINDOW_SHARE, MOST_FREE = 1 / 4, 8_192
"""Share of the window that the history may have where tokens have no price (a local model), and the most:
the host's limit for the largest windows. For 16,384 tokens its own limit is 1,024."""
RECALL_WINDOW_SHARE = 1 / 16
"""Share of the window that recalled text may use at most."""
FOCUS_PROMPTS = 5
"""How many of the user's last messages say what the chat is about now."""


class Gardener(SingleEntries, Settled):
    """Memory of one chat. Lists go in as messages and come out as the messages to show instead."""

    def __init__(self, settings: Settings, archive: Archive) -> None:
        self.settings = settings
        self.archive = archive
        self.count = archive.count
        self.chat = Chat()
        self.frame = Frame()
        self.host_limit = UNKNOWN_LIMIT
        self.host_limit_given = False
        self.on = True
        self.timings: dict[int, float] = {}
        self.compactions = Compactions()
        self.recollection = Recollection(self.archive)
        self.asks = asks.Asks()
        self.chat.hint = asks.HINT if settings.ask_for_originals else ""
        self.usage = Usage(archive.clock)
        self.autopilot = Autopilot()
        self.scores: dict[int, float] = {}
        self.policy = Policy(settings.terms(), settings.keep_turns, older=settings.older_chars > 0)
        archive.line_chars = settings.older_chars
        self.chat_map = ChatMap()
        self._turn_depth = 0
        self.prefix_key: object = None
        self.holder: Callable[[], object | None] | None = None
        self.host: Host | None = None

    def set_counter(self, count: TokenCounter) -> None:
        """Count with another model's tokenizer from now on."""
        self.count = self.archive.count = count

    # What enters

    def sync(self, done: Sequence[Message], cur: Sequence[Message]) -> list[Entry]:
        """Archive every message that is new in the host's lists; returns their entries."""
        with self.timed():
            known_gone, floor = set(self.chat.gone), self.chat.floor
            added = self.chat.sync(done, cur, self._admit)
            self.archive.set_active(self.chat, known_gone)
            if self.chat.floor != floor:
                self.archive.event(self.chat.turn, "clear", {"floor": self.chat.floor})
            self.archive.add_again(self.chat.entries.values())
            return added

    @contextmanager
    def timed(self) -> Iterator[None]:
        """Add what happens inside to the turn's overhead, in seconds; embedding waits meanwhile."""
        began = time.perf_counter()
        backlog = self.archive.backlog
        if backlog:
            backlog.pause()
        try:
            yield
        finally:
            if backlog:
                backlog.resume()
            turn = self.chat.turn
            self.timings[turn] = self.timings.get(turn, 0.0) + time.perf_counter() - began

    def _admit(self, message: Message, turn: int, seq: int) -> Entry:
        return self.archive.add(message, turn=turn, seq=seq, focus=self.focus())

    def enter_turn(self) -> bool:
        """The user entered something: unless a turn is going on, one is due (and True returned). It counts
        once something enters the chat or a prompt is sent, so that a command that only looks ages nothing."""
        self._turn_depth += 1
        if self._turn_depth > 1:
            return False
        self.chat.turn_due = True
        return True

    @property
    def busy(self) -> bool:
        """Whether a turn is going on."""
        return self._turn_depth > 0

    def leave_turn(self) -> None:
        """What the user entered has been dealt with."""
        self._turn_depth = max(0, self._turn_depth - 1)
        if not self._turn_depth and self.frame.parts:
            self.archive.keep("frame", {**asdict(self.frame), "history_budget": self.goal().high})

    def clear(self) -> None:
        """Note that the user cleared the chat: nothing older comes back unless asked for."""
        self.chat.clear()
        self.compactions.forget()
        self.archive.event(self.chat.turn, "clear", {"floor": self.chat.floor})

    def edit_undone(self) -> None:
        """Note that the user undid the last edit: where it is shown in a note, the note says so."""
        entries = self.chat.all_entries()
        passed = failed_edits(entries) | self.chat.undone
        for entry in [e for e in entries if has_edit(e) and e.seq not in passed][-1:]:
            self.chat.undone.add(entry.seq)
            self.archive.event(self.chat.turn, EDIT_UNDONE, {"entry_id": entry.id})

    def focus(self) -> Focus:
        """What the user is about now: words of the last prompts, files of the chat."""
        typed = [e.content for e in self.chat.entries.values() if e.source.kind is SourceKind.TYPED]
        return Focus(focus_words(typed[-FOCUS_PROMPTS:]), frozenset(self.frame.files))

    def idle(self) -> int:
        """Work off what is left to embed, now and in this thread; returns how many passages that were.

        Between turns a thread does it by itself; a replay, which has no time between turns, calls this.
        """
        return self.archive.backlog.drain() if self.archive.backlog else 0

    def expire(self, entry_id: str, *, context_ttl: int = 0, summarise_after: int = 0) -> None:
        """Give one entry its own terms, in turns since it was said: `context_ttl` after which a line of
        it is enough, `summarise_after` after which its compressed form is. 0: never by itself."""
        self.policy = self.policy.with_own(entry_id, context_ttl, summarise_after)
        terms = {"context_ttl": context_ttl, "summarise_after": summarise_after}
        self.archive.event(self.chat.turn, "expire", {"entry_id": entry_id, **terms})

    def take_notice(self) -> str:
        """What the user should know of the archive, in one line, once; "" when there is nothing."""
        return self.archive.take_notice()

    # Budget and plan

    @property
    def plans_applied(self) -> list[Applied]:
        """The compactions by plan of this chat, oldest first."""
        return self.compactions.applied

    @property
    def budget(self) -> int:
        """Tokens that the history may have before anything is done to it: settings, else the host's limit;
        with a model whose tokens cost nothing a share of the window, where that is more."""
        if self.settings.history_tokens:
            return self.settings.history_tokens
        is_free = not self.usage.prices.input and not self.host_limit_given
        room = min(int(FREE_WINDOW_SHARE * self.frame.window), MOST_FREE) if is_free else 0
        return max(self.host_limit, room)

    @property
    def recall_budget(self) -> int:
        """Tokens that recalled text may use in one prompt, beside the history."""
        most, window = self.settings.recall_tokens, self.frame.window
        return min(most, int(RECALL_WINDOW_SHARE * window)) if window else min(most, UNKNOWN_LIMIT)

    def goal(self, *, cold: bool = False) -> Goal:
        """The marks for the history now: by its budget, or by the window where that is tighter."""
        return self.compactions.goal(self, cold=cold)

    def draft(self, *, cold: bool = False, goal: Goal | None = None) -> Draft | None:
        """The plan that is due now, with its view; None when nothing is due. Changes nothing."""
        return self.compactions.draft(self, goal or self.goal(cold=cold))

    def plan(self) -> Plan | None:
        """What a compaction down to the low mark would do now. Changes nothing."""
        return self.compactions.preview(self)

    def tend(self, *, cold: bool = False, goal: Goal | None = None) -> Plan | None:
        """Apply the plan that is due, if any. The lists to show afterwards are `pieces`."""
        if not self.acts:
            return None
        with self.timed():
            return self.compactions.tend(self, cold=cold, goal=goal)

    def shrink(self, room: int = 0) -> Plan | None:
        """Garden harder: the provider rejected the prompt as too long. Halves what stands, or goes down
        to `room` tokens if that is less (0: unknown)."""
        if not self.acts:
            return None
        with self.timed():
            return self.compactions.shrink(self, room)

    def room(self) -> int:
        """Tokens that the next prompt may take on below 95 % of the window; unbounded where it is unknown."""
        window = self.frame.window
        return int(HARD_AT * window) - self.frame.tokens - history_used(self) if window else sys.maxsize

    def is_hard(self) -> bool:
        """Whether the next prompt takes 95 % of the window or more."""
        return level(self.frame.tokens + history_used(self), self.frame.window) is Level.HARD

    def hide_finished(self) -> int:
        """Hide every message but those that wait for an answer; returns how many entries that are."""
        now = open_exchange(self.chat)
        hidden = [entry.seq for entry in self.chat.all_entries() if entry.seq not in now]
        self.apply({**self.chat.fidelity, **dict.fromkeys(hidden, Fidelity.HIDDEN)}, "summarised by an LLM")
        return len(hidden)

    @property
    def acts(self) -> bool:
        """Whether prompts may be changed: on, and not only observing."""
        return self.on and self.settings.mode == "garden"

    @property
    def pieces(self) -> tuple[list[Piece], list[Piece]]:
        """The messages of both lists as they should stand."""
        return self.chat.done, self.chat.cur

    def undo(self, *, every: bool = False) -> int:
        """Take back the last compaction (or every one) as far as its entries are still there; returns how
        many entries changed. Raises UsageError when there is nothing to take back."""
        return self.compactions.undo(self, every=every)

    def apply(self, fidelity: dict[int, Fidelity], reason: str) -> int:
        """Show the entries at the given fidelities from now on; returns how many changed."""
        return self.compactions.apply(self, fidelity, reason)

    def show_originals(self, seqs: Sequence[int] | None = None) -> int:
        """Put originals back into the chat (all, or the given entries); returns how many changed."""
        return self.compactions.show_originals(self, seqs)

    # Recall

    def recall(self, query: str, *, token_limit: int = 1_000, full: bool = False) -> list[Recalled]:
        """Passages of originals that fit the question best, within a token budget, best first.

        It reaches what was cleared and older sessions of the project too. A hit counts as an access.
        `full` gives whole originals where they fit.
        """
        request = Request(query, token_limit=token_limit, full=full)
        return self.recollection.find(self.chat, request, self.count)

    def recall_note(self, question: str, standing: str) -> str:
        """What is recalled for the prompt that asks `question`, as one note; "" when nothing fits.

        `standing` is the text of the files in the chat: what stands there is not recalled.
        """
        budget = min(int(self.recall_budget * recall_part(question)), self.room())
        stands = not self.chat.fidelity and not self.settings.recall_sessions
        if not self.acts or stands or budget <= MARGIN_TOKENS or not question.strip():
            return ""
        with self.timed():
            request = Request(
                question,
                token_limit=budget - MARGIN_TOKENS,
                floor=self.chat.floor,
                unasked=True,
                threshold=self.settings.recall_threshold,
                standing=standing,
                older=self.settings.recall_sessions,
            )
            return self.recollection.note(self.chat, request, self.count)

    # Report

    def pressure(self) -> Pressure:
        """What the next prompt uses of window and budget, with what could be saved."""
        return pressure_report(self)

    def status(self) -> dict[str, Any]:
        """One value for `/gardener status`: mode, budget, store, compactions, time spent."""
        return status_record(self)

    @contextmanager
    def trial(self) -> Iterator[None]:
        """A context that leaves no trace: chat, store and timings are as before when it ends."""
        before = {**self.__dict__, "timings": dict(self.timings), "chat": self.chat.twin()}
        before |= {"compactions": self.compactions.twin(), "recollection": self.recollection.twin()}
        before |= {"usage": self.usage.twin(), "chat_map": self.chat_map.twin()}
        with self.archive.trial():
            try:
                yield
            finally:
                self.__dict__.update(before)
