"""One chat of Claude Code, or of a host with its hooks, in the archive: what is new of its transcript goes
in, and what its context has lost comes back."""

from __future__ import annotations

import json
import mmap
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aider_gardener import files
from aider_gardener.adapters.addresses import is_loopback
from aider_gardener.adapters.claude_code.transcript import ClaudeReader
from aider_gardener.adapters.intake import PLACES, PLACES_A_SECOND, SHORTENED_AT, Intake, Teller
from aider_gardener.adapters.marks import BOUNDARY_MARKS
from aider_gardener.adapters.transcript import TranscriptLine
from aider_gardener.archive.providers import AWAY, HERE, LOOPBACK, SAY_LOCAL, WITHHELD
from aider_gardener.messages import Fidelity
from aider_gardener.plan.chat import Chat
from aider_gardener.settings import TRUE_WORDS, Settings
from aider_gardener.tokens import approximate

if TYPE_CHECKING:
    from aider_gardener.archive.store import Store

HOST = "Claude Code"
HOST_CHARS = 40
MOST_CONTEXT_CHARS = 10_000
"""More of what a hook adds goes to a file of the host's."""
RECALL_TOKENS = 2_350
"""What is recalled within that: with its head and the marks of quotes it stays below."""
BOUNDARY_BYTES = 4_000_000
"""A record that says where a compaction was is no longer; Codex's holds what stands in its context then."""
ROLLOUT = "rollout-?*.jsonl"
"""What Codex calls a transcript."""
LOCAL_VARIABLE = "AIDER_GARDENER_LOCAL"


def boundary_of(transcript: Path | None, reader: Callable[..., Any] = ClaudeReader) -> int:
    """The sequence number at which the host's context begins since its last compaction; 0: at the beginning,
    or there is no transcript. It is read off the file, so that no lock is waited for."""
    try:
        if transcript is not None:
            with (
                files.open_plain(transcript, follow=True) as file,
                mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as text,
            ):
                at = len(text)
                while (at := max(text.rfind(mark, 0, at) for mark in BOUNDARY_MARKS)) >= 0:
                    at, end = text.rfind(b"\n", 0, at) + 1, text.find(b"\n", at)
                    line = text[at:end] if end - at <= BOUNDARY_BYTES else b""
                    for each in reader(transcript).records(line, at):
                        if each.boundary:
                            return PLACES * int(each.place)
    except (OSError, ValueError):  # none is there, or nothing in it
        pass
    return 0


def provider(environ: Mapping[str, str]) -> str:
    """The provider that Claude Code talks to, as entries name it. That it runs on this machine the user
    says."""
    address = environ.get("ANTHROPIC_BASE_URL", "")
    if is_local(environ):
        return "anthropic" + HERE
    return "anthropic" + ((LOOPBACK if is_loopback(address) else AWAY) if address else "")


def is_local(environ: Mapping[str, str]) -> bool:
    """Whether the user says that the agent's model runs on this machine."""
    return environ.get(LOCAL_VARIABLE, "").strip().lower() in TRUE_WORDS


def teller_of(named: object, transcript: Path | None) -> Teller:
    """Who tells of an event, by the name that it gives and by its transcript; Claude Code gives none."""
    if transcript is not None and transcript.match(ROLLOUT):
        from aider_gardener.adapters.codex import rollout  # late: only of Codex

        name = rollout.provider_in(transcript)
        name = name.partition("@")[0] + HERE if is_local(os.environ) else name
        return Teller(rollout.HOST, rollout.RolloutReader, name)
    host = " ".join(named.split())[:HOST_CHARS] if isinstance(named, str) else ""
    if host in ("", HOST):
        return Teller(HOST, ClaudeReader, provider(os.environ))
    from aider_gardener.adapters.claude_code.dialects import SaidReader  # late: most are Claude Code's

    return Teller(host, SaidReader, host.lower() + (HERE if is_local(os.environ) else AWAY))


class ClaudeSession(Intake):
    """A chat of Claude Code, or of the `teller` that tells of it. `store` is the project's archive."""

    def __init__(
        self,
        store: Store,
        session: str,
        project: str,
        settings: Settings,
        teller: Teller | None = None,
        *,
        clock: Callable[[], float] = time.time,
    ) -> None:
        super().__init__(store, session, project, teller or teller_of(None, None), clock=clock)
        self.settings = settings
        self.recalled: list[str] = []  # what is to be counted as accessed

    def take_said(self, lines: Sequence[Mapping[str, Any]]) -> None:
        """Archive what a host without a transcript says now, as lines of one."""
        at = self.archive.clock()
        reader: Any = self.teller.reader(Path(), at=at)
        place = round(PLACES_A_SECOND * at)
        records = [each for line in lines for each in reader.records(json.dumps(line).encode(), place)]
        numbered = (each._replace(part=part) for part, each in enumerate(records))
        self.take_line(TranscriptLine(place, place, tuple(numbered)))
        self.keep_progress()

    def recall_note(self, prompt: str, boundary: int) -> str:
        """What the prompt needs of what its context has lost, as one note; "" when nothing is missing.
        `boundary` is where the context begins."""
        from aider_gardener.recall import recall as recalling  # as late: most prompts come before that
        from aider_gardener.recall.request import ORDINARY_SHARE, Request, recall_part

        part = recall_part(prompt)
        limit = int(part * min(self.settings.recall_tokens, RECALL_TOKENS))
        if limit <= 0 or not prompt.strip():
            return ""
        older, order = self.settings.recall_sessions, part == ORDINARY_SHARE
        request = Request(prompt, token_limit=limit, unasked=True, older=older, order=order, ids=True)
        found = recalling.recall(self.archive, self.chat(boundary), request, count=approximate)
        self.recalled = [item.entry_id for item in found]
        note = recalling.recall_note(found, session=self.archive.session)
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
            if entry.seq < boundary or entry.seq % PLACES >= SHORTENED_AT
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
