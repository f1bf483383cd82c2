"""A long chat history in parts, each of whole chats, and what the replays of its parts come to together.

A chat begins empty, so parts are replayed apart, several at a time. Where a file is cut depends on nothing
but the file. Two things end at a cut: a provider's cache holds nothing of the part before, and a `/recall`
that was typed finds nothing in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate

from aider_gardener.replay.measure.result import STOPPED, ModelCall, ReplayResult
from aider_gardener.replay.session.session import RESTART, Session

PART_CHARS = 2_500_000
"""A part has at most about so much text: a process takes as long to begin as it plays a tenth of this."""


def parts(session: Session) -> list[Session]:
    """The parts of a history, alike in size; what is recorded or short is one. Turns keep their numbers."""
    upto = list(accumulate(chars_of_turns(session)))
    count = 1 if session.recorded else 1 + upto[-1] // PART_CHARS
    ends: list[int] = []
    found, first = [], 1
    for last in sorted({event.turn for event in session.of_kind(RESTART)} - {0, session.turn_count}):
        if upto[last] >= upto[-1] * (len(ends) + 1) / count:
            ends.append(last)
    for last in [*ends, session.turn_count]:
        events = tuple(event for event in session.events if first <= event.turn <= last)
        found.append(replace(session, events=events) if ends else session)
        first = last + 1
    return found


def chars_of_turns(session: Session) -> list[int]:
    """How much text each turn has, by its number."""
    chars = [0] * (session.turn_count + 1)
    for event in session.events:
        chars[event.turn] += len(event.text) + len(event.output)
    return chars


def joined(results: Sequence[ReplayResult]) -> ReplayResult:
    """One result of those of parts, in the order of their turns."""
    if len(results) == 1:
        return results[0]
    calls: list[ModelCall] = []
    texts: dict[str, str] = {}
    overhead: dict[int, float] = {}
    for result in results:
        calls += [moved(call, len(calls)) for call in result.calls]
        texts |= result.texts
        overhead |= result.overhead_seconds
    notices = dict.fromkeys(notice for result in results for notice in result.notices)
    noted = [result.notes for result in results if result.notes is not None]
    return replace(
        results[-1],
        turns=sum(result.turns for result in results),
        calls=tuple(calls),
        compactions=tuple(event for result in results for event in result.compactions),
        carried=tuple(one for result in results for one in result.carried),
        quoted=tuple(one for result in results for one in result.quoted),
        notices=tuple(sorted(notices, key=lambda notice: STOPPED not in notice)),
        notes=frozenset[str]().union(*noted) if noted else None,
        texts=texts,
        replay_seconds=sum(result.replay_seconds for result in results),
        overhead_seconds=overhead,
    )


def moved(call: ModelCall, places: int) -> ModelCall:
    """The call with the places of earlier calls so much further on."""
    return replace(call, shared=tuple((place + places, tokens) for place, tokens in call.shared))
