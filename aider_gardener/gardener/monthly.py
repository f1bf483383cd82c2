"""What a project's chats came to in a month: tokens and money, what was done, what was learnt.

A chat belongs to the month in which something was last said in it, a day to the machine's own zone, as in
`gardener status --month`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from aider_gardener.archive.sessions import said_in, short_ids
from aider_gardener.archive.store.base import Event, SessionInfo, Store
from aider_gardener.gardener import done_tasks, learnt
from aider_gardener.gardener.account import Account, account
from aider_gardener.gardener.growth import STATE_KEY, read_state, summed
from aider_gardener.gardener.state import ChatSums
from aider_gardener.notes.markdown import flat
from aider_gardener.phrases import counted, short, sums_text

PROMPT_CHARS = 80
LISTED = 40
"""So many chats, tasks and observations are listed one by one, the last ones."""


@dataclass(frozen=True)
class Chat:
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
class Learnt:
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
    chats: tuple[Chat, ...]
    observations: tuple[Learnt, ...]
    tasks: tuple[tuple[str, str], ...]

    @property
    def totals(self) -> dict[str, int]:
        """Commits, files edited, errors seen to go and not, over all chats."""
        names = ("commits", "files", "mended", "open_errors")
        return {name: sum(getattr(each, name) for each in self.chats) for name in names}

    def record(self) -> dict[str, Any]:
        """Everything as plain data."""
        return {**asdict(self), "totals": self.totals}


def month_of(at: float) -> str:
    return datetime.fromtimestamp(at).strftime("%Y-%m")


def day_of(at: float) -> str:
    return datetime.fromtimestamp(at).strftime("%Y-%m-%d")


def report(store: Store, project: str, month: str, *, clock: Callable[[], float] = time.time) -> Month:
    """The report of one month; its `chats` are oldest first. Raises StoreError."""
    infos = said_in(store, project)
    short_of = short_ids([info.id for info in infos])
    own = [info for info in reversed(infos) if month_of(info.last_at) == month]
    kept = {info.id: read_state(store.get_state(info.id, STATE_KEY)) for info in own}
    sums = {name: row[0] for name, row in kept.items() if row}
    chats = (chat(account(store, info), short_of[info.id], sums.get(info.id)) for info in own)
    return Month(
        month=month,
        project=project,
        sums=dict(summed(list(sums.values()))) if sums else {},
        chats=tuple(chats),
        observations=tuple(observations(store, project, month, own, clock)),
        tasks=tuple(
            (day_of(event.at), str(event.data.get("text"))) for event in tasks(store, project, month)
        ),
    )


def chat(found: Account, name: str, sums: ChatSums | None) -> Chat:
    """One chat as the report has it."""
    sums = sums or ChatSums()
    asked = next((step.asked for step in found.steps if step.asked), "")
    return Chat(
        short=name,
        last_at=found.info.last_at,
        first_prompt=flat(asked, PROMPT_CHARS),
        turns=found.info.turns,
        prompt_tokens=sums.prompt_tokens,
        saved_tokens=sums.saved_tokens,
        dollars=sums.cost,
        commits=len(found.commits),
        files=len(found.files),
        mended=len(found.errors) - len(found.open_errors),
        open_errors=len(found.open_errors),
    )


def observations(
    store: Store, project: str, month: str, own: list[SessionInfo], clock: Callable[[], float]
) -> Iterator[Learnt]:
    """What was taken or refused in the month, and what waits and was seen in it."""
    for verdict in learnt.verdicts(store, project):
        if month_of(verdict.at) == month:
            yield Learnt(verdict.text, verdict.verdict, 0)
    sessions = {info.id for info in own}
    found = learnt.learnt(store, project, clock=clock)
    for each in (*found.waiting, *found.faded):
        if any(seen.session in sessions for seen in each.evidence):
            yield Learnt(each.proposal, "waiting", len(each.evidence))


def tasks(store: Store, project: str, month: str) -> list[Event]:
    """The tasks that were archived in the month, oldest first."""
    events = store.events(learnt.PROJECT, done_tasks.EVENT)
    own = (e for e in events if learnt.is_of(store, project, str(e.data.get("project"))))
    return [event for event in own if month_of(event.at) == month]


def told(found: Month) -> Iterator[str]:
    """The report as lines for people."""
    if not (found.chats or found.tasks or found.observations):
        yield f"No chat of this project ended in {found.month}."
        return
    yield f"{found.month}: {counted(len(found.chats), 'chat')}"
    if found.sums:
        yield f"Of chats that called a model: {sums_text(found.sums)}"
    yield done_line(found.totals)
    yield from part("Chats", [chat_line(each) for each in found.chats])
    yield from part("Tasks done", [f"{day} {text}" for day, text in found.tasks])
    yield from part("Observations", [learnt_line(each) for each in found.observations])


def part(title: str, rows: list[str]) -> Iterator[str]:
    """A part with a line each; of more than LISTED the last."""
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


def chat_line(each: Chat) -> str:
    """A chat on one line."""
    facts = [counted(each.turns, "turn")]
    facts += [f"{short(each.prompt_tokens)} tokens"] if each.prompt_tokens else []
    facts += [f"${each.dollars:,.2f}"] if each.dollars >= 0.005 else []
    facts += [counted(each.commits, "commit")] if each.commits else []
    return f"{day_of(each.last_at)} {each.short} {each.first_prompt} ({', '.join(facts)})"


def learnt_line(each: Learnt) -> str:
    """An observation on one line."""
    seen = f", seen in {each.sessions} sessions" if each.sessions else ""
    return f"{each.text} ({each.state}{seen})"
