"""Which rules that the user typed were replaced since, in the chat itself or in a session of the archive."""

from __future__ import annotations

from collections.abc import Iterator

from aider_gardener.archive.store.base import Store
from aider_gardener.messages import Entry, SourceKind
from aider_gardener.notes.chatmap import past
from aider_gardener.notes.rules import replaced_in
from aider_gardener.plan.chat import Chat
from aider_gardener.recall.recall import Replaced


def rules_in(store: Store) -> Replaced:
    """What tells of a text the entry of the same session that replaced a rule in it; see `replaced_in`."""

    def replaced(chat: Chat, entry: Entry, text: str) -> tuple[Entry, str] | None:
        def later() -> Iterator[Entry]:
            is_own = chat.entries.get(entry.seq) is entry
            yield from past(chat) if is_own else store.session_entries(entry.session, after_seq=entry.seq)

        return replaced_in(later(), entry, text) if entry.source.kind is SourceKind.TYPED else None

    return replaced
