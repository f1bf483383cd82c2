"""What decides whether a patch's tests end as they must."""

from __future__ import annotations

import dataclasses
import difflib
import multiprocessing
from pathlib import Path
from typing import Any

import patch_tests
import pytest
import upstream_tests
from made_tree import SERIES
from patch_tests import Bench, Job, ending, main, names_of, own, prefix_row, source_of
from upstream_tests import RunFailed

from aider_gardener.patches.series import Patch, Series

LIMIT = "aider/coders/base_coder.py"
TESTS = "tests/basic/test_limit.py"
BEFORE = "A = 1\nB = 2\n\nLIMIT = 1\nC = 3\n"
AFTER = BEFORE.replace("LIMIT = 1", "LIMIT = 2")
OLD_TEST = "def test_limit():\n    assert 1\n\n\ndef test_old():\n    assert 1\n"
NEW_TEST = OLD_TEST.replace(
    "old():\n    assert 1", 'new():\n    assert "LIMIT = 2" in open("aider/coders/base_coder.py").read()'
)


class Runs:
    """Stands where aider's source and pytest would be: outcomes are given, not run."""

    def __init__(self, before: str, after: str) -> None:
        self.series, self.endings = SERIES, {True: before, False: after}

    def files(self, job: Job) -> None:
        """Every patch fits."""

    def record(self, part: str, rows: Any) -> None:
        self.recorded = rows

    def run(self, jobs: list[Job]) -> dict[str, dict[str, str]]:
        names = {job: names_of(job.patches[-1], "+") for job in jobs}
        return {job.name: {f"x::{name}": self.endings[job.only_tests] for name in names[job]} for job in jobs}


@pytest.mark.parametrize(
    ("before", "after", "status"),
    [
        ("failed", "passed", 0),
        ("error", "passed", 0),
        ("passed", "passed", 1),
        ("failed", "failed", 1),
        ("failed", "skipped", 1),
    ],
)
def test_a_test_must_fail_before_and_pass_after(before: str, after: str, status: int) -> None:
    runs: Any = Runs(before, after)
    assert own(runs) == status
    assert len(runs.recorded) == len(SERIES.patches)


def test_a_module_that_cannot_be_imported_stands_for_its_tests() -> None:
    assert ending({"tests/basic/test_x.py": "error"}, "test_a") == "error"
    assert ending({"tests/basic/test_x.py::T::test_a": "failed"}, "test_a") == "failed"
    assert ending({"tests/basic/test_x.py::T::test_a": "failed"}, "a") == "not run"


def checkout(folder: Path, limit: str = BEFORE) -> Path:
    """Something like a clone of a later aider, so small that its tests are done at once."""
    files = {
        "aider/__init__.py": '__version__ = "0.86.3.dev"\n',
        "aider/coders/__init__.py": "class Coder:\n    pass\n",
        LIMIT: "# A line of the newer version\n" * 9 + limit,
        TESTS: OLD_TEST,
        ".git/HEAD": "ref: refs/heads/main\n",
        "pytest.ini": "[pytest]\n",
    }
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, "utf-8")
    return folder


def small_series() -> Series:
    """A patch of two files, of which one has more lines above by now."""
    diff = edit(LIMIT, BEFORE, AFTER) + edit(TESTS, OLD_TEST, NEW_TEST)
    head = "From: A <a@example.com>\nDate: today\nSubject: [PATCH] fix: the limit"
    patch = Patch("0001-limit.patch", f"{head}\n\nA text.\n---\n{diff}")
    return dataclasses.replace(SERIES, patches=(patch,))


def edit(path: str, before: str, after: str) -> str:
    """The diff of a file as git prints it."""
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    body = "".join(difflib.unified_diff(old, new, f"a/{path}", f"b/{path}", n=1))
    return f"diff --git a/{path} b/{path}\n{body}"


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Runs and results are kept here, not in the build folder."""
    monkeypatch.setattr(patch_tests, "BUILD", tmp_path / "build")
    monkeypatch.setattr(patch_tests, "RESULTS", tmp_path / "patches.json")
    monkeypatch.setattr(upstream_tests, "PROCESSES", multiprocessing.get_context("spawn"))  # two runs are few
    return tmp_path


def test_a_patch_is_tried_on_a_checkout_of_a_newer_aider_and_nothing_is_recorded(kept: Path) -> None:
    given = checkout(kept / "clone")
    before = {path: path.read_bytes() for path in given.rglob("*") if path.is_file()}
    bench = Bench(small_series(), kept / "work", 1, given)
    assert own(bench) == 0
    assert names_of(bench.series.patches[0], "+") == ["test_new"]
    assert not (kept / "patches.json").exists()
    assert {path: path.read_bytes() for path in given.rglob("*") if path.is_file()} == before
    assert not (bench.source / ".git").exists()


def test_a_patch_that_does_not_fit_a_checkout_is_told_in_one_line(
    kept: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bench = Bench(
        small_series(),
        kept / "work",
        1,
        checkout(kept / "clone", limit=BEFORE.replace("LIMIT = 1", "LIMIT = 5")),
    )
    assert own(bench) == 1
    said = capsys.readouterr().out.splitlines()
    assert "0001-limit.patch does not apply" in said[0] and "1 do not end as they must" in said[-1]


def test_what_is_no_aider_is_told_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["own", "--source", str(tmp_path)]) == 2
    said = capsys.readouterr().err
    assert "is no source tree of aider" in said and said.count("\n") == 1
    with pytest.raises(RunFailed, match="tests/basic"):
        (tmp_path / LIMIT).parent.mkdir(parents=True)
        (tmp_path / LIMIT).touch()
        source_of(tmp_path, tmp_path / "copy")


def test_a_test_that_a_patch_renames_is_not_lost_and_one_that_fails_is(kept: Path) -> None:
    bench = Bench(small_series(), kept / "work", 1, checkout(kept / "clone"))
    job = Job("prefix-01", bench.series.patches, ("tests/basic",))
    released = dict.fromkeys([f"{TESTS}::test_limit", f"{TESTS}::test_old"], "passed")
    after = dict.fromkeys([f"{TESTS}::test_limit", f"{TESTS}::test_new"], "passed")
    assert prefix_row(bench, job, released, after)["lost"] == []
    assert prefix_row(bench, job, {**released, f"{TESTS}::test_gone": "passed"}, after)["lost"] == [
        f"{TESTS}::test_gone"
    ]
