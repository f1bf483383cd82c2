"""Work between turns, step by step: it takes half a core at most, and ends where a turn begins."""

from __future__ import annotations

import time
from collections.abc import Callable

from aider_gardener.errors import GardenerError


class PutOff(GardenerError):
    """It may not go on now: what was begun is left, and nothing of it was written."""


class Pace:
    """Called before each step of such work. It rests as long as the step before took of the processor (`rest`
    sleeps so many seconds), and raises PutOff unless `goes_on` says yes."""

    def __init__(self, goes_on: Callable[[], bool], rest: Callable[[float], object] = time.sleep) -> None:
        self.goes_on = goes_on
        self.rest = rest
        self._began = time.thread_time()

    def __call__(self) -> None:
        if self.goes_on():
            self.rest(time.thread_time() - self._began)
        if not self.goes_on():
            raise PutOff("this may not go on now; it is done later")
        self._began = time.thread_time()
