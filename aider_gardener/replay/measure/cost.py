"""What a run would have cost: every call at the provider's own prices, prompt caches included.

Prices are US dollars from litellm's local table, of prompts up to 200,000 tokens where a provider asks
more for longer ones. Token counts are those of the run's own tokenizer for every provider, so costs
compare variants, not providers.

A cache that works by itself reads the longest beginning, counted in tokens, that any earlier call of
the same model has sent; one with marks reads whole messages up to a mark. Nothing is read of a call
that was sent longer ago than the provider's time to live. Most recordings carry no clock: then each
turn is taken to come within that time, and a second figure counts only calls of the same turn, which
is retries and reflections (`cold`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass, replace
from functools import cache
from itertools import accumulate

from aider_gardener.errors import ReplayError
from aider_gardener.plan.usage import Call, Prices
from aider_gardener.replay.measure.result import MAIN, ModelCall
from aider_gardener.tokens import model_row

PREFIX, MARKS, NONE = "prefix", "marks", ""
"""How a provider caches prompts: by itself the longest prefix already seen, in whole units, from a minimum
on; only up to marks that the host sets, where writing costs extra; not at all."""


@dataclass(frozen=True)
class Provider:
    """One column of costs: the models of main and weak calls, and the cache's rule and units.

    A beginning shorter than `minimum_tokens` is not cached; a longer one in blocks of `unit_tokens`.
    `ttl_seconds` after its last use it is gone.
    """

    name: str
    main: str
    weak: str
    rule: str
    minimum_tokens: int = 1024
    unit_tokens: int = 1
    ttl_seconds: float = 300.0


DEEPSEEK, KIMI = "deepseek/deepseek-chat", "moonshot/kimi-k2-0905-preview"
GEMINI = ("gemini/gemini-2.5-pro", "gemini/gemini-2.5-flash")

PROVIDERS = (
    Provider("OpenAI", "gpt-4o", "gpt-4o-mini", PREFIX, unit_tokens=128),
    Provider("DeepSeek", DEEPSEEK, DEEPSEEK, PREFIX, minimum_tokens=64, unit_tokens=64),
    Provider("Anthropic", "claude-sonnet-4-5", "claude-haiku-4-5", NONE),
    Provider("Anthropic --cache-prompts", "claude-sonnet-4-5", "claude-haiku-4-5", MARKS),
    Provider("Google", *GEMINI, PREFIX, minimum_tokens=2048),
    Provider("Moonshot", KIMI, KIMI, PREFIX, minimum_tokens=256, unit_tokens=256),
)
"""Five providers, Anthropic in two ways. OpenAI's, DeepSeek's, Anthropic's and Google's units are those
they publish; Google's minimum is that of Gemini 2.5, newer models ask for 4,096. Moonshot publishes none:
its blocks of 256 are what its users have measured."""

VENDORS = (
    (r"gpt|(^|/)o\d", "OpenAI"),
    (r"deepseek", "DeepSeek"),
    (r"claude", "Anthropic"),
    (r"gemini", "Google"),
    (r"kimi", "Moonshot"),
)
"""What in a model's name tells its vendor."""

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


@cache
def prices_of(model: str) -> Prices:
    """The prices of a model; ReplayError if litellm's table has none."""
    row = model_row(model)
    if row.get("input_cost_per_token") is None:
        raise ReplayError(f"{model}: litellm's table has no price for it yet")
    return Prices.of(row)


def provider_of(model: str, weak: str, *, cache_prompts: bool) -> Provider | None:
    """Who serves a model: its vendor's rule with the model's own prices; of an unknown vendor nothing is
    cached. None without a price. A weak model without one costs as much as the main one."""
    vendor = next((name for pattern, name in VENDORS if re.search(pattern, model)), "")
    marks = " --cache-prompts" if vendor == "Anthropic" and cache_prompts else ""
    rule = next((one for one in PROVIDERS if one.name == vendor + marks), Provider("", "", "", NONE))
    has_price, has_weak = (model_row(name).get("input_cost_per_token") is not None for name in (model, weak))
    return replace(rule, main=model, weak=weak if has_weak else model) if has_price else None


def is_cached(earlier: ModelCall, call: ModelCall, provider: Provider, *, cold: bool = False) -> bool:
    """Whether the provider's cache still holds at a call what an earlier one has sent; with `cold` nothing of
    earlier turns."""
    if cold and earlier.turn != call.turn:
        return False
    if earlier.at is None or call.at is None:
        return True
    return call.at - earlier.at <= provider.ttl_seconds


def breakpoints(call: ModelCall) -> list[int]:
    """Indexes of the messages that are marked: where the run had no marks those that it would have had, the
    ends of examples (or system), of the map (or read-only files) and of the chat files; in a prompt that only
    grows the ends of examples, bases and history. The mark that the gardener sets itself where a compacted
    history stands in the host's order is not among these."""
    if call.marks:
        return list(call.marks)
    last = {part: index for index, (_, _, part) in enumerate(call.prompt)}
    if "bases" in last:
        bases = max(last["bases"], last.get("repo", 0))
        history = max(last.get("done", 0), last.get("diffs", 0), bases)
        found = {last.get("examples", last.get("system")), bases, history}
    else:
        groups = [("examples", "system"), ("repo", "readonly"), ("files",)]
        found = {next((last[part] for part in group if part in last), None) for group in groups}
    return sorted(index for index in found if index is not None)


def model_of(call: ModelCall, provider: Provider) -> str:
    """The provider's model that a call goes to: the weak one unless it is of kind "main"."""
    return provider.main if call.kind == MAIN else provider.weak


def shared_tokens(
    call: ModelCall, calls: Sequence[ModelCall], provider: Provider, *, cold: bool = False
) -> int:
    """Tokens of the longest beginning that a cache of this model still holds, of any size."""
    model = model_of(call, provider)
    cached_tokens = (
        tokens
        for place, tokens in call.shared
        if model_of(calls[place], provider) == model and is_cached(calls[place], call, provider, cold=cold)
    )
    return min(max(cached_tokens, default=0), call.prompt_tokens)


def split_breakpoints(
    call: ModelCall, last_calls: dict[str, ModelCall], provider: Provider, *, cold: bool
) -> tuple[int, int]:
    """(tokens read, tokens written) under a cache that is read and written at marks only. `last_calls` has
    the last call of each beginning that was marked, and gets this one."""
    keys = list(accumulate((sha for sha, _, _ in call.prompt), lambda key, sha: str(hash(key + sha))))
    ends = list(accumulate(tokens for _, tokens, _ in call.prompt))
    marks = [at for at in breakpoints(call) if ends[at] >= provider.minimum_tokens]
    hits = [
        index
        for at in marks
        for index in range(at, max(-1, at - LOOKBACK_BLOCKS), -1)
        if keys[index] in last_calls and is_cached(last_calls[keys[index]], call, provider, cold=cold)
    ]
    read = min(ends[max(hits)], call.prompt_tokens) if hits else 0
    written = min(ends[marks[-1]], call.prompt_tokens) if marks else 0
    last_calls.update(dict.fromkeys((keys[at] for at in (*marks, *hits)), call))
    return read, max(0, written - read)


def charged(call: ModelCall, price: Prices, read: int, written: int) -> Bill:
    """One call of whose prompt so many tokens are read from a cache and written to it."""
    usd = price.cost(Call(call.prompt_tokens, call.completion_tokens, read, written))
    return Bill(usd, call.prompt_tokens - read - written, read, written, call.completion_tokens)


def added(bills: Iterable[Bill]) -> Bill:
    return Bill(*(sum(values) for values in zip(*(astuple(Bill()), *map(astuple, bills)), strict=True)))


def bill(calls: Sequence[ModelCall], provider: Provider, *, cold: bool = False) -> Bill:
    """Charge all calls of a run in order. A call that isn't of kind "main" goes to the weak model. The caches
    of a provider are apart by model."""
    last_calls: dict[str, ModelCall] = {}
    bills = []
    for call in calls:
        read, written = 0, 0
        if provider.rule is PREFIX:
            shared = shared_tokens(call, calls, provider, cold=cold)
            read = shared - shared % provider.unit_tokens if shared >= provider.minimum_tokens else 0
        elif provider.rule is MARKS and call.kind == MAIN:
            read, written = split_breakpoints(call, last_calls, provider, cold=cold)
        bills.append(charged(call, prices_of(model_of(call, provider)), read, written))
    return added(bills)


def costs(calls: Sequence[ModelCall], providers: Iterable[Provider] = PROVIDERS) -> list[Cost]:
    """A Cost for each provider."""
    return [Cost(one.name, one.main, bill(calls, one), bill(calls, one, cold=True)) for one in providers]
