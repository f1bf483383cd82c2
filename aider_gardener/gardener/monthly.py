"""What a project's chats came to in a month: tokens and money, what was done, what was learnt.

A chat belongs to the month in which something was last said in it, a day to the machine's own zone, as in
`gardener status --month`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from aider_gardener.archive.sessions import said_in, short_ids
from aider_gardener.archive.store.base import Store
from aider_gardener.gardener import done_tasks, learnt
from aider_gardener.gardener.account import Account, account
from aider_gardener.gardener.growth import STATE_KEY, read_state, summed
from aider_gardener.gardener.state import ChatSums
from aider_gardener.notes.markdown import flat
from aider_gardener.phrases import counted, short, sums_text

PROMPT_CHARS = 80
LISTED = 40
"""So many chats, tasks and observations are listed one by one, the last ones."""
TOTALS = ("commits", "files", "mended", "open_errors")


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

    @classmethod
    def of(cls, found: Account, name: str, sums: ChatSums) -> MonthChat:
        open_errors = len(found.open_errors)
        return cls(
            short=name,
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


def report(store: Store, project: str, month: str, *, clock: Callable[[], float] = time.time) -> Month:
    """The report of one month; its `chats` are oldest first. Raises StoreError."""
    infos = said_in(store, project)
    short_of = short_ids([info.id for info in infos])
    own = [info for info in reversed(infos) if day_of(info.last_at).startswith(month)]
    kept = {info.id: read_state(store.get_state(info.id, STATE_KEY)) for info in own}
    sums = {name: row[0] for name, row in kept.items() if row}
    found, answered = learnt.learnt(store, project, clock=clock), learnt.verdicts(store, project)
    tasks = learnt.project_events(store, project, done_tasks.EVENT)
    observations = [
        MonthObservation(each.proposal, each.verdict, 0)
        for each in answered
        if day_of(each.at).startswith(month)
    ] + [
        MonthObservation(each.proposal, "waiting", len(each.evidence))
        for each in (*found.waiting, *found.faded)
        if not kept.keys().isdisjoint(seen.session for seen in each.evidence)
    ]
    return Month(
        month=month,
        project=project,
        sums=dict(summed(list(sums.values()))) if sums else {},
        chats=tuple(MonthChat.of(account(store, i), short_of[i.id], sums.get(i.id, ChatSums())) for i in own),
        observations=tuple(observations),
        tasks=tuple(
            (day_of(event.at), str(event.data.get("text")))
            for event in tasks
            if day_of(event.at).startswith(month)
        ),
    )


def render(found: Month) -> Iterator[str]:
    """The report as lines for people."""
    if not (found.chats or found.tasks or found.observations):
        yield f"No chat of this project ended in {found.month}."
        return
    yield f"{found.month}: {counted(len(found.chats), 'chat')}"
    if found.sums:
        yield f"Of chats that called a model: {sums_text(found.sums)}"
    yield done_line(found.totals)
    parts = {
        "Chats": [_chat_line(each) for each in found.chats],
        "Tasks done": [f"{day} {text}" for day, text in found.tasks],
        "Observations": [_observation_line(each) for each in found.observations],
    }
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


def _chat_line(each: MonthChat) -> str:
    facts = [counted(each.turns, "turn")]
    facts += [f"{short(each.prompt_tokens)} tokens"] if each.prompt_tokens else []
    facts += [f"${each.dollars:,.2f}"] if each.dollars >= 0.005 else []
    facts += [counted(each.commits, "commit")] if each.commits else []
    return f"{day_of(each.last_at)} {each.short} {each.first_prompt} ({', '.join(facts)})"


def _observation_line(each: MonthObservation) -> str:
    seen = f", seen in {each.sessions} sessions" if each.sessions else ""
    return f"{each.text} ({each.state}{seen})"
