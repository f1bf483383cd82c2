"""A host's transcript into the archive: what is new of it goes in, once, however often it is told."""

from __future__ import annotations

import json
import re
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import NamedTuple

from aider_gardener.adapters.marks import SHORTENED_MARK
from aider_gardener.adapters.transcript import Reader, ToolCall, TranscriptLine, TranscriptRecord
from aider_gardener.archive.archive import Archive
from aider_gardener.archive.store import Store
from aider_gardener.messages import Entry, Message, Source, SourceKind, entry_id
from aider_gardener.tokens import approximate

STATE_KEY = "transcript"
UNKNOWN_RECORD = "unknown record"
"""The event that tells of a record of the transcript that was kept as it is."""
SHORTENED = SHORTENED_MARK + "{what} {entry_id}, {tokens:,} tokens; the tool get brings {it}]"
WHOLE, PART = "the whole is", "of the whole in {path} the first {chars:,} characters are"
WHOLE_ID = re.compile(r".* (\S+), [\d,]+ tokens; the tool get brings (?:it|them)\]$", re.MULTILINE)
"""Where what was shortened is archived, in the first line of the short form."""
PLACES, SHORTENED_AT, SUMMARY_AT = 1_024, 512, 768
"""Sequence numbers for each byte of the transcript: what a line says has the first of those of its first
byte, what a hook brought before the transcript did those from 512 on, and a summary from 768 on."""
PLACES_A_SECOND = 1_000_000
"""What is said without a transcript has its time for a place."""
WINDOW = 200_000
"""Tokens of the window of Claude Code's models, but for those that say otherwise in their names."""
LARGE_WINDOW, LARGE_MARK = 1_000_000, "[1m]"
MOST_CALLS = 200


@dataclass
class Progress:
    """How far a transcript was taken in: the offset in bytes, the turn there, the calls whose results are
    still to come, the time of the last record and the latest of all, and the last measured prompt."""

    offset: int = 0
    turn: int = 0
    used: int = 0
    model: str = ""
    at: float = 0.0
    latest: float = 0.0
    calls: dict[str, list[str]] = field(default_factory=dict)

    @classmethod
    def read(cls, text: str | None) -> Progress:
        """What was kept, or the beginning where that cannot be read."""
        try:
            value = json.loads(text or "{}")
            return cls(**value) if isinstance(value, dict) else cls()
        except (ValueError, TypeError):
            return cls()


class Teller(NamedTuple):
    """The agent that a chat is with, what reads its transcripts, and the provider of its model."""

    host: str
    reader: Callable[..., Reader]
    provider: str


class Intake:
    """A chat of another host by its session id, in the project's archive."""

    def __init__(
        self,
        store: Store,
        session: str,
        project: str,
        teller: Teller,
        *,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.store, self.teller = store, teller
        self.archive = Archive(
            store,
            session=session,
            project=project,
            count=approximate,
            clock=clock,
            host=teller.host,
            hold=False,
        )
        self.archive.provider = teller.provider
        self.progress = Progress.read(store.get_state(session, STATE_KEY))

    def reader_of(self, transcript: Path) -> Reader:
        """What reads on where the last one stopped."""
        calls = {key: ToolCall(*value) for key, value in self.progress.calls.items()}
        return self.teller.reader(transcript, self.progress.offset, calls, at=self.progress.at)

    def take_in(self, transcript: Path, seconds: float = 60.0) -> int:
        """Archive what is new of a transcript, for at most so long; returns how many entries that were. What
        is left comes with the next call. A transcript that cannot be read is none."""
        reader = self.reader_of(transcript)
        until, added = time.monotonic() + seconds, 0
        before = asdict(self.progress)
        try:
            for line in reader.lines():
                added += self.take_line(line)
                if time.monotonic() > until:
                    break
        except OSError:
            return added
        finally:
            self.follow(reader)
            if asdict(self.progress) != before:
                self.keep_progress()
        return added

    def take_line(self, line: TranscriptLine) -> int:
        """Archive what a line says; returns how many entries that were."""
        added = 0
        for record in line.records:
            if record.used:
                self.progress.used, self.progress.model = record.used, record.model
            elif record.message is not None:
                added += self._take(record, record.message)
            self.progress.latest = max(self.progress.latest, record.at)
        self.progress.offset = line.end
        return added

    def _take(self, record: TranscriptRecord, message: Message) -> bool:
        """Archive one message; whether it is new: a second compaction writes old ones once more, with the
        time they had, and a result that was shortened may be there already."""
        if record.unknown:
            self.archive.event(self.progress.turn, UNKNOWN_RECORD, {"type": record.unknown})
            record = record._replace(source=Source(SourceKind.NOTICE, f"record of the type {record.unknown}"))
        elif message.content.startswith(SHORTENED_MARK):
            whole = WHOLE_ID.match(message.content)
            if whole and self.store.resolve(whole[1]):
                return False
        seq = PLACES * record.place + record.part
        if record.at < self.progress.latest:
            known = self.known(message)
            if known is not None and known.created_at == record.at and known.seq != seq:
                return False
        self.progress.turn += record.asks
        at = record.at or self.archive.clock()
        self.archive.log(message, turn=max(1, self.progress.turn), seq=seq, source=record.source, at=at)
        return True

    def known(self, message: Message) -> Entry | None:
        """The entry of this chat with these words, as they were said last."""
        stored_id = entry_id(message.role, message.content)
        found = self.store.get(stored_id) if self.store.resolve(stored_id) else None
        return found if found is not None and found.session == self.archive.session else None

    def follow(self, reader: Reader) -> None:
        """Note what the next reader needs of this one."""
        waiting = list(reader.calls.items())[-MOST_CALLS:]
        self.progress.calls = {key: [call.name, call.detail] for key, call in waiting}
        self.progress.at = reader.at

    def keep_progress(self) -> None:
        """Keep how far the transcript was taken in, and the last measured prompt."""
        progress = self.progress
        self.archive.keep(STATE_KEY, asdict(progress))
        from aider_gardener.plan.goals import Frame  # late: most calls bring nothing that is new

        window = LARGE_WINDOW if LARGE_MARK in progress.model else WINDOW
        frame = Frame(window, {"system": 0}, {}, progress.model)
        if progress.used:
            self.archive.keep("frame", {**asdict(frame), "parts": {"prompt": progress.used}})


def unknown_records(store: Store) -> Counter[str]:
    """How many records of each unknown type the transcripts held that an archive took in."""
    return Counter(str(event.data.get("type")) for event in store.events(kind=UNKNOWN_RECORD))
