"""Write the times in docs/replay.md from bench/results/replay-times.json, or with `--check` compare both."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pages import NOTHING, command, put_section, results, section_faults, table

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "bench" / "results" / "replay-times.json"
PAGE = ROOT / "docs" / "replay.md"
NAME, FORMAT = "replay-times", 1
COMMAND = "python -m bench.replay_times --before CHECKOUT"
HEAD = (
    "history", "chats", "first sign", "in all", "processor", "memory, MB",
    "before: in all", "processor", "memory, MB",
)  # fmt: skip


def main(argv: Sequence[str] | None = None) -> int:
    """Rewrite the table, or only compare it; exit 1 when it differs or cannot be made."""
    return command(__doc__, argv, faults, write)


def faults() -> Iterator[str]:
    """What is wrong with the page, a line each."""
    return section_faults(PAGE, NAME, section, "replay_times_table.py")


def write() -> str:
    """Put the table into the page. Raises BadResults without markers or with unusable results."""
    put_section(PAGE, NAME, section)
    return f"{PAGE.name}: the table is that of {RESULTS.name}"


def section() -> str:
    """The text between the markers, with a line end last."""
    if not RESULTS.exists():
        return f"Not measured yet: `{COMMAND}`.\n"
    return "\n".join(shown(results(RESULTS, NAME, FORMAT))) + "\n"


def shown(value: Mapping[str, Any]) -> Iterator[str]:
    """A row a history: what was waited for, and what it took, beside the version before."""
    yield from table(HEAD, [row(found) for found in value["rows"]])
    made_by = value["provenance"]
    yield ""
    yield f"`{COMMAND}`, commit {made_by['commit'] or 'unknown'}, Python {made_by['python']},"
    variants = ", ".join(value["variants"])
    yield f"{made_by['cpu']}, {made_by['cores']} cores, under {variants}. Times are seconds."


def row(found: Mapping[str, Any]) -> list[str]:
    now, before = found["now"], found.get("before") or {}
    return [found["name"], f"{found['chats']}", seconds(now["sign"]), *cost(now), *cost(before)]


def cost(run: Mapping[str, Any]) -> list[str]:
    """The seconds of one run, its processor seconds and its memory."""
    if not run:
        return [NOTHING] * 3
    return [seconds(run["seconds"]), seconds(run["cpu"]), f"{run['megabytes']:,}"]


def seconds(value: float | None) -> str:
    return NOTHING if value is None else f"{value:.1f}" if value < 10 else f"{value:.0f}"


if __name__ == "__main__":
    sys.exit(main())
