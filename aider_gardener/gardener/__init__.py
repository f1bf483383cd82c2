"""One chat under the gardener: its flow from the message that enters to the prompt that goes out."""

from __future__ import annotations

from typing import TYPE_CHECKING

__all__ = ["Gardener"]

if TYPE_CHECKING:
    from aider_gardener.gardener.gardener import Gardener


def __getattr__(name: str) -> object:
    """The flow of a chat, imported when it is asked for: looking up needs none."""
    if name == "Gardener":
        from aider_gardener.gardener.gardener import Gardener

        return Gardener
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
