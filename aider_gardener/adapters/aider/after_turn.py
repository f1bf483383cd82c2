"""The upkeep of a chat in aider: its loop, and the model that it may ask."""

from __future__ import annotations

import atexit
from collections.abc import Callable
from typing import TYPE_CHECKING

from aider_gardener.adapters.aider.coder import HostCoder, HostIO, HostModel
from aider_gardener.errors import GardenerError

if TYPE_CHECKING:
    from aider_gardener.gardener.gardener import Gardener
    from aider_gardener.gardener.upkeep import Upkeep


SOON_SHARE = 0.5
"""Where the history has this share of its budget, what no longer stands will be asked for before long."""


def turn_over(coder: HostCoder, gardener: Gardener) -> None:
    """After a turn: growth and sums are kept, what upkeep has to say is told; the status line is shown to
    those who asked for it."""
    from aider_gardener.gardener import growth

    state = gardener.state
    backlog = state.archive.backlog
    if backlog and state.history_used >= SOON_SHARE * state.budget:
        backlog.want()
    tell(gardener, coder.io)
    called = growth.turn_over(state)
    if called and state.settings.status_line:
        coder.io.tool_output(growth.status_line(state.growth.points, len(state.plans)))


def report_at_exit(gardener: Gardener, io: HostIO) -> None:
    """Tell the user at the end what the chat came to, if a model was called in it."""
    from aider_gardener.gardener import growth

    sums = growth.sums_of(gardener.state)
    if sums.calls:
        io.tool_output(growth.report_line(sums))


def tell(gardener: Gardener, io: HostIO) -> None:
    """Show the lines that upkeep has for the user, each once."""
    lines = gardener.state.untold
    while lines:
        io.tool_output(f"aider-gardener: {lines.pop(0)}")


def index_at_exit(gardener: Gardener, io: HostIO, upkeep: Upkeep) -> None:
    """Write the index of the project's sessions anew, if anything was said in this chat since it was."""
    upkeep.stop()
    upkeep.index_at_end()
    tell(gardener, io)


def begin(gardener: Gardener, io: HostIO, coder_of: Callable[[Gardener], HostCoder | None]) -> Upkeep:
    """Start the loop of a chat; its report and the index, if wanted, are due when the process ends."""
    from aider_gardener.gardener.upkeep import upkeep_for

    upkeep = upkeep_for(gardener.state, lambda prompt: ask(coder_of(gardener), prompt))
    upkeep.start()
    atexit.register(upkeep.stop)
    if gardener.state.settings.status_line:
        atexit.register(report_at_exit, gardener, io)
    if upkeep.keeps_index:
        atexit.register(index_at_exit, gardener, io, upkeep)
    return upkeep


def ask(coder: HostCoder | None, prompt: str) -> str:
    """One call of the weak model, without retries and without a word on the
    terminal. Raises GardenerError when the chat is over, else what the provider raises."""
    if coder is None:
        raise GardenerError("the chat is over")
    model: HostModel = coder.main_model.weak_model
    _hash, response = model.send_completion([{"role": "user", "content": prompt}], None, False)
    return str(response.choices[0].message.content or "")
