"""Write the table of mutants in docs/contributing.md, or with `--check` compare it.

It is made from bench/results/mutants.json and from the survivors' reasons in bench/mutants/survivors.json.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pages import BadResults, command, put_section, results, section_faults, table

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "bench" / "results" / "mutants.json"
REASONS = ROOT / "bench" / "mutants" / "survivors.json"
PAGE = ROOT / "docs" / "contributing.md"
NAME, FORMAT = "mutants", 1
HEAD = ("module", "mutants", "tried", "killed", "share")


def main(argv: Sequence[str] | None = None) -> int:
    """Rewrite the table, or only compare it; exit 1 when it differs or cannot be made."""
    return command(__doc__, argv, faults, write)


def faults() -> Iterator[str]:
    """What is wrong with the page, a line each."""
    return section_faults(PAGE, NAME, section, "mutants_table.py")


def write() -> str:
    """Put the table into the page. Raises BadResults without markers or with unusable results."""
    put_section(PAGE, NAME, section)
    return f"{PAGE.name}: the table is that of {RESULTS.name}"


def section() -> str:
    """The text between the markers, with a line end last."""
    return "\n".join(shown(results(RESULTS, NAME, FORMAT), json.loads(REASONS.read_text("utf-8")))) + "\n"


def shown(value: Mapping[str, Any], reasons: Mapping[str, Mapping[str, str]]) -> Iterator[str]:
    """A row a module, the sum, and what each survivor is left for. Raises BadResults for one without a
    reason."""
    rows = value["rows"]
    yield from table(HEAD, [*map(row, rows), row(total(rows))])
    yield ""
    yield "Why the others live:"
    yield ""
    for found in rows:
        if found["survivors"]:
            yield f"- `{found['module']}`: {why(found, reasons.get(found['module'], {}))}"
    made_by = value["provenance"]
    yield ""
    yield f"`make mutants`: at most {value['sample']} mutants of a module, drawn by the hash of their keys,"
    yield f"and those that no test found once; commit {made_by['commit'] or 'unknown'},"
    yield f"Python {made_by['python']}."


def row(found: Mapping[str, Any]) -> list[str]:
    share = found["killed"] / max(1, found["tried"])
    figures = (found["mutants"], found["tried"], found["killed"])
    return [found["module"], *(f"{figure:,}" for figure in figures), f"{share:.0%}"]


def total(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    return {"module": "all", **{key: sum(row[key] for row in rows) for key in ("mutants", "tried", "killed")}}


def why(found: Mapping[str, Any], reasons: Mapping[str, str]) -> str:
    """The reasons of a module's survivors, each once with the number of those that it stands for."""
    missing = [key for key in found["survivors"] if not reasons.get(key)]
    if missing:
        raise BadResults(f"{REASONS.name}: {found['module']} has no reason for: {missing[0]}")
    counted = Counter(reasons[key] for key in found["survivors"])
    return "; ".join(f"{count} × {reason}" if count > 1 else reason for reason, count in counted.items())


if __name__ == "__main__":
    sys.exit(main())
