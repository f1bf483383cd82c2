"""What stands in the seams around one message: before it is sent, when it is rejected, after it.

A reply that asks for originals is answered by a reflection, aider's own way to do so.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import wraps
from typing import Any

from aider_gardener.adapters.aider import link, overflow

INTERRUPTED = "I see that you interrupted my previous reply."

TOO_LONG = "FinishReasonLength exception"


def send(original: Any) -> Any:
    @wraps(original)
    def send(self: Any, messages: Any, model: Any = None, functions: Any = None) -> Iterator[Any]:
        self.__dict__[overflow.TRIED] = True
        try:
            yield from original(self, messages, model=model, functions=functions)
            return
        except Exception as error:  # reason: any provider's error class; what is no overflow goes on up
            if not may_retry(self, error):
                raise
            again = overflow.recover(self, messages, error)
            if not again and link.active(self) is None:
                raise
        if not again:
            overflow.give_up(self)
            return
        try:
            yield from original(self, messages, model=model, functions=functions)
        except Exception as error:  # reason: as above
            if not may_retry(self, error):
                raise
            overflow.give_up(self)

    return send


def may_retry(coder: Any, error: BaseException) -> bool:
    """Whether a prompt of a gardened chat was rejected as too long before anything came back."""
    said = coder.partial_response_content
    return not said and overflow.is_overflow(error) and link.active(coder) is not None


def send_message(original: Any) -> Any:
    @wraps(original)
    def send_message(self: Any, inp: Any) -> Iterator[Any]:
        gardener = link.active(self)
        if gardener is None:
            yield from original(self, inp)
            return
        self.__dict__.update({overflow.TRIED: False, overflow.UNSENT: ""})
        overflow.close_open_exchanges(self, last=True)
        gardener.chat.count_due()
        yield from original(self, inp)
        if link.active(self) is gardener:
            with link.guarded(self):
                overflow.settle(self, gardener)
                answer(self)

    return send_message


def answer(coder: Any) -> bool:
    """Add what the reply asked for to the reflection; True when there was something to add.

    Edits of the same reply were applied before. Nothing is added when the host will not reflect again or
    the reply was broken off.
    """
    gardener = link.active(coder)
    if gardener is None or not gardener.settings.ask_for_originals:
        return False
    reply = coder.partial_response_content or ""
    if coder.num_reflections >= coder.max_reflections or broken_off(coder):
        return False
    text, ids = gardener.answer(reply)
    if not text:
        return False
    waiting = coder.reflected_message
    coder.reflected_message = f"{waiting}\n\n{text}" if waiting else text
    coder.io.tool_output(f"aider-gardener: the model asked for {', '.join(ids)} and is given it.")
    return True


def broken_off(coder: Any) -> bool:
    """Whether there was no reply at all, the user interrupted it, or it did not fit."""
    last = coder.cur_messages[-1] if coder.cur_messages else {}
    text = str(last.get("content", ""))
    return last.get("role") == "user" or text == INTERRUPTED or text.startswith(TOO_LONG)
