"""What stands in the seams around one message: before it is sent, when it is rejected, after it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import wraps
from typing import Any

from aider_gardener.adapters.aider import asks, link, overflow


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
                asks.answer(self)

    return send_message
