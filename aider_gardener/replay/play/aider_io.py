"""aider's terminal, answered from the recording."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from aider.io import InputOutput

from aider_gardener.replay.session.session import Session, SessionEvent

DEFAULTS = (
    ("Add file to the chat?", False),
    ("Add URL to the chat?", False),
    ("Run shell command", False),
    ("Attempt to fix", False),
    ("Open ", False),
    ("Create new file?", True),
    ("Allow edits to file", True),
    ("Try to proceed anyway?", True),
)
"""Answers to questions that the recording doesn't hold, by the question's beginning."""


def same_question(asked: str) -> str:
    """A question without its numbers: token counts in it depend on the tokenizer."""
    return re.sub(r"\d+(\.\d+)?k?", "#", asked)


class Confirmations:
    """The recorded answers of one turn, found by question and subject, each used once."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.left: list[SessionEvent] = []

    def begin_turn(self, turn: int) -> None:
        self.left = self.session.of_kind("confirm", turn)

    def answer(self, question: str, subject: str, default: str) -> bool:
        for exact in (True, False):
            for event in self.left:
                if same_question(event.question) != same_question(question):
                    continue
                if exact and event.subject != subject:
                    continue
                if not exact and event.subject and subject:
                    continue
                self.left.remove(event)
                return event.answer
        for beginning, answer in DEFAULTS:
            if question.startswith(beginning):
                return answer
        return default.lower().startswith("y")


class ReplayIO(InputOutput):  # type: ignore[misc]  # reason: aider ships no types
    """An InputOutput without a terminal: confirmations come from the recording, output is kept."""

    def __init__(self, session: Session) -> None:
        self.answers = Confirmations(session)
        self.said: list[tuple[str, str]] = []
        super().__init__(pretty=False, fancy_input=False, yes=None, line_endings="lf")

    def confirm_ask(
        self,
        question: str,
        default: str = "y",
        subject: str | None = None,
        explicit_yes_required: bool = False,
        group: Any = None,
        allow_never: bool = False,
    ) -> bool:
        self.num_user_asks += 1
        return self.answers.answer(question, subject or "", default)

    def prompt_ask(self, question: str, default: str = "", subject: str | None = None) -> str:
        return default

    def offer_url(self, url: str, prompt: str = "", allow_never: bool = True) -> bool:
        return False

    def tool_output(self, *messages: str, log_only: bool = False, bold: bool = False) -> None:
        self.said.append(("output", " ".join(str(message) for message in messages)))

    def tool_error(self, message: str = "", strip: bool = True) -> None:
        self.num_error_outputs += 1
        self.said.append(("error", str(message)))

    def tool_warning(self, message: str = "", strip: bool = True) -> None:
        self.said.append(("warning", str(message)))

    def assistant_output(self, message: str, pretty: bool | None = None) -> None:
        self.said.append(("assistant", str(message)))

    def print(self, message: str = "") -> None:
        self.said.append(("output", str(message)))

    def take_said(self) -> Sequence[tuple[str, str]]:
        """What was shown since the last call: pairs of kind and text."""
        said, self.said = self.said, []
        return said
