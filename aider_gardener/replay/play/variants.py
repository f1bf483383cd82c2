"""What a replay compares: ways to treat the chat's past, each a name and what it changes in aider."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from aider_gardener.errors import UsageError
from aider_gardener.replay.measure.result import Compaction
from aider_gardener.replay.play import baselines  # noqa: F401  # reason: registers its variants
from aider_gardener.replay.play.variant import VARIANTS, Variant, register, without_summaries
from aider_gardener.settings import Settings, check_field, parse

if TYPE_CHECKING:
    from aider_gardener.replay.play.variant import Replay

DEFAULT_VARIANTS = ("none", "no-history", "stock", "stock-fixed", "gardener")
"""What `gardener replay` runs if not told otherwise."""


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


def without_history(runner: Replay) -> None:
    """Of the chat only what the current turn added is sent."""
    without_summaries(runner)
    from aider.coders.base_coder import Coder

    format_chat_chunks = Coder.format_chat_chunks

    def current_turn_only(self: Any) -> Any:
        chunks = format_chat_chunks(self)
        before = runner.messages_before_turn
        if before > len(chunks.done) + len(chunks.cur):
            before = 0  # another coder's chat, such as the architect's editor
        cut = max(0, before - len(chunks.done))
        chunks.done, chunks.cur = chunks.done[before:], chunks.cur[cut:]
        return chunks

    Coder.format_chat_chunks = current_turn_only


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


register(Variant("none", "history untouched, no summaries at all", without_summaries))
register(Variant("no-history", "nothing of the past is sent: the floor", without_history))
register(Variant("stock", "aider as it is", with_joined_summaries))
register(Variant("stock-fixed", "aider with its summaries applied", with_applied_summaries, summaries=True))
register(Variant("gardener", "aider with the gardener", settings={}))
