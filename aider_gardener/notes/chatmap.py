"""The chat map: one small note on what the chat has touched and settled, before the history.

It names what the prompt does not show any more: the user's rules, decisions, files, symbols and numbers,
each with its turn. It is made anew only when the view changes, so that between two plans it is
the same text and providers go on serving it from their caches.

Where old turns are hidden by their age it holds the rolling summary of them, by extraction alone: a line a
turn, shorter the older the turn is, and one line for all that are older. It is made anew from
the originals, so nothing is summarised from a summary and no error adds up; its size is fixed, so prompts
stay flat however long the session is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from typing import NamedTuple

from aider_gardener.archive.archive import Archive
from aider_gardener.compress.line import cut_at_word
from aider_gardener.messages import Entry, Level, SourceKind
from aider_gardener.notes.names import Name, gather, names_in
from aider_gardener.notes.rules import Amendment, Decision, Rule, decided, line, rules_of
from aider_gardener.plan.chat import Chat
from aider_gardener.plan.planner import Applied, RenditionsOf, is_notice
from aider_gardener.reading.output import squeeze
from aider_gardener.tokens import approximate, fitting

RULES_SHARE, FACTS_SHARE, SUMMARY_SHARE = 0.15, 0.1, 0.25
"""The shares of the history budget that rules, decisions and names together, and the summary of old
turns may use. Decisions and names have no more than the rules leave of theirs."""
MAP_HEAD = (
    "(What is settled in this chat, kept by aider-gardener; [n] is the turn. Newer messages and files take"
    " precedence.)"
)
RULES_HEAD = "Rules set by the user:"
DECIDED_HEAD = "Decided:"
NAMES_HEAD = "Names and numbers that came up, by turn:"
SUMMARY_HEAD = "Earlier turns:"
DECIDED_SHARE = 0.35
"""The share of the map for decisions, at most; names get the rest."""
LEAST_SCORE = 0.2
"""Names that score less, mentioned once long ago, are not worth their place."""
NAMED_TURNS = 240
"""Names are read of so many turns, six times the half-life of a name."""
TURN_TOKENS = 4
"""What the turn before a decision or the names of one turn costs."""
NAME_CHARS = 3
"""A name or a number has a token for so many characters, where prose has one for four."""
LINE_TOKENS, LEAST_LINE_TOKENS = 64, 14
"""What the newest of the old turns may use, and the least that a turn of its own gets."""
FADE = 0.88
"""Each older turn may use this share of the next newer one."""
RUN_TOKENS = 40
"""What the line on all older turns may use."""

Turn = tuple[int, list[Entry]]
"""The number of a turn and its entries."""


class MapNote(NamedTuple):
    """The note in the prompt, what it was made for, and its tokens."""

    key: object = None
    text: str = ""
    tokens: int = 0

    def renewed(
        self,
        archive: Archive,
        chat: Chat,
        budget: int,
        *,
        around: Callable[[], str],
        amendments: Sequence[Amendment] = (),
        plans: Sequence[Applied] = (),
        rolls: bool = False,
        rules_only: bool = False,
    ) -> MapNote:
        """The note for a prompt whose history has this budget; the same one until the chat's view or its
        rules are changed. Empty as long as everything is shown in full, but for rules that were changed by
        hand.

        `around` gives the text of the prompt beside the history: what is in there is not named. `rolls`: the
        hidden turns are summarised. `rules_only`: the window has no room for more. After `plans` it is no
        longer than this one and what the last of them saved, so that a compaction makes no prompt longer;
        only rules stand however little that was. Secrets that were said are taken out of it.
        """
        shown = (tuple(chat.levels.items()), chat.floor, len(chat.forgotten), tuple(amendments))
        facts_room = 0 if rules_only else int(FACTS_SHARE * budget)
        summary_room = int(SUMMARY_SHARE * budget) if rolls and not rules_only else 0
        key = (shown, budget, facts_room, summary_room)
        if key == self.key:
            return self
        if not chat.levels and not amendments:
            return MapNote(key)
        entries, most = past(chat), 0
        view = "\n".join(piece.content for piece in chat.pieces)
        rules, rest_tokens = _rule_lines(rules_of(entries, amendments), view, budget)
        facts_room = min(facts_room, rest_tokens)
        sections = [_section(RULES_HEAD, rules)]
        if chat.levels:
            most = self.tokens + plans[-1].plan.tokens_saved if plans else 0
            turns = _summary(chat, summary_room, archive.renditions) if summary_room else ""
            sections.append(_section(SUMMARY_HEAD, [turns] if turns else []))
            in_prompt = "\n".join([view, *rules, turns, around()])
            sections.append(_facts(chat.turn, entries, in_prompt, facts_room) if facts_room else "")
        while any(sections):
            text = archive.store.redact("\n".join([MAP_HEAD, *filter(None, sections)])).text
            tokens = archive.count(text)
            if not most or tokens <= most or not any(sections[1:]):
                return MapNote(key, text, tokens)
            sections.pop()  # the facts go first, then the summary
        return MapNote(key)


def past(chat: Chat) -> list[Entry]:
    """The entries that the note may speak of: of this chat since it was cleared, taken out ones excepted."""
    return [entry for seq, entry in chat.entries.items() if seq >= chat.floor and seq not in chat.removed]


def _facts(turn: int, entries: Sequence[Entry], shown: str, room: int) -> str:
    """Decisions and names that are not shown elsewhere, within `room` tokens."""
    names = gather([entry for entry in entries if entry.turn > turn - NAMED_TURNS])
    lines = _decision_lines(decided(entries), squeeze(shown), int(DECIDED_SHARE * room))
    decisions = _section(DECIDED_HEAD, lines)
    rest = room - (approximate(decisions) if decisions else 0) - approximate(NAMES_HEAD) - 2
    return "\n".join(filter(None, [decisions, _section(NAMES_HEAD, name_lines(names, shown, turn, rest))]))


def _section(head: str, lines: Sequence[str]) -> str:
    return "\n".join([head, *lines]) if lines else ""


def _rule_lines(rules: Sequence[Rule], view: str, budget: int) -> tuple[list[str], int]:
    """The rules that are not shown in the user's own words, the newest that fit, and the tokens that they
    leave of their room."""
    missing = [line(rule) for rule in reversed(_not_in(view, rules))]
    rest_tokens = int(RULES_SHARE * budget) - approximate(RULES_HEAD) - 1
    found = [*fitting(missing, rest_tokens, _line_tokens, gaps=False)][::-1]
    return found, rest_tokens - sum(map(_line_tokens, found))


def without_room(rules: Sequence[Rule], view: str, budget: int) -> list[Rule]:
    """The rules that stand in no prompt with this view of the chat: newer ones take all that they may use."""
    shown, _rest = _rule_lines(rules, view, budget)
    return [rule for rule in _not_in(view, rules) if line(rule) not in shown]


def _not_in(view: str, rules: Sequence[Rule]) -> list[Rule]:
    flat = squeeze(view)
    return [rule for rule in rules if rule.text.removesuffix(" …") not in flat]


def _line_tokens(text: str) -> int:
    return approximate(text) + 1


def _decision_lines(decisions: Sequence[Decision], flat: str, room: int) -> list[str]:
    """Decisions that are not shown, the user's before the model's and newer before older, in their order."""
    missing = [one for one in decisions if one.text.removesuffix(" …") not in flat]
    best = sorted(missing, key=lambda one: (not one.is_users, -one.seq))
    chosen = fitting(best, room - approximate(DECIDED_HEAD), lambda one: approximate(one.text) + TURN_TOKENS)
    return [line(one) for one in sorted(chosen, key=decisions.index)]


def name_lines(names: Iterable[Name], shown: str, turn: int, room: int) -> list[str]:
    """The names of highest rank that the prompt does not show, a line for each turn they first came up in."""
    scored = [(-name.score(turn), name.order, name) for name in names if name.last_turn < turn]
    best = (name for score, _order, name in sorted(scored) if -score >= LEAST_SCORE)
    missing = (name for name in best if name.text not in shown)
    by_turn: dict[int, list[Name]] = {}

    def cost(name: Name) -> int:
        return len(name.text) // NAME_CHARS + 2 + (0 if name.first_turn in by_turn else TURN_TOKENS)

    for name in fitting(missing, room, cost, least=TURN_TOKENS):
        by_turn.setdefault(name.first_turn, []).append(name)
    return [
        f"[{first}] " + ", ".join(name.text for name in sorted(group, key=lambda name: name.order))
        for first, group in sorted(by_turn.items())
    ]


def _summary(chat: Chat, token_limit: int, renditions: RenditionsOf) -> str:
    """The hidden turns, oldest first, within `token_limit`: newer ones a line each, and one line for all that
    are older, with the names that come up in the most of them."""
    turns = _hidden_turns(chat)
    lines = (
        _turn_line(*turn, max(int(LINE_TOKENS * FADE**age), LEAST_LINE_TOKENS), renditions)
        for age, turn in enumerate(reversed(turns))
    )
    room_tokens = token_limit - RUN_TOKENS - 1
    newer = [*fitting(lines, room_tokens, _line_tokens, gaps=False, least=LEAST_LINE_TOKENS - 1)]
    older = turns[: len(turns) - len(newer)]
    if older and token_limit > RUN_TOKENS:
        newer.append(_run_line(older, RUN_TOKENS))
    return "\n".join(newer[::-1])


def _hidden_turns(chat: Chat) -> list[Turn]:
    """The hidden entries by turn, oldest first, without what only the host said."""
    hidden = (entry for entry in past(chat) if chat.level_of(entry) is Level.HIDDEN)
    entries = sorted((e for e in hidden if not is_notice(e)), key=lambda entry: (entry.turn, entry.seq))
    return [(turn, list(group)) for turn, group in groupby(entries, key=lambda entry: entry.turn)]


def _turn_line(turn: int, entries: Sequence[Entry], limit: int, renditions: RenditionsOf) -> str:
    """One turn on one line, cut to `limit` tokens: what was asked, the last reply, then the rest."""
    typed = [entry for entry in entries if entry.source.kind is SourceKind.TYPED]
    replies = [entry for entry in entries if entry.source.kind is SourceKind.REPLY]
    texts = [_short_form(entry, renditions) for entry in [*typed[:1], *replies[-1:], *entries]]
    return _shortened(f"[{turn}] " + " → ".join(dict.fromkeys(filter(None, texts))), limit)


def _short_form(entry: Entry, renditions: RenditionsOf) -> str:
    """The one-line form of an entry, without its id and label."""
    rendition = renditions(entry).get(Level.LINE)
    text = rendition.text if rendition else entry.content
    return squeeze(text.removesuffix(f"[{entry.id}]")).removeprefix("reply: ")


def _shortened(text: str, limit: int) -> str:
    return text if approximate(text) <= limit else cut_at_word(text, approximate, limit)


def _run_line(turns: Sequence[Turn], limit: int) -> str:
    """What a run of turns was about: the names that the most of its turns hold."""
    turns_of = Counter[str]()
    for _turn, entries in turns:
        spoken = [e for e in entries if e.source.kind in (SourceKind.TYPED, SourceKind.REPLY)]
        turns_of.update({name for entry in spoken for name in names_in(entry.content[:4_000])})
    best = sorted(turns_of, key=lambda name: (-turns_of[name], name))[:12]
    first, last = turns[0][0], turns[-1][0]
    head = f"[{first}–{last}] " if len(turns) > 1 else f"[{first}] "
    return _shortened(head + (", ".join(best) or "talk without names"), limit)
