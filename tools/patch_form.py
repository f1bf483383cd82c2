"""Check that each fix could be sent to aider as it stands: small, in aider's form, and about aider alone.

Aider's form is flake8, isort and black at 100 columns (its `.pre-commit-config.yaml`). ruff stands for them
here: what it says of a file after a fix and did not say before is a fault. Aider is the pinned release;
with --source it is any checkout. Exit 0 when nothing is found, 1 when something is, 2 without aider's source.
"""

from __future__ import annotations

import argparse
import email
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from patch_series.diff import changes
from patch_tests import ROOT, source_of, write_files
from upstream_tests import RunFailed

from aider_gardener.errors import GardenerError
from aider_gardener.patches.series import Patch, read_series
from aider_gardener.patches.tree import patched, read_files

COLUMNS = 100
MAIL_COLUMNS, SUBJECT_COLUMNS = 76, 72
HOST_LINES, ALL_LINES = 40, 100
"""What a fix may add and remove: in aider itself, as most changes that were merged there; and with tests."""
SENDER = "Your Name <you@example.com>"
"""Stands where the sender's name goes, who also signs off."""
OURS = re.compile(
    r"gardener|^(?:Seam|Evidence|Needs|Forwarded|Last-Update|[A-Z][a-z]+(?:-[a-z]+)*-by): ", re.I | re.M
)
STAT = re.compile(r" (?:\S+ +\| +\d+ [+-]+|\d+ files? changed\b.*)?")
LINTER = ("check", "--select", "E,W,F,I", "--ignore", "E203", "--output-format", "concise")
FORMATTER = ("format", "--diff")


def main(argv: Sequence[str] | None = None) -> int:
    """Look at every fix; see the module's text for the exit codes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--source", type=Path, metavar="DIR", help="aider's checkout (default: its release)")
    options = parser.parse_args(argv)
    try:
        with tempfile.TemporaryDirectory(prefix="aider-form-", ignore_cleanup_errors=True) as folder:
            return look(source_of(options.source, Path(folder) / "pristine"))
    except (RunFailed, GardenerError) as error:
        print(f"patch form: {error}", file=sys.stderr)
        return 2


def look(source: Path) -> int:
    """Print what is wrong with the fixes in this source; 1 when something is."""
    series = read_series(ROOT / "patches")
    fixes = [patch for patch in series.patches if patch.is_fix]
    wrong = 0
    for patch in fixes:
        before = read_files(source, patch.diffs)
        faults = [*faults_of_mail(patch), *faults_of_code(before, patched(before, [patch]))]
        wrong += len(faults)
        for fault in faults:
            print(f"  {patch.name}: {fault}")
    print(f"{len(fixes)} fixes, {wrong} faults of form")
    return 1 if wrong else 0


def faults_of_mail(patch: Patch) -> Iterator[str]:
    """What a maintainer would have to ask for: shorter lines, fewer of them, a mail that is about aider."""
    body, _, rest = patch.text.partition("\n\n")[2].partition("\n---\n")
    stat = rest.partition("diff --git ")[0].strip("\n")
    sender = str(email.message_from_string(patch.text)["From"])
    if sender != SENDER:
        yield f"it is from {sender}, not from {SENDER}, who stands for the sender"
    if len(patch.subject) > SUBJECT_COLUMNS:
        yield f"its subject has more than {SUBJECT_COLUMNS} columns"
    for line in body.splitlines():
        if len(line) > MAIL_COLUMNS:
            yield f"more than {MAIL_COLUMNS} columns: {line}"
    for found in OURS.finditer(patch.text):
        yield f"it says {found[0].strip()!r}, which is nothing about aider"
    for line in stat.splitlines():
        if not STAT.fullmatch(line):
            yield f"below its text stands more than the list of files: {line}"
    changed = changes(patch.text)
    host = sum(row.added + row.removed for row in changed if not row.path.startswith("tests/"))
    whole = sum(row.added + row.removed for row in changed)
    if host > HOST_LINES or whole > ALL_LINES:
        yield f"it changes {host} lines of aider, {whole} with tests, more than {HOST_LINES} or {ALL_LINES}"


def faults_of_code(before: Mapping[str, str | None], after: Mapping[str, str | None]) -> list[str]:
    """What the linter and the formatter say of the files after a fix, and did not say before it."""
    faults = []
    for path, text in after.items():
        if text is not None and path.endswith(".py"):
            for command in (LINTER, FORMATTER):
                old = said(command, path, before.get(path) or "")
                faults += [f"{path}: {line}" for line in (said(command, path, text) - old).elements()]
    return faults


def said(command: Sequence[str], path: str, text: str) -> Counter[str]:
    """What ruff says of a file, line by line, without the places, which a fix moves."""
    with tempfile.TemporaryDirectory(prefix="aider-form-") as folder:
        write_files(Path(folder), {path: text})
        options = ["--isolated", "--no-cache", "--quiet", "--line-length", str(COLUMNS)]
        ruff = [sys.executable, "-m", "ruff", *command, *options, path]
        done = subprocess.run(ruff, cwd=folder, capture_output=True, text=True, encoding="utf-8", check=False)
    if done.returncode > 1:
        raise RunFailed(f"ruff cannot read {path}: {done.stderr.strip()}")
    lines = (line for line in done.stdout.splitlines() if not line.startswith(("---", "+++", "@@")))
    if command is FORMATTER:
        return Counter(line for line in lines if line.startswith(("-", "+")))
    return Counter(re.sub(r"^\S+:\d+:\d+: ", "", line) for line in lines)


if __name__ == "__main__":
    sys.exit(main())
