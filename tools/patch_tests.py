"""Run aider's tests in its source with the patches: the patches' own, or all after each prefix of the series.

`own` (the default) applies every patch alone with what it needs, and runs the tests that it brings twice:
with only its tests applied they must fail, with all of it they must pass. `prefixes` runs the whole of
tests/basic as released and after each prefix of the series: what passed must pass, and the tests brought so
far too. What was run already on the same files is taken from build/patches. Aider is the pinned release,
and the results are recorded; with --source it is any checkout, such as aider's main branch, and they are only
printed. Exit 0 when all is as it must be, 1 when not, 2 when a run could not be carried out.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import json
import os
import shutil
import sys
import tarfile
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import upstream_tests
from patch_series.readme import prefix_digest
from upstream_tests import Outcomes, Run, RunFailed

from aider_gardener.errors import GardenerError, PatchError
from aider_gardener.patches.series import Patch, Series, read_series
from aider_gardener.patches.tree import patched, read_files

ROOT = Path(__file__).resolve().parent.parent
CACHE = ROOT / "build" / "patches"
RESULTS = ROOT / "bench" / "results" / "patches.json"
WANTED = ("aider/", "tests/basic/", "tests/fixtures/", "tests/__init__.py", *("pytest.ini", "pyproject.toml"))
LIMIT_SECONDS = 3_600


@dataclass(frozen=True)
class Job:
    """One run: these patches, the tests to run, and whether only the patches' tests are applied."""

    name: str
    patches: tuple[Patch, ...]
    tests: tuple[str, ...]
    tests_only_of: Patch | None = None


def main(argv: Sequence[str] | None = None) -> int:
    """Fetch aider's source, run, compare, print; see the module's text for the exit codes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("what", nargs="?", default="own", choices=("own", "prefixes"))
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="runs at a time")
    parser.add_argument("--upto", metavar="N", help="the patches from the first to this one only")
    parser.add_argument("--source", type=Path, metavar="DIR", help="aider's checkout (default: its release)")
    options = parser.parse_args(argv)
    try:
        series = read_series(ROOT / "patches")
        series = replace(series, patches=tuple(series.chosen(upto=options.upto)))
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
        self.digest = "" if self.is_release else digest_of(self.source)
        self.pristine = read_files(self.source, series.paths())
        CACHE.mkdir(parents=True, exist_ok=True)

    def run(self, jobs: Sequence[Job]) -> dict[str, Outcomes]:
        """The outcomes of the jobs by their names; a few at a time, each in a tree of its own."""
        with ThreadPoolExecutor(self.jobs) as pool:
            return dict(zip((job.name for job in jobs), pool.map(self.outcomes, jobs), strict=True))

    def outcomes(self, job: Job) -> Outcomes:
        files = self.files(job)
        cache = CACHE / f"{key(files, job.tests, self.digest)}.json"
        if cache.exists():
            kept: dict[str, str] = json.loads(cache.read_text("utf-8"))
            return kept
        folder = self.folder / job.name
        source = Path(shutil.copytree(self.source, folder / "source"))
        write_files(source, files)
        run = PatchedRun(job.name, source, folder, job.tests)
        found = finish(run)
        shutil.rmtree(folder, ignore_errors=True)
        cache.write_text(json.dumps(found, indent=0, sort_keys=True), "utf-8")
        print(f"patch tests: {job.name}: {upstream_tests.figures(found)}", flush=True)
        return found

    def files(self, job: Job) -> dict[str, str | None]:
        """The touched files as this job wants them."""
        files = patched(self.pristine, job.patches)
        if job.tests_only_of is None:
            return files
        others = [patch for patch in job.patches if patch is not job.tests_only_of]
        before = patched(self.pristine, others)
        return {path: text if path.startswith("tests/") else before[path] for path, text in files.items()}

    def brought(self, patch: Patch) -> tuple[str, ...]:
        """The names of the tests that a patch adds, as pytest takes them."""
        before, after = self.tests_around(patch)
        return tuple(sorted(after - before))

    def renamed(self, patch: Patch) -> set[str]:
        """The names of tests that are gone after a patch: it expects something else of them."""
        before, after = self.tests_around(patch)
        return before - after

    def tests_around(self, patch: Patch) -> tuple[set[str], set[str]]:
        """The tests of the modules that a patch touches, before it and after it."""
        needed = self.series.needed(patch)
        files = [patched(self.pristine, row) for row in (needed[:-1], needed)]
        paths = [path for path in patch.diffs if path.startswith("tests/basic/test_")]
        before, after = (set().union(*(names_of_tests(path, row[path]) for path in paths)) for row in files)
        return before, after

    def record(self, part: str, rows: Mapping[str, Any]) -> None:
        """Keep the results of the release; rows of the series' other patches stay as they were."""
        if self.is_release:
            kept = json.loads(RESULTS.read_text("utf-8")).get(part, {}) if RESULTS.exists() else {}
            names = {"as released", *os.listdir(ROOT / "patches")}
            record(part, {name: row for name, row in {**kept, **rows}.items() if name in names})


class PatchedRun(Run):
    """A run in which aider comes from the patched tree, not from the environment."""

    def __init__(self, name: str, source: Path, folder: Path, tests: Sequence[str]) -> None:
        super().__init__(name, source, folder, tests)
        self.log = CACHE / f"{name}.log"

    def environment(self) -> dict[str, str]:
        inherited = super().environment()
        return inherited | {"PYTHONPATH": os.pathsep.join([str(self.work), inherited["PYTHONPATH"]])}


def own(bench: Bench) -> int:
    """Each patch alone: its tests fail before it and pass after it."""
    jobs, expected, wrong = [], {}, 0
    for patch in bench.series.patches:
        try:
            tests, needed = bench.brought(patch), tuple(bench.series.needed(patch))
        except PatchError as error:  # it, or one that it needs, does not fit this aider
            print(f"  {patch.number:04d}: {error}")
            wrong += 1
            continue
        if not tests:
            raise RunFailed(f"{patch.name} brings no test")
        for name, only, wanted in (("before", patch, {"failed", "error"}), ("after", None, {"passed"})):
            jobs.append(Job(f"{patch.number:04d}-{name}", needed, tests, only))
            expected[jobs[-1].name] = wanted
    found = bench.run(jobs)
    rows: dict[str, dict[str, int]] = {job.patches[-1].name: {} for job in jobs}
    for job in jobs:
        ended = [ending(found[job.name], test) for test in job.tests]
        as_they_must = [outcome in expected[job.name] for outcome in ended]
        wrong += as_they_must.count(False)
        for test, outcome, right in zip(job.tests, ended, as_they_must, strict=True):
            if not right:
                print(f"  {job.name}: {test}: {outcome}")
        row = rows[job.patches[-1].name]
        row["tests"] = len(job.tests)
        row["failed before" if job.tests_only_of else "passed after"] = as_they_must.count(True)
    total = sum(row["tests"] for row in rows.values())
    print(f"{len(rows)} patches, {total} tests of their own; {wrong} do not end as they must")
    bench.record("own", rows)
    return 1 if wrong else 0


def prefixes(bench: Bench) -> int:
    """All of aider's tests after each prefix of the series; each result is recorded as it comes."""
    patches = bench.series.patches
    first = [0, len(patches), sum(patch.is_fix for patch in patches)]  # what tells most
    order = dict.fromkeys([*first, *range(len(patches))])
    jobs = [Job(f"prefix-{number:02d}", patches[:number], ("tests/basic",)) for number in order]
    released = bench.outcomes(jobs[0])
    rows: dict[str, Any] = {}
    with ThreadPoolExecutor(bench.jobs) as pool:
        running = {pool.submit(bench.outcomes, job): job for job in jobs}
        for future in as_completed(running):
            job = running[future]
            after = job.patches[-1].name if job.patches else "as released"
            rows[after] = prefix_row(bench, job, released, future.result())
            print(f"{after}: {rows[after]}", flush=True)
            bench.record("prefixes", rows)
    return 1 if any(row["lost"] for row in rows.values()) else 0


def prefix_row(bench: Bench, job: Job, released: Outcomes, outcomes: Outcomes) -> dict[str, Any]:
    """How many tests ended how, and those that passed as released, or are new, and do not pass."""
    brought = {test for patch in job.patches for test in bench.brought(patch)}
    renamed = {test for patch in job.patches for test in bench.renamed(patch)}
    expected = {name for name, outcome in released.items() if outcome == "passed"} - renamed | brought
    missing = sorted(name for name in expected if outcomes.get(name) != "passed")
    lost = [name for name in missing if name not in outcomes or not passes_alone(bench, job, name)]
    for name in missing:
        verdict = "" if name in lost else ", but passes alone: unsteady"
        print(f"  {job.name}: {name}: {outcomes.get(name, 'not run')}{verdict}")
    counts = {word: list(outcomes.values()).count(word) for word in sorted(set(outcomes.values()))}
    return {**counts, "brought": len(brought), "lost": lost, "series": prefix_digest(job.patches)}


def passes_alone(bench: Bench, job: Job, test: str) -> bool:
    """Whether a test that failed among the others passes when it is run by itself."""
    again = Job(f"{job.name}-again-{hashlib.sha256(test.encode()).hexdigest()[:8]}", job.patches, (test,))
    return ending(bench.outcomes(again), test) == "passed"


def names_of_tests(path: str, text: str | None) -> set[str]:
    """The tests of a module, as `path::class::name`."""
    if text is None:
        return set()

    def found(body: Iterable[ast.stmt], prefix: str) -> Iterator[str]:
        for node in body:
            if isinstance(node, ast.ClassDef):
                yield from found(node.body, f"{prefix}::{node.name}")
            elif isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                yield f"{prefix}::{node.name}"

    return set(found(ast.parse(text).body, path))


def ending(outcomes: Outcomes, test: str) -> str:
    """A test's outcome; that of its module where the module could not be imported."""
    return outcomes.get(test) or outcomes.get(test.partition("::")[0], "not run")


def source_of(checkout: Path | None, folder: Path) -> Path:
    """A copy of aider's source with its basic tests: of a checkout, else as released.

    Raises RunFailed when the checkout is none, or the release cannot be had.
    """
    if checkout is None:
        return unpack(upstream_tests.fetch(), folder)
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


def digest_of(source: Path) -> str:
    """Names a source by all of its files."""
    digest = hashlib.sha256()
    for path in sorted(path for path in source.rglob("*") if path.is_file()):
        digest.update(f"{path.relative_to(source).as_posix()}\0".encode() + path.read_bytes())
    return digest.hexdigest()


def unpack(package: Path, folder: Path) -> Path:
    """Unpack aider's source with its basic tests."""
    with tarfile.open(package) as archive:
        members = [m for m in archive.getmembers() if m.isfile()]
        wanted = [m for m in members if m.name.split("/", 1)[-1].startswith(WANTED)]
        if hasattr(tarfile, "data_filter"):  # from 3.10.12 on; below, the hash must do
            archive.extraction_filter = tarfile.data_filter
        archive.extractall(folder, members=wanted)
    return next(folder.iterdir())


def write_files(root: Path, files: Mapping[str, str | None]) -> None:
    for path, text in files.items():
        if text is not None:
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text, "utf-8", newline="")


def finish(run: Run) -> dict[str, str]:
    """Run to the end; raises RunFailed when it took too long or ended before any test had."""
    run.start()
    begun = time.monotonic()
    try:
        while run.process.poll() is None:
            if time.monotonic() - begun > LIMIT_SECONDS:
                raise RunFailed(f"{run.setting} took longer than {LIMIT_SECONDS} s, see {run.log}")
            time.sleep(0.1)
    finally:
        run.process.kill()
    found = run.outcomes()
    if not found:
        raise RunFailed(f"{run.setting} ended with {run.process.returncode}, see {run.log}")
    return found


def key(files: Mapping[str, str | None], tests: Sequence[str], source: str = "") -> str:
    """What a run depends on: the package or the checkout given, the locked environment, how tests run, the
    files, the tests."""
    parts = [upstream_tests.baseline_key(tests), source, *tests]
    parts += [f"{path}\0{text}" for path, text in sorted(files.items()) if text is not None]
    return hashlib.sha256("\1".join(parts).encode()).hexdigest()[:20]


def record(part: str, value: Any) -> None:
    """Put a part of the results into bench/results/patches.json."""
    kept = json.loads(RESULTS.read_text("utf-8")) if RESULTS.exists() else {"kind": "patches", "format": 1}
    kept[part] = value
    RESULTS.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n", "utf-8")


if __name__ == "__main__":
    sys.exit(main())
