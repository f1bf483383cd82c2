"""A long chat history in parts, each of whole chats, and what the replays of its parts come to together.

A chat begins empty, so parts are replayed apart, several at a time, and what is finished stands for whole
chats. Where a file is cut depends on nothing but the file. Two things end at a cut: a provider's cache holds
nothing of the part before, and a `/recall` that was typed finds nothing in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import accumulate

from aider_gardener.replay.measure.result import Measured, ModelCall, ReplayResult
from aider_gardener.replay.measure.summary import Summary, total, usable_length
from aider_gardener.replay.play.runner import STOPPED
from aider_gardener.replay.session.history import RESTART
from aider_gardener.replay.session.session import Session

PART_CHARS = 2_500_000
"""About so much text is a part: a process takes seconds to begin, as long as it plays a tenth of this."""

TASTE_CHARS = 150_000
"""About so much is the first part, so that every variant is soon known by something; of a history of less
than ten times as much there are no parts."""

TURNS_APART = (5**0.5 - 1) / 2
"""The golden ratio: parts taken in steps of it lie spread over the file, however many are taken."""

Turns = tuple[int, int]
"""The first and the last turn of a part."""


def parts(session: Session) -> list[Turns]:
    """The parts of a chat history, alike in size but for the first; what is recorded or short is one."""
    chars = [0] * (session.turn_count + 1)
    for event in session.events:
        chars[event.turn] += len(event.text) + len(event.output)
    upto = list(accumulate(chars))
    if session.recorded or upto[-1] < 10 * TASTE_CHARS:
        return [(1, session.turn_count)]
    found: list[Turns] = []
    first, size = 1, (upto[-1] - TASTE_CHARS) / max(1, round(upto[-1] / PART_CHARS))
    for last in chat_ends(session):
        if upto[last] >= TASTE_CHARS + size * len(found) or last == session.turn_count:
            found.append((first, last))
            first = last + 1
    return found


def chat_ends(session: Session) -> Iterator[int]:
    """The last turn of each chat that has one."""
    ends = {event.turn for event in session.of_kind(RESTART)}
    yield from sorted({*ends, session.turn_count} - {0})


def spread(count: int) -> list[int]:
    """The numbers below `count`, the first ones far apart: what is played first is to stand for the rest."""
    return sorted(range(count), key=lambda number: number * TURNS_APART % 1)


def part_of(session: Session, turns: Turns) -> Session:
    """The session with the events of these turns only, their numbers as they were."""
    first, last = turns
    if turns == (1, session.turn_count):
        return session
    return replace(session, events=tuple(event for event in session.events if first <= event.turn <= last))


def joined(results: Sequence[ReplayResult]) -> ReplayResult:
    """One result of those of parts, in the order of their turns."""
    if len(results) == 1:
        return results[0]
    calls: list[ModelCall] = []
    swaps, plans = [], 0
    for result in results:
        swaps += [replace(swap, plan=swap.plan + plans) for swap in result.swaps]
        plans += len(result.measured.plan_seconds)
        calls += [moved(call, len(calls)) for call in result.calls]
    notices = dict.fromkeys(notice for result in results for notice in result.notices)
    stopped = STOPPED.partition(": ")[2]
    return replace(
        results[-1],
        turns=sum(result.turns for result in results),
        calls=tuple(calls),
        compactions=tuple(event for result in results for event in result.compactions),
        notices=tuple(sorted(notices, key=lambda notice: stopped not in notice)),
        measured=Measured(
            replay_seconds=sum(result.measured.replay_seconds for result in results),
            plan_seconds=tuple(seconds for result in results for seconds in result.measured.plan_seconds),
            overhead_seconds={
                turn: seconds
                for result in results
                for turn, seconds in result.measured.overhead_seconds.items()
            },
        ),
        texts={sha: text for result in results for sha, text in result.texts.items()},
        swaps=tuple(swaps),
        quoted=tuple(quoted for result in results for quoted in result.quoted),
        edits=tuple(edit for result in results for edit in result.edits),
    )


def moved(call: ModelCall, places: int) -> ModelCall:
    """The call with the places of earlier calls so much further on."""
    if call.shared is None or not places:
        return call
    return replace(call, shared=tuple((place + places, tokens) for place, tokens in call.shared))


def joined_summary(summaries: Sequence[Summary], result: ReplayResult) -> Summary:
    """The summary of a result that was joined of these summaries' results."""
    if len(summaries) == 1:
        return summaries[0]
    return replace(total(result.session, summaries), usable=usable_length(result))
