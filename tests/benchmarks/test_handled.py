"""What each compressor handles of a session: all of the chat's text, none twice, sums that hold."""

from __future__ import annotations

from pathlib import Path

from aider_gardener.replay.session import Event, Session, load_session
from bench.handled import handled, history, totals

MINI = Path(__file__).resolve().parents[1] / "data" / "sessions" / "mini"


def words(text: str) -> int:
    return len(text.split())


def test_a_history_is_what_stands_in_the_chat() -> None:
    events = (
        Event(kind="user", turn=1, text="why?"),
        Event(kind="reply", turn=1, text="because"),
        Event(kind="user", turn=2, text="/run make"),
        Event(kind="command", turn=2, command="make", output="gcc: error"),
        Event(kind="commit", turn=2, text="fix: it"),
    )
    found = list(history(Session(name="s", events=events, sha256="", repo0=None, files=())))
    assert [message.role for message in found] == ["user", "assistant", "user"]
    assert "make" in found[2].content and "gcc: error" in found[2].content


def test_every_token_of_the_session_is_counted_once() -> None:
    session = load_session(MINI)
    found = handled(session, words)
    before = sum(one for one, _after in found["compressors"].values())
    full = sum(words(message.content) for message in history(session))
    assert found["forms"]["full"] == full
    assert 0.7 * full < before <= full, "all but the host's wrapper lines"
    assert found["forms"]["line"] <= found["forms"]["compressed"] <= full
    assert totals({"a": found, "b": found}) == {
        name: [2 * one, 2 * after] for name, (one, after) in totals({"a": found}).items()
    }
