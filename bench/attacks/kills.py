"""Chats killed at random moments: is all there that was said to be archived, and nothing by halves?

    python -m bench.attacks.kills [--kills N] [--seed N] [--at-once N] [--json FILE]

A child process plays a chat over a file: it adds, compacts, undoes, forgets, closes and opens again, and
writes to a pipe what the archive has acknowledged. It gets SIGKILL after a random number of acknowledgements
and a random moment more. Every tenth one kills itself between archiving and swapping: before the view
changes, and before or behind the record of the plan. The archive is then opened: all that was acknowledged
and not forgotten must be there whole, what was forgotten must not, `verify` must find nothing.
"""

from __future__ import annotations

import hashlib
import multiprocessing
import os
import random
import signal
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from aider_gardener.archive.archive import Archive
from aider_gardener.archive.store import Store, open_store
from aider_gardener.errors import StoreError
from aider_gardener.gardener import compactions
from aider_gardener.gardener.state import ChatState
from aider_gardener.gardener.stored_chat import stored_chat
from aider_gardener.messages import Entry, Plan, content_hash
from aider_gardener.plan.planner import Draft
from aider_gardener.plan.view import is_legal
from aider_gardener.settings import Settings
from bench.attacks.chat import Played, words
from bench.attacks.results import keep, parser_of

TURNS = 10_000
MOST_SAID, MOST_SECONDS, STUCK_SECONDS = 60, 0.05, 60.0
PLACES = ("before the swap", "before the record", "behind the record")
SELF_KILLED = 10
CONTEXT: Any = multiprocessing.get_context("spawn" if os.name == "nt" else "forkserver")
FORKED = ["aider_gardener.gardener.stored_chat", "bench.attacks.chat", "aider_gardener.replay.play.loaded"]
"""What the process holds that all others are forked off; in the tests those of replays are too."""
CONTEXT.set_forkserver_preload(FORKED)


class Teller:
    """The child's end of the pipe. What the parent has received was true before the kill."""

    def __init__(self, pipe: Connection) -> None:
        self.pipe = pipe

    def tell(self, kind: str, *values: str) -> None:
        self.pipe.send((kind, *values))

    def archived(self, entries: Sequence[Entry]) -> None:
        for entry in entries:
            self.tell("said", entry.id, digest(entry.content))


def digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def kill_self() -> None:
    os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))


def kill_at(place: str, chance: random.Random) -> None:
    """Kill this process at a place between archiving and swapping, at one of the first plans."""
    left = chance.randrange(1, 4)
    swap, record = compactions.apply, Archive.plan_event

    def due() -> bool:
        nonlocal left
        left -= 1
        return left == 0

    def swapping(state: ChatState, new_draft: Draft, began: float) -> Plan:
        if due():
            kill_self()
        return swap(state, new_draft, began)

    def recording(archive: Archive, *values: Any) -> None:
        if place == "before the record" and due():
            kill_self()
        record(archive, *values)
        if place == "behind the record" and due():
            kill_self()

    if place == "before the swap":
        compactions.apply = swapping
    else:
        Archive.plan_event = recording  # type: ignore[assignment,method-assign]  # reason: the attack


def play(pipe: Connection, directory: Path, name: str, seed: int, place: str) -> None:
    """The child: a chat that goes on until it is killed."""
    chance, teller = random.Random(seed), Teller(pipe)
    if place:
        kill_at(place, chance)
    chat = Played(directory, name=name, told=teller.archived)
    for turn in range(TURNS):
        chat.turn()
        teller.tell("turn")
        while chat.notices:
            teller.tell("notice", chat.notices.pop())
        act = chance.random()
        if act < 0.15:
            chat.undo()
        elif act < 0.3:
            stored = [e.id for e in chat.gardener.state.chat.entries.values() if e.id]
            wanted = chance.choice(stored)
            teller.tell("forgets", wanted)
            try:
                chat.forget(wanted)
            except StoreError as error:
                teller.tell("refused", str(error))
            else:
                teller.tell("forgot", wanted)
        elif act < 0.35:
            chat.close()
            teller.tell("closed")
            chat = Played(directory, name=f"{name}-{turn}", told=teller.archived)


@dataclass
class Writer:
    """A chat in a process of its own, and what it told."""

    name: str
    pipe: Connection
    process: Any
    told: list[tuple[str, ...]] = field(default_factory=list)

    @property
    def turns(self) -> int:
        return sum(kind == "turn" for kind, *_ in self.told)

    def hear(self, until: Callable[[], bool], seconds: float = 0.0) -> bool:
        """Take what it tells until something holds, or it says nothing for so long; whether that holds."""
        with suppress(EOFError, OSError):
            while not until() and self.pipe.poll(seconds):
                self.told.append(self.pipe.recv())
        return until()

    def goes_on(self, turns: int) -> bool:
        wanted = self.turns + turns
        return self.hear(lambda: self.turns >= wanted, STUCK_SECONDS)

    def kill(self) -> None:
        self.process.kill()
        self.hear(lambda: False, STUCK_SECONDS)
        self.process.join(STUCK_SECONDS)

    def since_it_began(self) -> list[tuple[str, ...]]:
        """What it told in the chat that it holds now."""
        return self.told[max((at for at, row in enumerate(self.told) if row[0] == "closed"), default=0) :]


def writer(
    directory: Path, name: str, seed: int, place: str = "", play: Callable[..., None] = play
) -> Writer:
    pipe, other = CONTEXT.Pipe(duplex=False)
    process = CONTEXT.Process(target=play, args=(other, directory, name, seed, place), daemon=True)
    process.start()
    other.close()
    return Writer(name, pipe, process)


@dataclass
class Outcome:
    """What became of one killed chat."""

    acknowledged: int = 0
    lost: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)


def one_kill(directory: Path, number: int, seed: int, place: str = "") -> Outcome:
    """Play a chat in a child, kill it, and look at what it left."""
    chance = random.Random(f"{seed} {number}")
    child = writer(directory, f"k{number}", number, place)
    stop_after = chance.randrange(1, MOST_SAID)
    child.hear(lambda: not place and len(child.told) == stop_after, STUCK_SECONDS)
    if not place:
        time.sleep(chance.random() * MOST_SECONDS)
    child.kill()
    found = looked_at(directory, child.name, child.told)
    found.faults += [row[1] for row in child.told if row[0] == "refused"]
    if child.process.exitcode == 0 or (child.process.exitcode or 0) > 0:
        found.faults.append("it ended by itself")
    return found


def looked_at(directory: Path, name: str, told: Sequence[tuple[str, ...]]) -> Outcome:
    """Compare what the archive holds with what the child told."""
    said: dict[str, str] = {}
    forgotten: set[str] = set()
    going: set[str] = set()
    for kind, *values in told:
        if kind == "said":
            said[values[0]] = values[1]
            forgotten.discard(values[0])
            going.discard(values[0])
        elif kind == "forgets":
            going.add(values[0])
        elif kind == "forgot":
            forgotten.add(values[0])
    store = open_store(directory)
    outcome = Outcome(len(said))
    if not store.persistent or store.notice:
        outcome.faults.append(f"opened with: {store.notice}")
    outcome.faults += store.verify()
    for stored_id, wanted in said.items():
        text = store.original(stored_id)
        if stored_id in forgotten:
            if text is not None:
                outcome.faults.append(f"{stored_id} was forgotten and is there")
        elif text is None:
            if stored_id not in going:
                outcome.lost.append(stored_id)
        elif digest(text) != wanted:
            outcome.faults.append(f"{stored_id} has another text")
    outcome.faults += by_halves(store, name)
    store.close()
    return outcome


def by_halves(store: Store, name: str) -> list[str]:
    """What is wrong with the chat as a report puts it together again: half an entry, one twice, a view that
    is not legal, and originals that the view would not give back."""
    found: list[str] = []
    for info in store.sessions("p"):
        if info.id != name and not info.id.startswith(f"{name}-"):
            continue
        entries = store.session_entries(info.id)
        if len({entry.seq for entry in entries}) < len(entries):
            found.append("two entries in one place")
        for entry in entries:
            if entry.id != ("g" + content_hash(entry.role, entry.content))[: len(entry.id)]:
                found.append(f"{entry.id} is not whole")
        if [entry.seq for entry in entries] != list(range(len(entries))):
            continue  # what was forgotten leaves a gap: no list of messages can be made of the rest
        chat = stored_chat(store, info, Settings(), words).chat
        if not is_legal([piece.message for piece in [*chat.done, *chat.cur]]):
            found.append("a history that no provider takes")
        shown = [seq for piece in [*chat.done, *chat.cur] for seq in piece.members]
        if len(set(shown)) < len(shown):
            found.append("an entry is shown twice")
        whole = [piece.content for piece in chat.shown_at({}, lambda entry, level: entry.content).done]
        if whole and whole != [entry.content for entry in chat.all_entries()]:
            found.append("the view does not give every original back once")
    return found


def main() -> None:
    options = parser_of(__doc__, kills=1_000, seed=1, at_once=2).parse_args()
    for found in killed(options.kills, options.seed, options.at_once):
        keep("kills", found, options.json)


def place_of(number: int) -> str:
    """Where the child with this number kills itself; "" for one that is killed from outside."""
    return PLACES[number // SELF_KILLED % len(PLACES)] if number % SELF_KILLED == 0 else ""


def killed(kills: int, seed: int, at_once: int = 1) -> Iterator[dict[str, Any]]:
    """So many kills, ten to an archive, and after every ten what they came to so far."""
    began = time.monotonic()
    faults: Counter[str] = Counter()
    acknowledged = lost = 0
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as root, ThreadPoolExecutor(at_once) as pool:

        def group(first: int) -> list[Outcome]:
            directory = Path(root) / str(first)
            numbers = range(first, min(first + SELF_KILLED, kills))
            return [one_kill(directory, number, seed, place_of(number)) for number in numbers]

        done = between = 0
        for outcomes in pool.map(group, range(0, kills, SELF_KILLED)):
            for outcome in outcomes:
                acknowledged += outcome.acknowledged
                lost += len(outcome.lost)
                faults.update(outcome.faults)
            between += sum(bool(place_of(number)) for number in range(done, done + len(outcomes)))
            done += len(outcomes)
            yield {
                "kills": done,
                "of them between archiving and swapping": between,
                "messages acknowledged": acknowledged,
                "lost": lost,
                "faults": dict(faults),
                "minutes": round((time.monotonic() - began) / 60, 1),
            }


if __name__ == "__main__":
    main()
