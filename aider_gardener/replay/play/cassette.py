"""Asks a real model, once: what it answered is kept in a file, so that the next run costs nothing.

Only a replay that was told to (`--ask-model`) gets here; every other one uses no network.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from aider_gardener.archive.store.redact import redact
from aider_gardener.errors import ReplayError
from aider_gardener.replay.play.model import text_of

FORMAT = 1
"""Of a cassette: JSON lines, the first says so."""

KEY_ENDINGS = ("_API_KEY", "_API_BASE", "_BASE_URL", "_API_VERSION")
"""Endings of the variables that a provider's client reads; they reach a replay only if a model is asked."""

Complete = Callable[..., Any]
"""Has the arguments and the result of `litellm.completion`."""


class Cassette:
    """Answers of models by model and messages. A line that can't be read raises ReplayError."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.answers: dict[str, str] = {}
        if path.exists():
            self.load()

    def load(self) -> None:
        try:
            lines = self.path.read_text(encoding="utf-8").splitlines()
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
        row = json.dumps({"key": key, "model": model, "purpose": purpose, "answer": answer})
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            handle = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            with open(handle, "ab", buffering=0) as file:
                head = json.dumps({"cassette": FORMAT}) + "\n" if not file.tell() else ""
                file.write((head + row + "\n").encode("utf-8"))
        except OSError as problem:
            raise ReplayError(f"{self.path}: cannot be written ({problem.strerror})") from problem


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
