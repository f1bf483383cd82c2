"""The model of a replay: answers each litellm call from the recording, in order.

A real model is asked only by a replay that was told to (`--ask-model`), and once: what it answered is kept in
a file, so that the next run costs nothing. Every other replay uses no network.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aider_gardener import files
from aider_gardener.archive.store.redact import redact
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

FORMAT = 1
"""Of a cassette: JSON lines, the first says so."""

KEY_ENDINGS = ("_API_KEY", "_API_BASE", "_BASE_URL", "_API_VERSION")
"""Endings of the variables that a provider's client reads; they reach a replay only if a model is asked."""

Complete = Callable[..., Any]
"""Has the arguments and the result of `litellm.completion`."""


class LeftRecording(BaseException):
    """Ends a replay that asks for what was not recorded.

    No subclass of Exception: aider's broad handlers would report it in the chat and go on.
    """


@dataclass(frozen=True)
class Answer:
    """What the recording says to a call; `event` is None where a placeholder stands in."""

    text: str
    event: SessionEvent | None


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
            return Answer(self.summarise(messages), None)
        if kind == SUMMARY:
            return self.next_summary()
        if kind == COMMIT:
            if self.commits:
                event = self.commits.pop(0)
                return Answer(event.text, event)
            return self.placeholder(COMMIT, UNRECORDED_COMMIT)
        if kind == OTHER:
            return self.placeholder(OTHER, UNRECORDED_REPLY)
        return self.next_reply()

    def next_reply(self) -> Answer:
        if self.given < len(self.replies):
            event = self.replies[self.given]
            self.given += 1
            return Answer(event.text, event)
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
            return Answer(self.summaries[at], None)
        return self.placeholder(SUMMARY, SUMMARY_PLACEHOLDER)

    def placeholder(self, kind: str, text: str) -> Answer:
        self.placeholders[kind] = self.placeholders.get(kind, 0) + 1
        return Answer(text, None)

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


def streamed(text: str, model: str) -> Iterator[Any]:
    """The chunks of a streamed response that says `text`, as aider reads them."""
    from litellm.types.utils import Delta, ModelResponseStream, StreamingChoices

    for start in range(0, len(text), 400):
        delta = Delta(content=text[start : start + 400], role="assistant")
        yield ModelResponseStream(
            id="chatcmpl-replay",
            created=0,
            model=model,
            choices=[StreamingChoices(index=0, delta=delta, finish_reason=None)],
        )
    yield ModelResponseStream(
        id="chatcmpl-replay",
        created=0,
        model=model,
        choices=[StreamingChoices(index=0, delta=Delta(), finish_reason="stop")],
    )


class Cassette:
    """Answers of models by model and messages. A line that can't be read raises ReplayError."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.answers: dict[str, str] = {}
        if path.exists():
            self.load()

    def load(self) -> None:
        try:
            lines = files.read_text(self.path, files.RECORDING_BYTES).splitlines()
            head = json.loads(lines[0]) if lines else {"cassette": FORMAT}
            if head.get("cassette") != FORMAT:
                raise ValueError("it is no cassette of this version")
            for line in lines[1:]:
                row = json.loads(line)
                self.answers[str(row["key"])] = str(row["answer"])
        except (OSError, ValueError, KeyError, AttributeError, TypeError) as problem:
            said = f"{self.path}: cannot be read ({problem}); give another --cassette"
            raise ReplayError(said) from problem

    def keep(self, key: str, model: str, purpose: str, answer: str) -> None:
        """Add an answer; several processes may do so at a time, each line is written in one go."""
        self.answers[key] = answer
        clean = redact(answer).text
        row = json.dumps({"key": key, "model": model, "purpose": purpose, "answer": clean})
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            handle = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            with open(handle, "ab", buffering=0) as file:
                head = json.dumps({"cassette": FORMAT}) + "\n" if not file.tell() else ""
                file.write((head + row + "\n").encode("utf-8"))
        except OSError as problem:
            raise ReplayError(f"{self.path}: cannot be written ({problem.strerror})") from problem


def asker_of(model: str, cassette: Path | None) -> Asker | None:
    """What asks a real model, where one is named and there is a place for its answers."""
    if not model or cassette is None:
        return None
    import litellm

    return Asker(model, Cassette(cassette), litellm.completion)


class Asker:
    """Asks one model through `complete`, or takes what the cassette has."""

    def __init__(self, model: str, cassette: Cassette, complete: Complete) -> None:
        self.model = model
        self.cassette = cassette
        self.complete = complete
        self.asked = 0

    def ask(self, purpose: str, messages: Sequence[Mapping[str, Any]]) -> str:
        """The model's answer; ReplayError if it can't be asked."""
        plain = [{"role": str(m["role"]), "content": text_of(m.get("content"))} for m in messages]
        key = hashlib.sha256(json.dumps([self.model, plain]).encode()).hexdigest()
        if key in self.cassette.answers:
            return self.cassette.answers[key]
        try:
            response = self.complete(model=self.model, messages=plain, temperature=0, timeout=300)
        except Exception as problem:  # reason: whatever a provider's client raises, the user needs one line
            said = redact(" ".join(str(problem).split())).text[:200]
            raise ReplayError(f"{self.model} cannot be asked ({type(problem).__name__}: {said})") from problem
        answer = text_of(response.choices[0].message.content)
        self.asked += 1
        self.cassette.keep(key, self.model, purpose, answer)
        return answer


def client_variables(base: Mapping[str, str]) -> dict[str, str]:
    """The variables of an environment that a provider's client reads."""
    return {name: value for name, value in base.items() if name.upper().endswith(KEY_ENDINGS)}
