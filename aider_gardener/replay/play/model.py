"""The model of a replay: answers each litellm call from the recording, in order."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from aider_gardener.errors import ReplayError
from aider_gardener.replay.measure.result import COMMIT, MAIN, OTHER, SUMMARY
from aider_gardener.replay.session.session import Session, SessionEvent

UNRECORDED_REPLY = "(no reply recorded)"
UNRECORDED_COMMIT = "chore: change without a recorded message"

SUMMARY_PLACEHOLDER = (
    "I asked you about several parts of the program, one after the other, and you answered or "
    "changed the code. You proposed a next step after each, and I agreed or corrected you. "
) * 16
"""Stands for a summary that was not recorded: about as long as the models' own ones, no facts."""


class LeftRecording(BaseException):
    """Ends a replay that asks for what was not recorded.

    No subclass of Exception: aider's broad handlers would report it in the chat and go on.
    """


def text_of(content: Any) -> str:
    """A message's content as text: parts of a list are joined, nothing is an empty text."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return "" if content is None else str(content)


def kind_of(messages: Sequence[Mapping[str, Any]], model: str, main_models: Sequence[str]) -> str:
    """Which of aider's prompts this is, by its system message; otherwise by the model's name."""
    from aider import prompts

    first = text_of(messages[0].get("content")) if messages else ""
    if first == prompts.summarize:
        return SUMMARY
    if first.startswith(prompts.commit_system[:80]):
        return COMMIT
    return MAIN if model in main_models else OTHER


Answer = tuple[str, SessionEvent | None]
"""What the recording says to a call, and the event that says it; None where a placeholder stands in."""


class RecordedModel:
    """Replies of a session, handed out in order, keyed by turn and call within the turn.

    `summaries` are the answers to aider's summarising prompts, in order; None gives placeholders. With
    `summarise` set it answers them, from the messages of the call.
    `failure` holds the reason after the replay left its recording.
    """

    def __init__(self, session: Session, summaries: Sequence[str] | None = None) -> None:
        self.session = session
        self.summaries = summaries
        self.summarise: Callable[[Sequence[Mapping[str, Any]]], str] | None = None
        self.turn = 0
        self.replies: list[SessionEvent] = []
        self.commits: list[SessionEvent] = []
        self.given = 0
        self.summaries_given = 0
        self.placeholders: dict[str, int] = {}
        self.failure: ReplayError | None = None

    def begin_turn(self, turn: int) -> None:
        self.turn = turn
        self.replies = self.session.of_kind("reply", turn)
        self.commits = self.session.of_kind("commit", turn)
        self.given = 0

    def typed_at(self) -> float | None:
        """When the turn's text was typed, in seconds since the epoch; None where nobody noted it."""
        return next((event.at for event in self.session.of_kind("user", self.turn)), None)

    def unused_replies(self) -> int:
        """How many recorded replies of the turn nobody asked for."""
        return len(self.replies) - self.given

    def answer(self, kind: str, messages: Sequence[Mapping[str, Any]] = ()) -> Answer:
        """The recorded answer to the next call of a kind in this turn."""
        if kind == SUMMARY and self.summarise is not None:
            return self.summarise(messages), None
        if kind == SUMMARY:
            return self.next_summary()
        if kind == COMMIT:
            if self.commits:
                event = self.commits.pop(0)
                return event.text, event
            return self.placeholder(COMMIT, UNRECORDED_COMMIT)
        if kind == OTHER:
            return self.placeholder(OTHER, UNRECORDED_REPLY)
        return self.next_reply()

    def next_reply(self) -> Answer:
        if self.given < len(self.replies):
            event = self.replies[self.given]
            self.given += 1
            return event.text, event
        if not self.session.recorded:
            return self.placeholder(MAIN, UNRECORDED_REPLY)
        self.failure = ReplayError(
            f"{self.session.name}: turn {self.turn} asks for reply {self.given + 1}, the recording "
            f"has {len(self.replies)}; closest recorded event: {self.closest_event()}"
        )
        raise LeftRecording(str(self.failure))

    def next_summary(self) -> Answer:
        at, self.summaries_given = self.summaries_given, self.summaries_given + 1
        if self.summaries is not None and at < len(self.summaries):
            return self.summaries[at], None
        return self.placeholder(SUMMARY, SUMMARY_PLACEHOLDER)

    def placeholder(self, kind: str, text: str) -> Answer:
        self.placeholders[kind] = self.placeholders.get(kind, 0) + 1
        return text, None

    def closest_event(self) -> str:
        """The recorded reply nearest to where the replay stands, in one line."""
        replies = self.session.of_kind("reply")
        if not replies:
            return "none, it holds no reply"
        near = min(reversed(replies), key=lambda event: abs(event.turn - self.turn))
        return f"the reply of turn {near.turn} that begins {near.text.strip()[:60]!r}"


def completion(text: str, model: str, prompt_tokens: int, completion_tokens: int) -> Any:
    """A litellm response that says `text`, with usage numbers as a provider would give them."""
    from litellm.types.utils import Choices, Message, ModelResponse, Usage

    digest = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
    return ModelResponse(
        id=f"chatcmpl-{digest[:24]}",
        created=0,
        model=model,
        choices=[Choices(finish_reason="stop", index=0, message=Message(role="assistant", content=text))],
        usage=Usage(
            prompt_tokens=prompt_tokens,
            completion_tokens=completion_tokens,
            total_tokens=prompt_tokens + completion_tokens,
        ),
    )
