"""The way in: every message is segmented, classified, compressed and stored as it enters."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol, cast

from aider_gardener.archive.passages import spans
from aider_gardener.archive.providers import NAME_LOCAL, WITHHELD, may_go
from aider_gardener.archive.sessions import AIDER, HOST_KEY, clear_floor
from aider_gardener.archive.store.base import StoredPassage
from aider_gardener.archive.store.location import is_shared
from aider_gardener.archive.store.redact import Clean, cleaned
from aider_gardener.errors import StoreError, tolerating
from aider_gardener.messages import (
    Compressed,
    ContentClass,
    Entry,
    Focus,
    Level,
    Message,
    Plan,
    Rendition,
    Segment,
    Source,
    SourceKind,
    TokenCounter,
    entry_id,
)
from aider_gardener.reading.source import infer_source, own_output
from aider_gardener.tokens import approximate

if TYPE_CHECKING:
    from aider_gardener.archive.store import Store
    from aider_gardener.archive.store.base import SessionInfo, Vector
    from aider_gardener.plan.chat import Chat

FAILED_NOTICE = "one output could not be shortened; it stays whole"
LINE_FALLBACK_CHARS = 160
"""So much of a text is its line form where none could be made."""
SHORT_CHARS = 240
"""A text that is no longer has no line form: that would have about as much, and its id behind it."""

NO_FORMS: Mapping[Level, Rendition] = {}


def cut_line(line: str, chars: int) -> str:
    """A line form with at most so many characters of text before the id at its end."""
    text, bracket, name = line.rpartition(" [")
    if not bracket or len(text) <= chars:
        return line
    return f"{text[: chars - 2].rstrip()} …{bracket}{name}"


class EmbeddingBacklog(Protocol):
    """What works on the archive between turns, and embeds a question when it is asked to.

    `embedder_name` is the name under which vectors are stored, "" as long as no model was loaded.
    `query_vector` is None when there is none in time. `embed_first` embeds passages now, as many as a turn
    may wait for; `take_notice` says once why there are no vectors; `want` tells that questions are likely
    from now on; between `pause` and `resume` the processor is wanted elsewhere; `drain` works passages off
    now; it and `embed_first` return how many.
    """

    background: bool

    @property
    def embedder_name(self) -> str: ...
    def query_vector(self, text: str) -> Vector | None: ...
    def embed_first(self, passages: Iterable[StoredPassage]) -> int: ...
    def take_notice(self) -> str: ...
    def want(self) -> None: ...
    def pause(self) -> None: ...
    def resume(self) -> None: ...
    def drain(self, limit: int | None = None) -> int: ...


class Archive:
    """The store as one chat uses it: entries in, renditions and originals out, both cached.

    `count` counts tokens with the model's tokenizer; `clock` gives seconds since the epoch; `backlog`
    embeds what enters, where there is an embedder. `host` is the agent whose chat it is; `live` is for
    the store (see `Store.open_session`). `within` is the project that searches keep to, None where
    the archive is that project's own. `line_chars` cuts line forms shorter; 0: as they are.
    """

    def __init__(
        self,
        store: Store,
        *,
        session: str,
        project: str,
        count: TokenCounter,
        clock: Callable[[], float],
        backlog: EmbeddingBacklog | None = None,
        host: str = AIDER,
        live: bool = True,
    ) -> None:
        self.store = store
        self.host = host
        self.backlog = backlog
        self.session = session
        self.project = project
        self.count = count
        self.clock = clock
        self.provider = ""
        self._past: dict[str, SessionInfo] | None = None
        self.withheld = set[str]()  # ids of what fitted the last question and stays with local models
        self.line_chars = 0
        self._renditions: dict[int, dict[Level, Rendition]] = {}
        self.within = project if project and is_shared(store.directory, project) else None
        self._notice_shown = store.notice
        self._failed = self._is_failure_shown = self._is_withheld_shown = False
        self._generation = store.generation
        is_begun = not live and bool(session) and store.get_state(session, HOST_KEY) == host
        if session and not is_begun:
            store.open_session(session, project=project, started_at=clock(), live=live)
            if host != AIDER:
                store.set_state(session, HOST_KEY, host)

    @classmethod
    def reading(cls, store: Store, project: str = "") -> Archive:
        """An archive to look things up in, of this project or, "", of all: of no session, adding nothing."""
        return cls(store, session="", project=project, count=approximate, clock=time.time)

    def add(
        self, message: Message, *, turn: int, seq: int, focus: Focus, source: Source | None = None
    ) -> Entry:
        """Segment, classify, compress and store one message; returns its entry. Without a `source` its text
        tells where it came from."""
        entry = self.entry(message, turn=turn, seq=seq, source=source, at=self.clock())
        renditions = self.compress(entry, focus)
        stored = self.put(entry, renditions)
        self._renditions[stored.seq] = renditions
        return stored

    def log(self, message: Message, *, turn: int, seq: int, source: Source, at: float) -> Entry:
        """Store one message whole, without short forms: of a chat that another host shows and shortens
        itself, said at that time. Much faster than `add`."""
        return self.put(self.entry(message, turn=turn, seq=seq, source=source, at=at))

    def put(self, entry: Entry, renditions: Mapping[Level, Rendition] = NO_FORMS) -> Entry:
        """Store an entry with its short forms; returns it as it is stored."""
        chunks = spans(entry.content, entry.segments)
        return self.store.add(entry, chunks=chunks, renditions=list(renditions.values()))

    def entry(self, message: Message, *, turn: int, seq: int, source: Source | None, at: float) -> Entry:
        """A message as an entry of this session, read and not stored."""
        from aider_gardener.reading.classify import dominant_class  # late: looking up needs no classes

        content = message.content
        source, segments = self._read(message, source)
        return Entry(
            id=entry_id(message.role, content),
            session=self.session,
            turn=turn,
            seq=seq,
            role=message.role,
            content=content,
            source=source,
            cls=dominant_class(content, source, segments),
            segments=segments,
            tokens=self.count(content),
            created_at=at,
            accessed_at=at,
            provider=self.provider,
        )

    def _read(self, message: Message, given_source: Source | None) -> tuple[Source, tuple[Segment, ...]]:
        """Source and segments of a message; words of an unknown source where they can't be told."""
        from aider_gardener.reading.segments import segment

        content = message.content
        source = given_source or Source()
        segments: tuple[Segment, ...] = (Segment(0, len(content), ContentClass.PROSE),) if content else ()
        with tolerating("reader") as faults:
            source = given_source or infer_source(message.role, content)
            if own_output(source):
                source = Source(SourceKind.STUB, source.detail)
            segments = segment(content, source)
        self._failed = self._failed or bool(faults)
        return source, segments

    def put_rendition(self, entry: Entry, rendition: Rendition) -> None:
        self.store.put_renditions(entry.id, [rendition])
        self._renditions[entry.seq] = {**self.renditions(entry), rendition.level: rendition}

    def add_again(self, entries: Iterable[Entry]) -> None:
        """After damage the archive may have been begun anew without some of what this chat still knows."""
        if self.store.generation == self._generation:
            return
        self._generation = self.store.generation
        self.store.open_session(self.session, project=self.project, started_at=self.clock())
        for entry in [each for each in entries if each.content]:  # what was forgotten stays so
            self.put(entry, self._renditions.get(entry.seq, NO_FORMS))

    def without_secrets(self, entry: Entry) -> Entry:
        """An entry as it is stored: what is kept of it is made from this text, never from the live one."""
        body, detail = self.store.redact(entry.content), self.store.redact(entry.source.detail)
        if not body.spans and not detail.spans:
            return entry
        segments = tuple(
            replace(part, start=body.position(part.start), end=body.position(part.end, end=True))
            for part in entry.segments
        )
        source = replace(entry.source, detail=detail.text)
        return replace(entry, content=body.text, segments=segments, source=source)

    def compress(self, entry: Entry, focus: Focus) -> dict[Level, Rendition]:
        """The renditions below full that are smaller than the step above, with their tokens in a note.

        They are made from the text without its secrets, as those that are stored must be: what the chat
        shows and what the archive holds is the same, and a chat that is resumed knows its short forms.
        """
        from aider_gardener.compress.line import line_form
        from aider_gardener.compress.message import compress_message  # as late: who reads needs none

        whole, entry = entry, self.without_secrets(entry)
        content, source, segments = entry.content, entry.source, entry.segments
        compressed = Compressed(content, entry.cls, lossless=True)
        is_long = len(content) > (self.line_chars or SHORT_CHARS)
        line = " ".join([*content[:LINE_FALLBACK_CHARS].split(), f"[{entry.id}]"]) if is_long else content
        with tolerating("compressor") as faults:
            compressed = compress_message(
                content, source, segments=segments, focus=focus, entry_id=entry.id, count=self.count
            )
            if is_long:
                line = line_form(content, source, segments=segments, entry_id=entry.id, count=self.count)
        self._failed = self._failed or bool(faults) or bool(compressed.failed)
        if self.line_chars:
            line = cut_line(line, self.line_chars)
        from aider_gardener.plan.planner import note_rendition  # late: looking up makes no forms

        renditions: dict[Level, Rendition] = {}
        if not compressed.lossless:
            renditions[Level.COMPRESSED] = note_rendition(
                entry, Level.COMPRESSED, compressed.text, self.count
            )
        if len(line) < len(compressed.text):
            renditions[Level.LINE] = note_rendition(entry, Level.LINE, line, self.count)
        return {
            level: form._replace(text=Clean(form.text))  # of a clean text alone
            for level, form in renditions.items()
            if entry is whole or len(form.text) < len(whole.content)  # a placeholder may exceed its secret
        }

    def renditions(self, entry: Entry) -> Mapping[Level, Rendition]:
        """The renditions of an entry below full."""
        if entry.seq not in self._renditions:
            self._renditions[entry.seq] = self.store.renditions(entry.id)
        return self._renditions[entry.seq]

    def text(self, entry: Entry, level: Level) -> str:
        return entry.content if level is Level.FULL else self.renditions(entry)[level].text

    def set_active(self, before: Chat, after: Chat) -> None:
        """Record in the store which entries the host has taken out or put back since."""
        for seqs, active in ((after.removed - before.removed, False), (before.removed - after.removed, True)):
            if seqs:
                self.store.set_active(self.session, sorted(seqs), active)

    @property
    def past(self) -> dict[str, SessionInfo]:
        """The project's other sessions by id, oldest first."""
        if self._past is None:
            found = self.store.sessions(self.project)
            self._past = {info.id: info for info in found if info.id != self.session}
        return self._past

    def past_ids(self) -> list[str]:
        """The ids of the other sessions, those that were begun meanwhile among them; none while the archive
        cannot be read."""
        self._past = None
        try:
            return list(self.past)
        except StoreError:
            return []

    def allowed(self, entries: Sequence[Entry]) -> list[Entry]:
        """Those of some entries that may come back unasked into a prompt for this provider: of this project,
        not dropped by a /clear or by the host, and not held back by where they were first sent to."""
        if self._past is not None and {entry.session for entry in entries} - {self.session, *self._past}:
            self._past = None  # one was begun since
        floors = {
            session: clear_floor(self.store, session)
            for session in {entry.session for entry in entries}
            if session in self.past
        }
        return [
            entry
            for entry in entries
            if entry.active
            and may_go(entry.provider, self.provider)
            and entry.seq >= floors.get(entry.session, entry.seq + 1)
        ]

    def take_notice(self) -> str:
        """What the user should know, in one line, once: of the store since it was opened, of a text that
        could not be shortened, or of the backlog."""
        if self.store.notice != self._notice_shown:
            self._notice_shown = self.store.notice
            return self._notice_shown
        if self._failed and not self._is_failure_shown:
            self._is_failure_shown = True
            return FAILED_NOTICE
        if self.withheld and not self._is_withheld_shown:
            self._is_withheld_shown = True
            return WITHHELD.format(count=len(self.withheld), how=NAME_LOCAL)
        return self.backlog.take_notice() if self.backlog else ""

    @contextmanager
    def undisturbed(self) -> Iterator[None]:
        """What happens inside is waited for: embedding waits meanwhile."""
        if self.backlog:
            self.backlog.pause()
        try:
            yield
        finally:
            if self.backlog:
                self.backlog.resume()

    def touch(self, ids: Iterable[str]) -> None:
        self.store.touch(ids, self.clock())

    def event(self, turn: int, kind: str, data: Mapping[str, object]) -> None:
        """Record what was done to the chat."""
        self.store.record_event(self.session, turn, kind, data, self.clock())

    def plan_event(self, before: Chat, after: Chat, plan: Plan) -> None:
        """Record a plan that was applied, swap by swap, so that `why` can tell."""
        data: dict[str, object] = {
            "reason": plan.reason,
            "tokens_before": plan.tokens_before,
            "tokens_after": plan.tokens_after,
            "prefix_tokens_broken": plan.prefix_tokens_broken,
        }
        if plan.marks:
            data["marks"] = dict(plan.marks)
        self.swaps_event(before, after, "plan", data, {swap.entry_id: swap.reason for swap in plan.swaps})

    def swaps_event(
        self,
        before: Chat,
        after: Chat,
        kind: str,
        data: Mapping[str, object],
        reasons: Mapping[str, str] | None = None,
    ) -> None:
        """Record that entries stand at other levels than before, each with why: its reason, else the kind.
        Ids, levels and reasons are words of the program and no secrets."""
        swaps = []
        for entry in after.all_entries():
            old, new = (chat.levels.get(entry.seq, Level.FULL) for chat in (before, after))
            if old is not new:
                why, own_id = Clean((reasons or {}).get(entry.id, kind)), Clean(entry.id)
                levels = {"before": Clean(old.value), "after": Clean(new.value)}
                swaps.append({"entry_id": own_id, "seq": entry.seq, **levels, "reason": why})
        ids = [swap["entry_id"] for swap in swaps]
        self.event(after.turn, kind, {**data, "swaps": swaps, "entry_ids": ids})

    def drop(self, seqs: Iterable[int]) -> None:
        for seq in seqs:
            self._renditions.pop(seq, None)

    def save_value(self, key: str, value: Mapping[str, object]) -> None:
        """Keep a value for this session as JSON, its texts scanned. Where it cannot be written now it is left
        out."""
        with suppress(StoreError):
            text = json.dumps(cleaned(value, self.store.redact))
            self.store.set_state(self.session, key, Clean(text))

    def unwritten(self) -> Archive:
        """The archive as it is, of which nothing is written from here: for a prompt that is only looked
        at."""
        other = copy(self)
        other.store = cast("Store", Unwritten(self.store))
        other._renditions = dict(self._renditions)
        return other


class Unwritten:
    """A store that is read as any other and of which nothing is written."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def __getattr__(self, name: str) -> object:
        return getattr(self._store, name)

    def add(self, entry: Entry, **_more: object) -> Entry:
        return entry

    def _nothing(self, *_given: object, **_more: object) -> None:
        """What would have been written is not."""

    touch = set_active = record_event = put_renditions = set_state = open_session = _nothing
