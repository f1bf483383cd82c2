"""Usable length: how far into a session a variant both fits the window and still knows what was said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from aider_gardener.replay.measure.result import ProbeResult, ReplayResult

NEEDED_SHARE = 0.8
"""The recall over everything said so far that a usable session keeps."""

LEAST_PROBES = 5
"""Below so many probes a share says nothing, and recall does not end the usable length."""


@dataclass(frozen=True)
class UsableLength:
    """`turns` of a session (or of several, one after the other) were usable.

    `ended_by` is "window" (the next prompt would not have fitted), "recall" (below NEEDED_SHARE at
    no later turn met again), or "" when the session was over first: then `turns` is a lower bound.
    With `at_most` recall was too low as soon as it could be judged: an upper bound.
    """

    turns: int
    ended_by: str
    at_most: bool = False

    def __str__(self) -> str:
        mark = "≤ " if self.at_most else "" if self.ended_by else "≥ "
        return f"{mark}{self.turns}"


def usable_length(
    result: ReplayResult, *, window_tokens: int | None = None, supported: bool = True
) -> UsableLength:
    """The usable length of one replay, by the figure "supported" or else "present"."""
    return usable_turns(
        [(call.turn, call.prompt_tokens) for call in result.main_calls()],
        result.probes,
        turns=result.turns,
        window_tokens=window_tokens or result.provenance.window_tokens,
        supported=supported,
    )


def usable_turns(
    prompts: Sequence[tuple[int, int]],
    probes: Sequence[ProbeResult],
    *,
    turns: int,
    window_tokens: int,
    supported: bool = True,
) -> UsableLength:
    """The last turn at which the prompt fits and recall over all that was said so far holds.

    `prompts` are (turn, tokens) of the main model's calls; turns of chained sessions are numbered
    through, and so are their probes. A window of 0 tokens is unknown and never ends a session.
    """
    overflow = min((turn for turn, tokens in prompts if 0 < window_tokens < tokens), default=None)
    limit = turns if overflow is None else overflow - 1
    last, ended_by, at_most = limit, "" if overflow is None else "window", False
    recall = recall_by_turn(probes, supported=supported)
    asked = [turn for turn in sorted(recall) if turn <= limit]
    if asked and recall[asked[-1]] < NEEDED_SHARE:
        good = [turn for turn in asked if recall[turn] >= NEEDED_SHARE]
        failing = [turn for turn in asked if not good or turn > good[-1]]
        last, ended_by, at_most = failing[0] - 1, "recall", not good
    return UsableLength(max(0, last), ended_by, at_most)


def recall_by_turn(probes: Sequence[ProbeResult], *, supported: bool = True) -> dict[int, float]:
    """For each turn at which a probe was asked: the share met of all probes asked up to it.

    Turns before LEAST_PROBES were asked are left out.
    """
    shares, met = {}, 0
    for count, probe in enumerate(sorted(probes, key=lambda one: one.ask_at_turn), 1):
        met += probe.supported if supported else probe.present
        if count >= LEAST_PROBES:
            shares[probe.ask_at_turn] = met / count
    return shares
