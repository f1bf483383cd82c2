"""Answers the litellm calls of a replay from the recording and keeps the books of them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from aider_gardener.errors import ReplayError
from aider_gardener.replay.measure.result import MAIN, SUMMARY, Call
from aider_gardener.replay.play.cassette import Asker
from aider_gardener.replay.play.clock import SECONDS_PER_CALL, VirtualClock
from aider_gardener.replay.play.model import Answer, RecordedModel, completion, kind_of, streamed
from aider_gardener.replay.play.prompts import PromptLog, tokens_by_part
from aider_gardener.replay.play.tokencount import CachedTokenCount


class Calls:
    """Stands in for `litellm.completion`. `made` are the calls so far, of all turns.

    `main_model` is aider's Model whose calls are answered with recorded replies; it may be replaced
    when the chat switches models. `asker` answers summaries in place of the recording, where there is one.
    """

    def __init__(
        self,
        recorded: RecordedModel,
        prompts: PromptLog,
        counted: CachedTokenCount,
        clock: VirtualClock,
        main_model: Any,
        asker: Asker | None = None,
    ) -> None:
        self.recorded = recorded
        self.prompts = prompts
        self.counted = counted
        self.clock = clock
        self.main_model = main_model
        self.asker = asker
        self.made: list[Call] = []
        self.summaries: list[Call] = []

    def complete(self, **options: Any) -> Any:
        """Answer one call the way litellm would."""
        messages, name = list(options["messages"]), str(options["model"])
        main_names = [self.main_model.name, self.main_model.editor_model.name]
        kind = kind_of(messages, name, main_names)
        self.clock.advance(SECONDS_PER_CALL)
        turn = self.recorded.turn
        number = 1 + sum(call.turn == turn for call in self.made)
        self.prompts.dump(f"{turn}-{number}", messages)
        if kind == SUMMARY and self.asker is not None:
            answer = Answer(self.asked_summary(self.asker, messages), None)
        else:
            answer = self.recorded.answer(kind)
        call = self.booked(turn, number, kind, name, messages, answer)
        self.made.append(call)
        if kind == SUMMARY:
            self.summaries.append(call)
        if options.get("stream"):
            return streamed(answer.text, name)
        return completion(answer.text, name, call.prompt_tokens, call.completion_tokens)

    def asked_summary(self, asker: Asker, messages: Sequence[Mapping[str, Any]]) -> str:
        """A real model's summary. aider goes on when one fails; the replay must not."""
        try:
            return asker.ask("summary", messages)
        except ReplayError as problem:
            self.recorded.failure = problem
            raise

    def booked(
        self,
        turn: int,
        number: int,
        kind: str,
        name: str,
        messages: Sequence[Mapping[str, Any]],
        answer: Answer,
    ) -> Call:
        """The call as it goes into the result."""
        weak = self.main_model.weak_model
        model = weak if name == weak.name else self.main_model
        parts = None if kind == MAIN else ["system" if m["role"] == "system" else "cur" for m in messages]
        rows = self.prompts.rows(messages, lambda m: self.counted.of_message(model, m), parts)
        said = {"role": "assistant", "content": answer.text}
        return Call(
            turn=turn,
            call=number,
            kind=kind,
            model=name,
            messages=len(messages),
            recorded_messages=answer.event.prompt_messages if answer.event else 0,
            prompt_tokens=self.counted.of_messages(model, messages),
            completion_tokens=self.counted.of_message(model, said),
            parts=tokens_by_part(rows),
            prompt=rows,
            reply_sha=hashlib.sha256(answer.text.encode("utf-8", "replace")).hexdigest()[:16],
        )

    def take_summaries(self) -> list[Call]:
        """The summary calls since the last time, for the compaction they belong to."""
        calls, self.summaries = self.summaries, []
        return calls
