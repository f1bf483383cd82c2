"""Facts kept, falsehoods, tokens and the peer beside them, of the three kinds of folders."""

from __future__ import annotations

import json
from pathlib import Path

from aider_gardener.tokens import approximate
from bench.evaluate import Output, measured, outputs_in, quoted_alone, sums

LOG = "".join(f"2024-01-02 03:04:{i % 60:02},123 INFO app: request {i} served\n" for i in range(900))
FAILED = (
    LOG[: len(LOG) // 2] + "2024-01-02 03:05:00,000 ERROR app: ledger 17 is locked\n" + LOG[len(LOG) // 2 :]
)


def index(root: Path) -> Path:
    (root / "app.txt").write_text(FAILED, encoding="utf-8")
    entry = {"input": "app.txt", "command": "cat app.log", "class": ["log"],
             "facts": ["ledger 17 is locked", ["request 0", "request 899"], "no such line"],
             "must_not": ["0 errors"]}  # fmt: skip
    (root / "index.json").write_text(json.dumps([entry]), encoding="utf-8")
    return root


def test_outputs_with_facts_are_counted(tmp_path: Path) -> None:
    (output,) = outputs_in(index(tmp_path))
    found = measured(output, approximate)
    assert found.lost == ["no such line"] and not found.false and found.right
    assert found.peer_lost == 1, "lines quoted for their words have the error too"
    assert found.after < found.before / 10
    figures = sums([found])
    assert (figures["facts"], figures["kept"], figures["kept by quoting"]) == (3, 2, 2)


def test_a_falsehood_is_told() -> None:
    output = Output("x", "1 error\n", must_not=("1 error",))
    assert measured(output, approximate).false == ["1 error"]


def test_a_recorded_session_asks_for_what_its_probes_know() -> None:
    session = Path(__file__).resolve().parent.parent.parent / "recorded_sessions" / "ledger-api"
    outputs = list(outputs_in(session))
    assert outputs and any(output.facts for output in outputs)
    assert all(not output.lost(output.text) for output in outputs)


def test_the_null_hypothesis_keeps_to_the_size_asked_for() -> None:
    text = "\n".join(f"word{i} and others of line {i * i}" for i in range(1_000))
    assert approximate(quoted_alone(text, 100, approximate)) <= 120
