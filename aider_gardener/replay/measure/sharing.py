"""What of a prompt was sent before: its beginning, which a cache can read, and all that stands again.

A cache knows a prompt by its beginning, token by token. So besides the whole messages that two prompts
begin with, the common beginning of the first message that differs counts too. What *stands again* is
more: the tokens of the last prompt that this one holds as well, wherever they stand. No order of the
same messages lets a cache read more of it.

Prompts of the main model and those of weak models are kept apart, as their caches are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from aider_gardener.replay.measure.result import MAIN, ModelCall

Row = tuple[str, int, str]
"""A message as a ModelCall has it: hash, tokens, part."""

Shared = tuple[int, int]
"""The place of an earlier call among the run's, from 0, and the tokens that both prompts begin with."""

Texts = Mapping[str, tuple[str, str]]
"""Role and text of a message by its hash."""


@dataclass
class Beginning:
    """A beginning of whole messages: the last call that had it, and how prompts went on from it.

    `following` has the message that was sent last at its end.
    """

    last: int = -1
    following: dict[str, Beginning] = field(default_factory=dict)

    def next(self, sha: str) -> Beginning:
        """The beginning that is longer by this message, from now on the last one of `following`."""
        found = self.following.pop(sha, None) or Beginning()
        self.following[sha] = found
        return found


class SentBefore:
    """The prompts of a run, in order. `texts` must have the text of every message before it is added;
    where it has none, only whole messages count."""

    def __init__(self, texts: Texts) -> None:
        self.texts = texts
        self.count = 0
        self.begun: dict[bool, Beginning] = {True: Beginning(), False: Beginning()}
        self.last: dict[bool, Sequence[Row]] = {True: (), False: ()}

    def add(
        self, kind: str, prompt: Sequence[Row], tokens_of: Callable[[str], int]
    ) -> tuple[tuple[Shared, ...], int]:
        """What the prompt shares with earlier ones, see `ModelCall.shared`, and its standing tokens.

        `tokens_of` counts a text.
        """
        main = kind == MAIN
        shared = [pair for begun in self.begun.values() for pair in self.shared(begun, prompt, tokens_of)]
        again = standing_tokens(prompt, self.last[main], self.texts, tokens_of)
        node = self.begun[main]
        for sha, _, _ in prompt:
            node.last = self.count
            node = node.next(sha)
        node.last = self.count
        self.last[main] = prompt
        self.count += 1
        return tuple(shared), again

    def shared(
        self, begun: Beginning, prompt: Sequence[Row], tokens_of: Callable[[str], int]
    ) -> Iterator[Shared]:
        """The last call with a common beginning, then each earlier one that shares more than all later."""
        depth = chars = 0
        for call, messages, more in sorted(self.candidates(begun, prompt), reverse=True):
            if (messages, more) <= (depth, chars):
                continue
            depth, chars = messages, more
            tokens = sum(row[1] for row in prompt[:messages])
            if more:
                sha, whole, _ = prompt[messages]
                tokens += min(whole, tokens_of(self.texts[sha][1][:more]))
            yield call, tokens

    def candidates(self, begun: Beginning, prompt: Sequence[Row]) -> Iterator[tuple[int, int, int]]:
        """Calls that may share most: place, messages shared, characters of the next message shared."""
        path = [begun]
        for sha, _, _ in prompt:
            node = path[-1].following.get(sha)
            if node is None:
                break
            path.append(node)
        deeper = -1
        for depth in range(len(path) - 1, -1, -1):
            node = path[depth]
            if node.last > deeper:
                yield node.last, depth, 0
                yield from self.within(node, prompt, depth, later_than=deeper)
            deeper = max(deeper, node.last)

    def within(
        self, node: Beginning, prompt: Sequence[Row], depth: int, later_than: int
    ) -> Iterator[tuple[int, int, int]]:
        """Of the calls that went on otherwise after `depth` messages those that share most characters."""
        role, text = self.texts.get(prompt[depth][0], ("", "")) if depth < len(prompt) else ("", "")
        best = 0
        for sha, child in reversed(node.following.items()) if text else ():
            if child.last <= later_than:
                return
            other_role, other = self.texts.get(sha, ("", ""))
            if role == other_role and other.startswith(text[: best + 1]) and sha != prompt[depth][0]:
                best = common_beginning(text, other)
                yield child.last, depth, best
            if best == len(text):
                return


def common_beginning(one: str, other: str) -> int:
    """How many characters two texts begin with in common."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def standing_tokens(
    prompt: Sequence[Row], last: Sequence[Row], texts: Texts, tokens_of: Callable[[str], int]
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


def lines_of(texts: Texts, sha: str) -> Iterable[str]:
    """The lines of a message with their ends; none of an unknown one."""
    text = texts.get(sha, ("", ""))[1]
    return [f"{line}\n" for line in text.split("\n")] if text else []


def with_sharing(calls: Sequence[ModelCall]) -> Sequence[ModelCall]:
    """The calls of a run. Those of a result without such figures get them by whole messages, too low."""
    if all(call.shared is not None and call.standing_tokens is not None for call in calls):
        return calls
    sent, found = SentBefore({}), []
    for call in calls:
        shared, again = sent.add(call.kind, call.prompt, lambda _text: 0)
        found.append(replace(call, shared=shared, standing_tokens=again))
    return found
