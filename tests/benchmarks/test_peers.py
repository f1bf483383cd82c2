"""One text under all compressors: sizes, facts and times, and what an error of a peer looks like."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aider_gardener.messages import ContentClass
from bench.inputs import made
from bench.peers import run
from bench.peers.texts import Text

RUN = Text("a run", ContentClass.LOG, "pytest", made("pytest", 20_000), "test")


def words(text: str) -> int:
    return len(text.split())


def keeps_the_head(text: Text, rounds: int) -> Mapping[str, Any]:
    return {"text": text.text[:500], "seconds": [0.25] * rounds}


def test_each_compressor_gets_its_tokens_facts_and_time() -> None:
    row = run.measured(RUN, keeps_the_head, 3, words)
    ours, peer, ends = (row["results"][name] for name in (run.OURS, run.HEADROOM, run.HEAD_TAIL))
    assert row["facts"] >= ours["kept"] > peer["kept"] == 0
    assert ours["tokens"] < row["tokens"]
    assert peer["ms"] == 250.0
    assert "ms" not in ends
    assert ends["tokens"] <= ours["tokens"]
    assert ends["kept"] < ours["kept"], "else the compressor is no better than head and tail"


def test_a_peer_that_fails_is_shown_as_failed() -> None:
    row = run.measured(RUN, lambda text, rounds: {"error": "ValueError: no"}, 1, words)
    assert row["results"][run.HEADROOM] == {"error": "ValueError: no"}
    assert "headroom-ai failed: ValueError: no" in run.line(row)
