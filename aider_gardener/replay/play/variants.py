"""What a replay compares: ways to treat the chat's past, each a name and what it changes in aider.

The host's own ways come first, then baselines, which decide per past message what is sent of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from aider_gardener.errors import UsageError
from aider_gardener.replay.measure.result import Compaction
from aider_gardener.replay.play.baselines import (
    Replay,
    first_and_newest,
    last_ten_outputs,
    newest,
    nothing,
    nothing_of_it,
    rewriting,
    with_filter,
    with_search,
    without_summaries,
)
from aider_gardener.settings import Settings, parse

DEFAULT_VARIANTS = ("stock", "stock-fixed", "gardener")
"""What `gardener replay` runs if not told otherwise."""


@dataclass(frozen=True)
class Variant:
    """`prepare` changes the process before the coder is made; `settings` are the gardener's, and
    None means that no gardener is installed. `summaries` says that summaries.json answers."""

    name: str
    about: str
    prepare: Callable[[Replay], None] = nothing
    settings: Mapping[str, Any] | None = None
    summaries: bool = False


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


LEAD_CHARS = 2_400
"""The length of the recorded summaries, in the median."""

SPEAKER = re.compile(r"^# (?:USER|ASSISTANT)\n", re.MULTILINE)
"""Begins a message in aider's summarising prompt."""

SENTENCE_END = re.compile(r"(?<=[.!?:])\s|\n")


def with_leading_sentences(runner: Replay) -> None:
    """aider with its summaries applied, each answered by the first sentences of its messages: what a poor
    summariser gives, at any limit."""
    with_applied_summaries(runner)
    runner.model.summarise = leading_sentences


def leading_sentences(messages: Sequence[Mapping[str, Any]]) -> str:
    """The first sentence of each message that is to be summarised, of the newest as many as fit."""
    asked = str(messages[-1]["content"]) if messages else ""
    left, kept = LEAD_CHARS, []
    for said in reversed(SPEAKER.split(asked)):
        sentence = SENTENCE_END.split(said.strip(), maxsplit=1)[0].strip()
        if not sentence:
            continue
        left -= len(sentence) + 1
        if left < 0:
            break
        kept.append(sentence)
    return "\n".join(reversed(kept))


def as_orders(runner: Replay) -> None:
    """Every prompt may recall what an order may: probes get no more than the real prompts of a session, most
    of which are orders."""
    from aider_gardener.gardener import gardener
    from aider_gardener.recall.request import ORDINARY_SHARE

    vars(gardener)["recall_part"] = lambda prompt: ORDINARY_SHARE


def without_compressed_forms(runner: Replay) -> None:
    """The gardener's compressors leave everything as it is: an entry is shown whole, as a line or not."""
    from aider_gardener import compress
    from aider_gardener.compress.base import unchanged
    from aider_gardener.messages import ContentClass

    def as_it_is(content: str, *_rest: Any, **_options: Any) -> Any:
        return unchanged(content, ContentClass.PROSE)

    vars(compress)["compress_message"] = as_it_is


def without_forms(runner: Replay) -> None:
    """Nothing is made shorter, not to a line either: an entry is shown whole or not."""
    from aider_gardener import compress

    def as_it_is(content: str, *_rest: Any, **_options: Any) -> str:
        return content

    without_compressed_forms(runner)
    vars(compress)["line_form"] = as_it_is


VARIANTS: Mapping[str, Variant] = {
    variant.name: variant
    for variant in (
        Variant("none", "history untouched, no summaries at all", without_summaries),
        Variant("no-history", "nothing of the past is sent: the floor", rewriting(nothing_of_it)),
        Variant("stock", "aider as it is", with_joined_summaries),
        Variant("stock-fixed", "aider with its summaries applied", with_applied_summaries, summaries=True),
        Variant("gardener", "aider with the gardener", settings={}),
        Variant("stock-lead", "the same, each summary the messages' first sentences", with_leading_sentences),
        Variant("tail", "the newest messages that fit the history limit", rewriting(newest)),
        Variant("tail-search", "the newest, and a full-text search of the rest", with_search),
        Variant("first-last", "the first exchange and the newest messages", rewriting(first_and_newest)),
        Variant("mask10", "all but the last 10 outputs masked", rewriting(last_ten_outputs)),
        Variant("filter", "another program rewrites the past, the newest of it", with_filter),
        Variant("gardener-as-order", "no prompt recalls more than an order may", as_orders, settings={}),
        Variant("gardener-no-recall", "the gardener without recall", settings={"recall_tokens": 0}),
        Variant("gardener-no-vectors", "the gardener without vectors", settings={"embedder": "none"}),
        Variant("gardener-no-compress", "whole, a line or nothing", without_compressed_forms, settings={}),
        Variant("gardener-no-forms", "whole or nothing", without_forms, settings={}),
        Variant("gardener-append", "the gardener, prompts that only grow", settings={"files": "append"}),
        Variant(
            "gardener-aider-order", "the gardener, files as aider sends them", settings={"files": "aider"}
        ),
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
    return key, parse(known[key], value, f"{name!r}: {key}")
