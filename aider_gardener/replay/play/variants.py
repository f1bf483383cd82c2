"""What a replay compares: ways to treat the chat's past, each a name and what it changes in aider; and a
session under one of them, which is what a process is handed.

Others may be added to VARIANTS by a module that a job imports.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from aider_gardener.errors import UsageError
from aider_gardener.replay.measure.result import Compaction, ModelCall
from aider_gardener.replay.session.session import Session
from aider_gardener.settings import Settings, parse


@dataclass(frozen=True)
class Job:
    """A session to replay under a variant.

    `cache_prompts` runs aider with `--cache-prompts`. `dump_dir` is where prompts go, as
    `<session>/<variant>/<turn>-<n>.json`. `texts` asks for a result with the texts of all prompts (some
    megabytes). `imports` are modules to import first: one may bring further variants.
    """

    session: Session
    variant: str
    model: str = "gpt-4o"
    history_tokens: int | None = None
    cache_prompts: bool = False
    dump_dir: Path | None = None
    texts: bool = False
    imports: tuple[str, ...] = ()


Replay = Any
"""The replay's Runner, as a variant sees it that prepares it."""


@dataclass(frozen=True)
class Variant:
    """`prepare` changes the process before the coder is made; `settings` are the gardener's, and
    None means that no gardener is installed. `summaries` says that summaries.json answers."""

    name: str
    about: str
    prepare: Callable[[Replay], None] = lambda runner: None
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
            self.replayed_summary = len(runner.compactions)  # it counts as thrown away until it is applied
            count = self.main_model.token_count
            before, after = count(self.summarizing_messages), count(self.summarized_done_messages)
            runner.compactions.append(summary_of(runner.turn, runner.calls.take_summaries(), before, after))

    def noted_end(self: Any) -> None:
        pending = self.summarizer_thread is not None
        before = list(self.done_messages)
        end(self)
        if pending and self.done_messages != before:
            at = self.replayed_summary
            runner.compactions[at] = replace(runner.compactions[at], applied=True)

    Coder.summarize_start = joined_start
    Coder.summarize_end = noted_end


def summary_of(turn: int, calls: Sequence[ModelCall], before: int, after: int) -> Compaction:
    """A summary that was paid for with these calls, of a history of so many tokens."""
    return Compaction(
        turn=turn,
        by="llm",
        applied=False,
        tokens_before=before,
        tokens_after=after,
        calls=len(calls),
        prompt_tokens=sum(call.prompt_tokens for call in calls),
        completion_tokens=sum(call.completion_tokens for call in calls),
    )


def with_applied_summaries(runner: Replay) -> None:
    """aider with its worst fault mended: the commit notice is appended before the summary starts,
    so that the finished summary is applied. In a plain chat (`plain` in the session's meta line) an
    exchange is finished with its reply, as after an edit."""
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

    run_one = Coder.run_one

    def run_and_close(self: Any, user_message: str, preproc: bool) -> None:
        given = runner.recorded.given
        run_one(self, user_message, preproc)
        if runner.recorded.given > given:
            self.move_back_cur_messages(None)

    Coder.move_back_cur_messages = move_back_cur_messages
    if runner.session.meta.get("plain"):  # without edits aider never moves one, and would never summarise
        Coder.run_one = run_and_close


VARIANTS: dict[str, Variant] = {
    variant.name: variant
    for variant in (
        Variant("none", "history untouched, no summaries at all", without_summaries),
        Variant("stock", "aider as it is", with_joined_summaries),
        Variant("stock-fixed", "aider with its summaries applied", with_applied_summaries, summaries=True),
        Variant("gardener", "aider with the gardener", settings={}),
    )
}


def variant_named(name: str) -> Variant:
    """The variant of this name; `gardener+recall_tokens=0+embedder=none` is one with other settings.

    UsageError lists the variants or settings that exist.
    """
    base, *overrides = name.split("+")
    if base not in VARIANTS:
        raise UsageError(f"unknown variant {base!r}; known: {', '.join(sorted(VARIANTS))}")
    found, options = VARIANTS[base], {field.name: field for field in fields(Settings)}
    if not overrides:
        return found
    if found.settings is None:
        raise UsageError(f"{name!r}: {base} has no settings of the gardener's to change")
    settings = dict(found.settings)
    for text in overrides:
        key, given, value = text.partition("=")
        if key not in options or not given:
            raise UsageError(
                f"{name!r}: {text!r} is no setting=value; settings: {', '.join(sorted(options))}"
            )
        settings[key] = parse(options[key], value, f"{name!r}: {key}")
    return replace(found, name=name, about=f"{found.about}, {', '.join(overrides)}", settings=settings)
