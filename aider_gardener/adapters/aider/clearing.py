"""What stands in the seams of /clear and /reset: nothing older comes back, and the user is told so."""

from __future__ import annotations

from functools import wraps
from typing import Any

from aider_gardener.adapters.aider import link

CLEARED = (
    "aider-gardener: what was said before this /{command} does not come back by itself; /recall WORDS still"
    " finds it, /forget session deletes it for good."
)


def clear_history(original: Any) -> Any:
    @wraps(original)
    def clear_history(self: Any) -> Any:
        link.sync(self.coder)
        result = original(self)
        gardener = link.gardener_of(self.coder)
        if gardener is not None:
            with link.guarded(self.coder):
                gardener.clear()
        return result

    return clear_history


def then_tell_cleared(original: Any) -> Any:
    """After the host has said that the history is gone: that it is kept, and how to reach it."""

    @wraps(original)
    def then_tell_cleared(self: Any, args: Any) -> Any:
        held = False
        link.sync(self.coder)
        if (gardener := link.gardener_of(self.coder)) is not None:
            with link.guarded(self.coder):
                held = bool(gardener.chat.all_entries())
        result = original(self, args)
        if held and link.gardener_of(self.coder) is not None:
            self.io.tool_output(CLEARED.format(command=original.__name__.removeprefix("cmd_")))
        return result

    return then_tell_cleared
