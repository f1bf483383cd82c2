"""What a store has to say to its user, in one line."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass
class Notice:
    """The last thing that was said, and what was added to it; "" for nothing."""

    text: str = ""

    def add(self, lines: Iterable[str]) -> None:
        """Say more, after what was said before."""
        self.text = "; ".join([*([self.text] if self.text else []), *lines])
