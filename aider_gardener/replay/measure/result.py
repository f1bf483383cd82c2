"""What one replay found, as plain data: the table, the page, the plot and the JSON are all made of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from aider_gardener.messages import Swap

MAIN, COMMIT, SUMMARY, OTHER = "main", "weak-commit", "summary", "other"
"""The kinds of model calls."""

STOPPED = "the gardener stopped with a fault of its own; from there on prompts are aider's"
"""The notice about a gardener that was gone before the end; it stands before all others."""


@dataclass(frozen=True)
class ModelCall:
    """One call of litellm. `call` counts the calls of a turn from 1, `turn` the inputs from 1.

    `prompt` holds for each message, in order, [first 16 hex digits of the SHA-256 of role and content,
    tokens, part]; its tokens add up to `prompt_tokens` less the fixed overhead of a request.

    `shared` says what a prefix cache can read: (place of an earlier call among the run's, from 0; tokens that
    both prompts begin with), the latest call first, then each earlier one that shares more than all later
    ones. `at` is when the turn was typed, in seconds since the epoch, None if the recording does not say.
    `marks` are the places in the prompt of the cache marks that it was sent with. `files_sha` names the text
    of the chat's files as they were then, where the prompt shows them as older texts and diffs.
    """

    turn: int
    call: int
    kind: str
    model: str
    prompt_tokens: int
    completion_tokens: int
    prompt: tuple[tuple[str, int, str], ...]
    shared: tuple[tuple[int, int], ...] = ()
    at: float | None = None
    marks: tuple[int, ...] = ()
    files_sha: str = ""


@dataclass(frozen=True)
class Compaction:
    """The history was compacted, or a paid attempt was thrown away (`applied` False).

    `by` is "llm" or "plan". Tokens are the history's. `calls` are the model calls it took, `seconds` what a
    plan took, by the clock. `swaps` are a plan's steps.
    """

    turn: int
    by: str
    applied: bool
    tokens_before: int
    tokens_after: int
    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    reason: str = ""
    seconds: float = field(default=0.0, compare=False)
    swaps: tuple[Swap, ...] = field(default=(), repr=False)


@dataclass(frozen=True)
class ProbeResult:
    """A probe and how it was met; `number` is its place in the list of probes, from 1."""

    number: int
    about_turn: int
    ask_at_turn: int
    kind: str
    question: str
    present: bool
    supported: bool
    missing: tuple[str, ...] = ()
    unsupported: tuple[str, ...] = ()


@dataclass(frozen=True)
class Carried:
    """An old fact, or line, that a reply used again: last said in `said_turn`; whether it stood in the
    prompt that made the reply."""

    text: str
    is_line: bool
    said_turn: int
    used_turn: int
    present: bool


@dataclass(frozen=True)
class Provenance:
    """What a result depends on."""

    gardener: str
    aider: str
    litellm: str
    model: str
    weak_model: str
    tokenizer: str
    window_tokens: int
    history_tokens: int
    settings: Mapping[str, object]
    session_sha256: str
    cache_prompts: bool = False


@dataclass(frozen=True)
class ReplayResult:
    """The replay of one session under one variant.

    `overhead_seconds` is by turn what the gardener added to it. `texts` maps the hash in `ModelCall.prompt`
    to the message's text, where that was asked for.
    """

    session: str
    variant: str
    turns: int
    provenance: Provenance
    calls: tuple[ModelCall, ...]
    compactions: tuple[Compaction, ...]
    probes: tuple[ProbeResult, ...]
    carried: tuple[Carried, ...] = ()
    notices: tuple[str, ...] = ()
    texts: Mapping[str, str] = field(default_factory=dict, repr=False)
    replay_seconds: float = field(default=0.0, compare=False)
    overhead_seconds: Mapping[int, float] = field(default_factory=dict, compare=False)

    def main_calls(self) -> list[ModelCall]:
        return [call for call in self.calls if call.kind == MAIN]

    @property
    def prompt_tokens(self) -> int:
        return sum(call.prompt_tokens for call in self.calls)

    @property
    def completion_tokens(self) -> int:
        return sum(call.completion_tokens for call in self.calls)

    @property
    def tokens_billed(self) -> int:
        """Prompt and completion tokens of every call, main, weak and summaries."""
        return self.prompt_tokens + self.completion_tokens

    @property
    def largest_prompt(self) -> int:
        """Tokens of the largest prompt of the main model, 0 without any call."""
        return max((call.prompt_tokens for call in self.main_calls()), default=0)

    @property
    def plan_seconds(self) -> list[float]:
        return [event.seconds for event in self.compactions if event.by == "plan"]

    def to_json(self) -> dict[str, object]:
        """A JSON value without the texts of the chat. All that two runs of one replay may differ in stands
        under `measured`."""
        value = dict(vars(self))
        for name in ("texts", "carried", "replay_seconds", "overhead_seconds"):
            del value[name]
        plain: dict[str, Any] = json.loads(json.dumps(value, default=vars))
        for event in plain["compactions"]:
            del event["swaps"], event["seconds"]
        plain["measured"] = {
            "replay_seconds": self.replay_seconds,
            "plan_seconds": self.plan_seconds,
            "overhead_seconds": dict(self.overhead_seconds),
        }
        return plain
