"""What stands in the seams around one message: before it is sent, when it is rejected, after it.

A reply that asks for originals is answered by a reflection, aider's own way to do so.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import wraps
from typing import TYPE_CHECKING, Any

from aider_gardener.adapters.aider import link, overflow
from aider_gardener.adapters.aider.coder import HostCoder, HostMessage, HostModel, Original
from aider_gardener.adapters.aider.guard import Guard

if TYPE_CHECKING:
    from aider_gardener.gardener.gardener import Gardener

INTERRUPTED = "I see that you interrupted my previous reply."

TOO_LONG = "FinishReasonLength exception"


def send(original: Original) -> Original:
    @wraps(original)
    def send(
        self: HostCoder,
        messages: list[HostMessage],
        model: HostModel | None = None,
        functions: Any = None,
    ) -> Iterator[Any]:
        with Guard(self):
            self.__dict__[overflow.TRIED] = True
        try:
            yield from original(self, messages, model=model, functions=functions)
            return
        except Exception as error:  # reason: any provider's error class; what is no overflow goes on up
            again = None
            with Guard(self):
                again = overflow.retry(self, messages, error)
            if again is None:
                raise
        if not again:
            self.num_exhausted_context_windows += 1
            return
        try:
            yield from original(self, messages, model=model, functions=functions)
        except Exception as error:  # reason: as above
            given_up = False
            with Guard(self):
                if (gardener := overflow.rejected(self, error)) is not None:
                    overflow.give_up(self, gardener)
                    given_up = True
            if not given_up:
                raise
            self.num_exhausted_context_windows += 1

    return send


def send_message(original: Original) -> Original:
    @wraps(original)
    def send_message(self: HostCoder, inp: str) -> Iterator[Any]:
        gardener = None
        with Guard(self):
            gardener = begin(self)
        yield from original(self, inp)
        with Guard(self):
            if gardener is not None and link.active(self) is gardener:
                overflow.settle(self, gardener)
                answer(self)

    return send_message


def begin(coder: HostCoder) -> Gardener | None:
    """Before a message: what was left without an answer is closed; returns the gardener if it acts."""
    gardener = link.active(coder)
    if gardener is not None:
        coder.__dict__.update({overflow.TRIED: False, overflow.UNSENT: ""})
        overflow.close_open_exchanges(coder, last=True)
        gardener.state.chat = gardener.state.chat.counted()
    return gardener


def answer(coder: HostCoder) -> bool:
    """Add what the reply asked for to the reflection; True when there was something to add.

    Edits of the same reply were applied before. Nothing is added when the host will not reflect again or
    the reply was broken off.
    """
    gardener = link.active(coder)
    if gardener is None or not gardener.state.settings.ask_for_originals:
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


def broken_off(coder: HostCoder) -> bool:
    """Whether there was no reply at all, the user interrupted it, or it did not fit."""
    last = coder.cur_messages[-1] if coder.cur_messages else {}
    text = str(last.get("content", ""))
    return last.get("role") == "user" or text == INTERRUPTED or text.startswith(TOO_LONG)
