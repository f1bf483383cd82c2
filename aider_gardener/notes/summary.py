"""The rolling summary: the hidden turns by extraction alone, within a fixed size.

It is made from the one-line forms of what was said and done: a line a turn, shorter the older the turn
is, and of the oldest turns one line for a run of them. It is compiled anew from the originals whenever
turns leave the whole part, so nothing is summarised from a summary and no error adds up; its size is
fixed, so prompts stay flat however long the session is.
"""

from __future__ import annotations

from bisect import bisect
from collections import Counter
from collections.abc import Sequence
from itertools import groupby

from aider_gardener.messages import Entry, Fidelity, SourceKind, TokenCounter
from aider_gardener.notes.fitting import fitting
from aider_gardener.notes.names import names_in
from aider_gardener.plan.chat import Chat
from aider_gardener.plan.planner import RenditionsOf, is_notice
from aider_gardener.reading.output import squeeze

SUMMARY_SHARE = 0.25
"""Share of the history budget that the summary of old turns may use."""
LINE_TOKENS, LEAST_LINE_TOKENS = 64, 14
"""What the newest of the old turns may use, and the least that a turn of its own gets."""
FADE = 0.88
"""Each older turn may use this share of the next newer one."""
RUN_TURNS = 25
"""So many turns go into one line once they get no line of their own."""
RUN_TOKENS = 40

Turn = tuple[int, list[Entry]]
"""The number of a turn and what was said in it."""


def summary(chat: Chat, *, token_limit: int, renditions: RenditionsOf, count: TokenCounter) -> str:
    """The hidden turns, oldest first, within `token_limit`: newer ones a line each, the oldest in runs.

    What a run is about are the names that come up in it most. Never longer than `token_limit`.
    """

    def cost(text: str) -> int:
        return count(text) + 1

    turns = _hidden_turns(chat)
    lines = (
        _turn_line(*turn, max(int(LINE_TOKENS * FADE**age), LEAST_LINE_TOKENS), renditions, count)
        for age, turn in enumerate(reversed(turns))
    )
    newer = [*fitting(lines, token_limit * 3 // 4, cost, gaps=False, least=LEAST_LINE_TOKENS - 1)]
    left = token_limit - sum(map(cost, newer))
    older = turns[: len(turns) - len(newer)]
    groups = [older[at : at + RUN_TURNS] for at in range(0, len(older), RUN_TURNS)]
    lines = (_run_line(group, RUN_TOKENS, count) for group in reversed(groups))
    runs = [*fitting(lines, left, cost, least=2 * RUN_TOKENS - 1)]
    left -= sum(map(cost, runs))
    rest = older[: RUN_TURNS * (len(groups) - len(runs))]
    if rest and left >= LEAST_LINE_TOKENS:  # one line for all that is older
        runs.append(_run_line(rest, min(left - 1, RUN_TOKENS), count))
    return "\n".join([*newer, *runs][::-1])


def _hidden_turns(chat: Chat) -> list[Turn]:
    """The hidden entries by turn, oldest first, without what only the host said."""
    entries = [
        entry
        for seq, entry in sorted(chat.entries.items())
        if chat.fidelity.get(seq) is Fidelity.HIDDEN
        and seq >= chat.floor
        and seq not in chat.gone
        and not is_notice(entry)
    ]
    entries.sort(key=lambda entry: entry.turn)
    return [(turn, list(group)) for turn, group in groupby(entries, key=lambda entry: entry.turn)]


def _turn_line(
    turn: int, entries: Sequence[Entry], limit: int, renditions: RenditionsOf, count: TokenCounter
) -> str:
    """One turn on one line, cut to `limit` tokens: what was asked, the last reply, then the rest."""
    typed = [entry for entry in entries if entry.source.kind is SourceKind.TYPED]
    replies = [entry for entry in entries if entry.source.kind is SourceKind.REPLY]
    texts = [_short_form(entry, renditions) for entry in [*typed[:1], *replies[-1:], *entries]]
    return _shortened(f"[{turn}] " + " → ".join(dict.fromkeys(filter(None, texts))), limit, count)


def _short_form(entry: Entry, renditions: RenditionsOf) -> str:
    """The one-line form of an entry, without its id and label."""
    made = renditions(entry).get(Fidelity.LINE)
    text = made.text if made else entry.content
    return squeeze(text.removesuffix(f"[{entry.id}]")).removeprefix("reply: ")


def _shortened(text: str, limit: int, count: TokenCounter) -> str:
    """The longest head of the text, at a word's end, within `limit` tokens."""
    if count(text) <= limit:
        return text
    words = text[: limit * 12].split(" ")

    def head(size: int) -> str:
        return " ".join(words[:size]) + " …"

    return head(max(1, bisect(range(1, len(words) + 1), limit, key=lambda size: count(head(size)))))


def _run_line(turns: Sequence[Turn], limit: int, count: TokenCounter) -> str:
    """What a run of turns was about: the names that the most of its turns hold."""
    turns_of = Counter[str]()
    for _turn, entries in turns:
        spoken = [e for e in entries if e.source.kind in (SourceKind.TYPED, SourceKind.REPLY)]
        turns_of.update({name for entry in spoken for name in names_in(entry.content[:4_000])})
    best = sorted(turns_of, key=lambda name: (-turns_of[name], name))[:12]
    first, last = turns[0][0], turns[-1][0]
    head = f"[{first}–{last}] " if len(turns) > 1 else f"[{first}] "
    return _shortened(head + (", ".join(best) or "talk without names"), limit, count)
