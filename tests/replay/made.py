"""Replay results made by hand, for the tests of what is worked out from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from aider_gardener.replay.measure.result import (
    Call,
    Compaction,
    Measured,
    ProbeResult,
    Provenance,
    ReplayResult,
)
from aider_gardener.replay.play.calls import short_hash
from aider_gardener.replay.session.session import Event, Session

PROVENANCE = Provenance(
    gardener="0.1.0",
    commit="abc",
    aider="0.86.2",
    litellm="1.81",
    model="gpt-4o",
    weak_model="gpt-4o-mini",
    tokenizer="o200k_base",
    window_tokens=128_000,
    history_tokens=8_000,
    settings={},
    session_sha256="s",
    probes_sha256="p",
    python="3.11",
)


def made_call(
    turn: int,
    parts: Sequence[tuple[str, str]] = (),
    *,
    tokens: int = 0,
    number: int = 1,
    kind: str = "main",
    out: int = 10,
) -> tuple[Call, dict[str, str]]:
    """A call whose messages are (part, text), each a token a character unless `tokens` is given."""
    texts = {short_hash({"role": "user", "content": text}): text for _, text in parts}
    prompt = tuple((short_hash({"role": "user", "content": text}), len(text), part) for part, text in parts)
    total = tokens or sum(row[1] for row in prompt)
    return Call(turn, number, kind, "gpt-4o", len(parts), 0, total, out, {}, prompt), texts


def made_probe(
    number: int, about: int, ask: int, *, kind: str = "fact", present: bool = True, supported: bool = True
) -> ProbeResult:
    return ProbeResult(number, about, ask, kind, "?", present, supported)


def made_result(
    calls: Sequence[tuple[Call, dict[str, str]]] = (),
    *,
    session: str = "shop",
    variant: str = "stock",
    turns: int = 10,
    probes: Sequence[ProbeResult] = (),
    compactions: Sequence[Compaction] = (),
    measured: Measured | None = None,
    **provenance: Any,
) -> ReplayResult:
    return ReplayResult(
        session=session,
        variant=variant,
        turns=turns,
        provenance=replace(PROVENANCE, **provenance),
        calls=tuple(call for call, _ in calls),
        compactions=tuple(compactions),
        probes=tuple(probes),
        measured=measured or Measured(),
        texts={sha: text for _, texts in calls for sha, text in texts.items()},
    )


def made_session(*turns: tuple[str, str], name: str = "shop") -> Session:
    """A session of (prompt, reply) turns."""
    events: list[Event] = []
    for turn, (prompt, reply) in enumerate(turns, 1):
        events += [Event("user", turn, text=prompt), Event("reply", turn, text=reply)]
    return Session(name=name, events=tuple(events), sha256="s")
