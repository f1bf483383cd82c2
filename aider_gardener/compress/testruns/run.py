"""What a test run says: its totals, its failures and what was unusual."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

PARENT_ONLY = re.compile(r"^'?\d+ subtests? failed'?$|^subtestsFailed$")


@dataclass
class Failure:
    """One failing or erroring test.

    `id` as the runner names it; `message` the assertion, panic or exception text, line by line;
    `where` file:line from the test to the place of the failure; `source` the failing line of code.
    """

    id: str
    outcome: str = "FAILED"
    message: list[str] = field(default_factory=list)
    where: list[str] = field(default_factory=list)
    source: str = ""
    output: list[str] = field(default_factory=list)

    def cause(self) -> tuple[str, ...]:
        """What failures of the same cause have in common: message and the place it was raised."""
        last = self.where[-1] if self.where else ""
        if not self.message:
            return ("", self.id)
        return (self.outcome, last, *self.message[:12])


@dataclass
class Run:
    """A parsed test run. `outside` are lines that are no part of it (programs' output around
    it); `build` says that they are a compiler's.
    """

    failures: list[Failure] = field(default_factory=list)
    totals: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    outside: list[str] = field(default_factory=list)
    passed: int = 0
    build: bool = False


Parser = Callable[[Sequence[str]], Run]
"""Reads the plain lines of one runner's output; never raises."""
