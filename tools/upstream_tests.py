"""Run aider's own tests with the gardener installed, and compare them test by test with a run without it.

How they end without it is in tests/upstream/without.json, for one aider, lock file, Python and system. Where
these are others both runs are done; --write does so too, and keeps the new one. A test that ended differently
is run alone, without and with the gardener, before it counts: machines differ. The tests come from aider's
source package, fetched by pip and checked against the hash below. Exit 0 when every test ended alike, 1 when
one did not, 2 when a run could not be carried out.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import multiprocessing
import os
import platform
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from threading import Lock
from typing import Any
from unittest.mock import patch

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "upstream"
PLUGIN = (ROOT / "tests" / "upstream" / "upstream_plugin.py", ROOT / "tests" / "offline.py")
LOCK = ROOT / "requirements" / "dev.lock"
BASELINE = ROOT / "tests" / "upstream" / "without.json"

AIDER = "aider-chat==0.86.2"
SOURCE_SHA256 = "f38a9d322f5609f0c13af82d50c6a11170185b3fdf26956e4a7e89ba19819159"

TESTS = ["tests/basic"]
WORST_FIRST = ("error", "failed", "skipped", "passed")
SETTINGS = ("without", "with")
LIMIT_SECONDS = 1_200
PROGRESS_SECONDS = 20.0

METHOD = "forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn"
PROCESSES: Any = multiprocessing.get_context(METHOD)
FORKED = ["litellm", "pytest"]
"""What runs are forked off with: it takes longer to import than most of them take."""
STARTING = Lock()

Outcomes = Mapping[str, str]


class RunFailed(Exception):
    """The tests could not be fetched, or a run ended before all its tests had."""


def main(argv: Sequence[str] | None = None) -> int:
    """Fetch, run, compare, print; see the module's text for the exit codes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--write", action="store_true", help=f"do both runs, and write {BASELINE.name} anew")
    parser.add_argument("tests", nargs="*", default=TESTS, help=f"default: {' '.join(TESTS)}")
    options = parser.parse_args(argv)
    try:
        with tempfile.TemporaryDirectory(prefix="aider-tests-", ignore_cleanup_errors=True) as folder:
            return compare(Path(folder), options.tests, write=options.write)
    except RunFailed as error:
        print(f"upstream tests: {error}", file=sys.stderr)
        return 2


def compare(folder: Path, tests: Sequence[str], *, write: bool) -> int:
    """Run what must be run below `folder`, and report the tests that ended differently."""
    source = unpack(fetch(), folder)
    kept = None if write else baseline(tests)
    runs = [Run(setting, source, folder / setting, tests) for setting in SETTINGS[kept is not None :]]
    wait_for(runs)
    outcomes = {"without": kept or {}} | {run.setting: run.outcomes() for run in runs}
    if write:
        written = {"key": baseline_key(tests), "outcomes": outcomes["without"]}
        BASELINE.write_text(json.dumps(written, indent=1, sort_keys=True) + "\n", "utf-8")
    whence = "" if kept is None else f" (as in {BASELINE.name})"
    print(f"without the gardener: {figures(outcomes['without'])}{whence}")
    print(f"with the gardener:    {figures(outcomes['with'])}")
    different = differing(outcomes["without"], outcomes["with"])
    lasting = run_again(source, folder, different)
    for name in different:
        before, after = (outcomes[setting].get(name, "not run") for setting in SETTINGS)
        verdict = "" if name in lasting else ", but alike when run alone: unsteady"
        print(f"  {name}: {before} -> {after}{verdict}")
    print(f"{len(lasting)} of {len(outcomes['without'])} tests of aider end differently with the gardener")
    return 1 if lasting else 0


def fetch() -> Path:
    """aider's source package below build/, downloaded once; its hash is checked here on every use."""
    package = BUILD / f"{AIDER.replace('==', '-').replace('aider-chat', 'aider_chat')}.tar.gz"
    BUILD.mkdir(parents=True, exist_ok=True)
    if not package.exists():
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(BUILD)]
        command += ["--no-binary", "aider-chat", AIDER]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, check=False)
        if done.returncode or not package.exists():
            raise RunFailed(f"pip could not download the source package of {AIDER}; is the index reachable?")
    found = hashlib.sha256(package.read_bytes()).hexdigest()
    if found != SOURCE_SHA256:
        package.unlink()
        raise RunFailed(f"{package.name} has the hash {found}, not the pinned one; it was deleted")
    return package


def unpack(package: Path, folder: Path, wanted: tuple[str, ...] = ("tests/", "pytest.ini")) -> Path:
    """Unpack what of aider's source is wanted: the tests and their settings only, if aider itself is to come
    from the environment."""
    with tarfile.open(package) as archive:
        members = [member for member in archive.getmembers() if member.isfile()]
        chosen = [member for member in members if member.name.split("/", 1)[-1].startswith(wanted)]
        if hasattr(tarfile, "data_filter"):  # from 3.10.12 on; below, the hash must do
            archive.extraction_filter = tarfile.data_filter
        archive.extractall(folder / "source", members=chosen)
    return next((folder / "source").iterdir())


class Run:
    """One run of the tests in a git repository, a home and a temporary folder of its own."""

    def __init__(
        self,
        setting: str,
        source: Path,
        folder: Path,
        tests: Sequence[str],
        *,
        log: Path | None = None,
        aider_from_source: bool = False,
    ) -> None:
        self.setting, self.folder, self.tests = setting, folder, tests
        self.record, self.log = folder / "outcomes.jsonl", log or BUILD / f"{setting}.log"
        self.aider_from_source = aider_from_source
        self.work, self.home = folder / "work", folder / "home"
        shutil.copytree(source, self.work)
        (folder / "tmp").mkdir()
        prices = self.home / ".aider" / "caches" / "model_prices_and_context_window.json"
        prices.parent.mkdir(parents=True)
        shutil.copy(litellm_prices(), prices)
        identity = "[user]\n\tname = Tester\n\temail = tester@example.com\n"
        (self.home / ".gitconfig").write_text(identity, "utf-8")
        self.git("init", "--quiet")
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", "The tests as aider ships them")

    def environment(self) -> dict[str, str]:
        """This process's variables without anything that tells aider about models, keys or proxies."""
        private = ("AIDER_", "LITELLM_", "OPENAI_", "ANTHROPIC_", "GIT_", "PYTEST_", "COV_")
        with STARTING:  # meanwhile they are those of another run
            found = dict(os.environ)
        kept = {
            name: value
            for name, value in found.items()
            if not name.startswith(private) and not name.upper().endswith(("_API_KEY", "_PROXY", "_TOKEN"))
        }
        temporary = str(self.folder / "tmp")
        paths = [str(self.work)] if self.aider_from_source else []
        paths += [*(str(file.parent) for file in PLUGIN), *filter(None, [kept.get("PYTHONPATH")])]
        return kept | {
            "HOME": str(self.home),
            "USERPROFILE": str(self.home),
            "TMPDIR": temporary,
            "TEMP": temporary,
            "TMP": temporary,
            "PYTHONPATH": os.pathsep.join(paths),
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            "AIDER_ANALYTICS": "false",  # what pytest.ini sets through a plugin that is not needed then
            "LITELLM_LOCAL_MODEL_COST_MAP": "True",
            "UPSTREAM_OUTCOMES": str(self.record),
            "UPSTREAM_GARDENER": "1" if self.setting == "with" else "0",
        }

    def git(self, *arguments: str) -> None:
        subprocess.run(["git", *arguments], cwd=self.work, env=self.environment(), check=True)

    def start(self) -> None:
        """Start pytest; its output goes to build/upstream/<setting>.log."""
        self.log.unlink(missing_ok=True)
        options = ["-p", "upstream_plugin", "-p", "no:cacheprovider", "-q", "-rfE", "--tb=short"]
        arguments, environ = [*options, "--durations=10", *self.tests], self.environment()
        if PROCESSES.get_start_method() == "forkserver":
            PROCESSES.set_forkserver_preload(FORKED)
        self.process = PROCESSES.Process(target=run_tests, args=(arguments, self.work, environ, self.log))
        with STARTING, patch.dict(os.environ, environ, clear=True):  # what it is forked off begins with these
            self.process.start()

    def outcomes(self) -> dict[str, str]:
        """The worst outcome that any phase of each test reported."""
        found: dict[str, str] = {}
        for line in self.record.read_text("utf-8").splitlines() if self.record.exists() else []:
            report = json.loads(line)
            name, outcome = report["name"], report["outcome"]
            found[name] = min(found.get(name, outcome), outcome, key=badness)
        return found


def run_tests(arguments: Sequence[str], work: Path, environ: Mapping[str, str], log: Path) -> None:
    """Be the process of one run."""
    os.environ.clear()  # what it was forked off may have begun in another one
    os.environ.update(environ)
    os.chdir(work)
    sys.path[:0] = [str(work), *environ["PYTHONPATH"].split(os.pathsep)]
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for number in (1, 2):
        os.dup2(os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND), number)
    import pytest

    sys.exit(pytest.main([*arguments]))


def badness(outcome: str) -> int:
    return WORST_FIRST.index(outcome) if outcome in WORST_FIRST else len(WORST_FIRST)


def litellm_prices() -> Path:
    """The price table that litellm ships: aider would fetch a newer one at start otherwise."""
    import importlib.util

    spec = importlib.util.find_spec("litellm")
    if spec is None or spec.origin is None:
        raise RunFailed("litellm is not installed here; run `make test` first")
    return Path(spec.origin).parent / "model_prices_and_context_window_backup.json"


def wait_for(
    runs: Sequence[Run], limit_seconds: float = LIMIT_SECONDS, *, may_break_off: bool = False
) -> None:
    """Start the runs at once and wait for all, with a line of progress now and then. `may_break_off`: also
    where a module cannot be imported."""
    for run in runs:
        run.start()
    begun = shown = time.monotonic()
    try:
        while any(run.process.is_alive() for run in runs):
            time.sleep(0.2)
            now = time.monotonic()
            if now - begun > limit_seconds:
                raise RunFailed(f"a run took longer than {limit_seconds} s, see {runs[0].log.parent}")
            if now - shown > PROGRESS_SECONDS:
                shown = now
                done = ", ".join(f"{len(run.outcomes())} {run.setting}" for run in runs)
                print(f"upstream tests: {now - begun:.0f} s, tests done: {done}", flush=True)
    finally:
        for run in runs:
            run.process.kill()
            run.process.join()
    for run in runs:
        ends = (0, 1, 2) if may_break_off else (0, 1)
        if run.process.exitcode not in ends or not run.outcomes():
            raise RunFailed(f"the run {run.setting} ended with {run.process.exitcode}, see {run.log}")


def run_again(source: Path, folder: Path, names: Sequence[str]) -> list[str]:
    """Run each test alone in both settings; give back those that still end differently."""
    lasting = []
    for number, name in enumerate(names):
        pair = [Run(setting, source, folder / f"again-{number}-{setting}", [name]) for setting in SETTINGS]
        for run in pair:
            run.log = BUILD / f"again-{number}-{run.setting}.log"
        try:
            wait_for(pair)
        except RunFailed:
            lasting.append(name)
            continue
        if pair[0].outcomes() != pair[1].outcomes():
            lasting.append(name)
    return lasting


def differing(without: Outcomes, with_: Outcomes) -> list[str]:
    return sorted(name for name in {*without, *with_} if without.get(name) != with_.get(name))


def figures(outcomes: Outcomes) -> str:
    counts = Counter(outcomes.values())
    parts = [f"{counts[outcome]} {outcome}" for outcome in reversed(WORST_FIRST) if counts[outcome]]
    return ", ".join([f"{len(outcomes)} tests", *parts])


def baseline(tests: Sequence[str]) -> Outcomes | None:
    """How these tests end without the gardener, if that is kept for what is installed here."""
    kept = json.loads(BASELINE.read_text("utf-8"))
    outcomes: Outcomes = kept["outcomes"]
    return outcomes if kept["key"] == baseline_key(tests) else None


def baseline_key(tests: Sequence[str]) -> dict[str, str]:
    """What a run without the gardener depends on."""
    return {
        "aider": AIDER,
        "lock": hashlib.sha256(LOCK.read_bytes()).hexdigest(),
        "python": ".".join(platform.python_version_tuple()[:2]),
        "source": SOURCE_SHA256,
        "system": sys.platform,
        "tests": " ".join(tests),
    }


if __name__ == "__main__":
    sys.exit(main())
