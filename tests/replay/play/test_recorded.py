"""What the recording answers: by question and subject, by command, between two replies; each once."""

from __future__ import annotations

from typing import Any

import pytest

from aider_gardener.replay.play.recorded import (
    UNRECORDED_REFLECTION,
    UNRECORDED_REPLY,
    LeftRecording,
    Recorded,
)
from aider_gardener.replay.session.session import Session, SessionEvent

ADD, RUN = "Add file to the chat?", "Add 1.2k tokens of command output to the chat?"


def recorded(*events: tuple[str, dict[str, Any]]) -> Recorded:
    """At the beginning of a turn of these events."""
    found = Recorded(Session("s", tuple(SessionEvent(kind, 1, **more) for kind, more in events), "h"), [])
    found.begin_turn(1)
    return found


@pytest.mark.parametrize(
    ("asked", "subject", "answers"),
    [
        (ADD, "a.py", [True, False]),  # once as recorded, then as where nothing is
        (ADD, "c.py", [False, False]),
        (ADD, "", [True, False]),
        ("Add 7k tokens of command output to the chat?", "", [False, True]),
    ],
)
def test_an_answer_is_of_the_question_and_its_subject(asked: str, subject: str, answers: list[bool]) -> None:
    about = {"question": ADD, "subject": "a.py", "answer": True}
    found = recorded(("confirm", about), ("confirm", {"question": RUN, "answer": False}))
    assert [found.confirm(asked, subject, "y") for _ in answers] == answers


def test_a_command_is_known_by_its_words_or_by_being_the_only_one() -> None:
    runs = [("command", {"command": name, "output": name.upper()}) for name in ("ls", "pwd")]
    found = recorded(*runs)
    assert found.run_cmd("cat") == (0, None) and "'cat' has no recorded output" in found.notices[0]
    assert [found.run_cmd(name)[1] for name in ("pwd", "ls -l", "ls")] == ["PWD", "LS", None]


def test_what_stands_between_two_replies_is_of_the_first() -> None:
    warning = "\n# Fix any errors below\na.py:1"
    found = recorded(
        ("reply", {"text": "one"}), ("error", {"text": "no match"}), ("warning", {"text": warning}),
        ("reply", {"text": "two"}), ("commit", {"text": "fix"}),
    )  # fmt: skip
    assert found.answer("main") == "one"
    assert (found.commit(), found.reflection()) == ("", f"{warning}\nno match")
    assert (found.lint_errors(), found.lint_errors()) == (warning, "")
    assert found.answer("main") == "two"
    assert (found.commit(), found.lint_errors(), found.reflection()) == ("fix", "", "")
    found.given = 0
    assert found.reflection() == UNRECORDED_REFLECTION


def test_a_call_that_failed_while_it_was_recorded_has_a_placeholder_and_another_leaves_the_recording() -> (
    None
):
    found = recorded(("reply", {"text": "one"}), ("error", {"text": "The API provider is down."}))
    assert (found.answer("main"), found.answer("main")) == ("one", UNRECORDED_REPLY)
    with pytest.raises(LeftRecording):
        recorded(("warning", {"text": "slow"})).answer("main")
