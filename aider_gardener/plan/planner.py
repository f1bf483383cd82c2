"""Makes plans: which entries to show at which fidelity so that the history meets its budget."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import takewhile

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
from aider_gardener.plan.chat import Chat
from aider_gardener.plan.evict import Candidate, Shield, choose, swaps
from aider_gardener.plan.expiry import Policy
from aider_gardener.plan.folded import remembered
from aider_gardener.plan.goals import Goal
from aider_gardener.plan.priority import names_any, priority
from aider_gardener.plan.view import Piece, exchanges, is_filler, note_line
from aider_gardener.reading.source import LAST_CHAT
from aider_gardener.tokens import MESSAGE_OVERHEAD_TOKENS

NO_POLICY = Policy()

SPOKEN = frozenset({SourceKind.TYPED, SourceKind.REPLY})
"""What user and model said, as against what programs and the host put in."""

RenditionsOf = Callable[[Entry], Mapping[Fidelity, Rendition]]

FORMAT_EDITS = 2
"""The last edit reply shows the model the edit format; so many stay whole where their files are not in the
chat."""
CODE = frozenset({ContentClass.CODE, ContentClass.EDIT})
TELLING_CHARS = 20
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


@dataclass(frozen=True)
class Applied:
    """One plan that was applied: in which turn, how many seconds it took, and what held then: the next
    sequence number and the marks. No other is due before new content enters or a mark falls."""

    turn: int
    plan: Plan
    seconds: float = 0.0
    next_seq: int = -1
    high: int = 0
    hard: int = 0


@dataclass(frozen=True)
class Draft:
    """A plan with the chat that it makes, before that takes the place of the chat."""

    plan: Plan
    chat: Chat


@dataclass(frozen=True)
class View:
    """A chat as it would stand at the levels that were asked for, with the tokens of its history."""

    fidelity: Mapping[int, Fidelity]
    chat: Chat
    tokens: int


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


def open_exchange(chat: Chat) -> frozenset[int]:
    """The entries that wait for an answer: the user messages at the end of the current list, and before
    them what else was put in since the last reply (outputs, which the host acknowledges itself)."""
    found: list[int] = []
    for piece in reversed(chat.cur):
        entry = chat.entries[piece.members[0]] if len(piece.levels) == 1 else None
        if entry is None or (entry.role == "assistant" and not is_filler(entry)):
            break
        found += piece.levels
    return frozenset(found) if any(chat.entries[seq].role == "user" for seq in found) else frozenset()


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
    before = history_tokens(chat, count)
    over_hard = bool(goal.hard) and before > goal.hard
    over = before > goal.high or over_hard or goal.asked
    if not over and not policy.terms:
        return None
    room = int(TAIL_SHARE * goal.low)
    rows = candidates(chat, focus=focus, renditions=renditions, policy=policy, tail_tokens=room)
    minimum = 1 if over_hard else max(1, int((MINIMUM_GAIN if over else EXPIRED_GAIN) * goal.high))

    def view(fidelity: Mapping[int, Fidelity]) -> View:
        shown = chat.shown_at(fidelity, partial(text_of, renditions=renditions))
        return View(fidelity, shown, history_tokens(shown, count))

    due = policy.due(rows, turn=chat.turn, over=over)
    made = view({**chat.fidelity, **due}) if due else View(chat.fidelity, chat, before)
    if over:
        now = open_exchange(chat)
        past = [row for row in rows if row.entry.seq not in now]
        made = lowered(rows, made, limits_of(goal, low_target(past, goal, before)), view)
    if before - made.tokens < minimum:
        return None
    changed = swaps(rows, chat.fidelity, made.fidelity, turn=chat.turn)
    broken = broken_prefix(chat, made.chat, count)
    plan = Plan(changed, goal.reason if over else "expired", before, made.tokens, broken, goal.marks(before))
    return Draft(plan, made.chat)


def lowered(
    rows: list[Candidate],
    made: View,
    limits: list[tuple[Shield, int]],
    view: Callable[[Mapping[int, Fidelity]], View],
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
        (Shield.TAIL, goal.high),
        (Shield.FORMAT, goal.high),
        (Shield.LAST, goal.hard),
    ]


def low_target(rows: list[Candidate], goal: Goal, before: int) -> int:
    """Where the plan should stop: the low mark, yet leaving older entries their share of it when the
    last exchange alone fills it."""
    fixed = sum(row.tokens(row.current) for row in rows if row.floor(Shield.FORMAT) is row.current)
    return min(before, max(goal.low, fixed + int(MEMORY_SHARE * goal.low)))


def broken_prefix(before: Chat, after: Chat, count: TokenCounter) -> int:
    """Tokens from the first message that changes to the end of the history: uncached once."""
    old, new = before.pieces, after.pieces
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(old, new, strict=False)))
    return piece_tokens(new[same:], count)


def text_of(entry: Entry, level: Fidelity, renditions: RenditionsOf) -> str:
    if level is Fidelity.FULL:
        return entry.content
    return renditions(entry)[level].text


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
    shown = [entry for entry in entries if chat.fidelity.get(entry.seq) is not Fidelity.HIDDEN]
    if not shown:
        return []
    # What is hidden cannot go lower: the hidden beginning of a long chat is not looked at.
    first = next(at for at, entry in enumerate(entries) if entry is shown[0])
    old_code = outdated(entries[first:], focus.paths)
    latest = {entry.id: entry.seq for entry in entries}
    made: dict[int, tuple[Rendition, ...]] = {}

    def options(entry: Entry) -> tuple[Rendition, ...]:
        if entry.seq not in made:
            made[entry.seq] = options_of(entry, renditions)
        return made[entry.seq]

    floors = shields(entries, open_exchange(chat), Tail(tail_tokens, old_code, options))
    rows: list[Candidate] = []
    for entry in shown:
        current = chat.fidelity.get(entry.seq, Fidelity.FULL)
        points = priority(entry, turn=chat.turn, focus=focus)
        if latest[entry.id] != entry.seq and not is_filler(entry):
            points = DUPLICATE_POINTS
        elif entry.seq in old_code:
            points = min(points, OUTDATED_POINTS)
        kept = floors[entry.seq] and policy.keeps(entry, chat.turn)
        floor = {Shield.LAST: Fidelity.COMPRESSED} if kept else floors[entry.seq]
        rows.append(Candidate(entry, current, options(entry), points, floor))
    return rows


def options_of(entry: Entry, renditions: RenditionsOf) -> tuple[Rendition, ...]:
    """Every form in which an entry can stand, with its tokens."""
    whole = Rendition(Fidelity.FULL, entry.content, entry.tokens + MESSAGE_OVERHEAD_TOKENS)
    shorter = [made for made in renditions(entry).values() if made.fidelity is not Fidelity.FULL]
    return (whole, *shorter, Rendition(Fidelity.HIDDEN, "", 0))


def outdated(entries: list[Entry], files: frozenset[str]) -> frozenset[int]:
    """The replies whose code is of no more use: edits of a file that the host sends anew with every prompt,
    and code most of whose lines stand again in a later reply."""
    found: set[int] = set()
    later: set[str] = set()
    for entry in reversed(entries):
        if entry.role != "assistant" or is_filler(entry):
            continue
        lines = code_lines(entry)
        sent_anew = has_edit(entry) and names_any(entry, files)
        again = len(lines) >= LEAST_CODE_LINES and len(lines & later) >= REPEATED_SHARE * len(lines)
        if sent_anew or again:
            found.add(entry.seq)
        later |= lines
    return frozenset(found)


@remembered(2_048)
def code_lines(entry: Entry) -> frozenset[str]:
    """The lines of an entry's code and edits that are long enough to be told apart."""
    parts = [entry.content[s.start : s.end] for s in entry.segments if s.cls in CODE]
    lines = {line.strip() for part in parts for line in part.splitlines()}
    return frozenset(line for line in lines if len(line) >= TELLING_CHARS)


@dataclass(frozen=True)
class Tail:
    """The last exchanges that are to stand whole: how many tokens they may take, which replies hold code
    of no more use (their short form is enough), and the forms of every entry."""

    tokens: int
    outdated: frozenset[int]
    options: Callable[[Entry], tuple[Rendition, ...]]

    def floors(self, finished: list[list[Entry]]) -> dict[int, dict[Shield, Fidelity]]:
        """How far down each entry of those exchanges may go. What programs said is not among them: it is
        given up first, except in the very last exchange."""
        found: dict[int, dict[Shield, Fidelity]] = {}
        left = self.tokens
        for group in reversed(finished):
            said = {entry.seq: self.least(entry) for entry in group if entry.source.kind in SPOKEN}
            cost = sum(form.tokens for form in said.values())
            if cost > left:
                break
            left -= cost
            found |= {
                seq: {Shield.NONE: form.fidelity, Shield.TAIL: Fidelity.HIDDEN} for seq, form in said.items()
            }
        return found

    def least(self, entry: Entry) -> Rendition:
        """The form in which an entry of the tail stands at least."""
        forms = {form.fidelity: form for form in self.options(entry)}
        whole = forms[Fidelity.FULL]
        return forms.get(Fidelity.COMPRESSED, whole) if entry.seq in self.outdated else whole


def shields(entries: list[Entry], now: frozenset[int], tail: Tail) -> dict[int, dict[Shield, Fidelity]]:
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
    edits = [seq for seq in edits if seq == edits[-1] or seq not in tail.outdated]
    tails = tail.floors(finished)
    found: dict[int, dict[Shield, Fidelity]] = {}
    for entry in entries:
        if entry.seq in now or entry.pinned:
            found[entry.seq] = {}
        elif entry.seq in last:
            found[entry.seq] = {Shield.LAST: Fidelity.COMPRESSED}
        elif entry.seq in edits:
            found[entry.seq] = {Shield.FORMAT: Fidelity.HIDDEN}
        elif entry.seq in tails:
            found[entry.seq] = tails[entry.seq]
        elif entry.source == LAST_CHAT:
            found[entry.seq] = {Shield.PROMPT: Fidelity.HIDDEN}
        elif entry.cls is ContentClass.PROMPT:
            found[entry.seq] = {Shield.NONE: Fidelity.COMPRESSED, Shield.PROMPT: Fidelity.HIDDEN}
        else:
            found[entry.seq] = {Shield.NONE: Fidelity.HIDDEN}
    return found


def is_notice(entry: Entry) -> bool:
    return is_filler(entry) or entry.source.kind is SourceKind.NOTICE


def has_edit(entry: Entry) -> bool:
    return entry.role == "assistant" and any(segment.cls is ContentClass.EDIT for segment in entry.segments)


def note_rendition(entry: Entry, fidelity: Fidelity, text: str, count: TokenCounter) -> Rendition:
    """A rendition with the tokens it costs as a line of a note."""
    return Rendition(fidelity, text, count(note_line(entry, text)) + 1)
