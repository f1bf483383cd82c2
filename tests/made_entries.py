"""Entries and chats for tests of the core, without a store or a host."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from aider_gardener.archive.archive import Archive
from aider_gardener.archive.store import Store, open_store
from aider_gardener.gardener.gardener import Gardener
from aider_gardener.messages import ContentClass, Entry, Message, Segment, Source, SourceKind, entry_id
from aider_gardener.plan.chat import Chat
from aider_gardener.settings import Settings


def words(text: str) -> int:
    """A token counter that can be checked by hand: one token a word."""
    return len(text.split())


def entry(
    seq: int, role: str, content: str, *, turn: int = 1, cls: ContentClass = ContentClass.PROSE
) -> Entry:
    kind = SourceKind.REPLY if role == "assistant" else SourceKind.TYPED
    segments = (Segment(0, len(content), cls),)
    return Entry(
        entry_id(role, content), "s", turn, seq, role, content, Source(kind), cls, segments, words(content)
    )


def admit(chat: Chat, new: Message) -> Entry:
    made = entry(chat.next_seq, new.role, new.content)
    return replace(made, turn=chat.turn_of(made.source))


def message(role: str, content: str) -> dict[str, Any]:
    """A message as a host appends it to one of its lists."""
    return {"role": role, "content": content}


def talk(*pairs: tuple[str, str]) -> list[dict[str, Any]]:
    return [each for user, reply in pairs for each in (message("user", user), message("assistant", reply))]


def chat_of(done: list[dict[str, Any]], cur: list[dict[str, Any]] | None = None) -> Chat:
    return Chat().sync((done, cur if cur is not None else []), admit)[0]


def make_gardener(
    store: Store | None = None, session: str = "s", at: float = 1_000.0, **options: object
) -> Gardener:
    """A gardener over an archive, by default one in memory, that counts words as tokens; its clock stands."""
    settings = Settings(**options)  # type: ignore[arg-type]
    archive = Archive(store or open_store(None), session=session, project="p", count=words, clock=lambda: at)
    return Gardener(settings, archive)
