"""Figures of the recorded sessions, as mails and proposal quote them: from the results, never typed in."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from aider_gardener.errors import PatchError

RESULTS = Path("bench") / "results" / "replay.json"
VARIANTS = {"stock": "stock", "stock-fixed": "fixed", "gardener": "gardener"}


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


def figures(root: Path) -> dict[str, str]:
    """What a mail may name in braces: `{gardener_tokens}`, `{stock_summaries}`, `{asked}` and the like."""
    sessions, rows = totals(root)
    found = {"sessions": str(sessions), "asked": "", "turns": ""}
    for variant, short in VARIANTS.items():
        if variant not in rows:
            raise PatchError(f"{root / RESULTS} has no variant {variant}")
        row = rows[variant]
        found["asked"], found["turns"] = str(row["recall"]["asked"]), str(row["turns"])
        found[f"{short}_tokens"] = f"{row['tokens_billed'] / 1e6:.1f}M"
        found[f"{short}_summaries"] = str(row["llm_compactions"] + row["llm_discarded"])
        found[f"{short}_plans"] = str(row["plan_compactions"])
        found[f"{short}_supported"] = str(row["recall"]["supported"])
    return found


def filled(mail: str, root: Path) -> str:
    """The mail with its figures. Raises PatchError on a name that there is none for."""
    try:
        return mail.format_map(figures(root)) if "{" in mail else mail
    except KeyError as error:
        raise PatchError(f"a mail of the chain quotes {error}, which no figure is called") from error
