"""`gardener recall --everywhere`: what the server finds in all projects that the user may read."""

from __future__ import annotations

import time
from dataclasses import asdict
from typing import Any

import click

from aider_gardener.archive import plugin


def found_everywhere(query: str, limit: int) -> list[dict[str, Any]]:
    """The best passages of all projects that the user may read on the server, best first, as plain data: by
    words and, where the setting `embedder` names a model of this machine, by meaning. Raises UsageError and
    StoreError."""
    from aider_gardener.recall.embed import loading
    from aider_gardener.settings import Settings

    load = loading(Settings.from_env().embedder)
    embedder, notice = load() if load else (None, "")
    if notice:
        click.echo(f"gardener: {notice}", err=True)
    vector = embedder.embed([query])[0].tolist() if embedder else ()
    name = embedder.name if embedder else ""
    with plugin.part("server").connected() as connection:
        found = plugin.part("search").search(connection, query, limit=limit, vector=vector, embedder=name)
    return [asdict(each) for each in found]


def found_text(rows: list[dict[str, Any]]) -> str:
    """The passages, each under its project, author, turn and day."""
    return "\n\n".join(
        f"{row['project']}, {row['author']}, turn {row['turn']}, "
        f"{time.strftime('%Y-%m-%d', time.localtime(row['at']))} [{row['id']}]\n{row['text'].strip()}"
        for row in rows
    )
