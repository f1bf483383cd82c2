"""Upkeep between turns: a background loop that finishes what is left and looks over what is kept.

Every 30 seconds, and never while a turn is on: chunks of long originals are indexed, the embedding
backlog is woken if something waits, entries are scored anew and the expired ones counted, and, only if
the user asked for it, one compressed form is refined by a model and the index of sessions renewed. It changes
nothing in the chat: what is due is applied by the next plan.

Refinement by a model is believed only where it lost nothing. A proposal takes the place of the algorithm's
form only if it is shorter, still holds every number, path, symbol and name of it, and states none that the
original does not hold.
"""

from __future__ import annotations

import logging
import re
import threading
import time
import weakref
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from aider_gardener.archive.archive import Archive
from aider_gardener.errors import StoreError
from aider_gardener.gardener.files import is_kept
from aider_gardener.gardener.pace import Pace
from aider_gardener.gardener.state import ChatState
from aider_gardener.messages import Entry, Fidelity, Rendition, TokenCounter
from aider_gardener.plan.chat import Chat
from aider_gardener.plan.planner import candidates as planned
from aider_gardener.plan.planner import note_rendition

if TYPE_CHECKING:
    from aider_gardener.gardener.renewal import Renewal

log = logging.getLogger("aider_gardener")

SECONDS = 30.0
INDEX_CHUNKS = 100
"""Chunks indexed in one go: a turn that begins meanwhile waits some milliseconds at most."""
STORE_FAILURES = 3
STOP_SECONDS = 1.0

Ask = Callable[[str], str]
"""Sends one prompt to a model and gives its answer. May raise anything."""

LEAST_TOKENS = 150
"""Shorter compressed forms are not worth a call."""
MOST_TOKENS = 6_000
SECONDS_BETWEEN_CALLS = 60.0
CALLS_A_CHAT = 50
FAILURES = 3
"""So many failed calls in a row end refinement for the chat."""

PROMPT = (
    "Below is a shortened note on part of a programmer's chat. Make it shorter still. Keep every number,"
    " path, identifier, error message, id in brackets and proper name exactly as written, keep who said"
    " what, add nothing that is not there. Answer with the shorter note alone.\n\n{note}"
)

FACT = re.compile(
    r"`[^`\n]{1,120}`"
    r"|https?://\S+"
    r"|[\w.@~-]*(?:[/\\][\w.@-]+)+"
    r"|\b\w[\w-]*\.\w[\w.-]*"
    r"|\b[^\W\d]\w*(?:::|->|\()"
    r"|\b\w*_\w*"
    r"|\b[^\W\d_]+(?=[A-Z])\w+"
    r"|\b\w*\d[\w:,.-]*\w|\b\d"
    r"|\b[A-Z]{2,}\b"
    r"|(?<=[a-z,;:] )[A-Z]\w+"
)
"""What a reader could look up or compare: code, addresses, paths, files, symbols, numbers, names."""


@dataclass(frozen=True)
class Look:
    """What one round did and found: chunks indexed, entries scored and due, whether the backlog was
    woken, a form refined and the index of sessions renewed."""

    indexed: int = 0
    woken: bool = False
    scored: int = 0
    due: int = 0
    refined: str = ""
    renewed: bool = False


class Upkeep:
    """The loop of one chat. It holds the chat weakly: a chat that is dropped ends its loop."""

    def __init__(
        self,
        state: ChatState,
        *,
        refiner: Refiner | None = None,
        renewal: Renewal | None = None,
        seconds: float = SECONDS,
    ) -> None:
        self._state = weakref.ref(state)
        self.refiner = refiner
        self.renewal = renewal
        self.seconds = seconds
        self.rounds = 0
        self.look = Look()
        self._failures = 0
        self._wake = threading.Condition()
        self._stopped = False
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin the loop on a daemon thread; starting twice is harmless."""
        with self._wake:
            if self._thread is None and not self._stopped:
                self._thread = threading.Thread(target=self._run, name="gardener-upkeep", daemon=True)
                self._thread.start()

    def stop(self) -> None:
        """End the loop; returns within a second. Stopping twice is harmless."""
        with self._wake:
            self._stopped = True
            self._wake.notify_all()
            thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join(STOP_SECONDS)

    def _run(self) -> None:
        while True:
            with self._wake:
                if not self._stopped:
                    self._wake.wait(self.seconds)
                if self._stopped or self._state() is None:
                    return
            try:
                self.round()
            except StoreError:
                self._failures += 1
                if self._failures >= STORE_FAILURES:
                    return
            except Exception as error:  # reason: upkeep is never worth a word to the user
                log.error("upkeep ended: %s", type(error).__name__)
                return

    def round(self) -> Look:
        """One round now, in this thread; stops early when a turn begins. Raises StoreError."""
        state = self._state()
        if state is None or self._must_wait(state):
            return Look()
        self.rounds += 1
        indexed = state.archive.store.work_off(INDEX_CHUNKS)
        woken = not self._must_wait(state) and wake_backlog(state.archive)
        scored, due = (0, 0) if self._must_wait(state) else look_over(state)
        refined = "" if self._must_wait(state) else self._refine(state)
        renewed = not self._must_wait(state) and self._renew(state)
        self.look = Look(indexed, woken, scored, due, refined, renewed)
        self._failures = 0
        return self.look

    def _must_wait(self, state: ChatState) -> bool:
        return self._stopped or state.busy

    def _renew(self, state: ChatState) -> bool:
        """Renew the index of sessions if it is due."""
        return self.renewal is not None and self.renewal.round(
            state, Pace(lambda: not self._must_wait(state), self._rest)
        )

    def _rest(self, seconds: float) -> None:
        """Sleep; the end of the loop cuts it short."""
        with self._wake:
            self._wake.wait_for(lambda: self._stopped, seconds)

    def _refine(self, state: ChatState) -> str:
        """Refine one form that stands nowhere yet; the id of its entry, or ""."""
        refiner = self.refiner
        if refiner is None or not refiner.ready:
            return ""
        standing = dict(state.chat.fidelity)
        whole = [e for e in snapshot(state.chat) if e.seq not in standing]
        found = refiner.next(candidates(whole, lambda entry: dict(state.archive.renditions(entry))))
        if found is None:
            return ""
        entry, form = found
        text = refiner.refine(state.archive.without_secrets(entry), form, count=state.count)
        if text is None or self._must_wait(state) or entry.seq in state.chat.fidelity:
            return ""
        state.archive.put_rendition(entry, note_rendition(entry, Fidelity.COMPRESSED, text, state.count))
        return entry.id


def snapshot(chat: Chat) -> list[Entry]:
    """The entries of the chat that are still part of it; safe while another thread adds some."""
    gone = set(chat.gone)
    return [entry for seq, entry in dict(chat.entries).items() if seq not in gone]


def wake_backlog(archive: Archive) -> bool:
    """Have the embedding backlog go on if passages wait that nobody announced; whether it was woken."""
    backlog = archive.backlog
    if backlog is None or backlog.off or not backlog.embedder_name:
        return False
    waits = archive.store.vectors_pending(1, backlog.embedder_name)
    if waits:
        backlog.pause()
        backlog.resume()
    return bool(waits)


def look_over(state: ChatState) -> tuple[int, int]:
    """Score every entry of the chat anew and count those that have expired: (scored, due)."""
    chat = state.chat
    rows = planned(chat, focus=state.focus(), renditions=state.archive.renditions, policy=state.policy)
    due = state.policy.due(rows, turn=chat.turn, over=False)
    return len(rows), len(due)


def upkeep_for(
    state: ChatState, ask: Callable[[str], str] | None, *, clock: Callable[[], float] = time.monotonic
) -> Upkeep:
    """The upkeep of a chat; with a model to ask only if the settings allow it, with the index of sessions
    only where there is one."""
    refiner = renewal = None
    if ask is not None and state.settings.may_refine:
        refiner = Refiner(ask, clock)
    if is_kept(state.archive.store):
        from aider_gardener.gardener.renewal import Renewal

        renewal = Renewal()
    return Upkeep(state, refiner=refiner, renewal=renewal)


def facts(text: str) -> frozenset[str]:
    """The numbers, paths, symbols and names of a text, without the punctuation around them."""
    return frozenset(
        found for match in FACT.finditer(text) if (found := match.group().strip("`.,;:()->").strip())
    )


def is_better(form: str, proposal: str, original: str, *, count: TokenCounter) -> bool:
    """Whether a proposal may take the place of a compressed form of an original."""
    if not proposal.strip() or count(proposal) >= count(form):
        return False
    lost = [fact for fact in facts(form) if not stands(fact, proposal)]
    made_up = [fact for fact in facts(proposal) if fact not in original and fact not in form]
    return not lost and not made_up


def stands(fact: str, text: str) -> bool:
    """Whether a fact stands in a text as a whole, not as part of a longer word or number."""
    return re.search(rf"(?<![\w]){re.escape(fact)}(?![\w])", text) is not None


@dataclass
class Refiner:
    """Asks for one shorter form at a time, at most one a minute; `clock` gives seconds."""

    ask: Ask
    clock: Callable[[], float]
    calls: int = 0
    accepted: int = 0
    failures: int = 0
    _tried: set[str] = field(default_factory=set)
    _last: float | None = None

    @property
    def over(self) -> bool:
        """Whether no more calls will be made in this chat."""
        return self.failures >= FAILURES or self.calls >= CALLS_A_CHAT

    @property
    def ready(self) -> bool:
        """Whether a call may be made now."""
        waited = self._last is None or self.clock() - self._last >= SECONDS_BETWEEN_CALLS
        return waited and not self.over

    def next(self, rows: Iterable[tuple[Entry, Rendition]]) -> tuple[Entry, Rendition] | None:
        """The first form that is worth a call and has not been tried."""
        for entry, form in rows:
            if entry.id not in self._tried and LEAST_TOKENS <= form.tokens <= MOST_TOKENS:
                return entry, form
        return None

    def refine(self, entry: Entry, form: Rendition, *, count: TokenCounter) -> str | None:
        """One call: the better text, or None. A call that fails counts as a failure and raises nothing."""
        self._tried.add(entry.id)
        self._last = self.clock()
        self.calls += 1
        try:
            proposal = self.ask(PROMPT.format(note=form.text)).strip()
        except Exception:  # reason: whatever the provider does, the algorithm's form stays
            self.failures += 1
            return None
        self.failures = 0
        if not is_better(form.text, proposal, entry.content, count=count):
            return None
        self.accepted += 1
        return proposal


def candidates(
    entries: Iterable[Entry], renditions: Callable[[Entry], dict[Fidelity, Rendition]]
) -> list[tuple[Entry, Rendition]]:
    """The compressed forms of the given entries, the longest first."""
    found = [(entry, made) for entry in entries if (made := renditions(entry).get(Fidelity.COMPRESSED))]
    return sorted(found, key=lambda row: (-row[1].tokens, row[0].seq))
