"""Check that each patch could be sent to aider as it stands: small, in its form, and about aider alone.

Aider's form is flake8, isort and black at 100 columns (its `.pre-commit-config.yaml`). ruff stands for them
here: what it says of a file after a patch and did not say before is a fault. Aider is the pinned release;
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

from patch_tests import source_of, write_files
from patches_page import ROOT, changes
from upstream_tests import RunFailed

from aider_gardener.errors import GardenerError
from aider_gardener.patches.series import Patch, read_series
from aider_gardener.patches.tree import patched, read_files

COLUMNS = 100
MAIL_COLUMNS, SUBJECT_COLUMNS = 76, 72
HOST_LINES, ALL_LINES = 40, 100
"""What a patch may add and remove: in aider, as most changes that were merged there; and with tests."""
NEW_HOST_LINES, NEW_ALL_LINES = 150, 300
"""And one that makes a new file, such as the interface."""
SENDER = "Your Name <you@example.com>"
"""Stands where the sender's name goes, who also signs off."""
OURS = re.compile(
    r"gardener|^(?:Seam|Evidence|Needs|Forwarded|Last-Update|[A-Z][a-z]+(?:-[a-z]+)*-by): ", re.I | re.M
)
STAT = re.compile(r" (?:\S+ +\| +\d+ [+-]+|\d+ files? changed\b.*|create mode 100644 \S+)?")
ISORT = '--config=lint.isort.known-first-party=["aider"]'
LINTER = ("check", "--select", "E,W,F,I", "--ignore", "E203", "--output-format", "concise", ISORT)
FORMATTER = ("format", "--diff")


def main(argv: Sequence[str] | None = None) -> int:
    """Look at every patch; see the module's text for the exit codes."""
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
    """Print what is wrong with the patches in this source; 1 when something is."""
    series = read_series(ROOT / "patches")
    pristine = read_files(source, series.paths())
    before: dict[str, str | None] = {}
    after: dict[str, str | None] = {}
    faults = [f"{patch.name}: {fault}" for patch in series.patches for fault in faults_of_mail(patch)]
    for patch in series.patches:
        needed = series.needed(patch)
        for files, patches in ((before, needed[:-1]), (after, needed)):
            made = patched(pristine, patches)
            files |= {f"{patch.name}/{path}": made[path] for path in patch.diffs if path in made}
    faults += faults_of_code(before, after)
    for fault in faults:
        print(f"  {fault}")
    print(f"{len(series.patches)} patches, {len(faults)} faults of form")
    return 1 if faults else 0


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
    is_new = "\nnew file mode" in patch.text
    most, most_in_all = (NEW_HOST_LINES, NEW_ALL_LINES) if is_new else (HOST_LINES, ALL_LINES)
    if host > most or whole > most_in_all:
        yield f"it changes {host} lines of aider, {whole} with tests, more than {most} or {most_in_all}"


def faults_of_code(before: Mapping[str, str | None], after: Mapping[str, str | None]) -> list[str]:
    """What the linter and the formatter say of the files after a patch, and did not say before it."""
    commands = (LINTER, FORMATTER)
    return [
        line for command in commands for line in (said(command, after) - said(command, before)).elements()
    ]


def said(command: Sequence[str], files: Mapping[str, str | None]) -> Counter[str]:
    """What ruff says of the files, line by line, without the places, which a patch moves."""
    with tempfile.TemporaryDirectory(prefix="aider-form-") as folder:
        write_files(Path(folder), {path: text for path, text in files.items() if path.endswith(".py")})
        options = ["--isolated", "--no-cache", "--quiet", "--line-length", str(COLUMNS)]
        ruff = [sys.executable, "-m", "ruff", *command, *options, "."]
        done = subprocess.run(ruff, cwd=folder, capture_output=True, text=True, encoding="utf-8", check=False)
    if done.returncode > 1:
        raise RunFailed(f"ruff cannot read aider's files: {done.stderr.strip()}")
    found, path = Counter[str](), ""
    for line in done.stdout.splitlines():
        if line.startswith("--- "):
            path = line.removeprefix("--- ")
        elif command is LINTER:
            found[re.sub(r":\d+:\d+: ", ": ", line)] += 1
        elif line.startswith(("-", "+")) and not line.startswith("+++"):
            found[f"{path}: {line}"] += 1
    return found


if __name__ == "__main__":
    sys.exit(main())
