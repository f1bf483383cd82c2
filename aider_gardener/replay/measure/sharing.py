"""What of a prompt was sent before from its beginning on, which is all that a cache can read of it.

A cache knows a prompt by its beginning, token by token: besides the whole messages that two prompts begin
with, the common beginning of the first message that differs counts too. Prompts of the main model and those
of weak models are kept apart, as their caches are.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence

from aider_gardener.replay.measure.result import MAIN

Row = tuple[str, int, str]
"""A message as a ModelCall has it: hash, tokens, part."""


class SentBefore:
    """The prompts of a run, in order. `texts` must have role and text of every message, by its hash, before
    it is added."""

    def __init__(self, texts: Mapping[str, tuple[str, str]]) -> None:
        self.texts = texts
        self.sent: list[tuple[bool, Sequence[Row]]] = []

    def add(
        self, kind: str, prompt: Sequence[Row], tokens_of: Callable[[str], int]
    ) -> tuple[tuple[int, int], ...]:
        """What the prompt shares with earlier ones, see `ModelCall.shared`; `tokens_of` counts a text."""
        found = [pair for main in (True, False) for pair in self._shared(main, prompt, tokens_of)]
        self.sent.append((kind == MAIN, prompt))
        return tuple(found)

    def _shared(
        self, main: bool, prompt: Sequence[Row], tokens_of: Callable[[str], int]
    ) -> Iterator[tuple[int, int]]:
        most = (0, 0)
        for place in range(len(self.sent) - 1, -1, -1):
            of_main, earlier = self.sent[place]
            if of_main is not main or (common := self._common(prompt, earlier)) <= most:
                continue
            most = messages, chars = common
            tokens = sum(row[1] for row in prompt[:messages])
            if chars:
                sha, whole, _ = prompt[messages]
                tokens += min(whole, tokens_of(self.texts[sha][1][:chars]))
            yield place, tokens

    def _common(self, one: Sequence[Row], other: Sequence[Row]) -> tuple[int, int]:
        """The whole messages that both begin with, and the characters of the next one."""
        messages = 0
        for mine, theirs in zip(one, other, strict=False):
            if mine[0] != theirs[0]:
                (role, text), (their_role, their_text) = self.texts[mine[0]], self.texts[theirs[0]]
                return messages, common_beginning(text, their_text) if role == their_role else 0
            messages += 1
        return messages, 0


def common_beginning(one: str, other: str) -> int:
    """How many characters two texts begin with in common."""
    shorter = range(min(len(one), len(other)))
    return bisect_left(shorter, True, key=lambda at: one[: at + 1] != other[: at + 1])
