"""Put the measured bills and the page's own compression into docs/upstream-proposal.md, or compare them.

With `--check` nothing is changed and the exit code is 1 when the page is out of date.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from click.testing import CliRunner
from pages import BadResults, parts, write_or_check

from aider_gardener.cli.compress import compress

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "upstream-proposal.md"
RESULTS = ROOT / "bench" / "results" / "replay.json"
SHOWN = ("stock", "stock-fixed", "gardener")
LINES = 500
"""The page is to be read in ten minutes."""


def main() -> int:
    """Write the page's tables, or with --check only compare them."""
    return write_or_check("--check" in sys.argv[1:], faults, write)


def write() -> str:
    PAGE.write_text(wanted(PAGE.read_text("utf-8")), "utf-8", newline="\n")
    return f"{PAGE.name}: the figures are those of {RESULTS.name}"


def faults() -> Iterator[str]:
    """What is wrong with the page, a line each."""
    text = PAGE.read_text("utf-8")
    try:
        if text != wanted(text):
            yield f"docs/{PAGE.name}: a table is not what tools/proposal_tables.py makes; run it"
    except BadResults as problem:
        yield str(problem)
    if len(text.splitlines()) >= LINES:
        yield f"docs/{PAGE.name} has {len(text.splitlines())} lines, it must stay below {LINES}"


def wanted(text: str) -> str:
    """The page with its two parts made anew. The ratio is that of the page without the part that says it."""
    text = with_part(text, "bills", bills(json.loads(RESULTS.read_text("utf-8"))))
    return with_part(text, "ratio", ratio(with_part(text, "ratio", "")))


def with_part(text: str, name: str, part: str) -> str:
    before, _, after = parts(text, name, PAGE.name)
    return before + part + after


def bills(report: Mapping[str, Any]) -> str:
    """A row per session and variant, then those over all sessions."""
    head = (
        "| session | variant | tokens billed | cost, cached | cost, not cached | LLM summaries: paid, used"
        " | plans | model seconds | probes supported |\n|---|---|---|---|---|---|---|---|---|\n"
    )
    rows = [row for row in [*report["summaries"], *report["totals"]] if row["variant"] in SHOWN]
    return head + "".join(bill(row) for row in rows)


def bill(row: Mapping[str, Any]) -> str:
    cost = row["costs"][0]
    paid = row["llm_compactions"] + row["llm_discarded"]
    asked, supported = row["recall"]["asked"], row["recall"]["supported"]
    cells = (
        row["session"],
        f"`{row['variant']}`",
        f"{row['tokens_billed']:,}",
        f"${cost['cached']['usd']:.2f}",
        f"${cost['uncached']['usd']:.2f}",
        f"{paid}, {row['llm_compactions']}",
        str(row["plan_compactions"]),
        f"{row['llm_seconds']:.0f}",
        f"{supported} of {asked}",
    )
    return f"| {' | '.join(cells)} |\n"


def ratio(text: str) -> str:
    """What `gardener compress` makes of the page without this part."""
    done = CliRunner().invoke(compress, ["-", "--json"], input=text)
    found = json.loads(done.stdout)
    return (
        f"Without this section's figures the page has {found['tokens_before']:,} tokens. `gardener compress`"
        f" takes it for {found['class']} and keeps {found['tokens_after']:,}: {found['ratio']:.0%}.\n"
    )


if __name__ == "__main__":
    sys.exit(main())
