"""One chat of Claude Code in the archive: what is new of its transcript goes in, and what its context has
lost comes back."""

from __future__ import annotations

import json
import mmap
import os
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from urllib.parse import urlsplit

from aider_gardener import files
from aider_gardener.adapters.claude_code import BOUNDARY_MARK, SHORTENED_MARK
from aider_gardener.adapters.claude_code.transcript import Reader, ToolCall, TranscriptLine, TranscriptRecord
from aider_gardener.archive.archive import Archive
from aider_gardener.archive.sessions import AWAY, HERE, LOOPBACK, SAY_LOCAL, WITHHELD
from aider_gardener.archive.store import Store
from aider_gardener.messages import Entry, Fidelity, Message, Source, SourceKind, entry_id
from aider_gardener.plan.chat import Chat
from aider_gardener.plan.goals import Frame
from aider_gardener.settings import TRUE_WORDS, Settings
from aider_gardener.tokens import approximate

HOST = "Claude Code"
STATE_KEY = "transcript"
UNKNOWN_RECORD = "unknown record"
"""The event that tells of a record of the transcript that was kept as it is."""
SHORTENED = SHORTENED_MARK + "{what} {entry_id}, {tokens:,} tokens; the tool get brings {it}]"
WHOLE, PART = "the whole is", "of the whole in {path} the first {chars:,} characters are"
PLACES, SHORTENED_AT, SUMMARY_AT = 1_024, 512, 768
"""Sequence numbers for each byte of the transcript: what a line says has the first of those of its first
byte, what a hook brought before the transcript did those from 512 on, and a summary from 768 on."""
MOST_CONTEXT_CHARS = 10_000
"""More of what a hook adds goes to a file of the host's."""
RECALL_TOKENS = 2_350
"""What is recalled within that: with its head and the marks of quotes it stays below."""
WINDOW = 200_000
"""Tokens of the window of Claude Code's models, but for those that say otherwise in their names."""
LARGE_WINDOW, LARGE_MARK = 1_000_000, "[1m]"
MOST_CALLS = 200
RAW_CHARS = 200_000
"""A record of an unknown type is kept up to this length."""
LOCAL_VARIABLE = "AIDER_GARDENER_LOCAL"
LOCAL_HOSTS = ("localhost", "127.0.0.1", "::1")


@dataclass
class Progress:
    """How far a transcript was taken in: the offset in bytes, the turn there, the calls whose results are
    still to come, and the last measured prompt."""

    offset: int = 0
    turn: int = 0
    used: int = 0
    model: str = ""
    calls: dict[str, list[str]] = field(default_factory=dict)

    @classmethod
    def read(cls, text: str | None) -> Progress:
        """What was kept, or the beginning where that cannot be read."""
        try:
            value = json.loads(text or "{}")
            return cls(**value) if isinstance(value, dict) else cls()
        except (ValueError, TypeError):
            return cls()


def boundary_of(transcript: Path | None) -> int:
    """The sequence number at which the host's context begins since its last compaction; 0: at the beginning,
    or there is no transcript. It is read off the file, so that no lock is waited for."""
    try:
        if transcript is not None:
            with (
                files.open_plain(transcript, follow=True) as file,
                mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as text,
            ):
                at = len(text)
                while (at := text.rfind(BOUNDARY_MARK, 0, at)) >= 0:
                    at, end = text.rfind(b"\n", 0, at) + 1, text.find(b"\n", at)
                    line = text[at:end] if end - at <= RAW_CHARS else b""
                    if any(each.boundary for each in Reader(transcript).records(line, at)):
                        return PLACES * at
    except (OSError, ValueError):  # none is there, or nothing in it
        pass
    return 0


def provider(environ: Mapping[str, str]) -> str:
    """The provider that Claude Code talks to, as entries name it. That it runs on this machine the user
    says."""
    address = environ.get("ANTHROPIC_BASE_URL", "")
    if environ.get(LOCAL_VARIABLE, "").strip().lower() in TRUE_WORDS:
        return "anthropic" + HERE
    host = urlsplit(address).hostname or ""
    return "anthropic" + ((LOOPBACK if host in LOCAL_HOSTS else AWAY) if address else "")


class ClaudeSession:
    """A chat of Claude Code by its session id. `store` is the project's archive."""

    def __init__(
        self,
        store: Store,
        session: str,
        project: str,
        *,
        settings: Settings,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.store, self.settings = store, settings
        self.archive = Archive(
            store,
            session=session,
            project=project,
            count=approximate,
            clock=clock,
            host=HOST,
            hold=False,
        )
        self.archive.provider = provider(os.environ)
        self.progress = Progress.read(store.get_state(session, STATE_KEY))

    # In

    def take_in(self, transcript: Path, seconds: float = 60.0) -> int:
        """Archive what is new of a transcript, for at most so long; returns how many entries that were. What
        is left comes with the next call. A transcript that cannot be read is none."""
        calls = {key: ToolCall(*value) for key, value in self.progress.calls.items()}
        reader = Reader(transcript, self.progress.offset, calls)
        until, added = time.monotonic() + seconds, 0
        before = asdict(self.progress)
        try:
            for line in reader.lines():
                added += self._take_line(line)
                if time.monotonic() > until:
                    break
        except OSError:
            return added
        finally:
            waiting = list(reader.calls.items())[-MOST_CALLS:]
            self.progress.calls = {key: [call.name, call.detail] for key, call in waiting}
            if asdict(self.progress) != before:
                self._keep_progress()
        return added

    def _take_line(self, line: TranscriptLine) -> int:
        added = 0
        for record in line.records:
            if record.used:
                self.progress.used, self.progress.model = record.used, record.model
            elif record.message is not None:
                added += self._take(record, record.message)
        self.progress.offset = line.end
        return added

    def _take(self, record: TranscriptRecord, message: Message) -> bool:
        """Archive one message; whether it is new: a second compaction writes old ones once more, and a result
        that was shortened is there already."""
        if record.unknown:
            self.archive.event(self.progress.turn, UNKNOWN_RECORD, {"type": record.unknown})
            record = replace(record, source=Source(SourceKind.NOTICE, f"record of the type {record.unknown}"))
            message = Message(message.role, message.content[:RAW_CHARS])
        elif message.content.startswith(SHORTENED_MARK):
            return False
        seq = PLACES * record.place + record.part
        known = self._known(message)
        repeats = known is not None and known.created_at == record.at and known.seq != seq
        if repeats and record.at:
            return False
        self.progress.turn += record.asks
        at = record.at or self.archive.clock()
        self.archive.log(message, turn=max(1, self.progress.turn), seq=seq, source=record.source, at=at)
        return True

    def _known(self, message: Message) -> Entry | None:
        """The entry of this chat with these words, as they were said last."""
        stored_id = entry_id(message.role, message.content)
        found = self.store.get(stored_id) if self.store.resolve(stored_id) else None
        return found if found is not None and found.session == self.archive.session else None

    def _keep_progress(self) -> None:
        progress = self.progress
        self.archive.keep(STATE_KEY, asdict(progress))
        window = LARGE_WINDOW if LARGE_MARK in progress.model else WINDOW
        frame = Frame(window, {"system": 0}, {}, progress.model)
        if progress.used:
            self.archive.keep("frame", {**asdict(frame), "parts": {"prompt": progress.used}})

    def shorten(
        self, text: str, source: Source, place: int, fits: Callable[[str], bool], what: str = WHOLE
    ) -> str:
        """The compressed form of a tool's result under a line that says `what` of it is archived, which is
        done then; "" where it has none that `fits`, or cannot be archived. The transcript, of `place` bytes
        now, does not hold the result yet."""
        from aider_gardener.compress import compress_message  # as late: most calls of the hooks need none

        seq, turn = PLACES * place + SHORTENED_AT, max(1, self.progress.turn)
        entry = self.archive.entry(
            Message("user", text), turn=turn, seq=seq, source=source, at=self.archive.clock()
        )
        clean = self.archive.without_secrets(entry)
        made = compress_message(
            clean.content, source, segments=clean.segments, entry_id=entry.id, count=approximate
        )
        if made.lossless or not fits(made.text):
            return ""
        stored = self.archive.put(entry)
        it = "it" if what == WHOLE else "them"
        head = SHORTENED.format(what=what, entry_id=stored.id, tokens=stored.tokens, it=it)
        return f"{head}\n{made.text.replace(entry.id, stored.id)}"

    # Out

    def recall_note(self, prompt: str, boundary: int) -> str:
        """What the prompt needs of what its context has lost, as one note; "" when nothing is missing.
        `boundary` is where the context begins."""
        older = self.settings.recall_sessions
        if self.settings.mode == "observe":
            return ""
        from aider_gardener.gardener.state import rule_changes  # as late: most prompts come before that
        from aider_gardener.recall.recall import Recollection
        from aider_gardener.recall.request import ORDINARY_SHARE, Request, recall_part

        part = recall_part(prompt)
        limit = int(part * min(self.settings.recall_tokens, RECALL_TOKENS))
        if limit <= 0 or not prompt.strip():
            return ""
        request = Request(
            prompt,
            token_limit=limit,
            unasked=True,
            older=older,
            order=part == ORDINARY_SHARE,
        )
        note = Recollection(self.archive, rule_changes(self.store), with_ids=True).note(
            self.chat(boundary), request, approximate
        )
        note = note if len(note) <= MOST_CONTEXT_CHARS else ""
        if self.archive.withheld:
            told = WITHHELD.format(count=len(self.archive.withheld), how=SAY_LOCAL)
            note = f"{note}\n(aider-gardener: {told}.)".lstrip()
        return note

    def chat(self, boundary: int) -> Chat:
        """The chat as its host's context holds it: what was said from the boundary on stands whole."""
        entries = self.store.session_entries(self.archive.session)
        numbered = {seq: replace(entry, seq=seq) for seq, entry in enumerate(entries)}
        hidden = {
            seq
            for seq, entry in enumerate(entries)
            if entry.seq < boundary or SHORTENED_AT <= entry.seq % PLACES < SUMMARY_AT
        }
        whole = [entry for seq, entry in numbered.items() if seq not in hidden]
        chat = Chat(
            entries=numbered,
            order=tuple(numbered),
            border=len(numbered),
            fidelity=dict.fromkeys(hidden, Fidelity.HIDDEN),
            turn=self.progress.turn,
        )
        return replace(chat, done=[chat.piece(entry.role, entry.content, entry) for entry in whole])

    def state(self, token_limit: int, which: str, reach: str) -> str:
        """Where this chat stands: rules, decisions, open errors, files."""
        from aider_gardener.notes.last_chat import state_block  # as late: only where a chat begins again

        entries = self.store.session_entries(self.archive.session)
        return state_block(entries, which=which, token_limit=token_limit, count=approximate, reach=reach)

    def add_summary(self, text: str) -> None:
        """Keep the host's summary of what it compacted, unless the transcript brought it already."""
        if text.strip() and self._known(Message("user", text)) is None:
            seq = PLACES * self.progress.offset + SUMMARY_AT
            source = Source(SourceKind.SUMMARY)
            turn = max(1, self.progress.turn)
            self.archive.log(
                Message("user", text), turn=turn, seq=seq, source=source, at=self.archive.clock()
            )


def unknown_records(store: Store) -> Counter[str]:
    """How many records of each unknown type the transcripts held that an archive took in."""
    return Counter(str(event.data.get("type")) for event in store.events(kind=UNKNOWN_RECORD))
