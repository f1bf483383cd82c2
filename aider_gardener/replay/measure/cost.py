"""What a run would have cost: every call at the provider's own prices, prompt caches included.

Prices are US dollars from litellm's local table. Token counts are those of the run's own tokenizer
for every provider, so costs compare variants, not providers.

How much of a prompt a cache holds is decided by whole messages, the first that differs ends it: a
lower bound, since the beginning of that message might be shared too. A call may hit what any
earlier call of the same model within the window has sent. Sessions carry no clock, so each is shown
twice: every call within the window (`Window.SESSION`), and only calls of the same turn, which is
retries and reflections (`Window.TURN`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum

from aider_gardener.errors import ReplayError
from aider_gardener.plan.usage import Prices
from aider_gardener.replay.measure.result import MAIN, ModelCall


class Rule(str, Enum):
    """How a provider caches prompts."""

    PREFIX = "prefix"
    """By itself: the longest prefix already seen, in whole units, from a minimum on."""
    BREAKPOINTS = "breakpoints"
    """Only up to marks that the host sets; writing costs extra."""
    NONE = "none"


class Window(str, Enum):
    """Which earlier calls a cache still holds."""

    SESSION = "all turns within 5 minutes"
    TURN = "none across turns"


@dataclass(frozen=True)
class Provider:
    """One column of costs: the models of main and weak calls, and the cache's rule and units."""

    name: str
    main: str
    weak: str
    rule: Rule
    minimum_tokens: int = 1024
    unit_tokens: int = 1


PROVIDERS = (
    Provider("OpenAI", "gpt-4o", "gpt-4o-mini", Rule.PREFIX, unit_tokens=128),
    Provider("DeepSeek", "deepseek/deepseek-chat", "deepseek/deepseek-chat", Rule.PREFIX, unit_tokens=64),
    Provider("Anthropic", "claude-sonnet-4-5", "claude-haiku-4-5", Rule.NONE),
    Provider("Anthropic --cache-prompts", "claude-sonnet-4-5", "claude-haiku-4-5", Rule.BREAKPOINTS),
)

LOOKBACK_BLOCKS = 20
"""How many messages before a mark Anthropic looks for an earlier write."""


@dataclass(frozen=True)
class Bill:
    """Tokens by what is charged for them, and the sum in US dollars."""

    usd: float = 0.0
    input_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    output_tokens: int = 0


@dataclass(frozen=True)
class Cost:
    """One provider's bills: with the cache kept through the session, and within turns only."""

    provider: str
    model: str
    cached: Bill
    uncached: Bill


def prices_of(model: str) -> Prices:
    """The prices of a model; ReplayError if litellm's table has none."""
    import os

    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    import litellm

    row = litellm.model_cost.get(model) or {}
    if row.get("input_cost_per_token") is None:
        raise ReplayError(f"{model}: litellm's table has no price for it; name a model that it knows")
    return Prices.of(row)


class PromptCache:
    """What one model's provider has seen, as a set of prompt prefixes with the turn of the last use.

    `hit` must be asked before `add`, with the prefixes of the same call (see `prefixes`).
    """

    def __init__(self, window: Window) -> None:
        self.window = window
        self.turns: dict[int, int] = {}

    def holds(self, prefix: int, turn: int) -> bool:
        seen = self.turns.get(prefix)
        return seen is not None and (self.window is Window.SESSION or seen == turn)

    def add(self, prefixes: Iterable[int], turn: int) -> None:
        for prefix in prefixes:
            self.turns[prefix] = turn


def prefixes(prompt: Sequence[tuple[str, int, str]]) -> list[int]:
    """A key for each prefix of whole messages, the shortest first."""
    keys, key = [], 0
    for content, _, _ in prompt:
        key = hash((key, content))
        keys.append(key)
    return keys


@dataclass(frozen=True)
class HistoryMark:
    """The gardener's own mark, behind the finished exchanges that stand after the files.

    `recalled` are the hashes of its notes: such a note and the answer to it stand behind the mark.
    """

    recalled: frozenset[str] = frozenset()

    def index(self, prompt: Sequence[tuple[str, int, str]]) -> int | None:
        """The message it is set on: the one before the current message, or before the note."""
        current = [at for at, (_, _, part) in enumerate(prompt) if part == "cur"]
        if len(current) < 2:
            return None
        at = current[-2]
        noted = len(current) > 2 and prompt[current[-3]][0] in self.recalled
        at = at - 2 if noted else at
        return at if at >= current[0] else None


def breakpoints(prompt: Sequence[tuple[str, int, str]], mark: HistoryMark | None = None) -> list[int]:
    """Indexes of the messages that are marked: the ends of examples (or system), of the map (or
    read-only files) and of the chat files, which the host marks; besides, where `mark` is set."""
    last = {part: index for index, (_, _, part) in enumerate(prompt)}
    found = {mark.index(prompt)} if mark else set()
    for group in (("examples", "system"), ("repo", "readonly"), ("files",)):
        found.add(next((last[part] for part in group if part in last), None))
    return sorted(index for index in found if index is not None)


def split_prefix(call: ModelCall, provider: Provider, cache: PromptCache) -> tuple[int, int]:
    """(tokens read, tokens written) under a cache that finds prefixes by itself."""
    keys = prefixes(call.prompt)
    shared = 0
    for key, (_, tokens, _) in zip(keys, call.prompt, strict=True):
        if not cache.holds(key, call.turn):
            break
        shared += tokens
    cache.add(keys, call.turn)
    shared = min(shared, call.prompt_tokens)
    if shared < provider.minimum_tokens:
        return 0, 0
    return shared // provider.unit_tokens * provider.unit_tokens, 0


def split_breakpoints(
    call: ModelCall, provider: Provider, cache: PromptCache, mark: HistoryMark | None = None
) -> tuple[int, int]:
    """(tokens read, tokens written) under a cache that is read and written at marks only."""
    keys, total, ends = prefixes(call.prompt), 0, []
    for _, tokens, _ in call.prompt:
        total += tokens
        ends.append(total)
    marks = [at for at in breakpoints(call.prompt, mark) if ends[at] >= provider.minimum_tokens]
    hits = [
        index
        for at in marks
        for index in range(at, max(-1, at - LOOKBACK_BLOCKS), -1)
        if cache.holds(keys[index], call.turn)
    ]
    read = min(ends[max(hits)], call.prompt_tokens) if hits else 0
    written = min(ends[marks[-1]], call.prompt_tokens) if marks else 0
    cache.add((keys[at] for at in marks), call.turn)
    cache.add((keys[index] for index in hits), call.turn)
    return read, max(0, written - read)


def bill(
    calls: Iterable[ModelCall], provider: Provider, window: Window, mark: HistoryMark | None = None
) -> Bill:
    """Charge all calls in order. A call that isn't of kind "main" goes to the weak model.

    `mark` is given for the gardener's variants. A provider's caches are apart by model.
    """
    caches: dict[str, PromptCache] = {}
    table = {model: prices_of(model) for model in {provider.main, provider.weak}}
    usd, plain, reads, writes, output = 0.0, 0, 0, 0, 0
    for call in calls:
        model = provider.main if call.kind == MAIN else provider.weak
        cache = caches.setdefault(model, PromptCache(window))
        read, written = 0, 0
        if provider.rule is Rule.PREFIX:
            read, written = split_prefix(call, provider, cache)
        elif provider.rule is Rule.BREAKPOINTS and call.kind == MAIN:
            read, written = split_breakpoints(call, provider, cache, mark)
        rest = call.prompt_tokens - read - written
        price = table[model]
        usd += rest * price.input + read * price.cache_read + written * price.cache_write
        usd += call.completion_tokens * price.output
        plain, reads, writes = plain + rest, reads + read, writes + written
        output += call.completion_tokens
    return Bill(usd, plain, reads, writes, output)


def costs(calls: Sequence[ModelCall], mark: HistoryMark | None = None) -> list[Cost]:
    """A Cost for each of PROVIDERS."""
    return [
        Cost(
            provider=provider.name,
            model=provider.main,
            cached=bill(calls, provider, Window.SESSION, mark),
            uncached=bill(calls, provider, Window.TURN, mark),
        )
        for provider in PROVIDERS
    ]
