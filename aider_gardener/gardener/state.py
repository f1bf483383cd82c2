"""What one chat is: its settings, its archive, what stands in its prompts, and what was done to it so far.

Everything in this room works on a `ChatState`, or on the part of it that it needs. Its parts are values: what
changes when a prompt is made is put in their place, so that a copy of the state is the chat as it was.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from typing import NamedTuple, Protocol

from aider_gardener.archive.archive import Archive, Unwritten
from aider_gardener.messages import Entry, Focus, Level, Message, Source, SourceKind, TokenCounter
from aider_gardener.notes.chatmap import MapNote
from aider_gardener.notes.rules import Amendment
from aider_gardener.plan.chat import Chat
from aider_gardener.plan.goals import HARD_AT, Frame
from aider_gardener.plan.layout import Layout
from aider_gardener.plan.planner import Applied, Policy, history_tokens, piece_tokens
from aider_gardener.plan.priority import focus_words
from aider_gardener.plan.usage import Usage
from aider_gardener.plan.view import FILLER, Piece
from aider_gardener.reading.source import ANSWER, infer_source
from aider_gardener.recall.recall import RecallNote
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
SOON_SHARE = 0.5
"""Where the history has this share of its budget, what no longer stands will be asked for before long."""


class Host(Protocol):
    """The chat as its host holds it."""

    def sync(self) -> None:
        """Hand the gardener what the host's lists hold now."""

    def show(self) -> None:
        """Make the host's lists what the gardener shows."""


class Prefix(NamedTuple):
    """What stands before the history in the prompts: how often it was the same as in the prompt before.
    `changed`: it was not, the last time."""

    key: object = None
    prompts: int = 0
    unchanged: float = 0
    changed: bool = False

    def with_prompt(self, key: object) -> Prefix:
        """With one prompt more."""
        is_new = self.key not in (None, key)
        return Prefix(key, self.prompts + 1, self.unchanged + (not is_new), is_new)

    @property
    def unchanged_share(self) -> float:
        """The share, 0 to 1, of the prompts that began as the one before."""
        return self.unchanged / max(1, self.prompts)


@dataclass(frozen=True)
class Point:
    """The prompt at the end of a turn: its tokens and the model's window (0: unknown)."""

    tokens: int
    window: int

    @property
    def utilization(self) -> float:
        return self.tokens / self.window if self.window else 0.0


@dataclass(frozen=True)
class ChatSums:
    """What one chat came to. Times in seconds (since the epoch for `started_at` and `ended_at`), costs
    in dollars. `saved_tokens` is what all prompts would have held more with as much of the history in them
    as the window takes; it is negative where recall put in more than was left out."""

    started_at: float = 0.0
    ended_at: float = 0.0
    model: str = ""
    turns: int = 0
    calls: int = 0
    prompt_tokens: int = 0
    saved_tokens: int = 0
    cost: float = 0.0
    saved_cost: float = 0.0
    compactions: int = 0
    seconds: float = 0.0

    @property
    def saved_share(self) -> float:
        """The share, 0 to 1, of the tokens that were not sent."""
        whole = self.prompt_tokens + self.saved_tokens
        return self.saved_tokens / whole if whole > 0 else 0.0


@dataclass
class Growth:
    """How the prompts of a chat grew, and what was saved so far in tokens and dollars. `earlier` is what the
    session came to in the processes that held it before, and when it began."""

    points: list[Point] = field(default_factory=list)
    earlier: ChatSums = ChatSums()
    saved_tokens: int = 0
    saved_cost: float = 0.0
    calls_counted: int = 0


@dataclass
class ChatState:
    """One chat. `frame` is the prompt around the history as last measured, `note` what stands before the
    history (rules, summary, chat map), `recalled` what stands before the question, `layout` that of a prompt
    that only grows. `host` is None where nobody but the caller holds the lists; `host_limit` is its limit for
    the history in tokens, `host_limit_given` whether the user set it; `only_answers`: in the mode it is in it
    edits no file. `on` is the user's switch. `plans` are those that were applied, oldest first. `put_back_at`
    is the first sequence number behind what the user had put back whole (-1: nothing), which rests until as
    much has been said again. `turns_open` counts turns that are going on, one inside the other. `seconds` are
    those of our own work. `listed` are the ids of the last list that the user was shown, `given` those that
    the model asked for and got in this turn, with their tokens. `amendments` are what the user changed in the
    list of rules by hand, `taken` the rules that were taken over for every chat of the project."""

    settings: Settings
    archive: Archive
    policy: Policy
    usage: Usage
    chat: Chat = field(default_factory=Chat)
    frame: Frame = field(default_factory=Frame)
    host: Host | None = None
    host_limit: int = UNKNOWN_LIMIT
    host_limit_given: bool = False
    only_answers: bool = False
    on: bool = True
    turns_open: int = 0
    seconds: float = 0.0
    plans: tuple[Applied, ...] = ()
    put_back_at: int = -1
    prefix: Prefix = field(default_factory=Prefix)
    growth: Growth = field(default_factory=Growth)
    note: MapNote = field(default_factory=MapNote)
    recalled: RecallNote = field(default_factory=RecallNote)
    layout: Layout = field(default_factory=Layout)
    listed: tuple[str, ...] = ()
    given: Mapping[str, int] = field(default_factory=dict)
    amendments: tuple[Amendment, ...] = ()
    taken: tuple[str, ...] = ()

    @classmethod
    def new(cls, settings: Settings, archive: Archive) -> ChatState:
        """A chat in which nothing was said yet."""
        archive.line_chars = settings.older_chars
        return cls(
            settings,
            archive,
            policy=Policy(
                settings.terms(),
                settings.keep_turns,
                older=settings.older_chars > 0,
                incremental=settings.incremental,
            ),
            usage=Usage(archive.clock),
        )

    def unwritten(self) -> ChatState:
        """A copy of which nothing is written to the archive, and whose lists are no host's until one binds
        itself: what is computed on it leaves no trace."""
        return replace(self, archive=self.archive.unwritten(), host=None)

    @property
    def is_preview(self) -> bool:
        """Whether it is such a copy."""
        return isinstance(self.archive.store, Unwritten)

    # What follows from it

    @property
    def count(self) -> TokenCounter:
        """Counts with the tokenizer of the chat's model."""
        return self.archive.count

    @property
    def acts(self) -> bool:
        """Whether prompts may be changed: on, and not observing only."""
        return self.on and self.settings.mode == "garden"

    @property
    def busy(self) -> bool:
        """Whether a turn is going on."""
        return self.turns_open > 0

    @property
    def budget(self) -> int:
        """Tokens that the history may have before anything is done to it: the setting, else the host's limit;
        where tokens have no price and nobody gave a limit a share of the window, where that is more."""
        is_free = not self.usage.prices.input and not self.host_limit_given
        room = min(int(FREE_WINDOW_SHARE * self.frame.window), MOST_FREE) if is_free else 0
        return self.settings.history_tokens or max(self.host_limit, room)

    @property
    def recall_budget(self) -> int:
        """Tokens that recalled text may use in one prompt, beside the history."""
        most, window = self.settings.recall_tokens, self.frame.window
        return min(most, int(RECALL_WINDOW_SHARE * window)) if window else min(most, UNKNOWN_LIMIT)

    @property
    def history_used(self) -> int:
        """Tokens of everything of the past as it stands in the chat."""
        return history_tokens(self.chat, self.count)

    @property
    def open_used(self) -> int:
        """Tokens of the messages that wait for an answer."""
        now = self.chat.open_exchange
        return piece_tokens((piece for piece in self.chat.cur if now.intersection(piece.levels)), self.count)

    @property
    def open_counted(self) -> int:
        """The same as the marks count it, at most half the window: rather than let one message push out the
        whole history, the message itself is cut."""
        window = self.frame.window
        return min(self.open_used, window // 2) if window else self.open_used

    @property
    def tokens_around(self) -> int:
        """Tokens of the next prompt beside its history."""
        return self.frame.tokens + self.open_counted

    @property
    def open_room(self) -> int:
        """Tokens that what waits for an answer may have below 95 % of the window; unbounded where that is
        unknown."""
        window = self.frame.window
        return int(HARD_AT * window) - self.frame.tokens - self.history_used if window else sys.maxsize

    @property
    def room(self) -> int:
        """Tokens that the next prompt may take on beside what waits."""
        return self.open_room - self.open_counted

    @property
    def is_cold(self) -> bool:
        """Whether the provider's cache holds nothing of the history of the prompt that was made last."""
        return self.prefix.changed or self.usage.is_cold

    @property
    def is_hard(self) -> bool:
        """Whether the next prompt takes 95 % of the window or more."""
        return self.room <= 0

    def focus(self, chat: Chat | None = None) -> Focus:
        """What the user is about now (in this `chat`): words of the last prompts, files of the chat."""
        newest_first = reversed((chat or self.chat).entries.values())
        typed = (entry.content for entry in newest_first if entry.source.kind is SourceKind.TYPED)
        last = [*islice(typed, FOCUS_PROMPTS)]
        return Focus(focus_words(last[::-1]), frozenset(self.frame.files))

    def tokens_shown(self, entry: Entry) -> int:
        """The tokens of an entry as it stands in the chat now."""
        level = self.chat.level_of(entry)
        if level is Level.HIDDEN:
            return 0
        return entry.tokens if level is Level.FULL else self.archive.renditions(entry)[level].tokens

    # What is done to it

    def admit(self, chat: Chat, message: Message, source: Source | None = None) -> Entry:
        """Store a message that is new in the chat; returns its entry. Without a `source` its text tells where
        it came from; what the host says was typed is the user's, and what was handed to the model ours."""
        if source is None:
            source = infer_source(message.role, message.content)
            if source.kind is SourceKind.NOTICE and chat.is_typed(message):
                source = Source(SourceKind.TYPED)
            handed, text = chat.handed, message.content
            is_handed = text == handed or text.endswith(f"\n\n{handed}")  # perhaps behind lint errors
            if handed and message.role == "user" and is_handed:
                source = Source(SourceKind.STUB)
            if source.kind is SourceKind.REPLY and self.only_answers:
                source = ANSWER
        return self.archive.add(
            message, turn=chat.turn_of(source), seq=chat.next_seq, focus=self.focus(chat), source=source
        )

    def add_note(self, text: str, detail: str = "") -> list[Piece]:
        """The messages of a note of ours for the end of the host's list, archived and marked."""
        chat, added = self.chat, list[Piece]()
        ours, fillers = SourceKind.STUB, SourceKind.NOTICE
        for role, content, kind in (("user", text, ours), ("assistant", FILLER, fillers)):
            admit = partial(self.admit, source=Source(kind, detail))
            chat, entry = chat.enter(Message(role, content), admit)
            added.append(Piece({"role": role, "content": content}, {entry.seq: Level.FULL}, chat.mark))
        self.chat = chat.with_lists(list(chat.done), [*chat.cur, *added])
        return added

    def embed_if_soon(self) -> None:
        """Have what was said embedded where questions about it are likely before long."""
        if self.archive.backlog and self.history_used >= SOON_SHARE * self.budget:
            self.archive.backlog.want()

    def event(self, kind: str, **data: object) -> None:
        """Record in the archive what was done to the chat in this turn."""
        self.archive.event(self.chat.turn, kind, data)

    def sync_host(self) -> None:
        """Take over the chat as its host holds it now."""
        if self.host:
            self.host.sync()

    def show(self) -> None:
        """Make the host's lists what the chat is now."""
        if self.host:
            self.host.show()

    @contextmanager
    def timed(self) -> Iterator[None]:
        """Count the seconds of what happens inside as our own work; embedding waits meanwhile."""
        began = time.perf_counter()
        try:
            with self.archive.undisturbed():
                yield
        finally:
            self.seconds += time.perf_counter() - began
