"""Figures of the recorded sessions, as mails quote them: from the results."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from aider_gardener.errors import PatchError

RESULTS = Path("bench") / "results" / "replay.json"


def totals(root: Path) -> tuple[int, dict[str, dict[str, Any]]]:
    """How many sessions there are, and the rows over all of them by variant.

    Raises PatchError when there are no such results.
    """
    path = root / RESULTS
    try:
        value = json.loads(path.read_text("utf-8"))
        rows, sessions = value["totals"], {row["session"] for row in value["summaries"]}
    except (OSError, ValueError, KeyError) as error:
        raise PatchError(f"{path} has no totals; make it with `gardener replay --json` first") from error
    return len(sessions), {row["variant"]: row for row in rows}
