"""What other agents get: measured on a session played with compactions, and shown as it was measured."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from aider_gardener.replay.session.session import Probe, Session, SessionEvent
from bench import agents
from bench.claude_transcript import Host

FACT = "Our queue listens on 9317, never on 8080."


def session() -> Session:
    """A fact, then talk of something else that fills the context, then a question about it."""
    talk = [SessionEvent("user", 1, FACT), SessionEvent("reply", 1, "Noted.")]
    for turn in range(2, 8):
        talk.append(SessionEvent("user", turn, f"Plan crossing {turn} of the ferry."))
        talk.append(SessionEvent("command", turn, command="cat plan", output=f"plan {turn}\n" * 1_500))
    probe = Probe(1, 7, "constraint", "On which port does our queue listen?", ("9317",))
    return Session("made", tuple(talk), "0", probes=(probe,))


@pytest.mark.parametrize(("way", "supported"), [("alone", 0), ("words", 1)])
def test_a_fact_from_before_a_compaction_is_counted_only_where_the_hooks_bring_it(
    way: str, supported: int
) -> None:
    row = agents.asked(session(), way)
    assert row["compactions"] >= 1 and row["probes"] == 1
    assert (row["supported"], row["added_chars"] > 0) == (supported, bool(supported))


def test_the_host_writes_old_records_again_from_the_second_compaction_on(tmp_path: Path) -> None:
    host = Host(tmp_path / "transcript.jsonl")
    host.ask(FACT)
    host.compact()
    assert host.path.read_text(encoding="utf-8").count('"user"') == 4, "a prompt and a summary, type and role"
    host.ask("Go on.")
    host.compact()
    lines = [json.loads(line) for line in host.path.read_text(encoding="utf-8").splitlines()]
    assert [line["uuid"] for line in lines if line.get("message", {}).get("content") == FACT] == ["u1", "u1"]
    assert len(host.context) == 1
