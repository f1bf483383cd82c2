"""Further ways to treat the past, as baselines at a given history budget."""

from __future__ import annotations

from aider_gardener.replay.variants import Variant, register  # noqa: F401
