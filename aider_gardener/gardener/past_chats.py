"""What is kept of a project's chats: a line of each for a list, the whole of one to be read, and what all of
a month came to: tokens and money, what was done, what was learnt.

A chat belongs to the month in which something was last said in it, a day to the machine's own zone.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from aider_gardener.archive.entries import levels_by_id
from aider_gardener.archive.sessions import AIDER, clear_floor, host_of, project_sessions, short_ids
from aider_gardener.archive.store.base import SessionInfo, Store
from aider_gardener.gardener import done_tasks, learnt
from aider_gardener.gardener.account import Account, account
from aider_gardener.gardener.report import outlook
from aider_gardener.gardener.state import ChatSums
from aider_gardener.gardener.stored_chat import kept_growth, kept_sessions, last_frame
from aider_gardener.messages import Entry, Fidelity, SourceKind
from aider_gardener.notes.last_chat import edited_files
from aider_gardener.notes.markdown import flat
from aider_gardener.phrases import counted, short, sums_text
from aider_gardener.plan.view import is_filler

SPEAKERS = {
    SourceKind.TYPED: "you",
    SourceKind.REPLY: "model",
    SourceKind.COMMAND: "output",
    SourceKind.TEST: "tests",
    SourceKind.LINT: "lint",
    SourceKind.WEB: "web page",
    SourceKind.NOTICE: "aider",
    SourceKind.STUB: "aider-gardener",
    SourceKind.FILE: "file",
    SourceKind.SUMMARY: "summary",
    SourceKind.REMEMBERED: "note",
}
PROMPT_CHARS = 80
LISTED = 40
"""So many chats, tasks and observations of a month are listed one by one, the last ones."""
TOTALS = ("commits", "files", "mended", "open_errors")
SHORTER = (Fidelity.COMPRESSED, Fidelity.LINE)


@dataclass(frozen=True)
class PastChat:
    """One chat in a list. `number` counts from the newest, 1; `short` is the beginning of `id` that no other
    has. `sums` is None where nothing was kept of what it came to. `in_chat` are the files of its last
    prompt, `edited` those that it edited, the newest first. `host` is the agent in which it was held."""

    number: int
    id: str
    short: str
    started_at: float
    last_at: float
    turns: int
    first_prompt: str
    model: str
    sums: ChatSums | None
    in_chat: tuple[str, ...]
    edited: tuple[str, ...]
    host: str = AIDER

    @property
    def cost(self) -> str:
        """Dollars in words, "" where none are known."""
        dollars = self.sums.cost if self.sums else 0.0
        return f"${dollars:.2f}" if dollars >= 0.005 else "<$0.01" if dollars else ""


@dataclass(frozen=True)
class Shown:
    """How a message stood in prompts from a turn on: as `text` of so many tokens; "" where it was left out
    or whole again."""

    turn: int
    level: Fidelity
    tokens: int
    text: str = ""


@dataclass(frozen=True)
class Said:
    """One message of a chat: who said it, the original, and how it stood in prompts since. `cleared`: a
    /clear or the host took it out."""

    id: str
    speaker: str
    detail: str
    text: str
    tokens: int
    at: float
    pinned: bool
    cleared: bool
    shown: tuple[Shown, ...]

    @property
    def remark(self) -> str:
        """In one line, that and since when prompts held less of it; "" where they never did."""
        names = {Fidelity.FULL: "whole again", Fidelity.HIDDEN: "left out"}
        words = [
            f"{names.get(each.level, 'shorter')} from turn {each.turn}"
            + ("" if each.level in names else f" ({each.tokens:,} of {self.tokens:,} tokens)")
            for each in self.shown
        ]
        return f"In prompts: {', '.join(words)}." if words else ""


@dataclass(frozen=True)
class Turn:
    """What was said in one turn."""

    number: int
    said: tuple[Said, ...]


@dataclass(frozen=True)
class Transcript:
    """A whole chat, with what a list says of it."""

    chat: PastChat
    turns: tuple[Turn, ...]


def past_chats(store: Store, project: str, limit: int = 0) -> list[PastChat]:
    """The chats of a project, the last used first, at most `limit` (0: all)."""
    found = project_sessions(store, project)
    short = short_ids([info.id for info in found])
    return [
        past_chat(store, info, number, short[info.id], store.session_entries(info.id))
        for number, info in enumerate(found[: limit or None], 1)
    ]


def past_chat(store: Store, info: SessionInfo, number: int, short: str, entries: Sequence[Entry]) -> PastChat:
    """What a list says of one chat."""
    kept, frame = kept_growth(store, info.id), last_frame(store, info.id)
    sums = kept[0] if kept else None
    return PastChat(
        number=number,
        id=info.id,
        short=short,
        started_at=info.started_at,
        last_at=info.last_at,
        turns=info.turns,
        first_prompt=next((e.content for e in entries if e.source.kind is SourceKind.TYPED), ""),
        model=frame.model or (sums.model if sums else ""),
        sums=sums,
        in_chat=(*frame.files, *frame.read_only),
        edited=tuple(edited_files(entries)),
        host=host_of(store, info.id),
    )


def transcript(store: Store, project: str, info: SessionInfo) -> Transcript:
    """A chat turn by turn, without what only keeps the roles alternating."""
    infos = [each.id for each in project_sessions(store, project)]
    entries = store.session_entries(info.id)
    chat = past_chat(store, info, infos.index(info.id) + 1, short_ids(infos)[info.id], entries)
    floor, levels = clear_floor(store, info.id), levels_by_id(store.events(info.id))
    turns: dict[int, list[Said]] = {}
    for entry in entries:
        if is_filler(entry):
            continue
        message = Said(
            id=entry.id,
            speaker=SPEAKERS.get(entry.source.kind) or ("model" if entry.role == "assistant" else "you"),
            detail=entry.source.detail,
            text=entry.content,
            tokens=entry.tokens,
            at=entry.created_at,
            pinned=entry.pinned,
            cleared=entry.seq < floor or not entry.active,
            shown=tuple(_shown(store, entry, levels.get(entry.id, ()))),
        )
        turns.setdefault(entry.turn, []).append(message)
    return Transcript(chat, tuple(Turn(number, tuple(rows)) for number, rows in turns.items()))


def _shown(store: Store, entry: Entry, levels: Sequence[tuple[int, Fidelity]]) -> Iterator[Shown]:
    """Every form in which prompts held a message."""
    forms = store.renditions(entry.id) if levels else {}
    for turn, level in levels:
        form = forms.get(level) if level in SHORTER else None
        tokens = form.tokens if form else 0 if level is Fidelity.HIDDEN else entry.tokens
        yield Shown(turn, level, tokens, form.text if form else "")


# All chats, and those of a month


def summed(sessions: Sequence[ChatSums]) -> Mapping[str, Any]:
    """Several chats together as plain data."""
    names = "turns calls prompt_tokens saved_tokens cost saved_cost compactions seconds".split()
    sums = {name: sum(getattr(session, name) for session in sessions) for name in names}
    share = ChatSums(**sums).saved_share
    rounded = {name: round(value, 4) if isinstance(value, float) else value for name, value in sums.items()}
    return {"sessions": len(sessions), **rounded, "saved_share": round(share, 4)}


def project_status(store: Store, project: str) -> dict[str, Any]:
    """How the last chat of a project stood, where it was heading, and what all its chats came to."""
    rows = kept_sessions(store, project)
    if not rows:
        return {}
    return {"last_chat": outlook(rows[-1][1]), "all_chats": dict(summed([row[0] for row in rows]))}


def month_status(store: Store, project: str, month: str) -> dict[str, Any]:
    """What a project's chats came to in a month ("2026-11", local time); {} when there was none."""
    sessions = [session for session, _points in kept_sessions(store, project)]
    found = [s for s in sessions if datetime.fromtimestamp(s.ended_at).strftime("%Y-%m") == month]
    return {"month": month, **summed(found)} if found else {}


@dataclass(frozen=True)
class MonthChat:
    """One chat of the month: what it began with and what was done in it. `dollars` is 0 where no price is
    known."""

    short: str
    last_at: float
    first_prompt: str
    turns: int
    prompt_tokens: int
    saved_tokens: int
    dollars: float
    commits: int
    files: int
    mended: int
    open_errors: int


@dataclass(frozen=True)
class MonthObservation:
    """What became of a proposal in the month: "taken", "refused", or "waiting" where nothing was said yet."""

    text: str
    state: str
    sessions: int


@dataclass(frozen=True)
class Month:
    """The report of a month ("2026-11"). `sums` are those of the chats that called a model, as plain data, {}
    for none; `tasks` the words of the tasks that were archived, with the day."""

    month: str
    project: str
    sums: Mapping[str, Any]
    chats: tuple[MonthChat, ...]
    observations: tuple[MonthObservation, ...]
    tasks: tuple[tuple[str, str], ...]

    @property
    def totals(self) -> dict[str, int]:
        """Commits, files edited, errors seen to go and not, over all chats."""
        return {name: sum(getattr(each, name) for each in self.chats) for name in TOTALS}

    def record(self) -> dict[str, Any]:
        """Everything as plain data."""
        return {**asdict(self), "totals": self.totals}


def day_of(at: float) -> str:
    return time.strftime("%Y-%m-%d", time.localtime(at))


def month_report(store: Store, project: str, month: str, *, clock: Callable[[], float] = time.time) -> Month:
    """The report of one month; its `chats` are oldest first. Raises StoreError."""

    def is_of(at: float) -> bool:
        return day_of(at).startswith(month)

    infos = project_sessions(store, project)
    short_of = short_ids([info.id for info in infos])
    kept = {info.id: kept_growth(store, info.id) for info in reversed(infos) if is_of(info.last_at)}
    found, answered = learnt.learnt(store, project, clock=clock), learnt.verdicts(store, project)
    waiting = [
        MonthObservation(each.proposal, "waiting", len(each.evidence))
        for each in (*found.waiting, *found.faded)
        if not kept.keys().isdisjoint(seen.session for seen in each.evidence)
    ]
    decided = [MonthObservation(each.proposal, each.verdict, 0) for each in answered if is_of(each.at)]
    tasks = [task for task in learnt.project_events(store, project, done_tasks.EVENT) if is_of(task.at)]
    sums = [row[0] for row in kept.values() if row]
    return Month(
        month=month,
        project=project,
        sums=dict(summed(sums)) if sums else {},
        chats=tuple(
            _month_chat(
                account(store, info), short_of[info.id], row[0] if (row := kept[info.id]) else ChatSums()
            )
            for info in reversed(infos)
            if info.id in kept
        ),
        observations=(*decided, *waiting),
        tasks=tuple((day_of(task.at), str(task.data.get("text"))) for task in tasks),
    )


def _month_chat(found: Account, short: str, sums: ChatSums) -> MonthChat:
    open_errors = len(found.open_errors)
    return MonthChat(
        short=short,
        last_at=found.info.last_at,
        first_prompt=flat(next((step.asked for step in found.steps if step.asked), ""), PROMPT_CHARS),
        turns=found.info.turns,
        prompt_tokens=sums.prompt_tokens,
        saved_tokens=sums.saved_tokens,
        dollars=sums.cost,
        commits=len(found.commits),
        files=len(found.files),
        mended=len(found.errors) - open_errors,
        open_errors=open_errors,
    )


def render_month(found: Month) -> Iterator[str]:
    """The report as lines for people."""
    if not (found.chats or found.tasks or found.observations):
        yield f"No chat of this project ended in {found.month}."
        return
    yield f"{found.month}: {counted(len(found.chats), 'chat')}"
    if found.sums:
        yield f"Of chats that called a model: {sums_text(found.sums)}"
    yield done_line(found.totals)
    chats, observations = [], []
    for chat in found.chats:
        facts = [counted(chat.turns, "turn")]
        facts += [f"{short(chat.prompt_tokens)} tokens"] if chat.prompt_tokens else []
        facts += [f"${chat.dollars:,.2f}"] if chat.dollars >= 0.005 else []
        facts += [counted(chat.commits, "commit")] if chat.commits else []
        chats.append(f"{day_of(chat.last_at)} {chat.short} {chat.first_prompt} ({', '.join(facts)})")
    for each in found.observations:
        seen = f", seen in {each.sessions} sessions" if each.sessions else ""
        observations.append(f"{each.text} ({each.state}{seen})")
    tasks = [f"{day} {text}" for day, text in found.tasks]
    parts = {"Chats": chats, "Tasks done": tasks, "Observations": observations}
    for title, rows in parts.items():
        if rows:
            yield f"\n{title}"
        if len(rows) > LISTED:
            yield f"  ({len(rows) - LISTED:,} earlier ones)"
        yield from (f"  {row}" for row in rows[-LISTED:])


def done_line(totals: Mapping[str, int]) -> str:
    """What was done in all chats, in a sentence."""
    return (
        f"{counted(totals['commits'], 'commit')}, {counted(totals['files'], 'file')} edited, by chat;"
        f" {counted(totals['mended'], 'error')} met and seen to go, {totals['open_errors']:,} not."
    )
