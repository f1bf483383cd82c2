"""What a replay compares: ways to treat the chat's past, each a name and what it changes in aider.

The host's own ways come first, then baselines, which decide per past message what is sent of it.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Protocol

from aider_gardener.errors import UsageError
from aider_gardener.replay.measure.result import Compaction
from aider_gardener.replay.play.filtering import COMMAND_VARIABLE, Filter, Messages
from aider_gardener.settings import Settings, check_field, parse

if TYPE_CHECKING:
    from aider_gardener.replay.play.calls import Calls
    from aider_gardener.replay.play.model import RecordedModel
    from aider_gardener.replay.session.session import Session

DEFAULT_VARIANTS = ("stock", "stock-fixed", "gardener")
"""What `gardener replay` runs if not told otherwise."""


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


@dataclass(frozen=True)
class Variant:
    """`prepare` changes the process before the coder is made; `settings` are the gardener's, and
    None means that no gardener is installed. `summaries` says that summaries.json answers."""

    name: str
    about: str
    prepare: Callable[[Replay], None] = nothing
    settings: Mapping[str, Any] | None = None
    summaries: bool = False


def without_summaries(runner: Replay) -> None:
    """The chat is never summarised, not at a mode switch either."""
    from aider.coders.base_coder import Coder
    from aider.history import ChatSummary

    Coder.summarize_start = lambda self: None
    Coder.summarize_end = lambda self: None
    ChatSummary.summarize_all = lambda self, messages: messages


def with_joined_summaries(runner: Replay) -> None:
    """aider as it is; only that its summary thread is waited for, so that runs are alike."""
    from aider.coders.base_coder import Coder

    start, end = Coder.summarize_start, Coder.summarize_end

    def joined_start(self: Any) -> None:
        start(self)
        if self.summarizer_thread is not None:
            self.summarizer_thread.join()
            note_summary(runner, self)

    def noted_end(self: Any) -> None:
        pending = self.summarizer_thread is not None
        before = list(self.done_messages)
        end(self)
        if pending and self.done_messages != before:
            note_applied(runner, self)

    Coder.summarize_start = joined_start
    Coder.summarize_end = noted_end


def note_summary(runner: Replay, coder: Any) -> None:
    """Record a finished summary; it counts as thrown away until it is applied."""
    count = coder.main_model.token_count
    calls = runner.calls.take_summaries()
    coder.replayed_summary = len(runner.compactions)
    runner.compactions.append(
        Compaction(
            turn=runner.turn,
            by="llm",
            applied=False,
            tokens_before=count(coder.summarizing_messages),
            tokens_after=count(coder.summarized_done_messages),
            calls=len(calls),
            prompt_tokens=sum(call.prompt_tokens for call in calls),
            completion_tokens=sum(call.completion_tokens for call in calls),
        )
    )


def note_applied(runner: Replay, coder: Any) -> None:
    """The coder's last summary has taken the place of its history."""
    at = coder.replayed_summary
    runner.compactions[at] = replace(runner.compactions[at], applied=True)


def with_applied_summaries(runner: Replay) -> None:
    """aider with its worst fault mended: the commit notice is appended before the summary starts,
    so that the finished summary is applied. In a plain chat (`plain` in the session's meta line) an
    exchange is finished with its reply."""
    with_joined_summaries(runner)
    from aider.coders.base_coder import Coder

    def move_back_cur_messages(self: Any, message: str | None) -> None:
        self.done_messages += self.cur_messages
        if message:
            self.done_messages += [
                {"role": "user", "content": message},
                {"role": "assistant", "content": "Ok."},
            ]
        self.summarize_start()
        self.summarize_end()
        self.cur_messages = []

    Coder.move_back_cur_messages = move_back_cur_messages
    if runner.session.meta.get("plain"):
        with_exchanges_closed(runner)


def with_exchanges_closed(runner: Replay) -> None:
    """A finished exchange is moved to the past after each reply, as after an edit: without edits aider
    never does so, and would never summarise."""
    from aider.coders.base_coder import Coder

    run_one = Coder.run_one

    def run_and_close(self: Any, user_message: str, preproc: bool) -> None:
        given = runner.model.given
        run_one(self, user_message, preproc)
        if runner.model.given > given:
            self.move_back_cur_messages(None)

    Coder.run_one = run_and_close


Sent = list[dict[str, Any] | None]
"""What is sent for each past message: the message, another one, or None."""

Rewrite = Callable[["Replay", Any, Messages], Sent]
"""(runner, coder, past messages) to what is sent for each."""

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

    def rewrite(runner: Replay, coder: Any, past: Messages) -> Sent:
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


def nothing_of_it(runner: Replay, coder: Any, past: Messages) -> Sent:
    return [None] * len(past)


def newest(runner: Replay, coder: Any, past: Messages) -> Sent:
    """The newest messages that fit the history limit, beginning with one of the user's."""
    count, left, first = coder.main_model.token_count, coder.summarizer.max_tokens, len(past)
    for at in range(len(past) - 1, -1, -1):
        left -= count([past[at]])
        if left < 0:
            break
        if past[at]["role"] == "user":
            first = at
    return [message if at >= first else None for at, message in enumerate(past)]


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


def three_outputs_once_full(runner: Replay, coder: Any, past: Messages) -> Sent:
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


def bag(past: Messages, limit: int, count: Callable[[str], int]) -> str:
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


VARIANTS: Mapping[str, Variant] = {
    variant.name: variant
    for variant in (
        Variant("none", "history untouched, no summaries at all", without_summaries),
        Variant("no-history", "nothing of the past is sent: the floor", rewriting(nothing_of_it)),
        Variant("stock", "aider as it is", with_joined_summaries),
        Variant("stock-fixed", "aider with its summaries applied", with_applied_summaries, summaries=True),
        Variant("gardener", "aider with the gardener", settings={}),
        Variant("tail", "the newest messages that fit the history limit", rewriting(newest)),
        Variant("mask10", "all but the last 10 outputs masked", rewriting(last_ten_outputs)),
        Variant("clear3", "above the limit only the last 3 outputs", rewriting(three_outputs_once_full)),
        Variant("filter", "another program rewrites the past (see replay.filtering)", with_filter),
        Variant("bag", "the past's names and numbers, sorted, within the limit", with_bag_for_past),
        Variant("gardener-no-recall", "the gardener without recall", settings={"recall_tokens": 0}),
        Variant("gardener-no-vectors", "the gardener without vectors", settings={"embedder": "none"}),
        Variant("gardener-no-compress", "whole, a line or nothing", without_compressed_forms, settings={}),
        Variant("gardener-stable", "the gardener, parts by how long they rest", settings={"order": "stable"}),
        Variant("gardener-observe", "the gardener only archives", settings={"mode": "observe"}),
    )
}


def variant_named(name: str) -> Variant:
    """The variant of this name; `gardener+recall_tokens=0+embedder=none` is one with other settings.

    UsageError lists the variants or settings that exist.
    """
    base, *overrides = name.split("+")
    if base not in VARIANTS:
        raise UsageError(f"unknown variant {base!r}; known: {', '.join(sorted(VARIANTS))}")
    found = VARIANTS[base]
    if not overrides:
        return found
    if found.settings is None:
        raise UsageError(f"{name!r}: {base} has no settings of the gardener's to change")
    changed = dict(setting(text, name) for text in overrides)
    about = f"{found.about}, {', '.join(overrides)}"
    return replace(found, name=name, about=about, settings={**found.settings, **changed})


def setting(text: str, name: str) -> tuple[str, Any]:
    """A setting and its value out of `recall_tokens=0`; UsageError for one that does not exist."""
    key, given, value = text.partition("=")
    known = {field.name: field for field in fields(Settings)}
    if key not in known or not given:
        raise UsageError(f"{name!r}: {text!r} is no setting=value; settings: {', '.join(sorted(known))}")
    found = parse(known[key], value, f"{name!r}: {key}")
    check_field(known[key], found)
    return key, found
