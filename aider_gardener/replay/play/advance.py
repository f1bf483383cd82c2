"""How far a report is: turns that its replays have done, and what all of them will come to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Protocol

from aider_gardener.errors import ReplayError
from aider_gardener.replay.measure.estimate import Estimate, Guess
from aider_gardener.replay.play.parts import Turns
from aider_gardener.replay.session.session import Session


@dataclass(frozen=True)
class Played:
    """A turn that a replay has come through: its number, the tokens its calls are billed for, and what they
    cost with the first provider of the tables, its cache kept."""

    turn: int
    tokens: int
    usd: float


OnTurn = Callable[[Played], None]


class Watcher(Protocol):
    """Told how far a report is, from any thread."""

    def reading(self, path: Path, done: int, total: int) -> None:
        """Lines read of a history file."""

    def read(self, turns: int) -> None:
        """All sessions were read; how many turns they have."""

    def turns(self, done: int, total: int, guesses: Sequence[Guess]) -> None:
        """Turns replayed of those of all jobs, and what all of them will come to, as far as can be told."""

    def finished(self, name: str, variant: str, done: int, total: int) -> None:
        """A session was replayed under a variant; how many such replays are done of all."""


@dataclass(frozen=True)
class SessionPiece:
    """A session, or the part of it between two turns, under one variant; `name` is what a report calls it."""

    name: str
    session: Session
    variant: str
    turns: Turns

    @property
    def turn_count(self) -> int:
        return self.turns[1] - self.turns[0] + 1


class Advance:
    """Counts the turns and the pieces that are done; `stopped` ends the replays that are running."""

    def __init__(self, pieces: Sequence[SessionPiece], watcher: Watcher) -> None:
        self.pieces, self.watcher = pieces, watcher
        self.left: dict[tuple[str, str], int] = {}
        sessions = {}
        for piece in pieces:
            self.left[piece.name, piece.variant] = self.left.get((piece.name, piece.variant), 0) + 1
            sessions[piece.name, piece.variant] = piece.session
        self.estimate = Estimate((name, session, variant) for (name, variant), session in sessions.items())
        self.total = sum(piece.turn_count for piece in pieces)
        self.done = 0
        self.stopped = False
        self.lock = Lock()
        watcher.turns(0, self.total, ())

    def counter(self, number: int) -> OnTurn:
        """What is told of the turns of a piece."""
        piece = self.pieces[number]

        def count(played: Played) -> None:
            if self.stopped:
                raise ReplayError("stopped")
            with self.lock:
                self.done += 1
                self.estimate.add(piece.name, piece.variant, played.turn, played.tokens, played.usd)
                self.watcher.turns(self.done, self.total, list(self.estimate.guesses()))

        return count

    def finished(self, number: int) -> bool:
        """A piece is done; whether it is the last one of its session under its variant."""
        replay = self.pieces[number].name, self.pieces[number].variant
        self.left[replay] -= 1
        if not self.left[replay]:
            done = sum(not left for left in self.left.values())
            self.watcher.finished(*replay, done, len(self.left))
        return not self.left[replay]

    def how_far(self, numbers: Iterable[int]) -> str:
        """How many turns of all sessions these pieces are, in words."""
        done = {(self.pieces[at].name, self.pieces[at].turns): self.pieces[at].turn_count for at in numbers}
        sessions = {piece.name: piece.session.turn_count for piece in self.pieces}
        return f"stopped after {sum(done.values()):,} of {sum(sessions.values()):,} turns"
