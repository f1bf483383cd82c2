"""A way to treat the chat's past in a replay: what it is, and the ways that are known by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from aider_gardener.replay.measure.result import Compaction
    from aider_gardener.replay.play.calls import Calls
    from aider_gardener.replay.play.model import RecordedModel
    from aider_gardener.replay.session.session import Session


def nothing(runner: Replay) -> None:
    """Change nothing."""


class Replay(Protocol):
    """What a variant sees of the replay that it prepares.

    `messages_before_turn` is how many messages the chat held when the current turn began.
    """

    turn: int
    messages_before_turn: int
    session: Session
    model: RecordedModel
    compactions: list[Compaction]
    calls: Calls


@dataclass(frozen=True)
class Variant:
    """`prepare` changes the process before the coder is made; `settings` are the gardener's, and
    None means that no gardener is installed. `summaries` says that summaries.json answers."""

    name: str
    about: str
    prepare: Callable[[Replay], None] = nothing
    settings: Mapping[str, Any] | None = None
    summaries: bool = False


VARIANTS: dict[str, Variant] = {}


def register(variant: Variant) -> Variant:
    """Make a variant known by its name."""
    VARIANTS[variant.name] = variant
    return variant


def without_summaries(runner: Replay) -> None:
    """The chat is never summarised, not at a mode switch either."""
    from aider.coders.base_coder import Coder
    from aider.history import ChatSummary

    Coder.summarize_start = lambda self: None
    Coder.summarize_end = lambda self: None
    ChatSummary.summarize_all = lambda self, messages: messages
