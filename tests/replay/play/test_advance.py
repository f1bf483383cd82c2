"""How far a report is, over sessions, parts and variants."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from made_replays import made_session

from aider_gardener.errors import ReplayError
from aider_gardener.replay.measure.estimate import Guess
from aider_gardener.replay.play.advance import Advance, Played, SessionPiece, Watcher


class Noting(Watcher):
    """Keeps what it is told."""

    def __init__(self) -> None:
        self.counts: list[tuple[int, int]] = []
        self.ended: list[tuple[str, str, int, int]] = []

    def turns(self, done: int, total: int, guesses: Sequence[Guess]) -> None:
        self.counts.append((done, total))

    def finished(self, name: str, variant: str, done: int, total: int) -> None:
        self.ended.append((name, variant, done, total))


SESSION = made_session(("a", "b"), ("c", "d"), ("e", "f"))
PIECES = [
    SessionPiece("shop", SESSION, variant, turns)
    for variant in ("stock", "gardener")
    for turns in ((1, 2), (3, 3))
]


def test_turns_of_all_pieces_are_counted_and_a_replay_ends_with_its_last_piece() -> None:
    watcher = Noting()
    advance = Advance(PIECES, watcher)
    advance.counter(0)(Played(1, 100, 0.1))
    advance.counter(3)(Played(3, 100, 0.1))
    assert watcher.counts == [(0, 6), (1, 6), (2, 6)]
    assert [advance.finished(number) for number in (0, 3, 2, 1)] == [False, False, True, True]
    assert watcher.ended == [("shop", "gardener", 1, 2), ("shop", "stock", 2, 2)]


def test_once_stopped_a_turn_ends_its_replay() -> None:
    advance = Advance(PIECES, Noting())
    advance.stopped = True
    with pytest.raises(ReplayError):
        advance.counter(0)(Played(1, 1, 0.0))


def test_how_far_it_came_counts_a_turn_once_for_all_variants() -> None:
    assert Advance(PIECES, Noting()).how_far([0, 2]) == "stopped after 2 of 3 turns"
