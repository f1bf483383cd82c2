"""A host's transcript into the archive: what is new of it goes in, once, however often it is told."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import NamedTuple

from aider_gardener.adapters.marks import SHORTENED_MARK
from aider_gardener.adapters.transcript import Reader, TranscriptLine, TranscriptRecord, Used
from aider_gardener.archive.archive import Archive
from aider_gardener.archive.store import Store
from aider_gardener.archive.store.base import FRAME_KEY, GROWTH_KEY, TRANSCRIPT_KEY
from aider_gardener.messages import Message, Source, SourceKind, entry_id
from aider_gardener.tokens import approximate

CALLS_KEY = "calls"
UNKNOWN_RECORD = "unknown record"
"""The event that tells of a record of the transcript that was kept as it is."""
SHORTENED = SHORTENED_MARK + "{what} {entry_id}, {tokens:,} tokens; the tool get brings {it}]"
WHOLE, PART = "the whole is", "of the whole in {path} {chars:,} characters are"
WHOLE_ID = re.compile(r".* (\S+), [\d,]+ tokens; the tool get brings (?:it|them)\]$", re.MULTILINE)
"""Where what was shortened is archived, in the first line of the short form."""
PLACES, SHORTENED_AT = 1_024, 512
"""Sequence numbers for each byte of the transcript: what a line says has the first of those of its first
byte, what a hook brought before the transcript did those from 512 on."""
PLACES_A_SECOND = 1_000_000
"""What is said without a transcript has its time for a place."""
MOST_CALLS, MOST_ANSWERS, MOST_POINTS = 200, 50, 50


@dataclass
class Progress:
    """How far a transcript was taken in: the offset in bytes, the turn there, the time of the last record and
    the latest of all; the last measured prompt, and that of each of the last turns; what all answers took,
    and which of them are counted. No word of the chat is in it."""

    offset: int = 0
    turn: int = 0
    used: int = 0
    model: str = ""
    window: int = 0
    at: float = 0.0
    latest: float = 0.0
    answers: int = 0
    sent: int = 0
    cost: float = 0.0
    counted: list[str] = field(default_factory=list)
    points: list[tuple[int, int]] = field(default_factory=list)

    @classmethod
    def read(cls, text: str | None) -> Progress:
        """What was kept, or the beginning where that cannot be read."""
        try:
            value = json.loads(text or "{}").items()
            return cls(**{name: each for name, each in value if name in cls.__dataclass_fields__})
        except (ValueError, TypeError, AttributeError):
            return cls()


class Agent(NamedTuple):
    """The agent that a chat is with, what reads its transcripts, and the provider of its model."""

    host: str
    reader: Callable[..., Reader]
    provider: str


class Intake:
    """A chat of another host by its session id, in the project's archive. `reader` reads its transcript on
    where the last one stopped."""

    def __init__(
        self,
        store: Store,
        session: str,
        project: str,
        agent: Agent,
        transcript: Path | None,
        *,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.store, self.transcript = store, transcript
        self.archive = Archive(
            store,
            session=session,
            project=project,
            count=approximate,
            clock=clock,
            host=agent.host,
            live=False,
        )
        self.archive.provider = agent.provider
        self.progress = Progress.read(store.get_state(session, TRANSCRIPT_KEY))
        calls: dict[str, Source] = {}
        with suppress(ValueError, TypeError, AttributeError):
            rows = json.loads(store.get_state(session, CALLS_KEY) or "{}")
            calls = {key: Source(SourceKind(kind), detail) for key, (kind, detail) in rows.items()}
        self.reader = agent.reader(transcript or Path(), self.progress.offset, calls, at=self.progress.at)

    def ingest(self, seconds: float = 60.0) -> int:
        """Archive what is new of the transcript, for at most so long; returns how many messages that were.
        What is left comes with the next call. A transcript that cannot be read is none."""
        until, added = time.monotonic() + seconds, 0
        before = (asdict(self.progress), dict(self.reader.calls))
        try:
            for line in self.reader.lines():
                added += self.take_line(line)
                if time.monotonic() > until:
                    break
        except OSError:
            return added
        finally:
            self.progress.at = self.reader.at
            if (asdict(self.progress), self.reader.calls) != before:
                self.save_progress()
        return added

    def add_messages(self, lines: Sequence[Mapping[str, object]]) -> None:
        """Archive what a host without a transcript says now, as lines of one."""
        self.reader.at = self.archive.clock()
        place = round(PLACES_A_SECOND * self.reader.at)
        records = [each for line in lines for each in self.reader.records(json.dumps(line).encode(), place)]
        numbered = (each._replace(part=part) for part, each in enumerate(records))
        self.take_line(TranscriptLine(place, place, tuple(numbered)))
        self.save_progress()

    def take_line(self, line: TranscriptLine) -> int:
        """Archive what a line says; returns how many messages that were: no notice of the host's is one."""
        added = 0
        for record in line.records:
            if record.used:
                self._count(record.used)
            elif record.message is not None:
                added += self._take(record, record.message)
            self.progress.latest = max(self.progress.latest, record.at)
        self.progress.offset = line.end
        return added

    def _take(self, record: TranscriptRecord, message: Message) -> bool:
        """Archive one entry; whether it is a new message. None is new that was there: a second compaction
        writes old ones once more, with the time they had, a line may stand doubled, and a result that was
        shortened may be there already."""
        if record.unknown:
            self.archive.event(self.progress.turn, UNKNOWN_RECORD, {"type": record.unknown})
            record = record._replace(source=Source(SourceKind.NOTICE, f"record of the type {record.unknown}"))
        elif message.content.startswith(SHORTENED_MARK):
            whole = WHOLE_ID.match(message.content)
            if whole and self.store.resolve(whole[1]):
                return False
        seq = PLACES * record.place + record.part
        if 0 < record.at <= self.progress.latest:
            stored_id = entry_id(message.role, message.content)
            old = self.store.get(stored_id) if self.store.resolve(stored_id) else None
            place = (self.archive.session, record.at)
            if old and (old.session, old.created_at) == place and old.seq // PLACES != record.place:
                return False
        self.progress.turn += record.asks
        at = record.at or self.archive.clock()
        self.archive.log(message, turn=max(1, self.progress.turn), seq=seq, source=record.source, at=at)
        return record.source.kind is not SourceKind.NOTICE

    def _count(self, used: Used) -> None:
        """Add what an answer took, once: Claude Code tells it with each of its blocks."""
        progress = self.progress
        progress.model = used.model or progress.model
        if used.in_context:
            progress.used, progress.window = used.in_context, used.window
            others = [(turn, tokens) for turn, tokens in progress.points if turn != progress.turn]
            progress.points = [*others, (progress.turn, used.in_context)][-MOST_POINTS:]
        if used.key not in progress.counted:
            progress.counted = [*progress.counted, *filter(None, [used.key])][-MOST_ANSWERS:]
            progress.answers += 1
            progress.sent += used.sent
            progress.cost += used.cost

    def save_progress(self) -> None:
        """Keep how far the transcript was taken in, the last measured prompt, and what all came to."""
        progress = self.progress
        progress.at = self.reader.at
        self.archive.save_value(TRANSCRIPT_KEY, asdict(progress))
        last = list(self.reader.calls.items())[-MOST_CALLS:]
        waiting = {key: (source.kind.value, source.detail) for key, source in last}
        if waiting or self.store.get_state(self.archive.session, CALLS_KEY):
            self.archive.save_value(CALLS_KEY, waiting)
        window, model = progress.window, progress.model
        if progress.used:
            frame = {"window": window, "parts": {"prompt": progress.used}, "model": model}
            self.archive.save_value(FRAME_KEY, frame)
        if progress.answers:
            sums = {"ended_at": progress.latest, "model": model, "turns": progress.turn}
            sums |= {"calls": progress.answers, "prompt_tokens": progress.sent, "cost": progress.cost}
            points = [{"tokens": tokens, "window": window} for _turn, tokens in progress.points]
            self.archive.save_value(GROWTH_KEY, {"session": sums, "points": points})
