"""One chat of Claude Code in the archive: what is new of its transcript goes in, and what its context has
lost comes back."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from aider_gardener.adapters.claude_code.transcript import ClaudeReader
from aider_gardener.adapters.intake import PLACES, SHORTENED, SHORTENED_AT, SUMMARY_AT, Intake
from aider_gardener.archive.archive import EmbeddingBacklog
from aider_gardener.archive.providers import AWAY, HERE
from aider_gardener.messages import Fidelity, Message, Source, SourceKind
from aider_gardener.plan.chat import Chat
from aider_gardener.settings import Settings
from aider_gardener.tokens import approximate

if TYPE_CHECKING:
    from aider_gardener.archive.store import Store

HOST = "Claude Code"
MOST_CONTEXT_CHARS = 10_000
"""More of what a hook adds goes to a file of the host's."""
RECALL_TOKENS = 2_350
"""What is recalled within that: with its head and the marks of quotes it stays below."""
LOCAL_HOSTS = ("localhost", "127.0.0.1", "::1")


def provider(environ: Mapping[str, str]) -> str:
    """The provider that Claude Code talks to, as entries name it."""
    address = environ.get("ANTHROPIC_BASE_URL", "")
    host = urlsplit(address).hostname or ""
    return "anthropic" + ((HERE if host in LOCAL_HOSTS else AWAY) if address else "")


class ClaudeSession(Intake):
    """A chat of Claude Code by its session id. `store` is the project's archive, `backlog` what embeds, where
    a process lives long enough."""

    def __init__(
        self,
        store: Store,
        session: str,
        project: str,
        *,
        settings: Settings,
        environ: Mapping[str, str] | None = None,
        clock: Callable[[], float] = time.time,
        backlog: EmbeddingBacklog | None = None,
    ) -> None:
        self.settings = settings
        name = provider(os.environ if environ is None else environ)
        super().__init__(
            store,
            session,
            project,
            host=HOST,
            reader=ClaudeReader,
            provider=name,
            clock=clock,
            backlog=backlog,
        )

    def shorten(self, text: str, source: Source, place: int, fits: Callable[[str], bool]) -> str:
        """The compressed form of a tool's result under a line that names the whole, which is archived then;
        "" where it has none that `fits`. The transcript, of `place` bytes now, does not hold the result
        yet."""
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
        self.progress.shortened += 1
        self.keep_progress()
        head = SHORTENED.format(entry_id=stored.id, tokens=stored.tokens)
        return f"{head}\n{made.text.replace(entry.id, stored.id)}"

    # Out

    def recall_note(self, prompt: str) -> str:
        """What the prompt needs of what its context has lost, as one note; "" when nothing is missing. Before
        the first compaction that is nothing, unless other chats may come in."""
        progress, older = self.progress, self.settings.recall_sessions
        if not (progress.boundary or progress.shortened or older) or self.settings.mode == "observe":
            return ""
        from aider_gardener.notes.outdated import rule_changes  # as late: most prompts come before that
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
            self.chat(), request, approximate
        )
        return note if len(note) <= MOST_CONTEXT_CHARS else ""

    def chat(self) -> Chat:
        """The chat as its host's context holds it: what was said since the last compaction stands whole."""
        entries = self.store.session_entries(self.archive.session)
        numbered = {seq: replace(entry, seq=seq) for seq, entry in enumerate(entries)}
        hidden = {
            seq
            for seq, entry in enumerate(entries)
            if entry.seq < self.progress.boundary or SHORTENED_AT <= entry.seq % PLACES < SUMMARY_AT
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
        if text.strip() and self.known(Message("user", text)) is None:
            seq = PLACES * self.progress.offset + SUMMARY_AT
            source = Source(SourceKind.SUMMARY)
            turn = max(1, self.progress.turn)
            self.archive.log(
                Message("user", text), turn=turn, seq=seq, source=source, at=self.archive.clock()
            )
