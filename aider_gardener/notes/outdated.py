"""Whether a rule that is recalled still holds, told by what the user typed later."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from aider_gardener.archive.store import Store
from aider_gardener.messages import Entry, SourceKind
from aider_gardener.plan.chat import Chat
from aider_gardener.recall.recall import Replaced


def rule_changes(store: Store) -> Replaced:
    """What tells of a text that was typed the later entry that replaced a rule in it, in the chat itself or
    in the entry's session in the archive; see `replaced_in`."""

    def replaced(chat: Chat, entry: Entry, text: str) -> tuple[Entry, str] | None:
        if entry.source.kind is not SourceKind.TYPED:
            return None
        from aider_gardener.notes.chatmap import past  # late: the patterns of rules take their time
        from aider_gardener.notes.rules import replaced_in

        typed = partial(store.session_entries, source=SourceKind.TYPED)

        def later() -> Iterator[Entry]:  # read only where the text sets a rule
            is_own = chat.entries.get(entry.seq) is entry
            yield from past(chat) if is_own else typed(entry.session, after_seq=entry.seq)

        return replaced_in(later(), entry, text)

    return replaced
