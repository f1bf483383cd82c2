"""Write the table of docs/upkeep.md that says how precise observations are, or with `--check` compare it."""

from __future__ import annotations

import sys
from pathlib import Path

from pages import Section, main, table

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from bench.observations import HEAD
from bench.observations import table as measured

TOOL = "upkeep_page"
ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "upkeep.md"


def precision() -> str:
    return "\n".join(table(HEAD, [[*row] for row in measured()])) + "\n"


SECTIONS = [Section(PAGE, "precision", precision)]


if __name__ == "__main__":
    sys.exit(main(SECTIONS, TOOL))
