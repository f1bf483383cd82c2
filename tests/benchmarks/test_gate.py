"""The regression gate: recall and tokens on a short session are not worse than the committed figures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bench import gate


def test_recall_and_tokens_are_not_worse_than_committed(tmp_path: Path) -> None:
    committed = json.loads(gate.RESULTS.read_text("utf-8"))
    assert (committed["kind"], committed["format"]) == ("gate", gate.FORMAT)
    found = gate.measure(tmp_path)
    assert list(gate.regressions(committed["sessions"], found)) == []
    assert all(figures["plans"] > 0 for figures in found.values()), "else nothing was gardened"


FIGURES = {"turns": 9, "asked": 20, "supported": 18, "net_tokens": 100_000, "session_sha256": "a"}


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"supported": 18 - gate.SUPPORTED_TOLERANCE}, ""),
        ({"supported": 17 - gate.SUPPORTED_TOLERANCE}, "15 of 20 probes supported, 18 before"),
        ({"supported": 20, "net_tokens": 60_000}, ""),
        ({"net_tokens": 102_900}, ""),
        ({"net_tokens": 103_100}, "103,100 net tokens, 100,000 before"),
        ({"net_tokens": 0}, "no token was counted"),
        ({"session_sha256": "b"}, "not the session or probes of the committed figures"),
    ],
)
def test_only_what_is_worse_by_more_than_the_tolerance_counts(changed: dict[str, Any], said: str) -> None:
    found = list(gate.regressions({"s": FIGURES}, {"s": {**FIGURES, **changed}}))
    assert len(found) == bool(said)
    assert said in "".join(found)
