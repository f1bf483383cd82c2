"""The chat of a gardener as a coder holds it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from aider_gardener.adapters.aider import link
from aider_gardener.messages import Message

if TYPE_CHECKING:
    from aider_gardener.gardener.gardener import Gardener


@dataclass(frozen=True)
class CoderHost:
    """The coder whose lists are the gardener's chat now; nothing happens when it is gone."""

    gardener: Gardener

    @property
    def coder(self) -> Any:
        return self.gardener.holder() if self.gardener.holder else None

    def take_in(self) -> None:
        if (coder := self.coder) is not None:
            link.refresh(self.gardener, coder)
            link.take_in(coder, self.gardener)

    def show(self) -> None:
        if (coder := self.coder) is not None:
            link.show(coder, self.gardener)

    def append(self, messages: Sequence[Message]) -> None:
        if (coder := self.coder) is not None:
            coder.cur_messages = [
                *coder.cur_messages,
                *({"role": message.role, "content": message.content} for message in messages),
            ]
            link.take_in(coder, self.gardener)
