"""The archive without a chat: what the `gardener` command asks of it."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from aider_gardener.archive.archive import Archive
from aider_gardener.archive.store.base import Store
from aider_gardener.plan.chat import Chat
from aider_gardener.recall.candidates import Request
from aider_gardener.recall.recall import Recalled, recall
from aider_gardener.tokens import default_counter


def recall_offline(store: Store, query: str, *, token_limit: int, full: bool = False) -> list[Recalled]:
    """Passages from any session that fit the question, best first, within a token limit."""
    request = Request(query, token_limit=token_limit, full=full)
    return recall(Archive.reading(store), Chat(), request, count=default_counter())


def store_stats_record(store: Store) -> dict[str, Any]:
    """The statistics as plain data; `by_class` maps a class to entries, original and compressed tokens."""
    value = asdict(store.stats())
    value["by_class"] = {
        name: {"entries": entries, "original_tokens": original, "compressed_tokens": compressed}
        for name, (entries, original, compressed) in store.stats().by_class.items()
    }
    return value


def store_status(store: Store) -> dict[str, Any]:
    """What the archive holds, in short."""
    stats = store.stats()
    ratio = stats.rendition_tokens / stats.original_tokens if stats.original_tokens else 1.0
    return {
        "archive": stats.path,
        "sessions": stats.sessions,
        "entries": stats.entries,
        "original_tokens": stats.original_tokens,
        "compressed_tokens": stats.rendition_tokens,
        "compression_ratio": round(ratio, 4),
        "redacted_secrets": stats.redacted,
        "pinned": stats.pinned,
        "bytes": stats.bytes,
    }
