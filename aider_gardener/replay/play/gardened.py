"""What a replay asks of the gardener, and what it reads from it afterwards."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from aider_gardener.errors import UsageError
from aider_gardener.replay.measure.result import Compaction, Swapped

SWAP_CHARS = 20_000
"""Of each text that a plan swapped at most so many characters are kept, for reports."""


def install(settings: Mapping[str, Any], history_tokens: int | None, vectors: Path | None = None) -> None:
    """Install the gardener into this process's aider with these settings; `vectors` is a file that keeps
    the vectors of passages."""
    import aider_gardener
    from aider_gardener.adapters.aider import link
    from aider_gardener.replay.play.vectors import keeping
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
    """What the gardeners of a replay did, noted turn by turn: a chat that starts anew has another one."""

    def __init__(self) -> None:
        self.plans: list[Compaction] = []
        self.plan_seconds: list[float] = []
        self.swaps: list[Swapped] = []
        self.overhead: dict[int, float] = {}
        self._gardener: Any = None
        self._plans_seen = 0
        self._seconds_seen = 0.0

    def look(self, coder: Any, turn: int) -> None:
        """Note what the coder's gardener did since the last look, as of this turn."""
        gardener = gardener_of(coder)
        if gardener is None:
            return
        if gardener is not self._gardener:
            self._gardener, self._plans_seen, self._seconds_seen = gardener, 0, 0.0
        applied = list(gardener.plans_applied)
        for event in applied[self._plans_seen :]:
            self.note_plan(gardener, event, turn)
        self._plans_seen = len(applied)
        seconds = sum(gardener.timings.values())
        if gardener.timings:
            self.overhead[turn] = self.overhead.get(turn, 0.0) + seconds - self._seconds_seen
        self._seconds_seen = seconds

    def note_plan(self, gardener: Any, event: Any, turn: int) -> None:
        """Note one plan that was applied, with the texts that it swapped."""
        entries = {entry.id: entry for entry in gardener.chat.entries.values()}
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
                tokens_before=event.tokens_before,
                tokens_after=event.tokens_after,
                reason=event.reason,
            )
        )


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
        rendition="" if hidden else middle_cut(gardener.archive.text(entry, swap.after), SWAP_CHARS),
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
