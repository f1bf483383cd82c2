"""One chat under the gardener: its flow from the message that enters to the prompt that goes out."""

from __future__ import annotations

from aider_gardener.gardener.gardener import Gardener

__all__ = ["Gardener"]
