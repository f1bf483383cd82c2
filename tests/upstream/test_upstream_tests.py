"""How the two runs of aider's own tests are read and compared."""

from __future__ import annotations

import io
import json
import tarfile
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
import upstream_tests
from upstream_tests import Run, RunFailed, differing


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


ENDS = {"a": "passed", "b": "passed"}
Compare = Callable[..., tuple[int, list[str]]]


@pytest.fixture
def compare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Compare:
    """Compares runs that end as is said, and those of single tests; gives back the status and what was run."""
    begun: list[str] = []

    def main(*words: str, with_: dict[str, str], alone: dict[str, str]) -> tuple[int, list[str]]:
        class Played(Run):
            def __init__(self, setting: str, _source: Path, _folder: Path, tests: Sequence[str]) -> None:
                begun.append(" ".join([setting, *tests]))
                self.setting, self.tests = setting, tests

            def outcomes(self) -> dict[str, str]:
                ends = {"without": ENDS, "with": with_ if self.tests == upstream_tests.TESTS else alone}
                return ends[self.setting]

        monkeypatch.setattr(upstream_tests, "Run", Played)
        begun.clear()
        return upstream_tests.main(words), begun

    monkeypatch.setattr(upstream_tests, "BASELINE", tmp_path / "without.json")
    monkeypatch.setattr(upstream_tests, "fetch", lambda: tmp_path)
    monkeypatch.setattr(upstream_tests, "unpack", lambda _package, folder: folder)
    monkeypatch.setattr(upstream_tests, "wait_for", lambda _runs: None)
    assert main("--write", with_=ENDS, alone=ENDS) == (0, ["without tests/basic", "with tests/basic"])
    return main


def test_what_is_kept_of_the_run_without_is_not_run_again(compare: Compare) -> None:
    assert compare(with_=ENDS, alone=ENDS) == (0, ["with tests/basic"])


@pytest.mark.parametrize("name", ["AIDER", "SOURCE_SHA256", "LOCK"])
def test_both_are_run_where_something_else_is_installed(
    compare: Compare, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "other").write_text("a lock file")
    monkeypatch.setattr(upstream_tests, name, tmp_path / "other" if name == "LOCK" else "other")
    assert compare(with_=ENDS, alone=ENDS) == (0, ["without tests/basic", "with tests/basic"])


@pytest.mark.parametrize(("alone", "status"), [("passed", 0), ("failed", 1)])
def test_what_ended_differently_is_run_alone_in_both_settings(
    compare: Compare, alone: str, status: int, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = {"a": "passed", "b": "failed"}
    ended = compare(with_=broken, alone={"a": "passed", "b": alone})
    assert ended == (status, ["with tests/basic", "without b", "with b"])
    assert "b: passed -> failed" in capsys.readouterr().out


def test_the_kept_run_is_of_the_aider_and_the_lock_file_of_this_tree() -> None:
    """When this fails: `python tools/upstream_tests.py --write`."""
    kept = json.loads(upstream_tests.BASELINE.read_text("utf-8"))
    here = upstream_tests.baseline_key(upstream_tests.TESTS)
    assert {**kept["key"], "python": "", "system": ""} == {**here, "python": "", "system": ""}
    assert len(kept["outcomes"]) > 400
