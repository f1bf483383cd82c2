"""Write what follows from the mails in patches/ into the tables of its README.md, or `--check` compare."""

from __future__ import annotations

import hashlib
import json
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from pages import Section
from pages import main as write_page

from aider_gardener.adapters.aider.patch_points import PATCH_POINTS
from aider_gardener.errors import PatchError
from aider_gardener.patches.series import Patch, Series, read_series
from aider_gardener.patches.tree import git_apply

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "bench" / "results" / "patches.json"
PAGE = ROOT / "patches" / "README.md"
TOOL = "patches_page"


def tries_of(series: Series) -> dict[str, str]:
    """By each patch's slug, how to try it and what one sees: mails are sent, these are not."""
    tries: dict[str, str] = yaml.safe_load((series.folder / "notes.yml").read_text("utf-8"))
    return tries


def patch_table(series: Series, tries: Mapping[str, str]) -> str:
    """Each patch: its title, how to try it, its size, what must be in aider before it, what it spares us."""
    rows = []
    for patch in series.patches:
        if patch.slug not in tries:
            raise PatchError(f"notes.yml does not say how to try {patch.name}")
        needs = ", ".join(f"{other.number:04d}" for other in series.needed(patch)[:-1]) or "–"
        link, spared = f"[{patch.number:04d}]({patch.name})", points_of(patch)
        rows.append([link, patch.subject, tries[patch.slug], lines_of(patch), needs, spared])
    return table(("patch", "title", "try it", "lines", "needs", "patch points it retires"), rows)


def lines_of(patch: Patch) -> str:
    """How much it changes, aider's lines apart from tests."""
    changed = changes(patch.text)
    own = [each for each in changed if not each.path.startswith("tests/")]
    tests = sum(each.added for each in changed) - sum(each.added for each in own)
    return f"+{sum(each.added for each in own)} −{sum(each.removed for each in own)}, tests +{tests}"


def points_of(patch: Patch) -> str:
    """The patch points that aider-gardener leaves alone once this patch and those before it are in aider."""
    name = patch.name.removesuffix(".patch")
    retired = [point.path for point in PATCH_POINTS if point.retired_by and max(point.retired_by) == name]
    return ", ".join(retired) or "–"


def test_table(patches: Sequence[Patch], measured: Mapping[str, Any]) -> str:
    """Per patch: its own tests before and after it, and all of aider's after the prefix that ends with it."""
    known = {digest_of(patches[:number]) for number in range(len(patches) + 1)}
    rows = []
    for name in ("as released", *(patch.name for patch in patches)):
        own, prefix = measured.get("own", {}).get(name), measured.get("prefixes", {}).get(name)
        cells = [str(own[key]) for key in ("tests", "failed before", "passed after")] if own else ["–"] * 3
        if prefix and prefix["series"] in known:
            failed = prefix.get("failed", 0) + prefix.get("error", 0)
            cells += [str(prefix.get("passed", 0)), str(failed), str(len(prefix["lost"]))]
        else:
            cells += ["not run", "", ""]
        rows.append([name.removesuffix(".patch"), *cells])
    head = ("after", "its own tests", "fail before", "pass after", "all tests: passed", "failed", "lost")
    return table(head, rows)


def replay_table(patches: Sequence[Patch], measured: Mapping[str, Any]) -> str:
    """The prompts of each side of `tools/patches_replay.py`, and with how many patch points they were made;
    empty where they were made with another series."""
    replay = measured.get("replay", {})
    sides = replay["sides"] if replay.get("series") == digest_of(patches, "aider/") else {}
    head = ("side", "what", "prompts", "compacted", "different", "from those of", "patch points")
    keys = ("what", "prompts", "compacted", "different", "as in", "seams")
    return table(head, ([name, *(str(row[key]) or "–" for key in keys)] for name, row in sides.items()))


def digest_of(patches: Iterable[Patch], below: str = "") -> str:
    """Names the changes of these patches, or those below a folder: a result belongs to them only. Mails may
    be reworded."""
    rows = (sorted(patch.diffs.items()) for patch in patches)
    diffs = [diff for row in rows for path, diff in row if path.startswith(below)]
    return hashlib.sha256("\n".join(diffs).encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Change:
    """How many lines a diff adds to a file and removes from it."""

    path: str
    added: int
    removed: int


def changes(diff: str) -> list[Change]:
    """The files of a diff or mail, in its order. Raises PatchError when git cannot read it."""
    done = git_apply(Path(__file__).parent, diff, "--numstat", "-z")
    if done.returncode:
        raise PatchError(f"not a diff: {done.stderr.decode('utf-8', 'replace').strip()}")
    rows = re.findall(r"(\d+)\t(\d+)\t([^\0]+)\0", done.stdout.decode())
    return [Change(path, int(added), int(removed)) for added, removed, path in rows]


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |\n" for line in lines)


def measured() -> Mapping[str, Any]:
    found: dict[str, Any] = json.loads(RESULTS.read_text("utf-8")) if RESULTS.is_file() else {}
    return found


def series() -> Series:
    return read_series(ROOT / "patches")


SECTIONS = [
    Section(PAGE, "patches", lambda: patch_table(series(), tries_of(series()))),
    Section(PAGE, "tests", lambda: test_table(series().patches, measured())),
    Section(PAGE, "replay", lambda: replay_table(series().patches, measured())),
]


if __name__ == "__main__":
    sys.exit(write_page(SECTIONS, TOOL))
