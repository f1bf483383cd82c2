"""What decides whether a patch's tests end as they must."""

from __future__ import annotations

from typing import Any

import patch_tests
import pytest
from made_tree import FIXES, SERIES
from patch_tests import Job, ending, key, names_of_tests, needs, own


class Runs:
    """Stands where aider's source and pytest would be: outcomes are given, not run."""

    def __init__(self, before: str, after: str) -> None:
        self.series, self.endings = SERIES, {"before": before, "after": after}

    def brought(self, patch: Any) -> tuple[str, ...]:
        return (f"tests/basic/test_x.py::T::test_{patch.number}",)

    def run(self, jobs: list[Job]) -> dict[str, dict[str, str]]:
        return {job.name: dict.fromkeys(job.tests, self.endings[job.name.split("-")[1]]) for job in jobs}


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
def test_a_test_must_fail_before_and_pass_after(
    before: str, after: str, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorded: dict[str, Any] = {}
    monkeypatch.setattr(patch_tests, "record", recorded.__setitem__)
    runs: Any = Runs(before, after)
    assert own(runs) == status
    assert len(recorded["own"]) == len(SERIES.patches)


def test_a_module_that_cannot_be_imported_stands_for_its_tests() -> None:
    assert ending({"tests/basic/test_x.py": "error"}, "tests/basic/test_x.py::T::test_a") == "error"
    assert ending({}, "tests/basic/test_x.py::T::test_a") == "not run"


def test_tests_are_named_as_pytest_names_them() -> None:
    text = "class T:\n    def test_a(self): ...\n    def other(self): ...\n\ndef test_b(): ...\n"
    assert names_of_tests("x.py", text) == {"x.py::T::test_a", "x.py::test_b"}
    assert names_of_tests("x.py", None) == set()


def test_what_a_patch_needs_stands_before_it() -> None:
    for patch in SERIES.patches:
        needed = needs(SERIES, patch)
        assert needed[-1] is patch and {p.number for p in needed} >= set(patch.needs)
    assert needs(SERIES, FIXES[-1]) == [FIXES[-1]]


def test_a_run_is_kept_for_the_same_files_and_tests_only() -> None:
    keys = {key({"a": "x"}, ["t"]), key({"a": "y"}, ["t"]), key({"a": "x"}, ["u"]), key({"b": "x"}, ["t"])}
    assert len(keys) == 4
    assert key({"a": "x", "gone": None}, ["t"]) == key({"a": "x"}, ["t"])
