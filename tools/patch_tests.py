"""Run aider's tests in its source with the patches: the patches' own, or all after each prefix of the series.

`own` (the default) applies every patch alone with what it needs, and runs the tests that it brings twice:
with only its tests applied they must fail, with all of it they must pass. `prefixes` runs the whole of
tests/basic as released and after each prefix of the series: what passed must pass, and the tests brought so
far too. Aider is the pinned release, and the results are recorded, so that prefixes go on where they stopped;
with --source it is any checkout, such as aider's main branch, and they are only printed. Exit 0 when all is
as it must be, 1 when not, 2 when a run could not be carried out.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import upstream_tests
from patches_page import RESULTS, ROOT, digest_of
from upstream_tests import Outcomes, Run, RunFailed

from aider_gardener.errors import GardenerError, PatchError
from aider_gardener.patches.series import Patch, Series, read_series
from aider_gardener.patches.tree import patched, read_files

WANTED = ("aider/", "tests/basic/", "tests/fixtures/", "tests/__init__.py", *("pytest.ini", "pyproject.toml"))
BUILD = ROOT / "build" / "patches"
LIMIT_SECONDS = 3_600


@dataclass(frozen=True)
class Job:
    """One run: these patches, of the last one only its tests or all of it, and what pytest is to run."""

    name: str
    patches: tuple[Patch, ...]
    tests: tuple[str, ...]
    only_tests: bool = False


def main(argv: Sequence[str] | None = None) -> int:
    """Fetch aider's source, run, compare, print; see the module's text for the exit codes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("what", nargs="?", default="own", choices=("own", "prefixes"))
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="runs at a time")
    parser.add_argument("--source", type=Path, metavar="DIR", help="aider's checkout (default: its release)")
    options = parser.parse_args(argv)
    try:
        series = read_series(ROOT / "patches")
        with tempfile.TemporaryDirectory(prefix="aider-patches-", ignore_cleanup_errors=True) as folder:
            bench = Bench(series, Path(folder), options.jobs, options.source)
            return own(bench) if options.what == "own" else prefixes(bench)
    except (RunFailed, GardenerError) as error:
        print(f"patch tests: {error}", file=sys.stderr)
        return 2


class Bench:
    """Aider's source, as released or a checkout, and a place to run tests in copies of it."""

    def __init__(self, series: Series, folder: Path, jobs: int, checkout: Path | None = None) -> None:
        self.series, self.folder, self.jobs = series, folder, jobs
        self.is_release = checkout is None
        self.source = source_of(checkout, folder / "pristine")
        self.pristine = read_files(self.source, series.paths())
        BUILD.mkdir(parents=True, exist_ok=True)

    def run(self, jobs: Sequence[Job]) -> dict[str, Outcomes]:
        """The outcomes of the jobs by their names; a few at a time, each in a tree of its own."""
        with ThreadPoolExecutor(self.jobs) as pool:
            return dict(zip((job.name for job in jobs), pool.map(self.outcomes, jobs), strict=True))

    def outcomes(self, job: Job) -> Outcomes:
        folder = self.folder / job.name
        source = Path(shutil.copytree(self.source, folder / "source"))
        write_files(source, self.files(job))
        run = Run(job.name, source, folder, job.tests, log=BUILD / f"{job.name}.log", aider_from_source=True)
        upstream_tests.wait_for([run], LIMIT_SECONDS, may_break_off=True)
        found = run.outcomes()
        shutil.rmtree(folder, ignore_errors=True)
        print(f"patch tests: {job.name}: {upstream_tests.figures(found)}", flush=True)
        return found

    def files(self, job: Job) -> dict[str, str | None]:
        """The touched files as this job wants them."""
        if not job.only_tests:
            return patched(self.pristine, job.patches)
        return patched(patched(self.pristine, job.patches[:-1]), job.patches[-1:], "--include=tests/*")

    def recorded(self, part: str) -> dict[str, Any]:
        """The results of the release so far, of the patches that there still are."""
        kept = json.loads(RESULTS.read_text("utf-8")).get(part, {}) if RESULTS.exists() else {}
        names = {"as released", *os.listdir(ROOT / "patches")}
        return {name: row for name, row in kept.items() if name in names and self.is_release}

    def record(self, part: str, rows: Mapping[str, Any]) -> None:
        """Keep the results of the release."""
        if self.is_release:
            record(part, {**self.recorded(part), **rows})


def names_of(patch: Patch, sign: str) -> list[str]:
    """The names of the tests that a patch adds ("+") or takes away ("-", since it expects something else)."""
    diffs = "".join(diff for path, diff in patch.diffs.items() if path.startswith("tests/basic/test_"))
    return re.findall(rf"^\{sign} *def (test_\w+)\(", diffs, re.M)


def own(bench: Bench) -> int:
    """Each patch alone: its tests fail before it and pass after it."""
    jobs, wrong = [], 0
    for patch in bench.series.patches:
        names, needed = names_of(patch, "+"), tuple(bench.series.needed(patch))
        if not names:
            raise RunFailed(f"{patch.name} brings no test")
        tests = (*(path for path in patch.diffs if path.startswith("tests/")), "-k", " or ".join(names))
        pair = [Job(f"{patch.number:04d}-{when}", needed, tests, when == "before") for when in WHENS]
        try:
            bench.files(pair[1])
        except PatchError as error:  # it, or one that it needs, does not fit this aider
            print(f"  {patch.number:04d}: {error}")
            wrong += 1
            continue
        jobs += pair
    found = bench.run(jobs)
    rows: dict[str, dict[str, int]] = {job.patches[-1].name: {} for job in jobs}
    for job in jobs:
        names, expected = names_of(job.patches[-1], "+"), WHENS["before" if job.only_tests else "after"]
        ended = {name: ending(found[job.name], name) for name in names}
        bad = {name: outcome for name, outcome in ended.items() if outcome not in expected}
        wrong += len(bad)
        for name, outcome in bad.items():
            print(f"  {job.name}: {name}: {outcome}")
        row = rows[job.patches[-1].name]
        row["tests"] = len(names)
        row["failed before" if job.only_tests else "passed after"] = len(names) - len(bad)
    total = sum(row["tests"] for row in rows.values())
    print(f"{len(rows)} patches, {total} tests of their own; {wrong} do not end as they must")
    bench.record("own", rows)
    return 1 if wrong else 0


WHENS = {"before": {"failed", "error"}, "after": {"passed"}}
"""How the tests of a patch must end, when only they are applied and when all of it is."""


def prefixes(bench: Bench) -> int:
    """All of aider's tests after each prefix of the series; each result is recorded as it comes."""
    patches = bench.series.patches
    first = [len(patches), sum(patch.subject.startswith("fix:") for patch in patches)]  # what tells most
    numbers = dict.fromkeys([0, *first, *range(len(patches))])
    jobs = [Job(f"prefix-{number:02d}", patches[:number], ("tests/basic",)) for number in numbers]
    released = bench.outcomes(jobs[0])
    known = bench.recorded("prefixes")
    jobs = [job for job in jobs if known.get(after(job), {}).get("series") != digest_of(job.patches)]
    rows: dict[str, Any] = {}
    with ThreadPoolExecutor(bench.jobs) as pool:
        running = {pool.submit(bench.outcomes, job): job for job in jobs}
        for future in as_completed(running):
            job = running[future]
            rows[after(job)] = prefix_row(bench, job, released, future.result())
            print(f"{after(job)}: {rows[after(job)]}", flush=True)
            bench.record("prefixes", rows)
    return 1 if any(row["lost"] for row in rows.values()) else 0


def after(job: Job) -> str:
    """What the row of a prefix is called."""
    return job.patches[-1].name if job.patches else "as released"


def prefix_row(bench: Bench, job: Job, released: Outcomes, outcomes: Outcomes) -> dict[str, Any]:
    """How many tests ended how, and those that passed as released, or are new, and do not pass."""
    gone = {name for patch in job.patches for name in names_of(patch, "-")}
    brought = [name for patch in job.patches for name in names_of(patch, "+")]
    before = [test for test, outcome in released.items() if outcome == "passed"]
    expected = [test for test in before if test.rpartition("::")[2] not in gone]
    missing = sorted(test for test in expected if outcomes.get(test) != "passed")
    missing += [name for name in brought if ending(outcomes, name) != "passed"]
    lost = [test for test in missing if test not in outcomes or not passes_alone(bench, job, test)]
    for test in missing:
        verdict = "" if test in lost else ", but passes alone: unsteady"
        print(f"  {job.name}: {test}: {outcomes.get(test, 'not run')}{verdict}")
    counts = {word: list(outcomes.values()).count(word) for word in sorted(set(outcomes.values()))}
    return {**counts, "brought": len(brought), "lost": lost, "series": digest_of(job.patches)}


def passes_alone(bench: Bench, job: Job, test: str) -> bool:
    """Whether a test that failed among the others passes when it is run by itself."""
    again = Job(f"{job.name}-again-{hashlib.sha256(test.encode()).hexdigest()[:8]}", job.patches, (test,))
    return bench.outcomes(again).get(test) == "passed"


def ending(outcomes: Outcomes, name: str) -> str:
    """How the test of a name ended; "error" where a module could not be imported."""
    found = next((outcome for test, outcome in outcomes.items() if test.endswith(f"::{name}")), "")
    broken = any(outcome == "error" for test, outcome in outcomes.items() if "::" not in test)
    return found or ("error" if broken else "not run")


def source_of(checkout: Path | None, folder: Path) -> Path:
    """A copy of aider's source with its basic tests: of a checkout, else as released.

    Raises RunFailed when the checkout is none, or the release cannot be had.
    """
    if checkout is None:
        return upstream_tests.unpack(upstream_tests.fetch(), folder, WANTED)
    for needed in ("aider/coders/base_coder.py", "tests/basic"):
        if not (checkout / needed).exists():
            raise RunFailed(f"{checkout} is no source tree of aider: there is no {needed} in it")
    for name in WANTED:
        if (checkout / name).is_dir():
            shutil.copytree(checkout / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        elif (checkout / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(checkout / name, folder / name)
    return folder


def write_files(root: Path, files: Mapping[str, str | None]) -> None:
    for path, text in files.items():
        if text is not None:
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text, "utf-8", newline="")


def record(part: str, value: Any) -> None:
    """Put a part of the results into bench/results/patches.json."""
    kept = json.loads(RESULTS.read_text("utf-8")) if RESULTS.exists() else {"kind": "patches", "format": 1}
    kept[part] = value
    RESULTS.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n", "utf-8")


if __name__ == "__main__":
    sys.exit(main())
