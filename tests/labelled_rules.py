"""Sentences as people type them into a coding chat, by hand: those that set a rule, and those that only look so.

Most of the others were chosen because they hold the very words of rules.
"""

from __future__ import annotations

import json
from pathlib import Path

LABELLED: dict[str, list[str]] = json.loads(
    Path(__file__).with_name("data").joinpath("labelled_rules.json").read_text("utf-8")
)
RULES, OTHERS = LABELLED["rules"], LABELLED["others"]
