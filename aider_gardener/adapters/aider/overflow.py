"""When a prompt is too long: garden harder, cut what waits for an answer, send once more, say so."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from aider_gardener.adapters.aider import link
from aider_gardener.adapters.aider.coder import HostCoder, HostMessage
from aider_gardener.plan.goals import HARD_AT, Frame

if TYPE_CHECKING:
    from aider_gardener.gardener.gardener import Gardener
    from aider_gardener.gardener.state import ChatState
    from aider_gardener.gardener.throttle import Throttled

PHRASES = re.compile(
    r"context[ _-]?(?:length|window|size)|maximum context|too many (?:input )?tokens|prompt is too long"
    r"|exceeds? the (?:available|model'?s) context|input (?:is )?too long|exceeds the maximum (?:number of )?"
    r"tokens|\bn_ctx\b|token limit exceeded",
    re.I,
)
OVERFLOW_ERRORS = frozenset({"ContextWindowExceededError"})
REQUEST_ERRORS = frozenset({"BadRequestError", "APIError", "InvalidRequestError"})

STATED = re.compile(
    r"(?:maximum context length|context (?:length|window|size)|\bn_ctx|maximum(?: of| is)?|\blimit|\bmax)"
    r"\W{0,3}(?:of |is |only |\(|tokens? )*\W{0,2}(\d[\d,_]{2,9})(?!\d)"
    r"|> (\d[\d,_]{2,9}) maximum",
    re.I,
)
"""How providers and local servers say how long a prompt may be."""
LEAST_WINDOW = 512

TRIED = "_gardener_tried"
RETRIED = "_gardener_retried"
UNSENT = "_gardener_unsent"
FAKE_REPLY = "FinishReasonLength exception: you sent too many tokens"


def is_overflow(error: BaseException) -> bool:
    """Whether the error says that the prompt exceeds the window.

    litellm's own class says so; local servers send a plain bad request with words to that effect.
    """
    names = {cls.__name__ for cls in type(error).__mro__}
    if names & OVERFLOW_ERRORS:
        return True
    return bool(names & REQUEST_ERRORS) and PHRASES.search(str(error)) is not None


def window_of(error: BaseException) -> int:
    """The window in tokens that the error states, 0 when it states none."""
    found = [int((a or b).replace(",", "").replace("_", "")) for a, b in STATED.findall(str(error))]
    return min((number for number in found if number >= LEAST_WINDOW), default=0)


def rejected(coder: HostCoder, error: BaseException) -> Gardener | None:
    """The gardener, if a prompt of its chat was rejected as too long before anything came back."""
    gardener = link.active(coder)
    return gardener if gardener and not coder.partial_response_content and is_overflow(error) else None


def retry(coder: HostCoder, messages: list[HostMessage], error: BaseException) -> bool | None:
    """After a failed call: True when the prompt was made shorter, in place, to be sent once more; False when
    it was given up and the user told; None when the failure is the host's to deal with."""
    gardener = rejected(coder, error)
    if gardener is None:
        return None
    if recover(coder, gardener, messages, error):
        return True
    give_up(coder, gardener)
    return False


def shrink(coder: HostCoder, messages: list[HostMessage], error: BaseException) -> bool | None:
    """The same where the host itself sends again, and not a third time: the second failure is the last."""
    coder.__dict__[TRIED] = True
    if coder.__dict__.get(RETRIED) is not messages:
        coder.__dict__[RETRIED] = messages
        return retry(coder, messages, error)
    if (gardener := rejected(coder, error)) is not None:
        give_up(coder, gardener)
    return False


def recover(coder: HostCoder, gardener: Gardener, messages: list[HostMessage], error: BaseException) -> bool:
    """After a rejection: garden harder and rebuild the prompt in place; False when nothing can go."""
    from aider_gardener.gardener.throttle import throttle_open

    link.take_in(coder, gardener)
    learn_window(gardener, window_of(error))
    plan = gardener.compact_after_rejection(room(gardener.state.frame))
    cut = throttle_open(gardener.state, most_for_open(gardener.state, shrunk=plan is not None))
    if plan is None and not cut:
        return False
    link.show(coder, gardener)
    messages[:] = coder.format_messages().all_messages()
    saved = (plan.tokens_saved if plan else 0) + sum(c.tokens_before - c.tokens_after for c in cut)
    coder.io.tool_warning(
        "The prompt did not fit the model's window: aider-gardener compacted the history by"
        f" {saved:,} tokens and tries once more."
        if plan
        else "The prompt did not fit the model's window: aider-gardener tries once more without the"
        " middle of your message."
    )
    tell(coder, cut)
    return True


def learn_window(gardener: Gardener, stated: int) -> None:
    """Take a window that the provider states and that is smaller than the one known."""
    frame = gardener.state.frame
    if stated and (not frame.window or stated < frame.window):
        gardener.state.frame = replace(frame, window=stated)


def room(frame: Frame) -> int:
    """What the window leaves for the history in tokens; 0 when it is unknown or nothing is left."""
    return max(0, int(HARD_AT * frame.window) - frame.tokens) if frame.window else 0


def most_for_open(state: ChatState, *, shrunk: bool) -> int:
    """How many tokens the messages that wait for an answer may keep.

    What the window leaves beside all else; half of what they are if there is nothing else to give up.
    """
    from aider_gardener.plan.planner import open_tokens

    frame, now = state.frame, open_tokens(state.chat, state.count)
    left = int(HARD_AT * frame.window) - frame.around - state.history_used if frame.window else now
    return left if shrunk or left < now else now // 2


def fit_open(coder: HostCoder, gardener: Gardener) -> bool:
    """Before a prompt is sent that cannot fit: cut the message that waits for an answer, if that helps."""
    from aider_gardener.gardener.throttle import throttle_open
    from aider_gardener.plan.planner import open_tokens

    state = gardener.state
    if not state.frame.window:
        return False
    most = most_for_open(state, shrunk=True)
    if most >= open_tokens(state.chat, state.count) or most <= 0:
        return False
    cut = throttle_open(state, most)
    tell(coder, cut)
    return bool(cut)


def tell(coder: HostCoder, cut: Iterable[Throttled]) -> None:
    """Say in one line for each message what of it is kept."""
    for item in cut:
        coder.io.tool_warning(f"aider-gardener: {item.line()}")


def give_up(coder: HostCoder, gardener: Gardener) -> None:
    """Nothing helps: what was to be sent is taken out by `settle`, which tells the user the reason too."""
    from aider_gardener.plan.planner import open_tokens

    coder.partial_response_content = ""
    state, frame = gardener.state, gardener.state.frame
    waiting = open_tokens(state.chat, state.count)
    parts = {**frame.parts, "history": state.history_used, "current": waiting}
    largest = sorted(((tokens, name) for name, tokens in parts.items() if tokens), reverse=True)[:3]
    names = {"current": "your message", "files": "files in the chat", "map": "repository map"}
    shares = ", ".join(f"{names.get(name, name)} {tokens:,}" for tokens, name in largest)
    window = f" of {frame.window:,} tokens" if frame.window else ""
    coder.__dict__[UNSENT] = (
        f"the prompt does not fit the model's window{window} ({shares}): /drop files that are not needed,"
        " shorten the message, or take a model with a larger window; "
    )


def close_open_exchanges(coder: HostCoder, *, last: bool) -> None:
    """A message that was sent and never answered (the provider failed, an empty reply) is closed as the
    host closes outputs, so that the roles alternate. `last`: another message is about to follow."""
    from aider_gardener.plan.view import FILLER

    closed: list[HostMessage] = []
    before = coder.done_messages[-1:]
    for message in coder.cur_messages:
        if message["role"] == "user" and [m["role"] for m in before] == ["user"]:
            closed.append({"role": "assistant", "content": FILLER})
        closed.append(message)
        before = [message]
    if last and before and before[0]["role"] == "user":
        closed.append({"role": "assistant", "content": FILLER})
    if len(closed) != len(coder.cur_messages):
        coder.cur_messages = closed


def settle(coder: HostCoder, gardener: Gardener) -> None:
    """After a message: one that could not be sent, or was not, leaves no trace but its original in the
    archive; nothing that the model did not say stands in its voice."""
    cur = coder.cur_messages
    fake = bool(cur) and cur[-1] == {"role": "assistant", "content": FAKE_REPLY}
    why, tried = coder.__dict__.pop(UNSENT, ""), coder.__dict__.pop(TRIED, False)
    if tried and not why and not fake:
        return
    coder.cur_messages = cur[:-1] if fake else list(cur)
    if not coder.cur_messages or coder.cur_messages[-1]["role"] != "user":
        return
    link.take_in(coder, gardener)
    chat = gardener.state.chat
    name = ", ".join(chat.entries[seq].id for seq in chat.cur[-1].levels)
    coder.cur_messages = coder.cur_messages[:-1]
    link.take_in(coder, gardener)
    say = coder.io.tool_error if why else coder.io.tool_output
    say(
        f"aider-gardener: {why}the message got no answer and was taken out of the chat; it is kept as {name}."
    )
