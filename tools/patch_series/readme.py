"""The tables of patches/README.md, made from the patches and from what was measured with them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from aider_gardener.adapters.aider.patch_points import PATCH_POINTS
from aider_gardener.errors import PatchError
from aider_gardener.patches.series import Patch, Series
from patch_series.diff import changes

RESULTS = Path("bench") / "results" / "patches.json"
NOTES = Path("patches") / "notes.yml"
TABLES = ("patches", "tests", "replay")


def with_tables(text: str, series: Series, root: Path) -> str:
    """The page with its tables made anew between their marks. Raises PatchError when a mark is missing."""
    results = root / RESULTS
    measured = json.loads(results.read_text("utf-8")) if results.is_file() else {}
    mails = series.patches
    tables = {"patches": patch_table(series, notes_of(root)), "tests": test_table(mails, measured)}
    tables["replay"] = replay_table(mails, measured)
    for name in TABLES:
        begin, end = f"<!-- {name} -->\n", f"<!-- /{name} -->\n"
        before, _, rest = text.partition(begin)
        _, found, after = rest.partition(end)
        if not found:
            raise PatchError(f"README.md of the series lacks the marks {begin.strip()} and {end.strip()}")
        text = f"{before}{begin}{tables[name]}{end}{after}"
    return text


def notes_of(root: Path) -> dict[str, dict[str, str]]:
    """`evidence` of each patch by its slug, and `patch_point` of a fix: mails are sent, these are not."""
    notes: dict[str, dict[str, str]] = yaml.safe_load((root / NOTES).read_text("utf-8"))
    return notes


def patch_table(series: Series, notes: Mapping[str, Mapping[str, str]]) -> str:
    head = ("patch", "what it does", "evidence", "lines", "needs", "patch point it retires")
    return table(head, (patch_row(series, mail, notes.get(mail.slug, {})) for mail in series.patches))


def patch_row(series: Series, patch: Patch, notes: Mapping[str, str]) -> list[str]:
    """A patch's row: aider's lines apart from tests. Raises PatchError where no notes say its evidence."""
    changed = changes(patch.text)
    own = [c for c in changed if not c.path.startswith("tests/")]
    tests = [c for c in changed if c.path.startswith("tests/")]
    lines = f"+{sum(c.added for c in own)} −{sum(c.removed for c in own)}"
    lines += f", tests +{sum(c.added for c in tests)}"
    needs = ", ".join(f"{other.number:04d}" for other in series.needed(patch)[:-1]) or "–"
    link = f"[{patch.number:04d}]({patch.name})"
    if not notes.get("evidence"):
        raise PatchError(f"{NOTES.name} does not say the evidence of {patch.name}")
    retired = notes.get("patch_point") or points_of(patch)
    return [link, patch.subject, notes["evidence"], lines, needs, retired]


def points_of(patch: Patch) -> str:
    """The patch points that aider-gardener leaves alone once this patch and those before it are in aider."""
    name = patch.name.removesuffix(".patch")
    retired = [point.path for point in PATCH_POINTS if point.calls and max(point.retired_by) == name]
    return ", ".join(retired) or "none"


def test_table(mails: Iterable[Patch], measured: Mapping[str, Any]) -> str:
    """Per patch: its own tests before and after it, and all of aider's after the prefix that ends with it."""
    own, prefixes = measured.get("own", {}), measured.get("prefixes", {})
    given = list(mails)
    names = ["as released", *(mail.name for mail in given)]
    known = digests(given)
    current = {name: row for name, row in prefixes.items() if row["series"] in known}
    head = ("after", "its own tests", "fail before", "pass after", "all tests: passed", "failed", "lost")
    rows = ([name.removesuffix(".patch"), *ending(own.get(name), current.get(name))] for name in names)
    return table(head, rows)


def replay_table(mails: Sequence[Patch], measured: Mapping[str, Any]) -> str:
    """The prompts of each side of `tools/patches_replay.py`, and with how many patch points they were made;
    empty where they were made with another series."""
    replay = measured.get("replay", {})
    sides = replay["sides"] if replay.get("series") == prefix_digest(mails) else {}
    head = ("side", "what", "prompts", "compacted", "different", "from those of", "patch points")
    keys = ("what", "prompts", "compacted", "different", "as in", "seams")
    return table(head, ([name, *(str(row[key]) or "–" for key in keys)] for name, row in sides.items()))


def prefix_digest(patches: Sequence[Patch]) -> str:
    """Names the changes of these patches: a result belongs to them only. Mails may be reworded."""
    diffs = (patch.text.partition("\ndiff --git ")[2] for patch in patches)
    return hashlib.sha256("\n".join(diffs).encode()).hexdigest()[:16]


def digests(mails: Sequence[Patch]) -> set[str]:
    """Those of every prefix."""
    return {prefix_digest(mails[:number]) for number in range(len(mails) + 1)}


def ending(own: Mapping[str, int] | None, prefix: Mapping[str, Any] | None) -> list[str]:
    first = [str(own[key]) for key in ("tests", "failed before", "passed after")] if own else ["–"] * 3
    if not prefix:
        return [*first, "not run", "", ""]
    failed = prefix.get("failed", 0) + prefix.get("error", 0)
    return [*first, str(prefix.get("passed", 0)), str(failed), str(len(prefix["lost"]))]


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |\n" for line in lines)
