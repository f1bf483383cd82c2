"""What other agents get: measured on a session played with compactions, and shown as it was measured."""

from __future__ import annotations

import pytest

from aider_gardener.replay.session.session import Probe, Session, SessionEvent
from bench import agents

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
