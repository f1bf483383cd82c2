"""The least that a replay's prompts could have cost, and net tokens, which go by no provider.

The *limit* of a run is what it costs if each token that stood in the last prompt of its model, wherever, is
read from the cache, minimum and block left aside: no order of the same messages makes it cheaper. It is
worked out from the texts of all prompts, so the result must have them (`Job.texts`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache

from aider_gardener.replay.measure.cost import (
    PREFIX,
    Bill,
    Provider,
    added,
    charged,
    is_cached,
    model_of,
    prices_of,
    shared_tokens,
)
from aider_gardener.replay.measure.result import MAIN, ModelCall, ReplayResult
from aider_gardener.replay.measure.sharing import Row

NET_READ = 0.1
"""What a cached token counts among net tokens: about the share of the full price that it costs."""

PLAIN = Provider("", "main", "weak", PREFIX)
"""A provider without minimum, block or price."""


def net_tokens(calls: Sequence[ModelCall], kind: str = "") -> int:
    """Tokens of all prompts, those read from a cache as a tenth. With `kind` those of such calls alone."""
    counted = [call for call in calls if kind in ("", call.kind)]
    read = sum(shared_tokens(call, calls, PLAIN) for call in counted)
    return round(sum(call.prompt_tokens for call in counted) - (1 - NET_READ) * read)


class Limit:
    """The limits of one result."""

    def __init__(self, result: ReplayResult) -> None:
        self.calls = result.calls
        self.again = list(standing_again(result))

    def net_tokens(self) -> int:
        """Net tokens at the limit."""
        sent = sum(call.prompt_tokens for call in self.calls)
        return round(sent - (1 - NET_READ) * sum(self.standing(PLAIN)))

    def standing(self, provider: Provider) -> list[int]:
        """For each call the tokens that stood in the last one of its model; in an earlier one, if that shares
        more with it from the beginning."""
        found, last = [], dict[str, ModelCall]()
        for call, standing in zip(self.calls, self.again, strict=True):
            before = last.get(model_of(call, provider))
            fresh = before is not None and is_cached(before, call, provider)
            again = min(standing, call.prompt_tokens) if fresh else 0
            found.append(max(again, shared_tokens(call, self.calls, provider)))
            last[model_of(call, provider)] = call
        return found

    def bill(self, provider: Provider) -> Bill:
        """What the prompts cost with a provider at the limit.

        Where a cache is written to at a price of its own, only what the next call reads and no earlier one
        has written is written.
        """
        calls, reads, bills = self.calls, self.standing(provider), []
        following: dict[str, int] = {}
        for place in range(len(calls) - 1, -1, -1):
            call, model, written = calls[place], model_of(calls[place], provider), 0
            if model in following and provider.rule is not PREFIX:
                after = following[model]
                before = tuple(pair for pair in calls[after].shared if pair[0] < place)
                earlier = replace(calls[after], shared=before)
                old = max(reads[place], shared_tokens(earlier, calls, provider))
                written = min(call.prompt_tokens - reads[place], max(0, reads[after] - old))
            following[model] = place
            bills.append(charged(call, prices_of(model), reads[place], written))
        return added(bills)


def standing_again(result: ReplayResult) -> Iterable[int]:
    """The tokens of each prompt that stood in the last one of the same model, wherever."""
    import litellm

    @cache
    def tokens_of(line: str) -> int:
        return len(litellm.encode(model=result.provenance.model, text=line))

    last: dict[bool, Sequence[Row]] = {}
    for call in result.calls:
        main = call.kind == MAIN
        yield standing_tokens(call.prompt, last.get(main, ()), result.texts, tokens_of)
        last[main] = call.prompt


def standing_tokens(
    prompt: Sequence[Row], last: Sequence[Row], texts: Mapping[str, str], tokens_of: Callable[[str], int]
) -> int:
    """How many tokens of a prompt stood in the last one, wherever. What stood once counts once.

    A message that stands again whole counts whole; of any other the share of its lines that stand in
    what is left of the last prompt, each line by its tokens.
    """
    left = Counter(sha for sha, _, _ in last)
    tokens, changed = 0, []
    for sha, weight, _ in prompt:
        if left[sha] > 0:
            left[sha] -= 1
            tokens += weight
        else:
            changed.append((sha, weight))
    old = Counter(line for sha in left.elements() for line in lines_of(texts, sha))
    for sha, weight in changed:
        stands = total = 0
        for line in lines_of(texts, sha):
            cost = tokens_of(line)
            total += cost
            if old[line] > 0:
                old[line] -= 1
                stands += cost
        tokens += weight * stands // total if total else 0
    return tokens


def lines_of(texts: Mapping[str, str], sha: str) -> Iterable[str]:
    """The lines of a message with their ends; none of an unknown one."""
    text = texts.get(sha, "")
    return [f"{line}\n" for line in text.split("\n")] if text else []
