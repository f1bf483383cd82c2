"""Baselines: rules that decide for each past message what is sent of it, within the host's history limit.

They are what somebody would build who does not believe in more: the newest messages, the newest beside a
full-text search of the rest, the first and the newest, outputs masked, another program's compression.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Protocol

from aider_gardener.errors import UsageError
from aider_gardener.replay.measure.result import Compaction
from aider_gardener.replay.play.filtering import COMMAND_VARIABLE, Messages, PromptFilter

if TYPE_CHECKING:
    from aider_gardener.replay.play.calls import Calls
    from aider_gardener.replay.play.model import RecordedModel
    from aider_gardener.replay.session.session import Session


def nothing(runner: Replay) -> None:
    """Change nothing."""


class Replay(Protocol):
    """What a variant sees of the replay that it prepares.

    `messages_before_turn` is how many messages the chat held when the current turn began.
    """

    turn: int
    messages_before_turn: int
    session: Session
    model: RecordedModel
    compactions: list[Compaction]
    calls: Calls


def without_summaries(runner: Replay) -> None:
    """The chat is never summarised, not at a mode switch either."""
    from aider.coders.base_coder import Coder
    from aider.history import ChatSummary

    Coder.summarize_start = lambda self: None
    Coder.summarize_end = lambda self: None
    ChatSummary.summarize_all = lambda self, messages: messages


Sent = list[dict[str, Any] | None]
"""What is sent for each past message: the message, another one, or None."""

Rewrite = Callable[["Replay", Any, Messages], Sent]
"""(runner, coder, past messages) to what is sent for each."""

OUTPUT_BEGINNING = "I ran this command:"
"""How the host's message with a command's output begins."""

MASKED = "I ran this command:\n\n{command}\n\nIts output is left out here."


def rewriting(rewrite: Rewrite) -> Callable[[Replay], None]:
    """A variant's preparation that sends what `rewrite` makes of the messages before this turn."""

    def prepare(runner: Replay) -> None:
        without_summaries(runner)
        from aider.coders.base_coder import Coder

        format_chat_chunks = Coder.format_chat_chunks

        def rewritten(self: Any) -> Any:
            chunks = format_chat_chunks(self)
            both = [*chunks.done, *chunks.cur]
            before = past_length(runner, chunks)
            sent = [*rewrite(runner, self, both[:before]), *both[before:]]
            split = len(chunks.done)
            chunks.done = [message for message in sent[:split] if message is not None]
            chunks.cur = [message for message in sent[split:] if message is not None]
            return chunks

        Coder.format_chat_chunks = rewritten

    return prepare


def past_length(runner: Replay, chunks: Any) -> int:
    """How many messages of the prompt's chat are of earlier turns; another coder's chat has no past here."""
    before = runner.messages_before_turn
    return before if before <= len(chunks.done) + len(chunks.cur) else 0


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


FIRST_SHARE = 0.5
"""The first exchange stays only if it takes no more of the limit."""


def first_and_newest(runner: Replay, coder: Any, past: Messages) -> Sent:
    """The first exchange and the newest messages that fit the rest of the limit."""
    limit = coder.summarizer.max_tokens
    count = coder.main_model.token_count
    second = next((at for at, message in enumerate(past) if at and message["role"] == "user"), len(past))
    taken = count(list(past[:second])) if past else 0
    if taken > FIRST_SHARE * limit:
        second = taken = 0
    return [*past[:second], *newest_within(past[second:], limit - taken, count)]


def newest(runner: Replay, coder: Any, past: Messages) -> Sent:
    """The newest messages that fit the history limit, beginning with one of the user's."""
    return newest_within(past, coder.summarizer.max_tokens, coder.main_model.token_count)


def newest_within(past: Messages, limit: int, count: Callable[[Any], int]) -> Sent:
    left, first = limit, len(past)
    for at in range(len(past) - 1, -1, -1):
        left -= count([past[at]])
        if left < 0:
            break
        if past[at]["role"] == "user":
            first = at
    return [message if at >= first else None for at, message in enumerate(past)]


SEARCH_SHARE = 0.5
"""Of the history limit, for passages that full-text search finds; the newest messages have the rest."""

PASSAGE_CHARS = 1_200
SEARCH_HEAD = "Passages from earlier in this chat that may matter now:"
QUERY_WORD = re.compile(r"\w+")


def with_search(runner: Replay) -> None:
    """The newest messages within a part of the limit, and within the other what a full-text search (SQLite's
    FTS5, BM25, any word of the prompt) finds in the rest: an exchange before the user's message."""
    without_summaries(runner)
    from aider.coders.base_coder import Coder

    format_chat_chunks = Coder.format_chat_chunks

    def searched(self: Any) -> Any:
        chunks = format_chat_chunks(self)
        both = [*chunks.done, *chunks.cur]
        before = past_length(runner, chunks)
        past, now = both[:before], both[before:]
        limit, count = self.summarizer.max_tokens, self.main_model.token_count
        kept = newest_within(past, limit - int(SEARCH_SHARE * limit), count)
        hidden = [message for message, sent in zip(past, kept, strict=True) if sent is None]
        asked = next((message["content"] for message in reversed(now) if message["role"] == "user"), "")
        note = found_note(hidden, asked, limit, sum(count([m]) for m in kept if m), count)
        chunks.done = [message for message in kept if message is not None]
        chunks.cur = [*note, *now]
        return chunks

    Coder.format_chat_chunks = searched


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


def with_filter(runner: Replay) -> None:
    """What the program makes of the messages before this turn, of that the newest that fit the limit.
    UsageError if none is named."""
    command = os.environ.get(COMMAND_VARIABLE, "")
    if not command.strip():
        raise UsageError(f"the variant filter needs a program: set {COMMAND_VARIABLE} to its command line")
    on_windows = os.name == "nt"  # where a backslash is part of a path
    program = PromptFilter([part.strip('"') for part in shlex.split(command, posix=not on_windows)])

    def rewrite(runner: Replay, coder: Any, past: Messages) -> Sent:
        if not past:
            return []
        made = program.rewrite(past, coder.cur_messages[-1:])
        there = [message for message in made if message is not None]
        kept = iter(newest(runner, coder, there))
        return [None if message is None else next(kept) for message in made]

    rewriting(rewrite)(runner)
