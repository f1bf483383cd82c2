"""The variant `filter`: another program rewrites the past messages before each prompt.

The environment variable REPLAY_FILTER names its command line. It reads a JSON value a line,
{"past": [messages], "current": [messages]}, and answers each with {"past": [messages]}: as many, in the
same order, each with role and content; null leaves one out. It runs without network as long as it
minds the environment of a replay.

"""

from __future__ import annotations

import atexit
import json
import subprocess
from collections.abc import Sequence
from typing import Any

from aider_gardener.errors import ReplayError

COMMAND_VARIABLE = "REPLAY_FILTER"
STOP_SECONDS = 5.0

Messages = Sequence[dict[str, Any]]


class PromptFilter:
    """The other program, started at first need; what it answered for the same past is remembered."""

    def __init__(self, command: Sequence[str]) -> None:
        self.command = command
        self._process: subprocess.Popen[str] | None = None
        self._answers: dict[str, list[dict[str, Any] | None]] = {}

    def rewrite(self, past: Messages, current: Messages) -> list[dict[str, Any] | None]:
        """What is sent for each past message. ReplayError if the program fails or answers otherwise."""
        asked = json.dumps({"past": list(past), "current": list(current)})
        if asked not in self._answers:
            self._answers[asked] = self._ask(asked, len(past))
        return list(self._answers[asked])

    def _ask(self, asked: str, count: int) -> list[dict[str, Any] | None]:
        process = self._started()
        assert process.stdin is not None and process.stdout is not None
        try:
            process.stdin.write(asked + "\n")
            process.stdin.flush()
            answered = json.loads(process.stdout.readline())["past"]
        except (OSError, ValueError, KeyError, TypeError) as problem:
            raise ReplayError(f"{self.command[0]} gave no answer that can be read ({problem!r})") from problem
        if not isinstance(answered, list) or len(answered) != count:
            raise ReplayError(f"{self.command[0]} answered with another number of messages than {count}")
        return answered

    def _started(self) -> subprocess.Popen[str]:
        if self._process is None:
            try:
                self._process = subprocess.Popen(
                    self.command,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    encoding="utf-8",
                )
            except OSError as problem:
                raise ReplayError(f"{self.command[0]} cannot be started ({problem})") from problem
            atexit.register(self.stop)
        return self._process

    def stop(self) -> None:
        """End the program: it sees the end of its input, and is killed if that does not help."""
        process, self._process = self._process, None
        if process is None:
            return
        if process.stdin:
            process.stdin.close()
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if process.stdout:
            process.stdout.close()
