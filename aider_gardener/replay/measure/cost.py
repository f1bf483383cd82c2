"""What a run would have cost: every call at the provider's own prices, prompt caches included.

Prices are US dollars from litellm's local table, of prompts up to 200,000 tokens where a provider asks
more for longer ones. Token counts are those of the run's own tokenizer for every provider, so costs
compare variants, not providers.

A cache that works by itself reads the longest beginning, counted in tokens, that any earlier call of
the same model has sent; one with marks reads whole messages up to a mark. Nothing is read of a call
that was sent longer ago than the provider's time to live. Most recordings carry no clock: then each
turn is taken to come within that time, and a second figure counts only calls of the same turn, which
is retries and reflections (`Window`).

The *limit* of a run is what it costs if each token that stood in the last prompt, wherever, is read from
the cache, minimum and block left aside: no order of the same messages makes it cheaper.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass
from enum import Enum
from itertools import compress

from aider_gardener.errors import ReplayError
from aider_gardener.plan.usage import Prices
from aider_gardener.replay.measure.result import MAIN, ModelCall
from aider_gardener.replay.measure.sharing import with_sharing


class Rule(str, Enum):
    """How a provider caches prompts."""

    PREFIX = "prefix"
    """By itself: the longest prefix already seen, in whole units, from a minimum on."""
    BREAKPOINTS = "breakpoints"
    """Only up to marks that the host sets; writing costs extra."""
    NONE = "none"


class Window(str, Enum):
    """Which earlier calls a cache still holds."""

    SESSION = "all turns within the time to live"
    TURN = "none across turns"


@dataclass(frozen=True)
class Provider:
    """One column of costs: the models of main and weak calls, and the cache's rule and units.

    A beginning shorter than `minimum_tokens` is not cached; a longer one in blocks of `unit_tokens`.
    `ttl_seconds` after its last use it is gone.
    """

    name: str
    main: str
    weak: str
    rule: Rule
    minimum_tokens: int = 1024
    unit_tokens: int = 1
    ttl_seconds: float = 300.0


DEEPSEEK, KIMI = "deepseek/deepseek-chat", "moonshot/kimi-k2-0905-preview"
GEMINI = ("gemini/gemini-2.5-pro", "gemini/gemini-2.5-flash")

PROVIDERS = (
    Provider("OpenAI", "gpt-4o", "gpt-4o-mini", Rule.PREFIX, unit_tokens=128),
    Provider("DeepSeek", DEEPSEEK, DEEPSEEK, Rule.PREFIX, minimum_tokens=64, unit_tokens=64),
    Provider("Anthropic", "claude-sonnet-4-5", "claude-haiku-4-5", Rule.NONE),
    Provider("Anthropic --cache-prompts", "claude-sonnet-4-5", "claude-haiku-4-5", Rule.BREAKPOINTS),
    Provider("Google", *GEMINI, Rule.PREFIX, minimum_tokens=2048),
    Provider("Moonshot", KIMI, KIMI, Rule.PREFIX, minimum_tokens=256, unit_tokens=256),
)
"""Five providers, Anthropic in two ways. OpenAI's, DeepSeek's, Anthropic's and Google's units are those
they publish; Google's minimum is that of Gemini 2.5, newer models ask for 4,096. Moonshot publishes none:
its blocks of 256 are what its users have measured."""

NET_READ = 0.1
"""What a cached token counts among net tokens: about the share of the full price that it costs."""

LOOKBACK_BLOCKS = 20
"""How many messages before a mark Anthropic looks for an earlier write."""


@dataclass(frozen=True)
class Bill:
    """Tokens by what is charged for them, and the sum in US dollars, with what of it is for output."""

    usd: float = 0.0
    input_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    output_tokens: int = 0
    output_usd: float = 0.0

    @property
    def input_usd(self) -> float:
        return self.usd - self.output_usd


@dataclass(frozen=True)
class Cost:
    """One provider's bills: with the cache kept through the session, and within turns only.

    `limit` is the least that the prompts of a run could have cost: this run's, or another's of the same
    session that it is held against (`Summary.limit_of`).
    """

    provider: str
    model: str
    cached: Bill
    uncached: Bill
    limit: Bill = Bill()

    @property
    def over_limit(self) -> float:
        """The input's cost, with the cache kept, as a multiple of the limit's; 0 without a limit."""
        return self.cached.input_usd / self.limit.input_usd if self.limit.input_usd else 0.0


def prices_of(model: str) -> Prices:
    """The prices of a model; ReplayError if litellm's table has none."""
    import os

    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    import litellm

    row = litellm.model_cost.get(model) or {}
    if row.get("input_cost_per_token") is None:
        raise ReplayError(f"{model}: litellm's table has no price for it; name a model that it knows")
    return Prices.of(row)


def held(earlier: ModelCall, call: ModelCall, provider: Provider, window: Window) -> bool:
    """Whether the provider's cache still holds at a call what an earlier one has sent."""
    if window is Window.TURN and earlier.turn != call.turn:
        return False
    if earlier.at is None or call.at is None:
        return True
    return call.at - earlier.at <= provider.ttl_seconds


class PromptCache:
    """What one model's provider has seen up to its marks: prefixes of prompts, each with its last call.

    `holds` must be asked before `add`, with the prefixes of the same call (see `prefixes`).
    """

    def __init__(self, provider: Provider, window: Window) -> None:
        self.provider = provider
        self.window = window
        self.calls: dict[int, ModelCall] = {}

    def holds(self, prefix: int, call: ModelCall) -> bool:
        seen = self.calls.get(prefix)
        return seen is not None and held(seen, call, self.provider, self.window)

    def add(self, prefixes: Iterable[int], call: ModelCall) -> None:
        for prefix in prefixes:
            self.calls[prefix] = call


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
    read-only files) and of the chat files, which the host marks; besides, where `mark` is set. In a prompt
    that only grows they are the ends of examples, bases and history."""
    last = {part: index for index, (_, _, part) in enumerate(prompt)}
    if "bases" in last:
        head = last.get("examples", last.get("system"))
        bases = max(last["bases"], last.get("repo", 0))
        ends = {head, bases, max(last.get("done", 0), last.get("diffs", 0), bases)}
        return sorted(index for index in ends if index is not None)
    history = mark.index(prompt) if mark else None
    groups = [("examples", "system"), ("repo", "readonly"), ("files",)]
    found = {next((last[part] for part in group if part in last), None) for group in groups} | {history}
    return sorted(index for index in found if index is not None)


def model_of(call: ModelCall, provider: Provider) -> str:
    """The provider's model that a call goes to: the weak one unless it is of kind "main"."""
    return provider.main if call.kind == MAIN else provider.weak


def shared_tokens(
    call: ModelCall,
    calls: Sequence[ModelCall],
    provider: Provider,
    window: Window = Window.SESSION,
    before: int | None = None,
) -> int:
    """Tokens of the longest beginning that a cache of this model still holds, of any size.

    With `before` only calls before that place among the run's count.
    """
    model, longest = model_of(call, provider), 0
    for place, tokens in call.shared or ():
        earlier = calls[place]
        if model_of(earlier, provider) == model and held(earlier, call, provider, window):
            longest = max(longest, tokens if before is None or place < before else 0)
    return min(longest, call.prompt_tokens)


def split_prefix(
    call: ModelCall, calls: Sequence[ModelCall], provider: Provider, window: Window
) -> tuple[int, int]:
    """(tokens read, tokens written) under a cache that finds prefixes by itself."""
    shared = shared_tokens(call, calls, provider, window)
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
        if cache.holds(keys[index], call)
    ]
    read = min(ends[max(hits)], call.prompt_tokens) if hits else 0
    written = min(ends[marks[-1]], call.prompt_tokens) if marks else 0
    cache.add((keys[at] for at in marks), call)
    cache.add((keys[index] for index in hits), call)
    return read, max(0, written - read)


def charged(call: ModelCall, price: Prices, read: int, written: int) -> Bill:
    """One call of whose prompt so many tokens are read from a cache and written to it."""
    rest = call.prompt_tokens - read - written
    output = call.completion_tokens * price.output
    usd = rest * price.input + read * price.cache_read + written * price.cache_write + output
    return Bill(usd, rest, read, written, call.completion_tokens, output)


def added(bills: Iterable[Bill]) -> Bill:
    """The sum of bills."""
    return Bill(*(sum(values) for values in zip(*(astuple(Bill()), *map(astuple, bills)), strict=True)))


def bill(
    calls: Sequence[ModelCall], provider: Provider, window: Window, mark: HistoryMark | None = None
) -> Bill:
    """Charge all calls of a run in order. A call that isn't of kind "main" goes to the weak model.

    `mark` is given for the gardener's variants. A provider's caches are apart by model.
    """
    calls = with_sharing(calls)
    table = {model: prices_of(model) for model in {provider.main, provider.weak}}
    cache, bills = PromptCache(provider, window), []
    for call in calls:
        read, written = 0, 0
        if provider.rule is Rule.PREFIX:
            read, written = split_prefix(call, calls, provider, window)
        elif provider.rule is Rule.BREAKPOINTS and call.kind == MAIN:
            read, written = split_breakpoints(call, provider, cache, mark)
        bills.append(charged(call, table[model_of(call, provider)], read, written))
    return added(bills)


def usd_of(calls: Sequence[ModelCall], places: Iterable[int], provider: Provider = PROVIDERS[0]) -> float:
    """What the calls at some places of a run cost, the cache kept through the session, of a provider whose
    cache knows a prompt by its beginning."""
    return sum(
        charged(
            calls[at],
            prices_of(model_of(calls[at], provider)),
            *split_prefix(calls[at], calls, provider, Window.SESSION),
        ).usd
        for at in places
    )


def standing(calls: Sequence[ModelCall], provider: Provider) -> list[int]:
    """For each call the tokens that stood in the last one of its model; in an earlier one, if that shares
    more with it from the beginning."""
    found, last = [], dict[str, ModelCall]()
    for call in calls:
        before = last.get(model_of(call, provider))
        fresh = before is not None and held(before, call, provider, Window.SESSION)
        again = min(call.standing_tokens or 0, call.prompt_tokens) if fresh else 0
        found.append(max(again, shared_tokens(call, calls, provider)))
        last[model_of(call, provider)] = call
    return found


def limit(calls: Sequence[ModelCall], provider: Provider) -> Bill:
    """The least that these prompts could have cost: all that stands again is read from the cache.

    Where a cache is written to at a price of its own, only what the next call reads and no earlier one
    has written is written.
    """
    calls = with_sharing(calls)
    reads, bills = standing(calls, provider), []
    following: dict[str, int] = {}
    for place in range(len(calls) - 1, -1, -1):
        call, model, written = calls[place], model_of(calls[place], provider), 0
        if model in following and provider.rule is not Rule.PREFIX:
            after = following[model]
            old = max(reads[place], shared_tokens(calls[after], calls, provider, before=place))
            written = min(call.prompt_tokens - reads[place], max(0, reads[after] - old))
        following[model] = place
        bills.append(charged(call, prices_of(model), reads[place], written))
    return added(bills)


def net_tokens(calls: Sequence[ModelCall], kind: str = "") -> tuple[int, int]:
    """Tokens of all prompts, those from a cache as a tenth: as they were sent, and at the limit. With `kind`
    those of such calls alone.

    It goes by no provider's minimum, block or price.
    """
    calls, plain = with_sharing(calls), Provider("", "main", "weak", Rule.PREFIX)
    counted = [kind in ("", call.kind) for call in calls]
    sent = sum(call.prompt_tokens for call in compress(calls, counted))
    read = sum(shared_tokens(call, calls, plain) for call in compress(calls, counted))
    again = sum(compress(standing(calls, plain), counted))
    return round(sent - (1 - NET_READ) * read), round(sent - (1 - NET_READ) * again)


def costs(calls: Sequence[ModelCall], mark: HistoryMark | None = None) -> list[Cost]:
    """A Cost for each of PROVIDERS, with the run's own limit."""
    calls = with_sharing(calls)
    return [
        Cost(
            provider=provider.name,
            model=provider.main,
            cached=bill(calls, provider, Window.SESSION, mark),
            uncached=bill(calls, provider, Window.TURN, mark),
            limit=limit(calls, provider),
        )
        for provider in PROVIDERS
    ]
