"""One call of the model: before it, when the prompt is rejected as too long, and what came back.

A prompt that is too long is compacted harder, what waits for an answer is cut, and it is sent once more. A
reply that asks for originals is answered by a reflection, aider's own way to do so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import wraps
from typing import TYPE_CHECKING, Any

from aider_gardener.adapters.aider import link
from aider_gardener.adapters.aider.coder import HostCoder, HostMessage, HostModel, Terminal, text_of
from aider_gardener.adapters.aider.provider import listed_window, prices_of, token_counter
from aider_gardener.adapters.aider.wrappers import guarded
from aider_gardener.plan.goals import HARD_AT
from aider_gardener.plan.usage import Call
from aider_gardener.plan.view import FILLER
from aider_gardener.tokens import MESSAGE_OVERHEAD_TOKENS

if TYPE_CHECKING:
    from aider_gardener.gardener.gardener import Gardener

PHRASES = re.compile(
    r"context[ _-]?(?:length|window|size|limit)|maximum context|too many (?:input )?tokens|prompt is too long"
    r"|exceeds? the (?:available|model'?s) context|input (?:is )?too long|exceeds the maximum (?:number of )?"
    r"tokens|\bn_ctx\b|token limit exceeded",
    re.I,
)
OVERFLOW_ERROR = "ContextWindowExceededError"
REQUEST_ERRORS = frozenset({"BadRequestError", "APIError", "InvalidRequestError"})

STATED = re.compile(
    r"(?:maximum context length|context (?:length|window|size)|\bn_ctx|maximum(?: of| is)?|\blimit|\bmax)"
    r"\W{0,3}(?:of |is |only |\(|tokens? )*\W{0,2}(\d[\d,_]{2,9})(?!\d| ?\+)"
    r"|(?:\+ (\d{1,9}) )?> (\d[\d,_]{2,9})(?!\d)",
    re.I,
)
"""How providers and local servers say how long a prompt may be, some with the reply that must fit too."""
LEAST_WINDOW = 512

TRIED, UNSENT = "_gardener_tried", "_gardener_unsent"
"""Of a coder's message: whether it was sent, and why it cannot be."""
PENDING_LINE = "_gardener_to_tell"
"""Of the prompt that was made last: the dim line on it, for when it is sent; some are only made."""

FAKE_REPLY = "FinishReasonLength exception: you sent too many tokens"
INTERRUPTED, TOO_LONG = "I see that you interrupted my previous reply.", "FinishReasonLength exception"

PING_SECONDS = 295
"""Between two calls by which aider keeps the cache warm (--cache-keepalive-pings)."""

WORDS = {"current": "your message", "files": "files in the chat", "map": "repository map"}


# Around one message


@contextmanager
def message(coder: HostCoder, gardener: Gardener, *_message: object) -> Iterator[None]:
    """A context of one message and its reply. Before: what was left without an answer is closed. After: a
    message that was not sent is taken out, and a reply that asks for originals is answered."""
    from aider_gardener.gardener.report import cold_line

    if gardener.state.acts:
        coder.__dict__.update({TRIED: False, UNSENT: ""})
        close_open_exchanges(coder, last=True)
        gardener.state.chat = gardener.state.chat.counted()
        if line := cold_line(gardener.state):
            Terminal(coder.io).tool_output(f"aider-gardener: {line}")
    yield
    if gardener.state.acts and link.runs(coder, gardener):
        take_out_unsent(coder, gardener)
        answer(coder, gardener)


def close_open_exchanges(coder: HostCoder, *, last: bool) -> None:
    """A message that was sent and never answered (the provider failed, an empty reply) is closed as the
    host closes outputs, so that the roles alternate; in its own list, for prompts have files between the two.
    `last`: another message is about to follow."""
    closed: list[HostMessage] = []
    role = coder.done_messages[-1]["role"] if coder.done_messages else ""
    for each in coder.cur_messages:
        if role == each["role"] == "user":
            (closed or coder.done_messages).append({"role": "assistant", "content": FILLER})
        closed.append(each)
        role = each["role"]
    if last and role == "user":
        (closed or coder.done_messages).append({"role": "assistant", "content": FILLER})
    coder.cur_messages[:] = closed


def take_out_unsent(coder: HostCoder, gardener: Gardener) -> None:
    """A message that could not be sent, or was not, leaves no trace but its original in the archive; nothing
    that the model did not say stands in its voice."""
    cur = coder.cur_messages
    fake = bool(cur) and cur[-1] == {"role": "assistant", "content": FAKE_REPLY}
    why, tried = coder.__dict__.pop(UNSENT, ""), coder.__dict__.pop(TRIED, False)
    if tried and not why and not fake:
        return
    if fake:
        del cur[-1]
    if not cur or cur[-1]["role"] != "user":
        return
    link.sync(coder, gardener)
    chat = gardener.state.chat
    name = ", ".join(chat.entries[seq].id for seq in chat.cur[-1].levels)
    del cur[-1]
    if not (coder.done_messages or cur):
        gardener.empty()
    link.sync(coder, gardener)
    line = f"{why}the message got no answer and was taken out of the chat; it is kept as {name}."
    io = Terminal(coder.io)
    (io.tool_error if why else io.tool_output)(f"aider-gardener: {line}")


def answer(coder: HostCoder, gardener: Gardener) -> bool | None:
    """Add what the reply asked for to the reflection; True when there was something to add.

    Edits of the same reply were applied before. Nothing is added when the host will not reflect again or
    the reply was broken off: there is none, the user interrupted it, or it did not fit.
    """
    if not gardener.state.acts or not gardener.state.settings.ask_for_originals:
        return None
    last = coder.cur_messages[-1] if coder.cur_messages else {}
    text = str(last.get("content", ""))
    broken_off = last.get("role") == "user" or text == INTERRUPTED or text.startswith(TOO_LONG)
    if broken_off or coder.num_reflections >= coder.max_reflections:
        return None
    text, ids = gardener.answer(coder.partial_response_content or "")
    if not text:
        return None
    waiting = coder.reflected_message
    coder.reflected_message = f"{waiting}\n\n{text}" if waiting else text
    state = gardener.state
    state.chat = replace(state.chat, typed_this_turn=False)  # what is reflected begins no turn of the user's
    Terminal(coder.io).tool_output(f"aider-gardener: the model asked for {', '.join(ids)} and is given it.")
    return True


# A prompt that is too long


def send(original: Any) -> object:
    """The wrapper of `Coder.send`: a prompt that is rejected is made shorter and sent once more."""

    @wraps(original)
    def send(
        self: HostCoder,
        messages: list[HostMessage],
        model: HostModel | None = None,
        functions: object = None,
    ) -> Iterator[object]:
        self.__dict__[TRIED] = True
        for may_retry in (True, False):
            _show_pending(self)
            try:
                yield from original(self, messages, model=model, functions=functions)
                return
            except Exception as error:  # reason: any provider's error class; what is no overflow goes on up
                again = link.run(compact_and_resend, self, messages, error, may_retry)
                if again is None:
                    raise
            if not again:
                self.num_exhausted_context_windows += 1
                return

    return send


@guarded
def _show_pending(coder: HostCoder) -> None:
    """Say what the prompt that is sent has in it."""
    if line := coder.__dict__.pop(PENDING_LINE, ""):
        Terminal(coder.io).dim(f"aider-gardener: {line}")


def compact_and_resend(
    coder: HostCoder, gardener: Gardener, messages: list[HostMessage], error: BaseException, may_retry: bool
) -> bool | None:
    """After a failed call: True when the prompt was made shorter, in place, to be sent once more; False when
    it was given up and the user told; None when the failure is the host's to deal with: none of the prompt's
    length, or something came back."""
    coder.__dict__[TRIED] = True
    if not gardener.state.acts or coder.get_multi_response_content_in_progress() or not is_overflow(error):
        return None
    if may_retry and _compact_harder(coder, gardener, window_of(error)):
        messages[:] = coder.format_messages().all_messages()
        return True
    _give_up(coder, gardener)
    return False


def shorten(coder: HostCoder, gardener: Gardener, error: BaseException) -> bool:
    """The same for an aider that makes the prompt anew: whether the history was made shorter."""
    return gardener.state.acts and _compact_harder(coder, gardener, window_of(error))


def is_overflow(error: BaseException) -> bool:
    """Whether the error says that the prompt exceeds the window.

    litellm's own class says so; local servers send a plain bad request with words to that effect.
    """
    names = {cls.__name__ for cls in type(error).__mro__}
    is_worded = bool(names & REQUEST_ERRORS) and PHRASES.search(str(error)) is not None
    return OVERFLOW_ERROR in names or is_worded


def window_of(error: BaseException) -> int:
    """The window in tokens that the error states, without the reply that it names; 0 when it states none."""
    found = [
        int((a or b).replace(",", "").replace("_", "")) - int(reply or 0)
        for a, reply, b in STATED.findall(str(error))
    ]
    return min((number for number in found if number >= LEAST_WINDOW), default=0)


def _compact_harder(coder: HostCoder, gardener: Gardener, stated: int) -> bool:
    """Garden harder; False when nothing can go. A window that the provider states and that is smaller than
    the one known is taken over."""
    from aider_gardener.gardener.throttle import throttle_open

    link.sync(coder, gardener)
    state = gardener.state
    if stated and (not state.frame.window or stated < state.frame.window):
        state.frame = replace(state.frame, window=stated)
    plan = gardener.compact_after_rejection(max(0, int(HARD_AT * state.frame.window) - state.tokens_around))
    now, room = state.open_used, state.open_room
    nothing_else = plan is None and room >= now
    cut = throttle_open(state, now // 2 if nothing_else else room)
    if plan is None and not cut:
        return False
    saved = (plan.tokens_saved if plan else 0) + sum(c.entry.tokens - c.tokens_after for c in cut)
    done = f"compacted the history by {saved:,} tokens and tries once more"
    if plan is None:
        done = "tries once more without the middle of your message"
    Terminal(coder.io).tool_warning(f"The prompt did not fit the model's window: aider-gardener {done}.")
    for item in cut:
        Terminal(coder.io).tool_warning(f"aider-gardener: {item.line()}")
    return True


def _give_up(coder: HostCoder, gardener: Gardener) -> None:
    """Nothing helps: what was to be sent is taken out by `take_out_unsent`, which says the reason too."""
    coder.partial_response_content = ""
    state, frame = gardener.state, gardener.state.frame
    parts = {**frame.parts, "history": state.history_used, "current": state.open_used}
    largest = sorted(((tokens, name) for name, tokens in parts.items() if tokens), reverse=True)[:3]
    shares = ", ".join(f"{WORDS.get(name, name)} {tokens:,}" for tokens, name in largest)
    window = f" of {frame.window:,} tokens" if frame.window else ""
    coder.__dict__[UNSENT] = (
        f"the prompt does not fit the model's window{window} ({shares}): /drop files that are not needed,"
        " shorten the message, or take a model with a larger window; "
    )


# What the call used


def used(
    coder: HostCoder, gardener: Gardener, messages: list[HostMessage], completion: object = None
) -> None:
    """The provider got a prompt: add the call to the chat's usage, by its own numbers if the completion has
    them, and correct the counter where the provider counts otherwise. A smaller window that a rejection
    stated is forgotten where the model took a longer prompt, before or since."""
    coder.__dict__[TRIED] = True
    _show_pending(coder)  # an aider with history providers sends by itself
    if completion is None:
        return
    from aider_gardener.gardener.report import sent

    state, model, texts = gardener.state, coder.main_model, [text_of(m) for m in messages]
    plain = token_counter(model)
    estimated = sum(plain(text) + MESSAGE_OVERHEAD_TOKENS for text in texts)
    reported = reported_call(completion)
    call = reported or Call(estimated, plain(coder.partial_response_content or ""), reported=False)
    pings = coder.num_cache_warming_pings if coder.add_cache_headers and coder.ok_to_warm_cache else 0
    state.usage.add(call, prices_of(coder), warmed_seconds=pings * PING_SECONDS)
    if state.frame.model == model.name and state.usage.taken(model.name, call) > state.frame.window > 0:
        state.frame = replace(state.frame, window=listed_window(model))  # a smaller one was stated
    sent(state, texts, estimated)
    if reported and all(isinstance(m.get("content"), str) for m in messages):  # no images
        before = state.usage.factor(model.name)
        state.usage.compare(model.name, estimated=estimated, reported=call.prompt_tokens)
        after = state.usage.factor(model.name)
        if after != before and state.frame.model == model.name:
            state.archive.count = token_counter(model, after)


def reported_call(completion: object) -> Call | None:
    """The call as its response reports it, or None. Of a stream, what its chunks have said so far."""
    whole, chunks = getattr(completion, "usage", None), getattr(completion, "chunks", None)
    parts = [whole] if whole else [getattr(chunk, "usage", None) for chunk in chunks or []]
    rows = [_numbers(part) for part in parts if part is not None]
    if not rows:
        return None
    prompt, answer, cached, written = (max(column) for column in zip(*rows, strict=True))
    return Call(prompt, answer, min(cached, prompt), min(written, prompt)) if prompt else None


def _numbers(usage: object) -> tuple[int, int, int, int]:
    """Prompt, completion, cached and written tokens of one report; litellm's prompt tokens hold all."""

    def number(holder: object, name: str) -> int:
        value = getattr(holder, name, 0)
        return value if isinstance(value, int) and value > 0 else 0

    details = getattr(usage, "prompt_tokens_details", None)
    cached = number(details, "cached_tokens") or number(usage, "prompt_cache_hit_tokens")
    written = number(details, "cache_creation_tokens") or number(usage, "cache_creation_input_tokens")
    return number(usage, "prompt_tokens"), number(usage, "completion_tokens"), cached, written
