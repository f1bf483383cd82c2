"""What a chat of Claude Code cost by the usage numbers in its transcript, and what of that two things would
have spared: prompts before their cache went cold, and long results of tools short from the start.

The prices are those of litellm's offline table, of prompts up to 200,000 tokens. A price that is missing, or
costs in the transcript (versions of 2025 wrote them) that these prices miss by more than AGREED, end it
before anything is said.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from pathlib import Path
from typing import NamedTuple

from aider_gardener.adapters.claude_code.hooks import LEAST_SAVED_SHARE
from aider_gardener.adapters.claude_code.transcript import ClaudeReader
from aider_gardener.adapters.marks import LARGE_TOKENS
from aider_gardener.adapters.transcript import TranscriptRecord, Used
from aider_gardener.compress.message import compress_message
from aider_gardener.errors import SessionError
from aider_gardener.messages import SourceKind
from aider_gardener.phrases import counted
from aider_gardener.plan.usage import Call
from aider_gardener.replay.measure.cost import prices_of
from aider_gardener.tokens import approximate

AGREED = 0.02
TTL_SECONDS, HOUR_SECONDS = 300.0, 3_600.0
HOUR_FACTOR = 2.0
"""What is kept for an hour is written for twice the price of input, as Anthropic publishes."""
OUTPUTS = (SourceKind.COMMAND, SourceKind.TEST, SourceKind.WEB)


class Answer(NamedTuple):
    """An answer of the model: when it came, and what it took."""

    at: float
    used: Used

    @property
    def dollars(self) -> float:
        used, prices = self.used, prices_of(self.used.model)
        call = Call(used.sent, used.output, used.read, used.written)
        return prices.cost(call) + used.hour * (HOUR_FACTOR - 1) * prices.input


@dataclass(frozen=True)
class ChatCost:
    """Dollars of a chat with its subagents; of those, what `cold` prompts cost more than warm ones would
    have, and what `long` results would have saved in short."""

    calls: int
    models: tuple[str, ...]
    dollars: float
    cold: int
    cold_dollars: float
    long: int
    long_dollars: float


def chat_cost(path: Path) -> ChatCost:
    """The cost of a transcript. Raises SessionError for one without usage numbers, ReplayError where a price
    is missing."""
    try:
        subagents = sorted((path.with_suffix("") / "subagents").rglob("*.jsonl"))
        records, *others = (
            [record for line in ClaudeReader(each).lines() for record in line.records]
            for each in (path, *subagents)
        )
    except OSError as problem:
        raise SessionError(f"{path}: cannot be read ({problem.strerror})") from problem
    everything = answers(chain(records, *others))
    calls = [call for call in answers(records) if call.used.in_context] or everything
    if not everything:
        raise SessionError(f"{path}: holds no usage numbers; give a transcript of Claude Code")
    reported = sum(call.used.cost for call in everything)
    priced = sum(call.dollars for call in everything if call.used.cost)
    if abs(priced - reported) > AGREED * reported:
        raise SessionError(f"{path}: its own costs are ${reported:.2f}, by litellm's prices ${priced:.2f}")
    ends = [record.at for record in records if record.boundary]
    pairs = (pair for pair in pairwise(calls) if not any(pair[0].at <= at <= pair[1].at for at in ends))
    cold = [extra for before, call in pairs if (extra := cold_dollars(before, call))]
    long = list(long_dollars(records, ends, calls))
    return ChatCost(
        calls=len(everything),
        models=tuple(dict.fromkeys(call.used.model for call in everything)),
        dollars=sum(call.dollars for call in everything),
        cold=len(cold),
        cold_dollars=sum(cold),
        long=len(long),
        long_dollars=sum(long),
    )


def answers(records: Iterable[TranscriptRecord]) -> list[Answer]:
    """The answers of transcripts in order: each block of one is a record of its own with all its usage, so
    it counts once, with the last numbers."""
    found: dict[object, Answer] = {}
    for record in records:
        if record.used and record.used.sent:
            found[record.used.key or record] = Answer(record.at, record.used)
    return list(found.values())


def cold_dollars(before: Answer, call: Answer) -> float:
    """What a call cost more because its cache had gone cold since the last one, 0 where it had not."""
    last, used = before.used, call.used
    cache_seconds = HOUR_SECONDS if last.hour else TTL_SECONDS
    again = min(last.sent, used.sent) - used.read
    if call.at - before.at <= cache_seconds or again <= 0 or used.model != last.model:
        return 0.0
    prices = prices_of(used.model)
    written = HOUR_FACTOR * prices.input if used.hour else prices.cache_write
    return again * (written - prices.cache_read)


def long_dollars(
    records: Sequence[TranscriptRecord], ends: Sequence[float], calls: Iterable[Answer]
) -> Iterator[float]:
    """What each long result would have saved in the form that the hooks give it: written once, and read from
    the cache by every later call up to the next compaction."""
    times = [(call.at, prices_of(call.used.model)) for call in calls]
    for record in records:
        if record.message is None or record.source.kind not in OUTPUTS:
            continue
        text, tokens = record.message.content, approximate(record.message.content)
        if tokens <= LARGE_TOKENS:
            continue
        compressed = compress_message(text, record.source, count=approximate)
        end = next((at for at in ends if at > record.at), float("inf"))
        later = [prices for at, prices in times if record.at <= at < end]
        if later and not compressed.lossless and len(compressed.text) <= (1 - LEAST_SAVED_SHARE) * len(text):
            saved = tokens - approximate(compressed.text)
            yield saved * (later[0].cache_write + sum(prices.cache_read for prices in later[1:]))


def cost_text(cost: ChatCost) -> str:
    rest = cost.dollars - cost.cold_dollars - cost.long_dollars
    models = ", ".join(cost.models)
    return (
        f"cost ${cost.dollars:.2f} by its own usage numbers: {counted(cost.calls, 'call')} of {models}\n"
        f"{counted(cost.cold, 'prompt')} paid for a cache that had gone cold: ${cost.cold_dollars:.2f}\n"
        f"{counted(cost.long, 'long result')} of tools, had they been short: ${cost.long_dollars:.2f}\n"
        f"without both: ${rest:.2f}"
    )
