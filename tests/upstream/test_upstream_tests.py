"""How the two runs of aider's own tests are read and compared."""

from __future__ import annotations

import io
import json
import tarfile
from pathlib import Path

import pytest
import upstream_tests
from upstream_tests import Run, RunFailed, differing, figures


def run_with(folder: Path, *reports: tuple[str, str]) -> Run:
    """A run that has already written its reports."""
    run = object.__new__(Run)
    run.record = folder / "outcomes.jsonl"
    run.record.write_text("".join(json.dumps({"name": n, "outcome": o}) + "\n" for n, o in reports), "utf-8")
    return run


@pytest.mark.parametrize(
    ("phases", "outcome"),
    [
        (["passed", "passed", "passed"], "passed"),
        (["passed", "failed", "passed"], "failed"),
        (["passed", "passed", "error"], "error"),
        (["passed", "skipped", "passed"], "skipped"),
    ],
)
def test_a_test_has_the_worst_outcome_of_its_phases(tmp_path: Path, phases: list[str], outcome: str) -> None:
    assert run_with(tmp_path, *(("t", phase) for phase in phases)).outcomes() == {"t": outcome}


def test_a_test_that_only_one_run_has_differs() -> None:
    without = {"a": "passed", "b": "failed", "c": "passed"}
    assert differing(without, {"a": "passed", "b": "passed"}) == ["b", "c"]
    assert differing(without, dict(without)) == []


def test_figures_name_each_outcome_that_occurs() -> None:
    assert figures({"a": "passed", "b": "passed", "c": "failed"}) == "3 tests, 2 passed, 1 failed"


def test_a_package_with_another_hash_is_refused_and_deleted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "aider_chat-0.86.2.tar.gz"
    package.write_bytes(b"something else")
    monkeypatch.setattr(upstream_tests, "BUILD", tmp_path)
    with pytest.raises(RunFailed, match="not the pinned one"):
        upstream_tests.fetch()
    assert not package.exists()


def test_only_tests_and_their_settings_are_unpacked(tmp_path: Path) -> None:
    """aider's own modules would otherwise be imported in place of the installed ones."""
    package = tmp_path / "package.tar.gz"
    with tarfile.open(package, "w:gz") as archive:
        for name in ("top/aider/main.py", "top/tests/basic/test_a.py", "top/pytest.ini", "top/README.md"):
            archive.addfile(tarfile.TarInfo(name), io.BytesIO())
    top = upstream_tests.unpack(package, tmp_path)
    files = {path.relative_to(top).as_posix() for path in top.rglob("*") if path.is_file()}
    assert files == {"tests/basic/test_a.py", "pytest.ini"}
