"""What a replay found, as plain data that goes to JSON and back.

Everything but `Measured` is the same for two runs of the same replay; wall-clock seconds live only
there.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from aider_gardener.errors import ReplayError

MAIN, COMMIT, SUMMARY, OTHER = "main", "weak-commit", "summary", "other"
"""The kinds of model calls."""


@dataclass(frozen=True)
class ModelCall:
    """One call of litellm. `call` counts the calls of a turn from 1, `turn` the inputs from 1.

    `prompt` holds for each message, in order, [first 16 hex digits of the SHA-256 of role and
    content, tokens, part]; its tokens add up to `prompt_tokens` less the fixed overhead of a
    request. `recorded_messages` is the number of messages in the recording's prompt, 0 if unknown.

    `shared` says what a prefix cache can read: (place of an earlier call among the run's, from 0; tokens
    that both prompts begin with), the latest call first, then each earlier one that shares more than all
    later ones; those of the main model and those of weak models each for themselves.
    `standing_tokens` are the tokens of the prompt that stood in the last one of the same model, wherever.
    Both are None in results of versions that did not keep them. `at` is when the turn was typed, in
    seconds since the epoch, None if the recording does not say. `files_sha` names the text of the chat's
    files as they were then, where the prompt shows them as older texts and diffs.
    """

    turn: int
    call: int
    kind: str
    model: str
    messages: int
    recorded_messages: int
    prompt_tokens: int
    completion_tokens: int
    parts: Mapping[str, int]
    prompt: tuple[tuple[str, int, str], ...]
    reply_sha: str = ""
    shared: tuple[tuple[int, int], ...] | None = None
    standing_tokens: int | None = None
    at: float | None = None
    files_sha: str = ""


@dataclass(frozen=True)
class Compaction:
    """The history was compacted, or a paid attempt was thrown away (`applied` False).

    `by` is "llm" or "plan". Tokens are the history's. `calls` are the model calls it took.
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


@dataclass(frozen=True)
class Swapped:
    """One entry that a plan showed otherwise than before, with both texts, each cut to some length.

    `plan` counts the compactions by plan from 0. `turn` is when the entry was said, `source` and `cls`
    what it was, `before` and `after` its fidelities; `rendition` is "" for a hidden entry.
    """

    plan: int
    entry_id: str
    turn: int
    source: str
    cls: str
    before: str
    after: str
    tokens_saved: int
    reason: str
    original: str
    rendition: str


@dataclass(frozen=True)
class Quoted:
    """One passage that was recalled unasked for the prompt of turn `asked`: what it is, when it was said, its
    text, and in words what made it come."""

    asked: int
    entry_id: str
    turn: int
    source: str
    matched: str
    text: str


@dataclass(frozen=True)
class ProbeResult:
    """A probe and how it was met; `number` is its place in the list of probes, from 1.

    `answer` is what a real model said where one was asked, `answered` whether every key stands in it.
    """

    number: int
    about_turn: int
    ask_at_turn: int
    kind: str
    question: str
    present: bool
    supported: bool
    missing: tuple[str, ...] = ()
    unsupported: tuple[str, ...] = ()
    prompt_tokens: int = 0
    messages: int = 0
    parts: Mapping[str, int] = field(default_factory=dict)
    answer: str | None = None
    answered: bool = False

    @property
    def distance_turns(self) -> int:
        return self.ask_at_turn - self.about_turn


@dataclass(frozen=True)
class DecoyResult:
    """A wrong answer to probe `number` and whether the prompt seemed to hold it; see
    `replay.measure.decoys`."""

    number: int
    kind: str
    keys: tuple[str, ...]
    present: bool
    supported: bool


@dataclass(frozen=True)
class Measured:
    """Wall-clock seconds: of the whole replay, of each plan (as in `compactions`), of each turn's
    overhead that the gardener added, by turn."""

    replay_seconds: float = 0.0
    plan_seconds: tuple[float, ...] = ()
    overhead_seconds: Mapping[int, float] = field(default_factory=dict)
    steps: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Provenance:
    """What a result depends on. Results whose provenance differs in more than `settings`,
    `history_tokens` and the variant aren't comparable.

    `map_tokens` is the budget of the repository map, None in results of versions that did not keep it;
    `cache_prompts` whether aider ran with `--cache-prompts`.
    """

    gardener: str
    commit: str
    aider: str
    litellm: str
    model: str
    weak_model: str
    tokenizer: str
    window_tokens: int
    history_tokens: int
    settings: Mapping[str, Any]
    session_sha256: str
    probes_sha256: str
    python: str
    map_tokens: int | None = None
    cache_prompts: bool = False


@dataclass(frozen=True)
class AskedEdit:
    """What a real model answered where the recording has a reply with edits: how many edits the recorded one
    has (`recorded`), how many the answer (`asked`), and how many of these aider could apply (`applied`)."""

    turn: int
    recorded: int
    asked: int
    applied: int


@dataclass(frozen=True)
class ReplayResult:
    """The replay of one session under one variant.

    `texts` maps the hash in `ModelCall.prompt` to the message's text; `swaps` are the steps of all plans,
    `quoted` what was recalled. All three are kept out of the JSON.
    """

    session: str
    variant: str
    turns: int
    provenance: Provenance
    calls: tuple[ModelCall, ...]
    compactions: tuple[Compaction, ...]
    probes: tuple[ProbeResult, ...]
    notices: tuple[str, ...] = ()
    gardener: Mapping[str, Any] = field(default_factory=dict)
    measured: Measured = field(default_factory=Measured)
    texts: Mapping[str, str] = field(default_factory=dict, repr=False, compare=False)
    decoys: tuple[DecoyResult, ...] = ()
    swaps: tuple[Swapped, ...] = field(default=(), repr=False, compare=False)
    quoted: tuple[Quoted, ...] = field(default=(), repr=False, compare=False)
    edits: tuple[AskedEdit, ...] = ()

    def main_calls(self) -> list[ModelCall]:
        return [call for call in self.calls if call.kind == MAIN]

    @property
    def present(self) -> int:
        return sum(probe.present for probe in self.probes)

    @property
    def supported(self) -> int:
        return sum(probe.supported for probe in self.probes)

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

    def to_json(self, *, measured: bool = True, texts: bool = False) -> dict[str, Any]:
        """A JSON value; without `measured` two runs of one replay give the identical value."""
        value = dict(vars(self))
        if not measured:
            del value["measured"]
        if not texts:
            del value["texts"], value["swaps"], value["quoted"]
        value["totals"] = {
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": self.completion_tokens,
            "tokens_billed": self.tokens_billed,
            "largest_prompt": self.largest_prompt,
            "present": self.present,
            "supported": self.supported,
            "probes": len(self.probes),
        }
        plain: dict[str, Any] = json.loads(json.dumps(value, default=vars))
        return plain

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> ReplayResult:
        """The result that `to_json` wrote; ReplayError if it isn't one."""
        try:
            measured = dict(value.get("measured") or {})
            overhead = measured.pop("overhead_seconds", {})
            plans = tuple(measured.pop("plan_seconds", ()))
            return cls(
                session=value["session"],
                variant=value["variant"],
                turns=value["turns"],
                provenance=Provenance(**value["provenance"]),
                calls=tuple(read_call(row) for row in value["calls"]),
                compactions=tuple(Compaction(**row) for row in value["compactions"]),
                probes=tuple(read_probe(row) for row in value["probes"]),
                notices=tuple(value.get("notices", ())),
                gardener=value.get("gardener", {}),
                measured=Measured(
                    plan_seconds=plans,
                    overhead_seconds={int(turn): s for turn, s in overhead.items()},
                    **measured,
                ),
                texts=value.get("texts", {}),
                decoys=tuple(read_decoy(row) for row in value.get("decoys", ())),
                swaps=tuple(Swapped(**row) for row in value.get("swaps", ())),
                quoted=tuple(Quoted(**row) for row in value.get("quoted", ())),
                edits=tuple(AskedEdit(**row) for row in value.get("edits", ())),
            )
        except (KeyError, TypeError, ValueError, AttributeError) as problem:
            raise ReplayError(f"not the JSON of a replay result ({problem!r})") from problem


def read_call(row: Mapping[str, Any]) -> ModelCall:
    prompt = tuple((str(sha), int(tokens), str(part)) for sha, tokens, part in row["prompt"])
    shared = row.get("shared")
    pairs = None if shared is None else tuple((int(place), int(tokens)) for place, tokens in shared)
    return ModelCall(**{**row, "prompt": prompt, "shared": pairs})


def read_probe(row: Mapping[str, Any]) -> ProbeResult:
    lists = {name: tuple(row.get(name, ())) for name in ("missing", "unsupported")}
    return ProbeResult(**{**row, **lists})


def read_decoy(row: Mapping[str, Any]) -> DecoyResult:
    return DecoyResult(**{**row, "keys": tuple(row["keys"])})
