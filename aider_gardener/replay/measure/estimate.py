"""What a replay will come to, guessed from the turns that are done.

Each turn weighs what its prompts would hold if the chat were sent whole, or at most a history budget of it;
both are known from the recording alone. Tokens billed so far are to all tokens as the weight of the turns
done is to the weight of all. Of the two weights the one counts that has fitted a variant better so far.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from aider_gardener.replay.session.history import RESTART
from aider_gardener.replay.session.session import Session

FRAME_CHARS, BUDGET_CHARS = 10_000, 32_000
"""About so much is sent besides the chat, and of a chat that is kept to a budget."""

LEAST_TURNS = 10
"""Turns with a reply before a variant is guessed at."""

Weights = tuple[float, float]
"""Of one turn: with the chat sent whole, and within a budget."""


@dataclass(frozen=True)
class Guess:
    """What one variant will come to on all sessions."""

    variant: str
    tokens: float
    usd: float


def weights(session: Session) -> dict[int, Weights]:
    """The weights of each turn that has a reply."""
    found: dict[int, Weights] = {}
    chars = 0
    for event in session.events:
        if event.kind == RESTART:
            chars = 0
        chars += len(event.text) + len(event.output)
        if event.kind == "reply":
            whole, level = found.get(event.turn, (0.0, 0.0))
            found[event.turn] = (whole + FRAME_CHARS + chars, level + FRAME_CHARS + min(chars, BUDGET_CHARS))
    return found


@dataclass
class Sums:
    """Of the turns that one variant has done, for one kind of weight: sums of weights and tokens (w, t)."""

    all: float = 0.0
    w: float = 0.0
    ww: float = 0.0
    wt: float = 0.0

    def misfit(self, tt: float) -> float:
        """The squared differences that are left when tokens are taken to be in proportion to weights."""
        return tt - self.wt**2 / self.ww


@dataclass
class Course:
    """What one variant has done so far."""

    whole: Sums = field(default_factory=Sums)
    level: Sums = field(default_factory=Sums)
    turns: int = 0
    tokens: int = 0
    tt: float = 0.0
    usd: float = 0.0


class Estimate:
    """Collects what turns came to. `replays` are sessions, by name, and variants they are replayed under."""

    def __init__(self, replays: Iterable[tuple[str, Session, str]]) -> None:
        self.weights: dict[str, dict[int, Weights]] = {}
        self.courses: dict[str, Course] = {}
        for name, session, variant in replays:
            if name not in self.weights:
                self.weights[name] = weights(session)
            course = self.courses.setdefault(variant, Course())
            course.whole.all += sum(whole for whole, _ in self.weights[name].values())
            course.level.all += sum(level for _, level in self.weights[name].values())

    def add(self, name: str, variant: str, turn: int, tokens: int, usd: float) -> None:
        """A turn of a session was replayed under a variant."""
        course = self.courses[variant]
        course.tokens += tokens
        course.usd += usd
        if turn not in self.weights[name]:
            return
        course.turns += 1
        course.tt += tokens**2
        for sums, weight in zip((course.whole, course.level), self.weights[name][turn], strict=True):
            sums.w += weight
            sums.ww += weight**2
            sums.wt += weight * tokens

    def guesses(self) -> Iterator[Guess]:
        """A guess for each variant that has done enough for one."""
        for variant, course in self.courses.items():
            if course.turns >= LEAST_TURNS and course.tokens:
                best = min((course.whole, course.level), key=lambda sums: sums.misfit(course.tt))
                tokens = course.tokens * best.all / best.w
                yield Guess(variant, tokens, course.usd * tokens / course.tokens)
