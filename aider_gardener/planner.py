"""Makes plans: which entries to show at which fidelity so that the history meets its budget."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial

from aider_gardener.chat import Chat
from aider_gardener.evict import Candidate, Shield, choose, swaps
from aider_gardener.expiry import Policy
from aider_gardener.goals import Goal
from aider_gardener.messages import (
    ContentClass,
    Entry,
    Fidelity,
    Focus,
    Plan,
    Rendition,
    SourceKind,
    TokenCounter,
)
from aider_gardener.priority import priority
from aider_gardener.segment.host import LAST_CHAT
from aider_gardener.tokens import MESSAGE_OVERHEAD_TOKENS
from aider_gardener.view import Piece, exchanges, is_filler, note_line

NO_POLICY = Policy()

RenditionsOf = Callable[[Entry], Mapping[Fidelity, Rendition]]

FORMAT_EDITS = 2
"""Edit replies kept whole as examples of the edit format."""
MINIMUM_GAIN = 0.08
"""Least share of the budget that a plan must save, or it would trickle and break the cache for little."""
EXPIRED_GAIN = 0.25
"""Least share of the high mark that entries which have expired must save for a plan of their own."""
DUPLICATE_POINTS = 1.0
"""The priority of an entry whose very text stands again later (aider puts test output in twice)."""
MEMORY_SHARE = 0.5
"""Share of the low mark that is left to older entries, however large the last exchange is."""


@dataclass(frozen=True)
class Applied:
    """One plan that was applied: when, what it saved, and how many seconds it took."""

    turn: int
    tokens_before: int
    tokens_after: int
    reason: str
    seconds: float
    plan: Plan

    @classmethod
    def now(cls, plan: Plan, turn: int, seconds: float) -> Applied:
        return cls(turn, plan.tokens_before, plan.tokens_after, plan.reason, seconds, plan)


@dataclass(frozen=True)
class Draft:
    """A plan with the view that it makes, before it is applied."""

    plan: Plan
    fidelity: dict[int, Fidelity]
    done: list[Piece]
    cur: list[Piece]


@dataclass(frozen=True)
class View:
    """Both lists as they would stand at the given fidelities, with the tokens of their history."""

    fidelity: dict[int, Fidelity]
    done: list[Piece]
    cur: list[Piece]
    tokens: int


def piece_tokens(pieces: Iterable[Piece], count: TokenCounter) -> int:
    """Tokens of the messages, with what chat formats add to each."""
    return sum(count(piece.content) + MESSAGE_OVERHEAD_TOKENS for piece in pieces)


def history_tokens(done: list[Piece], cur: list[Piece], now: frozenset[int], count: TokenCounter) -> int:
    """Tokens of everything of the past: both lists without the messages of the open exchange `now`."""
    return piece_tokens((piece for piece in [*done, *cur] if not now.intersection(piece.members)), count)


def open_exchange(chat: Chat) -> frozenset[int]:
    """The entries that wait for an answer: the user messages at the end of the current list."""
    found: list[int] = []
    for piece in reversed(chat.cur):
        if piece.role != "user":
            break
        found += piece.members
    return frozenset(found)


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

    The user's own words are given up only as far as half-way between the marks, the last edits only to
    the high mark, the last exchange only to what the window allows. What has expired goes first, and is
    a plan of its own where it saves enough.

    None when nothing is due or what could be saved is not worth a plan; never more tokens than now.
    """
    now = open_exchange(chat)
    before = history_tokens(chat.done, chat.cur, now, count)
    over_hard = bool(goal.hard) and before > goal.hard
    over = before > goal.high or over_hard or goal.asked
    if not over and not policy.terms:
        return None
    rows = candidates(chat, focus=focus, renditions=renditions, policy=policy)
    minimum = 1 if over_hard else max(1, int((MINIMUM_GAIN if over else EXPIRED_GAIN) * goal.high))

    def view(fidelity: dict[int, Fidelity]) -> View:
        done, cur = chat.rendered(fidelity, partial(text_of, renditions=renditions))
        return View(fidelity, done, cur, history_tokens(done, cur, now, count))

    due = policy.due(rows, turn=chat.turn, over=over)
    made = view({**chat.fidelity, **due}) if due else View(dict(chat.fidelity), chat.done, chat.cur, before)
    if over:
        made = lowered(rows, made, limits_of(goal, low_target(rows, goal, before)), view)
    if before - made.tokens < minimum:
        return None
    changed = swaps(rows, chat.fidelity, made.fidelity, turn=chat.turn)
    broken = broken_prefix(chat, [*made.done, *made.cur], count)
    plan = Plan(changed, goal.reason if over else "expired", before, made.tokens, broken, goal.marks(before))
    return Draft(plan, made.fidelity, made.done, made.cur)


def lowered(
    rows: list[Candidate],
    made: View,
    limits: list[tuple[Shield, int]],
    view: Callable[[dict[int, Fidelity]], View],
) -> View:
    """The view, taken down shield by shield to the limit of each, as far as that goes."""
    for shield, limit in limits:
        if not limit or made.tokens <= limit:
            continue
        for _round in range(3):  # notes cost a little more than their parts
            steps = choose(rows, made.fidelity, tokens_to_save=made.tokens - limit, shield=shield)
            if not steps:
                break
            made = view({**made.fidelity, **{step.candidate.entry.seq: step.after for step in steps}})
            if made.tokens <= limit:
                break
    return made


def limits_of(goal: Goal, target: int) -> list[tuple[Shield, int]]:
    """How far down, in tokens, it is worth giving up each shield."""
    half_way = max(target, (goal.low + goal.high) // 2)
    return [
        (Shield.NONE, target),
        (Shield.PROMPT, half_way),
        (Shield.FORMAT, goal.high),
        (Shield.LAST, goal.hard),
    ]


def low_target(rows: list[Candidate], goal: Goal, before: int) -> int:
    """Where the plan should stop: the low mark, yet leaving older entries their share of it when the
    last exchange alone fills it."""
    fixed = sum(row.tokens(row.current) for row in rows if row.floor(Shield.FORMAT) is row.current)
    return min(before, max(goal.low, fixed + int(MEMORY_SHARE * goal.low)))


def broken_prefix(chat: Chat, pieces: list[Piece], count: TokenCounter) -> int:
    """Tokens from the first message that changes to the end of the history: uncached once."""
    old = [*chat.done, *chat.cur]
    same = 0
    while same < min(len(old), len(pieces)) and old[same].message == pieces[same].message:
        same += 1
    return piece_tokens(pieces[same:], count)


def text_of(entry: Entry, level: Fidelity, renditions: RenditionsOf) -> str:
    if level is Fidelity.FULL:
        return entry.content
    return renditions(entry)[level].text


def candidates(
    chat: Chat, *, focus: Focus, renditions: RenditionsOf, policy: Policy = NO_POLICY
) -> list[Candidate]:
    """Every entry of the chat with its renditions, worth and shield, in the order of the chat."""
    entries = chat.all_entries()
    floors = shields(entries)
    latest = {entry.id: entry.seq for entry in entries}
    rows: list[Candidate] = []
    for entry in entries:
        current = chat.fidelity.get(entry.seq, Fidelity.FULL)
        options = [Rendition(Fidelity.FULL, entry.content, entry.tokens + MESSAGE_OVERHEAD_TOKENS)]
        options += [made for made in renditions(entry).values() if made.fidelity is not Fidelity.FULL]
        options.append(Rendition(Fidelity.HIDDEN, "", 0))
        points = priority(entry, turn=chat.turn, focus=focus)
        if latest[entry.id] != entry.seq and not is_filler(entry):
            points = DUPLICATE_POINTS
        kept = floors[entry.seq] and policy.keeps(entry, chat.turn)
        floor = {Shield.LAST: Fidelity.COMPRESSED} if kept else floors[entry.seq]
        rows.append(Candidate(entry, current, tuple(options), points, floor))
    return rows


def shields(entries: list[Entry]) -> dict[int, dict[Shield, Fidelity]]:
    """For each entry, how far down it may go once a shield is given up.

    The open exchange and pinned entries go nowhere; the last finished exchange and the last reply only
    when the prompt could not be sent otherwise; the last two edit replies after the prompts; what the
    user typed may be compressed (its pasted parts are) but is hidden only after all else, and so is the
    note on the last chat, which the user asked for.
    """
    groups = exchanges(entries)
    is_open = bool(groups) and groups[-1][-1].role == "user"
    finished = groups[:-1] if is_open else groups
    spoken = [group for group in finished if any(not is_notice(entry) for entry in group)]
    last = {entry.seq for group in spoken[-1:] for entry in group}
    last |= {entry.seq for entry in entries if last and entry.seq > max(last)}
    replies = [entry.seq for entry in entries if entry.role == "assistant" and not is_filler(entry)]
    last |= set(replies[-1:])
    edits = [entry.seq for entry in entries if has_edit(entry)][-FORMAT_EDITS:]
    now = {entry.seq for entry in groups[-1]} if is_open else set()
    found: dict[int, dict[Shield, Fidelity]] = {}
    for entry in entries:
        if entry.seq in now or entry.pinned:
            found[entry.seq] = {}
        elif entry.seq in last:
            found[entry.seq] = {Shield.LAST: Fidelity.COMPRESSED}
        elif entry.seq in edits:
            found[entry.seq] = {Shield.FORMAT: Fidelity.HIDDEN}
        elif entry.source.detail == LAST_CHAT and entry.source.kind is SourceKind.STUB:
            found[entry.seq] = {Shield.PROMPT: Fidelity.HIDDEN}
        elif entry.cls is ContentClass.PROMPT:
            found[entry.seq] = {Shield.NONE: Fidelity.COMPRESSED, Shield.PROMPT: Fidelity.HIDDEN}
        else:
            found[entry.seq] = {Shield.NONE: Fidelity.HIDDEN}
    return found


def is_notice(entry: Entry) -> bool:
    return is_filler(entry) or entry.source.kind.value == "notice"


def has_edit(entry: Entry) -> bool:
    return entry.role == "assistant" and any(segment.cls is ContentClass.EDIT for segment in entry.segments)


def note_rendition(entry: Entry, fidelity: Fidelity, text: str, count: TokenCounter) -> Rendition:
    """A rendition with the tokens it costs as a line of a note."""
    return Rendition(fidelity, text, count(note_line(entry, text)) + 1)
