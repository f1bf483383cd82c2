"""The upkeep of a chat in aider: its loop, and the model that it may ask."""

from __future__ import annotations

import atexit
from typing import TYPE_CHECKING, Any

from aider_gardener.errors import GardenerError

if TYPE_CHECKING:
    from aider_gardener.gardener.gardener import Gardener
    from aider_gardener.gardener.upkeep import Upkeep


def turn_over(coder: Any, gardener: Gardener) -> None:
    """After a turn: growth and sums are kept; the status line is shown to those who asked for it."""
    from aider_gardener.gardener.growth import status_line

    called = gardener.autopilot.turn_over(gardener)
    if called and gardener.settings.status_line:
        coder.io.tool_output(status_line(gardener.autopilot.points, len(gardener.plans_applied)))


def report_at_exit(gardener: Gardener, io: Any) -> None:
    """Tell the user at the end what the chat came to, if a model was called in it."""
    from aider_gardener.gardener.growth import report_line

    session = gardener.autopilot.session(gardener)
    if session.calls:
        io.tool_output(report_line(session))


def begin(gardener: Gardener, io: Any) -> Upkeep:
    """Start the loop of a chat; its report, if wanted, is due when the process ends."""
    from aider_gardener.gardener.upkeep import upkeep_for

    upkeep = upkeep_for(gardener, lambda prompt: ask(gardener, prompt))
    upkeep.start()
    atexit.register(upkeep.stop)
    if gardener.settings.report:
        atexit.register(report_at_exit, gardener, io)
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
