"""The archive's contract: what every store promises, and the frozen data that goes in and comes out."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar, runtime_checkable

from aider_gardener.messages import Entry, Fidelity, Rendition

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from aider_gardener.archive.store.redact import Redacted

    Vector = NDArray[np.float32]

Result = TypeVar("Result")

__all__ = [
    "Chunk",
    "Event",
    "Evidence",
    "Holding",
    "PendingPassage",
    "SessionInfo",
    "Store",
    "StoreStats",
]


@dataclass(frozen=True)
class Chunk:
    """A span `content[start:end]` of an original that is found as one unit."""

    entry_id: str
    start: int
    end: int


@dataclass(frozen=True)
class Evidence:
    """The n passages of some sessions, session by session in the order in which they were said, as columns of
    n numbers: `chunks` are theirs in the archive, `sessions` those of the messages, `starts` and `ends` their
    characters in these. What was said twice stands there twice. `held` has a row for each word of the
    question, n wide: whether the passage holds it, or a form of it."""

    chunks: NDArray[np.int64]
    sessions: NDArray[np.int64]
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    held: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.chunks)


@dataclass(frozen=True)
class PendingPassage:
    """A chunk that has no vector yet, with its text. `number` is its row, a hint for `put_vectors`."""

    entry_id: str
    start: int
    end: int
    text: str
    number: int


@dataclass(frozen=True)
class SessionInfo:
    """One session of a project; times are seconds since the epoch, `turns` is the highest turn seen."""

    id: str
    project: str
    started_at: float
    provider: str = ""
    model: str = ""
    entries: int = 0
    turns: int = 0
    last_at: float = 0.0


@dataclass(frozen=True)
class Event:
    """Something that was done to the chat, when and why: what undo, `why` and reports read."""

    number: int
    session: str
    turn: int
    kind: str
    data: Mapping[str, object]
    at: float


@dataclass(frozen=True)
class StoreStats:
    """Counts of what the archive holds. Tokens are those the entries were stored with.

    `rendition_tokens` counts for each original its compressed rendition where there is one.
    `by_class` maps the class's word to (entries, original tokens, rendition tokens). `bytes` is the
    size on disk of all files of the archive, 0 in memory.
    """

    entries: int = 0
    occurrences: int = 0
    sessions: int = 0
    chunks: int = 0
    vectors: int = 0
    events: int = 0
    redacted: int = 0
    pinned: int = 0
    original_tokens: int = 0
    rendition_tokens: int = 0
    bytes: int = 0
    by_class: Mapping[str, tuple[int, int, int]] = field(default_factory=dict)
    path: str = ""
    schema: int = 0


@dataclass(frozen=True)
class Holding:
    """What retention needs to know of an original: size in bytes and tokens, use, and where it stands.

    `used_at` is the last access, or the last time it was said where it was never looked up; `uses` counts
    the accesses. `confidence` is that of the last access, before it decays. Times are seconds since the
    epoch.
    """

    entry_id: str
    cls: str
    tokens: int
    bytes: int
    said_at: float
    used_at: float
    uses: int
    confidence: float
    pinned: bool
    sessions: tuple[str, ...]


@runtime_checkable
class Store(Protocol):
    """Append-only originals with their renditions, occurrences, events and a full-text index.

    Every method may be called from any thread. Every write is one transaction: on disk when the
    method returns, or not at all. Methods raise `StoreError` when the archive cannot be read or
    written, but what a turn cannot do without goes on meanwhile: entries, renditions, events, marks and
    state that cannot be written for the moment (disk full, locked for 10 seconds) wait for the next write
    that succeeds, in memory and where possible in lines of JSON; searches find nothing while the file cannot
    be read, and `notice` says so. `forget` and the like never raise for ids that are unknown. Secrets are
    replaced by placeholders before anything is written, so what comes out may differ from what went in by
    the recorded spans and by nothing else.
    """

    @property
    def persistent(self) -> bool:
        """Whether entries outlive the process."""
        ...

    @property
    def directory(self) -> Path | None:
        """Where the archive lies, None for one in memory."""
        ...

    @property
    def notice(self) -> str:
        """One line for the user when something was set aside or is unavailable, else ""."""
        ...

    @property
    def generation(self) -> int:
        """Counts how often the archive was begun anew since it was opened, because of damage: what a chat
        knows of its own should be added again then."""
        ...

    def open_session(
        self,
        session_id: str,
        *,
        project: str,
        started_at: float,
        provider: str = "",
        model: str = "",
        hold: bool = True,
    ) -> None:
        """Begin a session, or go on with it: a known session keeps its project and start.

        It is live, for `live_sessions`, as long as this store is open; without `hold` only while things are
        said in it: for a process that ends at once and whose end is not the session's.
        """
        ...

    def together(self, do: Callable[[], Result]) -> Result:
        """Let many writes be one transaction, much faster than one by one: all that `do` writes is on disk
        when this returns, or nothing is. Raises StoreError where the file cannot be written."""
        ...

    def redact(self, text: str) -> Redacted:
        """A text as it would be stored. What is made from a text to be stored beside it (its short forms)
        must be made from this: a part of a secret may look like none."""
        ...

    def add(self, entry: Entry, *, chunks: Sequence[Chunk], renditions: Sequence[Rendition] = ()) -> Entry:
        """Store an original with its occurrence, chunks and renditions, in one transaction.

        A content that is already there is stored once; the occurrence is recorded beside it. The
        result is `entry` with the stored id and the stored pinned, active and access figures; its
        content is the caller's, not the redacted one. Adding the same content at the same
        (session, seq) again changes nothing. Another content at a taken (session, seq) gets the
        next free seq, so that nothing is lost. `chunks` are spans of `entry.content`. While an entry
        waits `get`, `original`, `renditions` and `session_entries` know it already.
        """
        ...

    def get(self, entry_id: str) -> Entry | None:
        """The entry with its stored content, as it last occurred, or None."""
        ...

    def get_many(self, ids: Iterable[str]) -> dict[str, Entry]:
        """What `get` gives for each of the ids, in one go; ids that are unknown are left out."""
        ...

    def original(self, entry_id: str) -> str | None:
        """The stored content alone, or None."""
        ...

    def resolve(self, prefix: str) -> list[str]:
        """The ids that start with `prefix` (at most 50, sorted); an exact id gives just that one."""
        ...

    def put_renditions(self, entry_id: str, renditions: Sequence[Rendition]) -> None:
        """Keep renditions below full, each replacing the one of its fidelity; full ones are ignored."""
        ...

    def renditions(self, entry_id: str) -> dict[Fidelity, Rendition]:
        """The renditions kept for an entry; full is never among them (see `original`)."""
        ...

    def session_entries(self, session_id: str, *, after_seq: int = -1) -> list[Entry]:
        """One entry for each occurrence of the session with a higher seq, in order."""
        ...

    def sessions(self, project: str) -> list[SessionInfo]:
        """The sessions of a project, in the order in which they were begun."""
        ...

    def evidence(
        self, words: Sequence[str], *, session: str | None = None, sessions: Collection[str] | None = None
    ) -> Evidence:
        """Every passage of one session, of some or of all, in the order said, and which of the words it
        holds. Of a word that more than 5,000 passages hold only the newest are told."""
        ...

    def entry_ids(self, chunks: Sequence[int]) -> dict[int, str]:
        """The id of the entry that each of these chunks of `evidence` is from; those that are gone are left
        out."""
        ...

    def work_off(self, limit: int = 500) -> int:
        """Index what waits of very long originals, at most `limit` chunks; returns how many were done.

        `add` indexes both ends of an original at once and leaves the middle of very long ones for
        later; each further `add` does a little of it. Call this between turns until it returns 0.
        """
        ...

    def vectors_pending(self, limit: int, embedder: str) -> list[PendingPassage]:
        """At most `limit` chunks without a vector of this embedder, the newest first."""
        ...

    def put_vectors(self, items: Sequence[tuple[PendingPassage, Vector]], embedder: str) -> int:
        """Keep a vector for each chunk; returns how many were new.

        A chunk that is no longer there, or has a vector of this embedder, is passed over. Vectors of
        one embedder are of one length: the first decides, another raises StoreError.
        """
        ...

    def similarities(
        self, vector: Vector, *, embedder: str, chunks: NDArray[np.int64]
    ) -> NDArray[np.float32]:
        """The cosine of a vector with that of each chunk; NaN where a chunk has none of this embedder.

        `chunks` are numbers of chunks in any order, also repeatedly; the result is of the same length and in
        the same order. Vectors are kept with a byte a number: of those of a model a cosine is within 0.01 of
        the exact one; equal vectors have equal ones. Raises StoreError for a vector of another length than
        the embedder's.
        """
        ...

    def warm_vectors(self, embedder: str) -> int:
        """Read the vectors of an embedder into memory, bit by bit; returns how many there are.

        `similarities` would do it too, while it holds the archive: call this in the background.
        """
        ...

    def touch(self, ids: Iterable[str], at: float) -> None:
        """Count one access of each entry at this time."""
        ...

    def pin(self, entry_id: str, pinned: bool) -> None:
        """Pin or unpin an entry."""
        ...

    def set_active(self, ids: Iterable[str], active: bool) -> None:
        """Say which entries stand in the chat. A new occurrence makes an entry active again."""
        ...

    def forget(self, ids: Sequence[str], *, told: bool = True) -> int:
        """Delete entries for good, with occurrences, renditions, index and the events about them.

        When it returns, their bytes are gone from the file, its log and its index. Returns how many
        there were.  A server that the project is shared with hears of the user's own
        entries; without `told` only of those that were said on this machine.
        """
        ...

    def forget_session(self, session_id: str) -> int:
        """Delete a session and, for good, every entry that occurs in no other one; returns how many."""
        ...

    def record_event(
        self, session_id: str, turn: int, kind: str, data: Mapping[str, object], at: float
    ) -> None:
        """Append an event. `data` is JSON; its keys `entry_id` and `entry_ids` say whom it is about."""
        ...

    def events(
        self, session_id: str | None = None, kind: str | None = None, entry_id: str | None = None
    ) -> list[Event]:
        """The events that match all that is given, oldest first."""
        ...

    def set_state(self, session_id: str, key: str, value: str) -> None:
        """Keep a value for a session."""
        ...

    def get_state(self, session_id: str, key: str) -> str | None:
        """The value kept under a key, or None."""
        ...

    def holdings(self) -> list[Holding]:
        """Every original as retention sees it, oldest first."""
        ...

    def size_bytes(self) -> int:
        """What the archive takes in bytes, without room that deletions left."""
        ...

    def live_sessions(self) -> frozenset[str]:
        """The sessions that some process holds open, or in which something was said within 24 hours."""
        ...

    def open_elsewhere(self) -> frozenset[str]:
        """The sessions that another process of this machine holds open."""
        ...

    def compact(self) -> None:
        """Give room that deletions left back to the disk. Raises StoreError while the file is in use."""
        ...

    def stats(self) -> StoreStats:
        """Counts of what is stored."""
        ...

    def verify(self) -> list[str]:
        """Check the file and the hash of every original: one line for each problem, [] when sound."""
        ...

    def export(self, path: Path) -> int:
        """Write everything as JSON lines (mode 0600), replacing `path` at the end; returns the lines."""
        ...

    def import_(self, path: Path) -> int:
        """Add the entries of an export that are not there yet; returns how many lines were read.

        All or nothing: a line that cannot be read raises `StoreError` naming it.
        """
        ...

    def adopt(self, stranger: Path) -> int:
        """Add what an archive holds that another user or another machine made; returns its entries.

        All or nothing. Raises StoreError, also for one whose tables are not an archive's.
        """
        ...

    def close(self) -> None:
        """Close the archive; closing twice is harmless. Any other call afterwards raises StoreError."""
        ...
