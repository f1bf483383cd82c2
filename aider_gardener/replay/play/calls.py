"""Answers the litellm calls of a replay from the recording and keeps the books of them.

Prompts are watched on the way: which part each message belongs to, what it weighs, its text.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from aider_gardener.adapters.aider.coder import text_of
from aider_gardener.adapters.aider.layout import Placed
from aider_gardener.errors import StoreError
from aider_gardener.files import write_private
from aider_gardener.replay.measure.result import COMMIT, MAIN, OTHER, SUMMARY, ModelCall
from aider_gardener.replay.measure.sharing import SentBefore
from aider_gardener.replay.play.clock import SECONDS_PER_CALL, CachedTokenCount, VirtualClock
from aider_gardener.replay.play.recorded import LeftRecording, Recorded

CHUNKS = (
    ("system", "system"),
    ("examples", "examples"),
    ("readonly", "readonly_files"),
    ("repo", "repo"),
    ("done", "done"),
    ("files", "chat_files"),
    ("cur", "cur"),
    ("reminder", "reminder"),
)
"""Our name of a part and its attribute in aider's ChatChunks, in prompt order."""


class Calls:
    """Stands in for `litellm.completion`. `all_calls` are those so far, of all turns; `texts_by_hash` has
    role and text of all messages that were sent. Prompts go to `dump_dir` where there is one.

    `main_model` is aider's Model whose calls are answered with recorded replies; it may be replaced
    when the chat switches models.
    """

    def __init__(
        self,
        recorded: Recorded,
        counted: CachedTokenCount,
        clock: VirtualClock,
        main_model: Any,
        dump_dir: Path | None = None,
    ) -> None:
        self.recorded = recorded
        self.counted = counted
        self.clock = clock
        self.main_model = main_model
        self.dump_dir = dump_dir
        self.parts: list[tuple[Any, str]] = []
        self.files = ""
        self.texts_by_hash: dict[str, tuple[str, str]] = {}
        self.sent = SentBefore(self.texts_by_hash)
        self.all_calls: list[ModelCall] = []
        self.summaries_from = 0

    @property
    def texts(self) -> dict[str, str]:
        return {sha: text for sha, (_role, text) in self.texts_by_hash.items()}

    def complete(self, **options: Any) -> object:
        messages, name = list(options["messages"]), str(options["model"])
        main_names = [self.main_model.name, self.main_model.editor_model.name]
        kind = kind_of(messages, name, main_names)
        self.clock.now += SECONDS_PER_CALL
        turn = self.recorded.turn
        number = 1 + sum(call.turn == turn for call in self.all_calls)
        self.dump(f"{turn}-{number}", messages)
        text = self.recorded.answer(kind)
        weak = self.main_model.weak_model
        model = weak if name == weak.name else self.main_model
        rows = self.rows(messages, kind, lambda message: self.counted.of_message(model, message))
        files_sha = ""
        if kind == MAIN and self.files:
            files_sha = short_hash({"role": "files", "content": self.files})
            self.texts_by_hash.setdefault(files_sha, ("files", self.files))
        call = ModelCall(
            turn=turn,
            call=number,
            kind=kind,
            model=name,
            prompt_tokens=self.counted.of_messages(model, messages),
            completion_tokens=self.counted.of_message(model, {"role": "assistant", "content": text}),
            prompt=rows,
            shared=self.sent.add(kind, rows, lambda text: self.counted.once(model, text)),
            at=self.recorded.typed_at,
            marks=tuple(at for at, message in enumerate(messages) if is_marked(message)),
            files_sha=files_sha,
        )
        self.all_calls.append(call)
        return completion(text, name, call.prompt_tokens, call.completion_tokens)

    def take_summaries(self) -> list[ModelCall]:
        """The summary calls since the last time, for the compaction they belong to."""
        found = [call for call in self.all_calls[self.summaries_from :] if call.kind == SUMMARY]
        self.summaries_from = len(self.all_calls)
        return found

    def watching(self, all_messages: Callable[[object], object]) -> Callable[[object], object]:
        """ChatChunks.all_messages that notes the parts of what it is about to join."""

        def watched(chunks: object) -> object:
            self.parts, self.files = [], ""
            for part, attribute in CHUNKS:
                for message in getattr(chunks, attribute):
                    placed = message if isinstance(message, Placed) else None
                    self.parts.append((message, placed.part if placed else part))
                    self.files = self.files or (placed.files if placed else "")
            return all_messages(chunks)

        return watched

    def rows(
        self,
        messages: Sequence[Mapping[str, object]],
        kind: str,
        tokens_of: Callable[[Mapping[str, object]], int],
    ) -> tuple[tuple[str, int, str], ...]:
        """(hash, tokens, part) of each message. Copies are known by their text, others go with the one
        before."""
        by_identity = {id(message): part for message, part in self.parts}
        by_hash = {short_hash(message): part for message, part in self.parts} if kind == MAIN else {}
        rows: list[tuple[str, int, str]] = []
        for message in messages:
            sha, part = short_hash(message), rows[-1][2] if rows else "system"
            if kind == MAIN:
                part = by_identity.get(id(message)) or by_hash.get(sha) or part
            else:
                part = "system" if message["role"] == "system" else "cur"
            self.texts_by_hash.setdefault(sha, (str(message.get("role")), text_of(message)))
            rows.append((sha, tokens_of(message), part))
        return tuple(rows)

    def dump(self, name: str, messages: Sequence[Mapping[str, object]]) -> None:
        if self.dump_dir is not None:
            text = json.dumps(list(messages), ensure_ascii=False, indent=1, default=str)
            try:
                write_private(self.dump_dir / f"{name}.json", text + "\n")
            except StoreError as problem:
                raise LeftRecording(str(problem)) from problem


def is_marked(message: Mapping[str, object]) -> bool:
    """Whether a message carries a mark for the provider's cache."""
    content = message.get("content")
    return isinstance(content, list) and any("cache_control" in part for part in content)


def short_hash(message: Mapping[str, object]) -> str:
    """The first 16 hex digits of the SHA-256 over role and text."""
    text = f"{message.get('role')}\0{text_of(message)}"
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]


def kind_of(messages: Sequence[Mapping[str, object]], model: str, main_models: Sequence[str]) -> str:
    """Which of aider's prompts this is, by its system message; otherwise by the model's name."""
    from aider import prompts

    first = text_of(messages[0]) if messages else ""
    if first == prompts.summarize:
        return SUMMARY
    if first.startswith(prompts.commit_system[:80]):
        return COMMIT
    return MAIN if model in main_models else OTHER


def completion(text: str, model: str, prompt_tokens: int, completion_tokens: int) -> object:
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
