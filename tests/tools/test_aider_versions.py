"""docs/hosts.md shows the releases of aider that were tried, and nothing typed in; the adapter names the same."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import aider_versions as tool
import pytest
from pages import results

from aider_gardener.adapters.aider.patch_points import TRIED

SOUND = {
    "version": "0.86.2",
    "seams": 46,
    "differs": [],
    "unresolved": "",
    "tests": 9,
    "passed": 9,
    "failed": [],
}
CONFLICT = (
    "error: No solution found cause: Because aider-chat==0.82.0 depends on x==0.8.1 and you require aider-chat==0.82.0,"
    " we can conclude that you require x==0.8.1. And because you require x>=0.9,<1, we can conclude that your"
    " requirements are unsatisfiable."
)
YANKED = (
    "error: No solution found cause: Because x==1.7 was yanked (reason: wrong) and aider-chat==0.82.0 depends on x==1.7,"
    " we can conclude that aider-chat==0.82.0 cannot be used. And because you require aider-chat==0.82.0, we can"
    " conclude that your requirements are unsatisfiable."
)


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tool, "PAGE", tmp_path / "hosts.md")
    monkeypatch.setattr(tool, "RESULTS", tmp_path / "aider-versions.json")
    tool.PAGE.write_text("# Hosts\n\n<!-- aider-versions -->\n<!-- /aider-versions -->\n", "utf-8")
    return tool.PAGE


def put(*rows: dict[str, Any]) -> None:
    made_by = {"commit": "abc", "python": "3.11.7"}
    value = {"format": 1, "kind": "aider-versions", "provenance": made_by, "rows": rows}
    tool.RESULTS.write_text(json.dumps(value), "utf-8")


def cells(page: Path) -> list[list[str]]:
    lines = [line for line in page.read_text("utf-8").splitlines() if line.startswith("| 0.")]
    return [[cell.strip() for cell in line.strip("| ").split("|")] for line in lines]


def test_the_committed_section_is_what_the_data_say() -> None:
    assert list(tool.faults()) == []


def test_the_releases_that_the_adapter_calls_tried_are_those_on_which_its_tests_were_run() -> None:
    rows = results(tool.RESULTS, tool.NAME, tool.FORMAT)["rows"]
    assert tuple(row["version"] for row in rows if row.get("tests")) == TRIED
    assert all(not row["differs"] for row in rows if row["version"] in TRIED)


def test_each_release_has_its_row_newest_first_and_a_typed_in_figure_is_a_fault(page: Path) -> None:
    failing = {
        **SOUND,
        "version": "0.9.0",
        "passed": 8,
        "failed": ["test_clear"],
        "differs": ["m:f is missing"],
    }
    put(failing, SOUND)
    assert tool.main([]) == 0 and tool.main(["--check"]) == 0
    assert cells(page) == [
        ["0.86.2", "46 of 46", "yes", "yes", "9 of 9"],
        ["0.9.0", "45 of 46", "yes", "no", "8 of 9"],
    ]
    text = page.read_text("utf-8")
    assert "- 0.9.0: m:f is missing\n- 0.9.0: the test `test_clear` fails\n" in text
    page.write_text(text.replace("9 of 9", "8 of 9"), "utf-8")
    assert tool.main(["--check"]) == 1


def test_what_is_true_of_several_releases_is_said_once_without_the_resolvers_own_explanation(
    page: Path,
) -> None:
    older = [
        {"version": version, "seams": 46, "differs": [], "unresolved": CONFLICT.replace("0.82.0", version)}
        for version in ("0.82.0", "0.82.1")
    ]
    put(*older)
    assert tool.main([]) == 0
    assert cells(page)[0] == ["0.82.1", "46 of 46", "no", "yes", "–"]
    told = "\n- 0.82.1, 0.82.0: it depends on x==0.8.1 and the gardener requires x>=0.9,<1\n"
    assert told in page.read_text("utf-8")


def test_what_was_withdrawn_is_said_and_an_explanation_of_another_form_stays_whole() -> None:
    assert tool.shortened(YANKED, "0.82.0") == "x==1.7 was yanked (reason: wrong) and it depends on x==1.7"
    assert tool.shortened("error: no network", "0.82.0") == "error: no network"


def test_a_row_takes_the_place_of_that_of_the_same_release(page: Path) -> None:
    put(SOUND, {**SOUND, "version": "0.9.0"})
    tool.keep([{**SOUND, "passed": 7}, {**SOUND, "version": "0.10.0"}])
    rows = results(tool.RESULTS, tool.NAME, tool.FORMAT)["rows"]
    assert [(row["version"], row["passed"]) for row in rows] == [("0.9.0", 9), ("0.10.0", 9), ("0.86.2", 7)]


def test_a_requirement_of_an_extra_or_of_another_system_is_left_out() -> None:
    assert tool.without_extra("numpy>=1") and tool.without_extra("x; python_version >= '3.10'")
    assert not tool.without_extra("matplotlib; extra == 'plot'")
    assert not tool.without_extra("x; sys_platform == 'none'")


def test_the_wheel_is_unpacked_without_its_dependencies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import zipfile

    asked: list[list[str]] = []

    def fetched(command: list[str], environ: object) -> str:
        asked.append(command)
        with zipfile.ZipFile(tmp_path / "aider_chat-9-py3-none-any.whl", "w") as wheel:
            wheel.writestr("aider/__init__.py", "__version__ = '9'\n")
        return ""

    monkeypatch.setattr(tool, "ran", fetched)
    assert (tool.unpacked("9", tmp_path) / "aider" / "__init__.py").read_text() == "__version__ = '9'\n"
    assert "--no-deps" in asked[0] and asked[0][-1] == "aider-chat==9"


def test_tests_that_were_skipped_count_for_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    report = """<testsuites><testsuite tests="4" failures="1" errors="0" skipped="1">
        <testcase name="a"/><testcase name="b"><failure/></testcase><testcase name="c"/>
        <testcase name="d"><skipped/></testcase></testsuite></testsuites>"""

    def run(command: list[str], **options: Any) -> subprocess.CompletedProcess[str]:
        (tmp_path / "tests.xml").write_text(report)
        return subprocess.CompletedProcess(command, 1, "", "")

    monkeypatch.setattr(tool.subprocess, "run", run)
    assert tool.outcomes("python", {}, tmp_path) == {"tests": 3, "passed": 2, "failed": ["b"]}


def test_a_command_that_fails_is_one_fault_of_the_tool(
    page: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    failed = subprocess.CompletedProcess(["uv"], 2, "", "error: no network\n")
    monkeypatch.setattr(tool.subprocess, "run", lambda *args, **options: failed)
    assert tool.main(["--take", "0.86.2"]) == 1
    assert capsys.readouterr().err.splitlines()[-1] == "uv venv --quiet failed: error: no network"


def test_a_machine_without_uv_is_told_so(page: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert tool.main(["--take", "0.86.2", "--uv", "no-such-uv"]) == 1
    assert "no-such-uv is not there" in capsys.readouterr().err
