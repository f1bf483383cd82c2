"""Makes plans: which entries to show at which fidelity so that the history meets its budget.

What has expired is due to be shown shorter, by its class's or its own term; a plan applies it, with what
else is due then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import takewhile

from aider_gardener.messages import (
    ContentClass,
    Entry,
    Fidelity,
    Focus,
    Plan,
    Rendition,
    SourceKind,
    Swap,
    TokenCounter,
)
from aider_gardener.plan.chat import Chat, open_exchange
from aider_gardener.plan.evict import ORDER, Candidate, Shield, choose, names_any, priority, swaps
from aider_gardener.plan.goals import Goal
from aider_gardener.plan.view import Piece, exchanges, has_edit, is_filler, note_line
from aider_gardener.reading.source import LAST_CHAT
from aider_gardener.settings import ANY_CLASS, Terms
from aider_gardener.tokens import MESSAGE_OVERHEAD_TOKENS

SPOKEN = frozenset({SourceKind.TYPED, SourceKind.REPLY})
"""What user and model said, as against what programs and the host put in."""

RenditionsOf = Callable[[Entry], Mapping[Fidelity, Rendition]]

FORMAT_EDITS = 2
"""The last edit reply shows the model the edit format; so many stay whole where their files are not in the
chat."""
CODE = frozenset({ContentClass.CODE, ContentClass.EDIT})
TELLING_CHARS = 20
"""Shorter lines of code are in many files."""
LEAST_CODE_LINES, REPEATED_SHARE = 3, 0.6
"""Code of fewer lines is not looked at; of others this share must stand again later to make it outdated."""
OUTDATED_POINTS = 10.0
"""The priority, at most, of a reply whose code is outdated."""
MINIMUM_GAIN = 0.08
"""Least share of the budget that a plan must save, or it would trickle and break the cache for little."""
EXPIRED_GAIN = 0.25
"""Least share of the high mark that entries which have expired must save for a plan of their own."""
DUPLICATE_POINTS = 1.0
"""The priority of an entry whose very text stands again later (aider puts test output in twice)."""
TAIL_SHARE = 0.6
"""Share of the low mark that the last exchanges may take whole: what the next reply builds on."""
MEMORY_SHARE = 0.5
"""Share of the low mark that is left to older entries, however large the last exchange is."""
LEAST_BATCH_TURNS = 2
"""Incremental context hides turns in batches of as many as stay whole, and at least so many."""


@dataclass(frozen=True)
class Policy:
    """What a plan does beside meeting its mark.

    `terms` say when entries are due. The last `keep_turns` turns (0: only the last exchange) stay whole
    as long as the prompt can be sent, and so do the entries `named`, by their place. `older`: once a plan is
    made, it shows everything older by a line. `incremental`: all but the last so many turns are hidden, for
    the rolling summary in the chat map has what they said; 0: not.
    """

    terms: Terms = field(default_factory=dict)
    keep_turns: int = 0
    older: bool = False
    incremental: int = 0
    named: frozenset[int] = frozenset()

    def with_own(self, entry_id: str, context_ttl: int, summarise_after: int) -> Policy:
        """The policy with terms of its own for one entry; 0 turns mean never."""
        own = {(entry_id, Fidelity.LINE): context_ttl, (entry_id, Fidelity.COMPRESSED): summarise_after}
        return replace(self, terms={**self.terms, **own})

    def keeps(self, entry: Entry, turn: int) -> bool:
        """Whether the entry is named or belongs to the last turns that stay whole."""
        return entry.seq in self.named or (self.keep_turns > 0 and entry.turn >= turn - self.keep_turns)

    def due(self, rows: Sequence[Candidate], *, turn: int, over: bool) -> dict[int, Fidelity]:
        """For each entry that is shown fuller than it is worth now: the level it is due for, the lowest that
        it has down to there. `over`: a plan is made anyway."""
        found: dict[int, Fidelity] = {}
        for row in rows:
            wanted, shield = due_level(row.entry, self.terms, turn=turn), Shield.NONE
            if self.older and over and not self.keeps(row.entry, turn):
                wanted, shield = Fidelity.LINE, Shield.PROMPT
            lowest = min(wanted, row.floor(shield), key=ORDER.index)
            for level in ORDER[ORDER.index(row.current) + 1 : ORDER.index(lowest) + 1]:
                if level in row.forms and row.forms[level] < row.forms[row.current]:
                    found[row.entry.seq] = level
        return found


def due_level(entry: Entry, terms: Terms, *, turn: int) -> Fidelity:
    """The most that is worth showing of an entry at this turn. What the user typed expires only if its class
    is named: `all` leaves it out."""

    keys = [entry.id, entry.cls.value, *([ANY_CLASS] if entry.cls is not ContentClass.PROMPT else [])]
    for level in (Fidelity.LINE, Fidelity.COMPRESSED):
        turns = next((terms[key, level] for key in keys if (key, level) in terms), 0)
        if 0 < turns <= turn - entry.turn:
            return level
    return Fidelity.FULL


NO_POLICY = Policy()


@dataclass(frozen=True)
class Applied:
    """One plan that was applied: in which turn, how many seconds it took, and what held then: the next
    sequence number and the marks, with what set them. No other is due before new content enters or a mark
    falls."""

    turn: int
    plan: Plan
    seconds: float = 0.0
    next_seq: int = -1
    high: int = 0
    hard: int = 0
    set_by: str = ""


@dataclass(frozen=True)
class Draft:
    """A plan with the chat that it makes, before that takes the place of the chat, and the entries that it
    spares because the user named them."""

    plan: Plan
    chat: Chat
    named: tuple[Entry, ...] = ()


def piece_tokens(pieces: Iterable[Piece], count: TokenCounter) -> int:
    """Tokens of the messages, with what chat formats add to each."""
    return sum(piece.tokens(count) + MESSAGE_OVERHEAD_TOKENS for piece in pieces)


def history_tokens(chat: Chat, count: TokenCounter) -> int:
    """Tokens of everything of the past: both lists without the messages of the open exchange."""
    now = open_exchange(chat)
    return piece_tokens((piece for piece in chat.pieces if not now.intersection(piece.levels)), count)


def open_tokens(chat: Chat, count: TokenCounter) -> int:
    """Tokens of the messages that wait for an answer."""
    now = open_exchange(chat)
    return piece_tokens((piece for piece in chat.cur if now.intersection(piece.levels)), count)


def draft(
    chat: Chat,
    goal: Goal,
    *,
    focus: Focus,
    count: TokenCounter,
    renditions: RenditionsOf,
    policy: Policy = NO_POLICY,
) -> Draft | None:
    """The plan that brings the chat's history from above `goal.high` down to `goal.low`, or None.

    Shield by shield entries are given up, each as far as its limit (`limits`). What has expired goes first,
    and is a plan of its own where it saves enough. Incremental context hides turns once there is a batch of
    them or the history is above its high mark; where the whole turns alone are above it, the plan shortens
    them too.

    None when nothing is due or what could be saved is not worth a plan; never more tokens than now.
    """
    before = history_tokens(chat, count)
    leaving = _leaving(chat, goal, policy, before) if policy.incremental else []
    hidden = dict.fromkeys((entry.seq for entry in leaving), Fidelity.HIDDEN)
    rolled = _shown_at(chat, {**chat.fidelity, **hidden}, renditions) if hidden else chat
    after = history_tokens(rolled, count)
    if after >= before:
        return _shortened(chat, goal, focus, count, renditions, policy)
    reason = f"turns left the last {policy.incremental} that stay whole"
    changed = tuple(Swap(e.id, chat.level_of(e), Fidelity.HIDDEN, e.tokens, reason) for e in leaving)
    more = _shortened(rolled, goal, focus, count, renditions, policy) if after > goal.high else None
    if more is not None:
        changed, after, rolled = (*changed, *more.plan.swaps), more.plan.tokens_after, more.chat
    broken = broken_prefix(chat, rolled, count)
    return Draft(Plan(changed, reason, before, after, broken, goal.marks(before)), rolled)


def _leaving(chat: Chat, goal: Goal, policy: Policy, before: int) -> list[Entry]:
    """The entries to hide of a history of so many tokens because their turns are over; pinned ones stay."""
    entries, kept = chat.all_entries(), policy.incremental
    whole_turns = {entry.turn for entry in entries if entry.seq not in chat.fidelity} - {chat.turn}
    is_batch = len(whole_turns) > kept + max(LEAST_BATCH_TURNS, kept)
    if not (is_batch or goal.asked or before > goal.high):
        return []
    staying = open_exchange(chat) | policy.named
    past = [e for e in entries if e.turn < chat.turn - kept and chat.shows(e) and not e.pinned]
    return [entry for entry in past if entry.seq not in staying]


def _shortened(
    chat: Chat, goal: Goal, focus: Focus, count: TokenCounter, renditions: RenditionsOf, policy: Policy
) -> Draft | None:
    before = history_tokens(chat, count)
    over_hard = 0 < goal.hard < before
    over = before > goal.high or over_hard or goal.asked
    if not over and not policy.terms:
        return None
    room = int(TAIL_SHARE * goal.low)
    rows = candidates(chat, focus=focus, renditions=renditions, policy=policy, tail_tokens=room)
    due = policy.due(rows, turn=chat.turn, over=over)
    fidelity = {**chat.fidelity, **due}
    made = _shown_at(chat, fidelity, renditions) if due else chat
    after = history_tokens(made, count)
    for shield, limit in limits(chat, goal, rows, before) if over else ():
        for _round in range(3):  # notes cost a little more than their parts
            if not limit or after <= limit:
                break
            steps = choose(rows, fidelity, tokens_to_save=after - limit, shield=shield)
            if not steps:
                break
            fidelity |= {step.candidate.entry.seq: step.after for step in steps}
            made = _shown_at(chat, fidelity, renditions)
            after = history_tokens(made, count)
    minimum = 1 if over_hard else max(1, int((MINIMUM_GAIN if over else EXPIRED_GAIN) * goal.high))
    if before - after < minimum:
        return None
    changed = swaps(rows, chat.fidelity, fidelity, turn=chat.turn)
    broken = broken_prefix(chat, made, count)
    reason = goal.reason if over else "expired"
    return Draft(Plan(changed, reason, before, after, broken, goal.marks(before)), made)


def _shown_at(chat: Chat, fidelity: Mapping[int, Fidelity], renditions: RenditionsOf) -> Chat:
    def text_of(entry: Entry, level: Fidelity) -> str:
        return entry.content if level is Fidelity.FULL else renditions(entry)[level].text

    return chat.shown_at(fidelity, text_of)


def limits(chat: Chat, goal: Goal, rows: Sequence[Candidate], before: int) -> list[tuple[Shield, int]]:
    """How far down, in tokens of a history that has `before`, it is worth giving up each shield.

    What nothing shields goes to the low mark, yet leaves older entries their share of it when the last
    exchange alone fills it. The user's own words are given up only as far as half-way between the marks, the
    last edits only to the high mark, the last exchange only to what the window allows.
    """
    now = open_exchange(chat)
    past = [row for row in rows if row.entry.seq not in now]
    fixed = sum(row.forms[row.current] for row in past if row.floor(Shield.FORMAT) is row.current)
    target = min(before, max(goal.low, fixed + int(MEMORY_SHARE * goal.low)))
    return [
        (Shield.NONE, target),
        (Shield.PROMPT, max(target, (goal.low + goal.high) // 2)),
        (Shield.TAIL, goal.high),
        (Shield.FORMAT, goal.high),
        (Shield.LAST, goal.hard),
    ]


def broken_prefix(before: Chat, after: Chat, count: TokenCounter) -> int:
    """Tokens from the first message that changes to the end of the history: uncached once."""
    old, new = before.pieces, after.pieces
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(old, new, strict=False)))
    return piece_tokens(new[same:], count)


def candidates(
    chat: Chat,
    *,
    focus: Focus,
    renditions: RenditionsOf,
    policy: Policy = NO_POLICY,
    tail_tokens: int = 0,
) -> list[Candidate]:
    """Every entry of the chat of which something is shown, with its renditions, worth and shield, in the
    order of the chat. The last exchanges that fit into `tail_tokens` are shielded as a whole."""
    entries = chat.all_entries()
    shown = [entry for entry in entries if chat.shows(entry)]
    if not shown:
        return []
    # What is hidden cannot go lower: the hidden beginning of a long chat is not looked at.
    first = next(at for at, entry in enumerate(entries) if entry is shown[0])
    old_code = outdated(entries[first:], focus.paths)
    latest = {entry.id: entry.seq for entry in entries}

    @cache
    def forms(seq: int) -> Mapping[Fidelity, int]:
        entry = chat.entries[seq]
        shorter = {level: made.tokens for level, made in renditions(entry).items()}
        return {**shorter, Fidelity.FULL: entry.tokens + MESSAGE_OVERHEAD_TOKENS, Fidelity.HIDDEN: 0}

    floors = _floors(entries, open_exchange(chat), old_code, forms, tail_tokens)
    rows: list[Candidate] = []
    for entry in shown:
        points = priority(entry, turn=chat.turn, focus=focus)
        if latest[entry.id] != entry.seq and not is_filler(entry):
            points = DUPLICATE_POINTS
        elif entry.seq in old_code:
            points = min(points, OUTDATED_POINTS)
        floor = floors[entry.seq]
        if floor and policy.keeps(entry, chat.turn):
            floor = {Shield.LAST: Fidelity.COMPRESSED}
        rows.append(Candidate(entry, chat.level_of(entry), forms(entry.seq), points, floor))
    return rows


def outdated(entries: Sequence[Entry], files: frozenset[str]) -> frozenset[int]:
    """The replies whose code is of no more use: edits of a file that the host sends anew with every prompt,
    and code most of whose lines stand again in a later reply."""
    found: set[int] = set()
    later: set[str] = set()
    for entry in reversed(entries):
        if entry.role != "assistant" or is_filler(entry):
            continue
        parts = [entry.content[s.start : s.end] for s in entry.segments if s.cls in CODE]
        stripped = {line.strip() for part in parts for line in part.splitlines()}
        lines = {line for line in stripped if len(line) >= TELLING_CHARS}
        sent_anew = has_edit(entry) and names_any(entry, files)
        again = len(lines) >= LEAST_CODE_LINES and len(lines & later) >= REPEATED_SHARE * len(lines)
        if sent_anew or again:
            found.add(entry.seq)
        later |= lines
    return frozenset(found)


def _floors(
    entries: Sequence[Entry],
    now: frozenset[int],
    old_code: frozenset[int],
    forms: Callable[[int], Mapping[Fidelity, int]],
    tail_tokens: int,
) -> dict[int, dict[Shield, Fidelity]]:
    """For each entry, how far down it may go once a shield is given up.

    What waits for an answer (`now`) and pinned entries go nowhere; the last finished exchange and the last
    reply only when the prompt could not be sent otherwise; the last edit replies and the last exchanges
    that fit into the tail before them; what the user typed may be compressed (its pasted parts are) but is
    hidden only after all else, and so is the note on the last chat, which the user asked for.
    """
    finished = exchanges([entry for entry in entries if entry.seq not in now])
    spoken = [group for group in finished if any(not is_notice(entry) for entry in group)]
    last = {entry.seq for group in spoken[-1:] for entry in group}
    last |= {entry.seq for entry in entries if last and entry.seq > max(last)}
    replies = [entry.seq for entry in entries if entry.role == "assistant" and not is_filler(entry)]
    last |= set(replies[-1:])
    edits = [entry.seq for entry in entries if has_edit(entry)][-FORMAT_EDITS:]
    edits = [seq for seq in edits if seq == edits[-1] or seq not in old_code]
    tail = _tail(finished, old_code, forms, tail_tokens)
    found: dict[int, dict[Shield, Fidelity]] = {}
    for entry in entries:
        if entry.seq in now or entry.pinned:
            found[entry.seq] = {}
        elif entry.seq in last:
            found[entry.seq] = {Shield.LAST: Fidelity.COMPRESSED}
        elif entry.seq in edits:
            found[entry.seq] = {Shield.FORMAT: Fidelity.HIDDEN}
        elif entry.seq in tail:
            found[entry.seq] = {Shield.NONE: tail[entry.seq], Shield.TAIL: Fidelity.HIDDEN}
        elif entry.source == LAST_CHAT:
            found[entry.seq] = {Shield.PROMPT: Fidelity.HIDDEN}
        elif entry.cls is ContentClass.PROMPT:
            found[entry.seq] = {Shield.NONE: Fidelity.COMPRESSED, Shield.PROMPT: Fidelity.HIDDEN}
        else:
            found[entry.seq] = {Shield.NONE: Fidelity.HIDDEN}
    return found


def _tail(
    finished: Sequence[Sequence[Entry]],
    old_code: frozenset[int],
    forms: Callable[[int], Mapping[Fidelity, int]],
    tokens: int,
) -> dict[int, Fidelity]:
    """The form that each entry of the last exchanges keeps, as many as `tokens` have room for: whole, but of
    code that is of no more use the short form is enough. What programs said is not among them: it is given
    up first, except in the very last exchange."""
    found: dict[int, Fidelity] = {}
    for group in reversed(finished):
        kept = {entry.seq: Fidelity.FULL for entry in group if entry.source.kind in SPOKEN}
        short = (seq for seq in old_code.intersection(kept) if Fidelity.COMPRESSED in forms(seq))
        kept |= dict.fromkeys(short, Fidelity.COMPRESSED)
        tokens -= sum(forms(seq)[level] for seq, level in kept.items())
        if tokens < 0:
            break
        found |= kept
    return found


def is_notice(entry: Entry) -> bool:
    """Whether the host wrote it itself, or it says nothing."""
    return is_filler(entry) or entry.source.kind is SourceKind.NOTICE


def note_rendition(entry: Entry, fidelity: Fidelity, text: str, count: TokenCounter) -> Rendition:
    """A rendition with the tokens it costs as a line of a note."""
    return Rendition(fidelity, text, count(note_line(entry, text)) + 1)
