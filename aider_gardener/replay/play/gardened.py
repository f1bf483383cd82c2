"""What a replay asks of the gardener, and what it reads from it afterwards.

Vectors of passages are kept from one replay to the next: embedding the same session again is most of the
work of a series of replays.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aider_gardener.errors import UsageError
from aider_gardener.recall.embed import loading, readable
from aider_gardener.replay.measure.result import Compaction, Quoted, Swapped

if TYPE_CHECKING:
    from aider_gardener.recall.embed import Embedder, Load, Vectors

SWAP_CHARS = 20_000
"""Of each text that a plan swapped at most so many characters are kept, for reports."""

WAIT_SECONDS = 60.0
"""So long a replay waits for another one that writes."""
TABLE = "CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB NOT NULL) WITHOUT ROWID"


def install(settings: Mapping[str, Any], history_tokens: int | None, vectors: Path | None = None) -> None:
    """Install the gardener into this process's aider with these settings; `vectors` is a file that keeps
    the vectors of passages."""
    import aider_gardener
    from aider_gardener.adapters.aider import link
    from aider_gardener.settings import Settings

    options = dict(settings)
    if history_tokens:
        options.setdefault("history_tokens", history_tokens)
    try:
        chosen = Settings(**options)
    except TypeError as problem:
        raise UsageError(f"unknown setting of the gardener: {problem}") from problem
    aider_gardener.install(chosen)
    link.state.background = False
    if vectors is not None:
        link.state.loading = partial(keeping, vectors)


def gardener_of(coder: Any) -> Any:
    return getattr(coder, "gardener", None)


def idle(coder: Any) -> None:
    """Let the gardener do what it does between turns, such as its embedding backlog."""
    gardener = gardener_of(coder)
    if gardener is not None and hasattr(gardener, "idle"):
        gardener.idle()


def uninstall() -> None:
    """Take the gardener out again, which closes its archive."""
    import aider_gardener

    aider_gardener.uninstall()


class Watched:
    """What the gardeners of a replay did, noted turn by turn: a chat that starts anew has another one.
    `stopped` is the turn in which one was gone, as after a fault of its own."""

    def __init__(self) -> None:
        self.plans: list[Compaction] = []
        self.plan_seconds: list[float] = []
        self.swaps: list[Swapped] = []
        self.quoted: list[Quoted] = []
        self._quoted_seen: object = None
        self.overhead: dict[int, float] = {}
        self.stopped: int | None = None
        self._gardener: Any = None
        self._plans_seen = 0
        self._seconds_seen = 0.0

    def look(self, coder: Any, turn: int) -> None:
        """Note what the coder's gardener did since the last look, as of this turn."""
        gardener = gardener_of(coder)
        if gardener is None:
            if self._gardener is not None and self.stopped is None:
                self.stopped = turn
            return
        if gardener is not self._gardener:
            self._gardener, self._plans_seen, self._seconds_seen = gardener, 0, 0.0
        applied = list(gardener.state.plans)
        for event in applied[self._plans_seen :]:
            self.note_plan(gardener, event, turn)
        self._plans_seen = len(applied)
        self.note_quoted(gardener.state.recollection.quoted, turn)
        seconds = gardener.state.seconds
        if seconds:
            self.overhead[turn] = self.overhead.get(turn, 0.0) + seconds - self._seconds_seen
        self._seconds_seen = seconds

    def note_plan(self, gardener: Any, event: Any, turn: int) -> None:
        """Note one plan that was applied, with the texts that it swapped."""
        entries = {entry.id: entry for entry in gardener.state.chat.entries.values()}
        for swap in event.plan.swaps:
            entry = entries.get(swap.entry_id)
            if entry is not None:
                self.swaps.append(swapped(len(self.plans), gardener, swap, entry))
        self.plan_seconds.append(float(event.seconds))
        self.plans.append(
            Compaction(
                turn=turn,
                by="plan",
                applied=True,
                tokens_before=event.plan.tokens_before,
                tokens_after=event.plan.tokens_after,
                reason=event.plan.reason,
            )
        )

    def note_quoted(self, found: Any, turn: int) -> None:
        """Note what was recalled for a prompt, once."""
        if found is not self._quoted_seen:
            self._quoted_seen = found
            self.quoted += [
                Quoted(
                    turn, one.entry_id, one.turn, one.label, str(one.match), middle_cut(one.text, SWAP_CHARS)
                )
                for one in found
            ]


def swapped(plan: int, gardener: Any, swap: Any, entry: Any) -> Swapped:
    """One step of a plan with the texts it is about."""
    hidden = swap.after.value == "hidden"
    return Swapped(
        plan=plan,
        entry_id=entry.id,
        turn=entry.turn,
        source=": ".join(part for part in (entry.source.kind.value, entry.source.detail) if part),
        cls=entry.cls.value,
        before=swap.before.value,
        after=swap.after.value,
        tokens_saved=swap.tokens_saved,
        reason=swap.reason,
        original=middle_cut(entry.content, SWAP_CHARS),
        rendition="" if hidden else middle_cut(gardener.state.archive.text(entry, swap.after), SWAP_CHARS),
    )


def middle_cut(text: str, limit_chars: int) -> str:
    """The text; of a longer one its beginning and end, and between them how much is left out."""
    if len(text) <= limit_chars:
        return text
    half = limit_chars // 2
    return f"{text[:half]}\n\n[… {len(text) - 2 * half:,} characters left out here …]\n\n{text[-half:]}"


def state(coder: Any) -> dict[str, Any]:
    """What the gardener says about itself at the end, without times."""
    gardener = gardener_of(coder)
    if gardener is None or not hasattr(gardener, "pressure"):
        return {}
    pressure = gardener.pressure()
    return dict(pressure) if isinstance(pressure, Mapping) else {}


class KeptVectors:
    """An embedder that looks for the vectors of several texts in a file first, by the hash of each text.

    A text that is asked for alone is embedded anew: so are questions, whose time belongs to a turn.
    """

    def __init__(self, embedder: Embedder, file: Path) -> None:
        self.embedder = embedder
        self.file = file
        with closing(self.open()) as database:
            database.execute(TABLE)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.embedder, name)

    def embed(self, texts: Sequence[str]) -> Vectors:
        import numpy as np

        if len(texts) == 1:
            return self.embedder.embed(texts)
        keys = [self.key(text) for text in texts]
        known = self.read(keys)
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        if missing:
            made = dict(zip(missing, self.embedder.embed(list(missing.values())), strict=True))
            self.write({key: vector.tobytes() for key, vector in made.items()})
            known.update(made)
        rows: Vectors = np.stack([known[key] for key in keys]).astype(np.float32)
        return rows

    def key(self, text: str) -> bytes:
        return hashlib.sha256(f"{self.embedder.name}\0{readable(text)}".encode()).digest()

    def read(self, keys: Sequence[bytes]) -> dict[bytes, Any]:
        import numpy as np

        with closing(self.open()) as database:
            rows = [database.execute("SELECT vector FROM vectors WHERE key = ?", (key,)) for key in keys]
            found = {key: row.fetchone() for key, row in zip(keys, rows, strict=True)}
        return {key: np.frombuffer(row[0], dtype=np.float32) for key, row in found.items() if row}

    def write(self, vectors: dict[bytes, bytes]) -> None:
        with closing(self.open()) as database, database:
            database.executemany("INSERT OR IGNORE INTO vectors VALUES (?, ?)", vectors.items())

    def open(self) -> sqlite3.Connection:
        return sqlite3.connect(self.file, timeout=WAIT_SECONDS)


def keeping(file: Path, choice: str) -> Load | None:
    """What loads the embedder that the setting `embedder` names, its vectors kept in the file."""
    load = loading(choice)
    if load is None:
        return None

    def kept() -> tuple[Embedder | None, str]:
        embedder, reason = load()
        return (KeptVectors(embedder, file) if embedder else None), reason

    return kept
