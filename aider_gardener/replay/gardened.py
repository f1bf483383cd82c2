"""What a replay asks of the gardener, and what it reads from it afterwards."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aider_gardener.errors import UsageError
from aider_gardener.replay.result import Compaction


def install(settings: Mapping[str, Any], history_tokens: int | None) -> None:
    """Install the gardener into this process's aider with these settings."""
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


def plans(coder: Any) -> tuple[list[Compaction], list[float]]:
    """The plans that were applied, as compactions, and how long each took in seconds."""
    gardener = gardener_of(coder)
    found, seconds = [], []
    for event in getattr(gardener, "plans_applied", ()) or ():
        found.append(
            Compaction(
                turn=event.turn,
                by="plan",
                applied=True,
                tokens_before=event.tokens_before,
                tokens_after=event.tokens_after,
                reason=event.reason,
            )
        )
        seconds.append(float(event.seconds))
    return found, seconds


def overhead(coder: Any) -> dict[int, float]:
    """Seconds that the gardener added, by turn."""
    timings = getattr(gardener_of(coder), "timings", None) or {}
    return {int(turn): float(seconds) for turn, seconds in dict(timings).items()}


def state(coder: Any) -> dict[str, Any]:
    """What the gardener says about itself at the end, without times."""
    gardener = gardener_of(coder)
    if gardener is None or not hasattr(gardener, "pressure"):
        return {}
    pressure = gardener.pressure()
    return dict(pressure) if isinstance(pressure, Mapping) else {}
