"""Further ways to treat the past, as baselines: each decides per past message what is sent of it."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from aider_gardener.errors import UsageError
from aider_gardener.replay.play.filtering import COMMAND_VARIABLE, Filter, Messages
from aider_gardener.replay.play.variant import Variant, register, without_summaries

if TYPE_CHECKING:
    from aider_gardener.replay.play.variant import Replay

Past = Sequence[dict[str, Any]]
Rewrite = Callable[["Replay", Any, Past], list["dict[str, Any] | None"]]
"""(runner, coder, past messages) to what is sent for each: the message, another one, or None."""

OUTPUT_BEGINNING = "I ran this command:"
"""How the host's message with a command's output begins."""

MASKED = "I ran this command:\n\n{command}\n\nIts output is left out here."


def with_filter(runner: Replay) -> None:
    """Send what the program makes of the messages before this turn. UsageError if none is named."""
    command = os.environ.get(COMMAND_VARIABLE, "")
    if not command.strip():
        raise UsageError(f"the variant filter needs a program: set {COMMAND_VARIABLE} to its command line")
    on_windows = os.name == "nt"  # where a backslash is part of a path
    program = Filter([part.strip('"') for part in shlex.split(command, posix=not on_windows)])

    def rewrite(runner: Replay, coder: Any, past: Messages) -> list[dict[str, Any] | None]:
        return program.rewrite(past, coder.cur_messages[-1:]) if past else []

    rewriting(rewrite)(runner)


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


def without_compressed_forms(runner: Replay) -> None:
    """The gardener's compressors leave everything as it is: an entry is shown whole, as a line or not."""
    from aider_gardener.archive import archive
    from aider_gardener.compress.base import unchanged
    from aider_gardener.messages import ContentClass

    def as_it_is(content: str, *_rest: Any, **_options: Any) -> Any:
        return unchanged(content, ContentClass.PROSE)

    vars(archive)["compress_message"] = as_it_is


def past_length(runner: Replay, chunks: Any) -> int:
    """How many messages of the prompt's chat are of earlier turns; another coder's chat has no past here."""
    before = runner.messages_before_turn
    return before if before <= len(chunks.done) + len(chunks.cur) else 0


def newest(runner: Replay, coder: Any, past: Past) -> list[dict[str, Any] | None]:
    """The newest messages that fit the history limit, beginning with one of the user's."""
    count, left, first = coder.main_model.token_count, coder.summarizer.max_tokens, len(past)
    for at in range(len(past) - 1, -1, -1):
        left -= count([past[at]])
        if left < 0:
            break
        if past[at]["role"] == "user":
            first = at
    return [message if at >= first else None for at, message in enumerate(past)]


def without_older_outputs(past: Past, keep: int) -> list[dict[str, Any] | None]:
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


def last_ten_outputs(runner: Replay, coder: Any, past: Past) -> list[dict[str, Any] | None]:
    return without_older_outputs(past, 10)


def three_outputs_once_full(runner: Replay, coder: Any, past: Past) -> list[dict[str, Any] | None]:
    """Outputs stay until the history passes its limit; then only the last three do."""
    if coder.main_model.token_count(list(past)) <= coder.summarizer.max_tokens:
        return list(past)
    return without_older_outputs(past, 3)


IDENTIFIER_OR_NUMBER = re.compile(r"[A-Za-z_][\w./:-]*[\w]|\d[\d.,:]*\d|\d")
TELLING = re.compile(r"\d|_|[./:]\w|[a-z][A-Z]")
"""What makes a word an identifier, a path or a number: a plain word has none of it."""

BAG_HEAD = "Names and numbers of this chat so far:\n"


def with_bag_for_past(runner: Replay) -> None:
    """In place of the past stands a sorted list of its identifiers and numbers, the newest that fit."""
    without_summaries(runner)
    from aider.coders.base_coder import Coder

    format_chat_chunks = Coder.format_chat_chunks

    def bagged(self: Any) -> Any:
        chunks = format_chat_chunks(self)
        before = past_length(runner, chunks)
        both = [*chunks.done, *chunks.cur]
        text = bag(both[:before], self.summarizer.max_tokens, self.main_model.token_count)
        answer = {"role": "assistant", "content": "Ok."}
        chunks.done = [{"role": "user", "content": text}, answer] if text else []
        chunks.cur = both[before:]
        return chunks

    Coder.format_chat_chunks = bagged


def bag(past: Past, limit: int, count: Callable[[str], int]) -> str:
    """Identifiers, paths and numbers of the messages, sorted: the newest that fit `limit` tokens."""
    found: dict[str, None] = {}
    for message in reversed(past):
        words = IDENTIFIER_OR_NUMBER.findall(message["content"])
        found.update(dict.fromkeys(word for word in reversed(words) if TELLING.search(word)))
    words, left = list(found), limit
    while words:
        text = BAG_HEAD + " ".join(sorted(words))
        tokens = count(text)
        if tokens <= left:
            return text
        words = words[: min(len(words) - 1, int(len(words) * left / tokens))]
    return ""


for variant in (
    Variant("tail", "the newest messages that fit the history limit", rewriting(newest)),
    Variant("mask10", "all but the last 10 outputs masked", rewriting(last_ten_outputs)),
    Variant("clear3", "above the limit only the last 3 outputs", rewriting(three_outputs_once_full)),
    Variant("filter", "another program rewrites the past (see replay.filtering)", with_filter),
    Variant("bag", "the past's names and numbers, sorted, within the limit", with_bag_for_past),
    Variant("gardener-no-recall", "the gardener without recall", settings={"recall_tokens": 0}),
    Variant("gardener-no-vectors", "the gardener without vectors", settings={"embedder": "none"}),
    Variant("gardener-no-compress", "whole, a line or nothing", without_compressed_forms, settings={}),
    Variant("gardener-observe", "the gardener only archives", settings={"mode": "observe"}),
):
    register(variant)
