"""Where the gardener's faults end: one visible line, and aider goes its own way.

Every statement of ours that aider comes through runs in a `Guard`; nothing else does. Lists are replaced only
after all work on them is done, so the last good view stands.
"""

from __future__ import annotations

import logging
import traceback
from collections.abc import Callable
from contextlib import AbstractContextManager
from types import TracebackType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from aider_gardener.adapters.aider.coder import HostCoder

log = logging.getLogger("aider_gardener")

ATTRIBUTE = "_gardener"
"""Where a coder holds its gardener, None once it is off or has failed."""


class Guard:
    """`with Guard(coder):` swallows any Exception raised inside and ends the gardener of the coder's chat.

    With `what`, a command's name, only that has failed and the gardener goes on. `coder` None: there is none
    yet, and nobody to tell.
    """

    def __init__(self, coder: HostCoder | None, what: str = "") -> None:
        self.coder = coder
        self.what = what

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if not isinstance(error, Exception):  # reason: Ctrl-C and exits are the host's
            return False
        name = type(error).__name__
        if self.coder is not None and not self.what:
            self.coder.__dict__[ATTRIBUTE] = None
        try:
            frames = "".join(traceback.format_list(traceback.extract_tb(trace)))
            log.error("%s\n%s", name, frames)
            if self.coder is not None:
                self.coder.io.tool_warning(
                    f"aider-gardener: {self.what} failed ({name})."
                    if self.what
                    else f"aider-gardener stopped in this chat ({name}); aider goes on without it."
                )
        except Exception:  # reason: a terminal that is gone must not end the chat
            return True
        return True


def guarded(hook: Callable[..., Any], coder: Any, *args: Any, **options: Any) -> Any:
    """What a hook of ours makes of a coder and the arguments; None where it failed."""
    with Guard(coder):
        return hook(coder, *args, **options)
    return None


class GuardedContext:
    """A context of ours around work of the host's, if `make` gives one: it is left where it could be entered,
    and told of the host's errors, which go on up."""

    def __init__(self, coder: HostCoder, make: Callable[[], AbstractContextManager[Any] | None]) -> None:
        self.coder, self.make = coder, make
        self.entered: AbstractContextManager[Any] | None = None

    def __enter__(self) -> None:
        context = self.make()
        if context is not None:
            with Guard(self.coder):
                context.__enter__()
                self.entered = context

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.entered is not None:
            with Guard(self.coder):
                self.entered.__exit__(kind, error, trace)
