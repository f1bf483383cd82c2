"""The upkeep of a chat in aider: its loop, and the model that it may ask."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aider_gardener.errors import GardenerError

if TYPE_CHECKING:
    from aider_gardener.gardener import Gardener
    from aider_gardener.maintenance import Upkeep


def begin(gardener: Gardener) -> Upkeep:
    """Start the loop of a chat."""
    from aider_gardener.maintenance import upkeep_for

    upkeep = upkeep_for(gardener, lambda prompt: ask(gardener, prompt))
    upkeep.start()
    return upkeep


def ask(gardener: Gardener, prompt: str) -> str:
    """One call of the refining model, without retries and without a word on the terminal."""
    from aider.models import Model

    coder: Any = gardener.holder() if gardener.holder else None
    name = gardener.settings.refine_model
    if coder is None:
        raise GardenerError("the chat is over")
    model = Model(name) if name else coder.main_model.weak_model
    _hash, response = model.send_completion([{"role": "user", "content": prompt}], None, False)
    return str(response.choices[0].message.content or "")
