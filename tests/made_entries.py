"""Entries and chats for tests of the core, without a store or a host."""

from __future__ import annotations

from aider_gardener.archive.archive import Archive
from aider_gardener.archive.store import open_store
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


def admit(message: Message, turn: int, seq: int) -> Entry:
    return entry(seq, message.role, message.content, turn=turn)


def talk(*pairs: tuple[str, str]) -> list[Message]:
    return [
        message
        for user, assistant in pairs
        for message in (Message("user", user), Message("assistant", assistant))
    ]


def chat_of(messages: list[Message], cur: list[Message] | None = None) -> Chat:
    chat = Chat()
    chat.sync(messages, cur or [], admit)
    return chat


def make_gardener(**options: object) -> Gardener:
    """A gardener over an archive in memory that counts words as tokens."""
    settings = Settings(**options)  # type: ignore[arg-type]
    archive = Archive(open_store(None), session="s", project="p", count=words, clock=lambda: 1_000.0)
    return Gardener(settings, archive)
