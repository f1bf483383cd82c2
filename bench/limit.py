"""Net tokens of a replay's prompts, which go by no provider, and the least that they could have been.

The *limit* of a run is what it takes if each token that stood in the last prompt of its model, wherever, is
read from the cache: no order of the same messages makes it less. It is worked out from the texts of all
prompts, so the result must have them (`Job.texts`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache

from aider_gardener.replay.measure.cost import PREFIX, Provider, is_cached, model_of, shared_tokens
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


def limit_net_tokens(result: ReplayResult) -> int:
    """Net tokens at the limit."""
    sent = sum(call.prompt_tokens for call in result.calls)
    return round(sent - (1 - NET_READ) * sum(standing(result)))


def standing(result: ReplayResult) -> Iterator[int]:
    """For each call the tokens that stood in the last one of its model; in an earlier one, if that shares
    more with it from the beginning."""
    last: dict[str, ModelCall] = {}
    for call, again in zip(result.calls, standing_again(result), strict=True):
        before = last.get(model_of(call, PLAIN))
        fresh = before is not None and is_cached(before, call, PLAIN)
        least = shared_tokens(call, result.calls, PLAIN)
        yield max(min(again, call.prompt_tokens) if fresh else 0, least)
        last[model_of(call, PLAIN)] = call


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
