"""Further ways to treat a chat's past, for the grid: baselines, and the gardener with a part taken away.

A baseline decides for each past message what is sent of it, within the host's history limit: what somebody
would build who does not believe in more. Importing this module adds them to the replay's variants; a job
names it in its `imports`. Where the environment variable VECTORS names a file, gardeners keep the vectors of
passages there for one another, for passages are the same under most variants and budgets.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from aider_gardener.recall.request import ORDINARY_SHARE
from aider_gardener.replay.play.variants import (
    VARIANTS,
    Replay,
    Variant,
    without_summaries,
)
from aider_gardener.settings import Settings
from bench.vectors import keeping

IMPORTS = (__name__,)
"""What a job with one of these variants imports."""

VECTORS = "BENCH_VECTORS"

OUTPUT_BEGINNING = "I ran this command:"
"""How the host's message with a command's output begins."""

MASKED = "I ran this command:\n\n{command}\n\nIts output is left out here."


Messages = Sequence[dict[str, Any]]
Sent = list[dict[str, Any] | None]
"""What is sent for each past message: the message, another one, or None."""

Rewrite = Callable[[Replay, Any, Messages], Sent]
"""(runner, coder, past messages) to what is sent for each."""


def changing(change: Callable[[Replay, Any, Any], None]) -> Callable[[Replay], None]:
    """A variant's preparation that changes the chunks of each prompt: (runner, coder, chunks) to nothing."""

    def prepare(runner: Replay) -> None:
        without_summaries(runner)
        from aider.coders.base_coder import Coder

        format_chat_chunks = Coder.format_chat_chunks

        def changed(self: Any) -> Any:
            chunks = format_chat_chunks(self)
            change(runner, self, chunks)
            return chunks

        Coder.format_chat_chunks = changed

    return prepare


def rewriting(rewrite: Rewrite) -> Callable[[Replay], None]:
    """A variant's preparation that sends what `rewrite` makes of the messages before this turn."""

    def rewritten(runner: Replay, coder: Any, chunks: Any) -> None:
        past, now = past_and_now(runner, chunks)
        sent = [*rewrite(runner, coder, past), *now]
        split = len(chunks.done)
        chunks.done = [message for message in sent[:split] if message is not None]
        chunks.cur = [message for message in sent[split:] if message is not None]

    return changing(rewritten)


def past_and_now(runner: Replay, chunks: Any) -> tuple[Messages, Messages]:
    """The messages of a prompt's chat that are of earlier turns, and the others; another coder's chat has no
    past here."""
    both, before = [*chunks.done, *chunks.cur], runner.messages_before_turn
    before = before if before <= len(both) else 0
    return both[:before], both[before:]


def nothing_of_it(runner: Replay, coder: Any, past: Messages) -> Sent:
    return [None] * len(past)


def without_older_outputs(past: Messages, keep: int) -> Sent:
    """All messages, but of outputs of commands only the last `keep`; of the others the command."""
    outputs = [at for at, m in enumerate(past) if m["content"].startswith(OUTPUT_BEGINNING)]
    masked = set(outputs[: max(0, len(outputs) - keep)])
    return [
        {**message, "content": mask(message["content"])} if at in masked else message
        for at, message in enumerate(past)
    ]


def mask(content: str) -> str:
    """The note that stands for an output; never longer than it."""
    command = content.removeprefix(OUTPUT_BEGINNING).strip().split("\n\nAnd got this output:")[0]
    note = MASKED.format(command=command)
    return note if len(note) < len(content) else content


def last_ten_outputs(runner: Replay, coder: Any, past: Messages) -> Sent:
    return without_older_outputs(past, 10)


def newest_within(past: Messages, limit: int, count: Callable[[Any], int]) -> Sent:
    left, first = limit, len(past)
    for at in range(len(past) - 1, -1, -1):
        left -= count([past[at]])
        if left < 0:
            break
        if past[at]["role"] == "user":
            first = at
    return [message if at >= first else None for at, message in enumerate(past)]


def newest(runner: Replay, coder: Any, past: Messages) -> Sent:
    """The newest messages that fit the history limit, beginning with one of the user's."""
    return newest_within(past, coder.summarizer.max_tokens, coder.main_model.token_count)


SEARCH_SHARE = 0.5
"""Of the history limit, for passages that full-text search finds; the newest messages have the rest."""

PASSAGE_CHARS = 1_200
SEARCH_HEAD = "Passages from earlier in this chat that may matter now:"
QUERY_WORD = re.compile(r"\w+")


def searched(runner: Replay, coder: Any, chunks: Any, *, orders_room: bool = False) -> None:
    """The newest messages within a part of the limit, and within the other what a full-text search (SQLite's
    FTS5, BM25, any word of the prompt) finds in the rest: an exchange before the user's message. In an
    order's room the newest have the whole limit, and what is found comes on top, as with the gardener."""
    past, now = past_and_now(runner, chunks)
    limit, count = coder.summarizer.max_tokens, coder.main_model.token_count
    for_newest = limit if orders_room else limit - int(SEARCH_SHARE * limit)
    if orders_room:
        limit += int(ORDINARY_SHARE * Settings().recall_tokens)
    kept = newest_within(past, for_newest, count)
    hidden = [message for message, sent in zip(past, kept, strict=True) if sent is None]
    asked = next((message["content"] for message in reversed(now) if message["role"] == "user"), "")
    note = found_note(hidden, asked, limit, sum(count([m]) for m in kept if m), count)
    chunks.done = [message for message in kept if message is not None]
    chunks.cur = [*note, *now]


def found_note(
    hidden: Messages, asked: str, limit: int, taken: int, count: Callable[[Any], int]
) -> list[dict[str, Any]]:
    """An exchange with the best passages, in the order of the chat, that fits the limit; [] for none."""
    best: list[tuple[int, str]] = []
    made: list[dict[str, Any]] = []
    for place, text in ranked(hidden, asked):
        tried = sorted([*best, (place, text)])
        content = "\n\n".join([SEARCH_HEAD, *(passage for _, passage in tried)])
        exchange = [{"role": "user", "content": content}, {"role": "assistant", "content": "Ok."}]
        if taken + count(exchange) <= limit:
            best, made = tried, exchange
    return made


MOST_PASSAGES = 40
"""So many of the best are tried."""


def ranked(messages: Messages, asked: str) -> Iterator[tuple[int, str]]:
    """The passages of messages that share a word with what is asked: (place, text), best first."""
    import apsw

    words = dict.fromkeys(word.lower() for word in QUERY_WORD.findall(asked))
    texts = [text for message in messages for text in passages(message["content"])]
    if not words or not texts:
        return
    with apsw.Connection(":memory:") as db:
        db.execute("CREATE VIRTUAL TABLE passages USING fts5(text)")
        db.executemany("INSERT INTO passages(rowid, text) VALUES (?, ?)", enumerate(texts))
        query = " OR ".join(f'"{word}"' for word in words)
        sql = "SELECT rowid FROM passages WHERE passages MATCH ? ORDER BY bm25(passages) LIMIT ?"
        found = [row[0] for row in db.execute(sql, (query, MOST_PASSAGES))]
    for place in found:
        yield place, texts[place]


def passages(text: str) -> Iterator[str]:
    """A text in pieces of whole paragraphs, each of at most PASSAGE_CHARS; longer paragraphs are cut."""
    held = ""
    for paragraph in re.split(r"\n\s*\n", text):
        for start in range(0, len(paragraph), PASSAGE_CHARS):
            piece = paragraph[start : start + PASSAGE_CHARS]
            if held and len(held) + len(piece) > PASSAGE_CHARS:
                yield held
                held = ""
            held = f"{held}\n\n{piece}" if held else piece
    if held.strip():
        yield held


def as_orders(runner: Replay) -> None:
    """Every prompt may recall what an order may: probes get no more than the real prompts of a session, most
    of which are orders."""
    from aider_gardener.gardener import gardener

    vars(gardener)["asks"] = lambda prompt: False


def without_compressed_forms(runner: Replay) -> None:
    """The gardener's compressors leave everything as it is: an entry is shown whole or not."""
    from aider_gardener.compress import message
    from aider_gardener.compress.base import unchanged
    from aider_gardener.messages import ContentClass

    def as_it_is(content: str, *_rest: Any, **_options: Any) -> Any:
        return unchanged(content, ContentClass.PROSE)

    vars(message)["compress_message"] = as_it_is


def oldest_first(runner: Replay) -> None:
    """The plan's null hypothesis: what is oldest is hidden first, whole. Nothing is weighed and nothing
    shortened; the last exchanges stay."""
    from aider_gardener.messages import Level
    from aider_gardener.plan import planner

    def never(*_arguments: Any) -> Level:
        return Level.FULL

    vars(planner)["priority"] = lambda entry, **_options: float(entry.seq)
    setattr(planner.Policy, "due_level", never)  # noqa: B010 - a frozen class of another module


VARIANTS.update(
    (variant.name, variant)
    for variant in (
        Variant("no-history", "nothing of the past is sent: the floor", rewriting(nothing_of_it)),
        Variant("tail-search", "the newest, and a full-text search of the rest", changing(searched)),
        Variant(
            "tail-search-as-order",
            "the same in an order's room",
            changing(partial(searched, orders_room=True)),
        ),
        Variant("tail", "the newest messages that fit the history limit", rewriting(newest)),
        Variant("mask10", "all but the last 10 outputs masked", rewriting(last_ten_outputs)),
        Variant("gardener-as-order", "no prompt recalls more than an order may", as_orders, settings={}),
        Variant("gardener-oldest-first", "a plan hides the oldest, whole", oldest_first, settings={}),
        Variant("gardener-no-recall", "the gardener without recall", settings={"recall_tokens": 0}),
        Variant("gardener-no-vectors", "the gardener without vectors", settings={"embedder": "none"}),
        Variant("gardener-no-compress", "whole or nothing", without_compressed_forms, settings={}),
        Variant("gardener-append", "the gardener, prompts that only grow", settings={"files": "append"}),
        Variant(
            "gardener-aider-order", "the gardener, files as aider sends them", settings={"files": "aider"}
        ),
    )
)

if os.environ.get(VECTORS):
    from aider_gardener.gardener import files

    files.loading = partial(keeping, Path(os.environ[VECTORS]))
