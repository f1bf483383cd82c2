"""Presets: settings that belong together, under one name. A setting that is given wins over its preset."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

DEFAULT = "default"

PRESETS: Mapping[str, Mapping[str, Any]] = {
    "gentle": {
        "history_tokens": 16_000,
        "low_mark": 0.7,
        "keep_turns": 3,
        "throttle_tokens": 8_000,
    },
    DEFAULT: {},
    # Starts at 20,000 tokens, then keeps the last four turns
    # whole and at most 80 characters of each older text.
    "aggressive": {
        "history_tokens": 20_000,
        "low_mark": 0.05,
        "keep_turns": 4,
        "older_chars": 80,
    },
}
"""What each preset sets; every other setting keeps its default."""
