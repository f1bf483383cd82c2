"""Asks a probe as an extra prompt and leaves everything as it was."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

from aider_gardener.replay.measure.probes import key_pattern, said_in, score
from aider_gardener.replay.measure.result import ProbeResult
from aider_gardener.replay.play.calls import tokens_by_part
from aider_gardener.replay.play.model import text_of
from aider_gardener.replay.session.session import Probe

if TYPE_CHECKING:
    from aider_gardener.replay.play.runner import Runner

REBOUND = (
    "summarizer_thread",
    "summarizing_messages",
    "summarized_done_messages",
    "fence",
    "warning_given",
)
"""Attributes of a coder that putting a prompt together may rebind."""

MAP_STATE = ("map_cache", "map_processing_time", "last_map")
"""Attributes of aider's repository map that change when a map is made."""


@contextmanager
def untouched(coder: Any) -> Iterator[None]:
    """Within the block the coder may put a prompt together; afterwards its chat, files, repository
    map and pending summary are what they were, the same objects with the same contents."""
    done, cur = coder.done_messages, coder.cur_messages
    done_before, cur_before = list(done), list(cur)
    rebound = {name: getattr(coder, name) for name in REBOUND}
    files = set(coder.abs_fnames), set(coder.abs_read_only_fnames)
    repo_map = coder.repo_map
    map_state = {name: getattr(repo_map, name, None) for name in MAP_STATE} if repo_map else {}
    if repo_map:
        repo_map.map_cache = dict(repo_map.map_cache)
    try:
        yield
    finally:
        done[:], cur[:] = done_before, cur_before
        coder.done_messages, coder.cur_messages = done, cur
        for name, value in rebound.items():
            setattr(coder, name, value)
        coder.abs_fnames, coder.abs_read_only_fnames = files
        for name, value in map_state.items():
            setattr(repo_map, name, value)


@contextmanager
def no_trace(runner: Runner) -> Iterator[None]:
    """Like `untouched`, for the gardener, the terminal and the replay's own books as well."""
    coder = runner.coder
    compactions, summaries = list(runner.compactions), list(runner.calls.summaries)
    said, before = list(runner.io.said), runner.messages_before_turn
    asks = runner.io.num_user_asks
    gardener = getattr(coder, "gardener", None)
    with ExitStack() as stack:
        stack.enter_context(untouched(coder))
        if gardener is not None and hasattr(gardener, "trial"):
            stack.enter_context(gardener.trial())
        try:
            yield
        finally:
            runner.compactions, runner.calls.summaries = compactions, summaries
            runner.io.said, runner.messages_before_turn = said, before
            runner.io.num_user_asks = asks


def ask_probe(runner: Runner, number: int, probe: Probe) -> ProbeResult:
    """Put together the prompt that this question would send now, and score what it holds."""
    coder = runner.coder
    with no_trace(runner):
        runner.messages_before_turn = runner.chat_length()
        coder.cur_messages += [{"role": "user", "content": probe.question}]
        messages = coder.format_messages().all_messages()
        model = coder.main_model
        rows = runner.prompts.rows(messages, lambda m: runner.counted.of_message(model, m))
        tokens = runner.counted.of_messages(model, messages)
        sent = [text_of(m.get("content")) for m in without_question(messages, probe.question)]
    runner.prompts.dump(f"{probe.ask_at_turn}-probe{number}", messages)
    answer = None if runner.asker is None else runner.asker.ask("probe", messages)
    found = score(probe, said_in(runner.session, probe.about_turn), sent)
    runner.decoyed += runner.decoys.results(number, probe, "\n".join(sent))
    return ProbeResult(
        number=number,
        about_turn=probe.about_turn,
        ask_at_turn=probe.ask_at_turn,
        kind=probe.kind,
        question=probe.question,
        present=found.present,
        supported=found.supported,
        missing=found.missing,
        unsupported=found.unsupported,
        prompt_tokens=tokens,
        messages=len(messages),
        parts=tokens_by_part(rows),
        answer=answer,
        answered=answer is not None and all(key_pattern(key).search(answer) for key in probe.answer_keys),
    )


def without_question(messages: Sequence[Mapping[str, Any]], question: str) -> list[Mapping[str, Any]]:
    """The messages but the last one of the user's that begins with the question."""
    for at in range(len(messages) - 1, -1, -1):
        message = messages[at]
        if message["role"] == "user" and text_of(message.get("content")).startswith(question):
            return [*messages[:at], *messages[at + 1 :]]
    return list(messages)
