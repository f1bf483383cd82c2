"""Replay results made by hand, for the tests of what is worked out from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from aider_gardener.messages import Level, Swap
from aider_gardener.plan.view import NOTE_HEAD
from aider_gardener.replay.measure.carryover import carried
from aider_gardener.replay.measure.result import (
    Compaction,
    ModelCall,
    ProbeResult,
    Provenance,
    ReplayResult,
)
from aider_gardener.replay.measure.summary import ReplayReport, make_report
from aider_gardener.replay.play.calls import short_hash
from aider_gardener.replay.session.session import Session, SessionEvent

PROVENANCE = Provenance(
    gardener="0.1.0",
    aider="0.86.2",
    litellm="1.81",
    model="gpt-4o",
    weak_model="gpt-4o-mini",
    tokenizer="o200k_base",
    window_tokens=128_000,
    history_tokens=8_000,
    settings={},
    session_sha256="s",
)


def made_call(
    turn: int,
    parts: Sequence[tuple[str, str]] = (),
    *,
    tokens: int = 0,
    number: int = 1,
    kind: str = "main",
    out: int = 10,
) -> tuple[ModelCall, dict[str, str]]:
    """A call whose messages are (part, text), each a token a character unless `tokens` is given."""
    texts = {short_hash({"role": "user", "content": text}): text for _, text in parts}
    prompt = tuple((short_hash({"role": "user", "content": text}), len(text), part) for part, text in parts)
    total = tokens or sum(row[1] for row in prompt)
    return ModelCall(turn, number, kind, "gpt-4o", total, out, prompt), texts


def made_probe(
    number: int, about: int, ask: int, *, kind: str = "fact", present: bool = True, supported: bool = True
) -> ProbeResult:
    return ProbeResult(number, about, ask, kind, "?", present, supported)


def made_result(
    calls: Sequence[tuple[ModelCall, dict[str, str]]] = (),
    *,
    session: str = "shop",
    variant: str = "stock",
    turns: int = 10,
    probes: Sequence[ProbeResult] = (),
    compactions: Sequence[Compaction] = (),
    overhead: Mapping[int, float] | None = None,
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
        overhead_seconds=overhead or {},
        texts={sha: text for _, texts in calls for sha, text in texts.items()},
    )


def made_session(*turns: tuple[str, str], name: str = "shop") -> Session:
    """A session of (prompt, reply) turns."""
    events: list[SessionEvent] = []
    for turn, (prompt, reply) in enumerate(turns, 1):
        events += [SessionEvent("user", turn, text=prompt), SessionEvent("reply", turn, text=reply)]
    return Session(name=name, events=tuple(events), sha256="s")


NASTY = "</script><script>alert(1)</script> <img src=x onerror=alert(2)> \"q\" 'q' & {{ 7*7 }} ]]> \u2028"
"""What must come out as the text it is."""


def made_swap(number: int = 0) -> Swap:
    levels = (Level.FULL, Level.COMPRESSED)
    return Swap(f"g{number:09x}", *levels, 100 - number % 100, "log, priority 20")


def made_report(
    words: str = "hello", *, probes: bool = True, swaps: int = 1, names: Any = ("shop",)
) -> ReplayReport:
    """A report of two variants, with all that a page shows: the baseline sends more, the gardener has two plans
    in turn 3."""
    found = []
    for name in names:
        session = made_session(
            *((f"{words} {n}", f"reply with blue_fact_{n % 2}") for n in range(9)), name=name
        )
        for variant in ("stock", "gardener"):
            past = NOTE_HEAD if variant == "gardener" else words * 99
            calls = [
                made_call(turn, [("system", "sys"), ("done", past), ("cur", f"{words} {turn}")])
                for turn in range(1, 10)
            ]
            steps = tuple(map(made_swap, range(swaps)))
            plan = Compaction(3, "plan", True, 900, 400, reason="above its budget", seconds=0.01)
            result = made_result(
                calls,
                session=name,
                variant=variant,
                turns=9,
                probes=[made_probe(1, 1, 5), made_probe(2, 1, 6, supported=variant == "stock")]
                if probes
                else [],
                compactions=[replace(plan, swaps=steps), plan]
                if variant == "gardener"
                else [Compaction(2, "llm", False, 900, 100, 1, 500, 50)],
                overhead={1: 0.1},
            )
            found.append(replace(result, carried=tuple(carried(session, result.calls, result.texts))))
    return make_report(found)
