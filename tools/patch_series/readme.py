"""The tables of patches/README.md, made from the patches and from what was measured with them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from aider_gardener.errors import PatchError
from aider_gardener.patches.mail import PatchMail
from patch_series.diff import changes

RESULTS = Path("bench") / "results" / "patches.json"
NOTES = Path("patches") / "fixes.yml"
TABLES = ("patches", "tests")


def with_tables(text: str, mails: Sequence[PatchMail], root: Path) -> str:
    """The page with its tables made anew between their marks. Raises PatchError when a mark is missing."""
    results = root / RESULTS
    measured = json.loads(results.read_text("utf-8")) if results.is_file() else {}
    tables = {"patches": patch_table(mails, notes_on_fixes(root)), "tests": test_table(mails, measured)}
    for name in TABLES:
        begin, end = f"<!-- {name} -->\n", f"<!-- /{name} -->\n"
        before, _, rest = text.partition(begin)
        _, found, after = rest.partition(end)
        if not found:
            raise PatchError(f"README.md of the series lacks the marks {begin.strip()} and {end.strip()}")
        text = f"{before}{begin}{tables[name]}{end}{after}"
    return text


def notes_on_fixes(root: Path) -> dict[str, dict[str, str]]:
    """`evidence` and `seam` of each fix by its slug: their mails are sent, so these stand beside them."""
    notes: dict[str, dict[str, str]] = yaml.safe_load((root / NOTES).read_text("utf-8"))
    return notes


def patch_table(mails: Iterable[PatchMail], notes: Mapping[str, Mapping[str, str]]) -> str:
    head = ("patch", "what it does", "evidence", "lines", "needs", "seam it retires")
    return table(head, (patch_row(mail, notes.get(mail.slug, {})) for mail in mails))


def patch_row(patch: PatchMail, notes: Mapping[str, str]) -> list[str]:
    """A patch's row: host lines apart from tests and from the generated library. What no notes say is in
    the mail's fields. Raises PatchError when it is in neither."""
    changed = changes(patch.text)
    own = [c for c in changed if not c.path.startswith(("tests/", "aider/gardener/"))]
    library = [c for c in changed if c.path.startswith("aider/gardener/")]
    tests = [c for c in changed if c.path.startswith("tests/")]
    lines = f"+{sum(c.added for c in own)} −{sum(c.removed for c in own)}"
    lines += f", tests +{sum(c.added for c in tests)}"
    if library:
        lines += f", library +{sum(c.added for c in library):,}"
    needs = ", ".join(f"{number:04d}" for number in patch.needs) or "–"
    link = f"[{patch.number:04d}]({patch.name})"
    evidence, seam = (notes.get(key.lower()) or patch.fields.get(key, "") for key in ("Evidence", "Seam"))
    if not (evidence and seam):
        raise PatchError(f"neither {patch.name} nor {NOTES.name} says its evidence and seam")
    return [link, patch.subject, evidence, lines, needs, seam]


def test_table(mails: Iterable[PatchMail], measured: Mapping[str, Any]) -> str:
    """Per patch: its own tests before and after it, and all of aider's after the prefix that ends with it."""
    own, prefixes = measured.get("own", {}), measured.get("prefixes", {})
    given = list(mails)
    names = ["as released", *(mail.name for mail in given)]
    known = digests(given)
    current = {name: row for name, row in prefixes.items() if row["series"] in known}
    head = ("after", "its own tests", "fail before", "pass after", "all tests: passed", "failed", "lost")
    rows = ([name.removesuffix(".patch"), *ending(own.get(name), current.get(name))] for name in names)
    return table(head, rows)


def prefix_digest(patches: Sequence[PatchMail]) -> str:
    """Names the changes of these patches: a result belongs to them only. Mails may be reworded."""
    diffs = (patch.text.partition("\ndiff --git ")[2] for patch in patches)
    return hashlib.sha256("\n".join(diffs).encode()).hexdigest()[:16]


def digests(mails: Sequence[PatchMail]) -> set[str]:
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
