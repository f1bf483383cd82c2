"""Where the gardener's faults end: one visible line, and aider goes its own way.

Every statement of ours in a stand-in runs in a `Guard`; nothing else does. Lists are replaced only after
all work on them is done, so the last good view stands.
"""

from __future__ import annotations

import logging
import traceback
from types import TracebackType
from typing import TYPE_CHECKING

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
