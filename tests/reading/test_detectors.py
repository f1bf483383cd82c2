"""What printed a text is told by its structure, and other output is not taken for it."""

from __future__ import annotations

import pytest
from tool_outputs import output

from aider_gardener.reading.detectors import (
    detect_build,
    detect_diff,
    detect_listing,
    detect_log,
    detect_test_run,
    detect_traceback,
)

BUILDS = {
    "gcc": "gcc", "rustc": "rustc", "tsc": "tsc", "eslint": "eslint", "ruff_concise": "flake8", "mypy": "mypy",
    "javac": "javac", "pip": "pip", "maven": "maven", "cargo_warnings": "rustc",
}  # fmt: skip


@pytest.mark.parametrize("name", BUILDS)
def test_the_tool_is_told_by_structure(name: str) -> None:
    assert detect_build(output(name)) == BUILDS[name]


@pytest.mark.parametrize(
    "name", ["app_log", "worker_log", "diff", "py_group", "table", "git_log_stat", "grep"]
)
def test_other_output_is_no_build(name: str) -> None:
    assert detect_build(output(name)) == ""


@pytest.mark.parametrize(
    ("name", "kind"),
    [("app_log", "app-log"), ("worker_log", "app-log"), ("json_log", "json-log"), ("strace", "strace")],
)
def test_the_kind_of_log_is_told(name: str, kind: str) -> None:
    assert detect_log(output(name)) == kind


@pytest.mark.parametrize("name", ["diff", "grep", "paths", "tsc", "git_log_stat", "table", "py_group"])
def test_other_output_is_no_log(name: str) -> None:
    assert detect_log(output(name)) == ""


LISTINGS = {
    "grep": "grep", "paths": "paths", "git_log_stat": "git-log", "git_log_oneline": "git-log", "table": "table",
    "profile": "profile", "npm_ls": "npm-ls",
}  # fmt: skip


@pytest.mark.parametrize("name", LISTINGS)
def test_the_kind_of_listing_is_told(name: str) -> None:
    assert detect_listing(output(name)) == LISTINGS[name]


@pytest.mark.parametrize("name", ["app_log", "worker_log", "diff", "py_group", "gcc", "rustc"])
def test_other_output_is_no_listing(name: str) -> None:
    assert detect_listing(output(name)) == ""


TEST_RUNS = {
    "pytest_q": "pytest", "pytest_v": "pytest", "pytest_short": "pytest", "pytest_line": "pytest",
    "pytest_nosummary": "pytest", "pytest_collect_error": "pytest", "pytest_rsx": "pytest", "pytest_xdist": "pytest",
    "unittest": "unittest", "unittest_v": "unittest", "node_spec": "node-test", "node_tap": "tap", "tap_prove": "tap",
    "jest": "jest", "vitest": "jest", "mocha": "jest", "bun": "jest", "cargo_test": "cargo-test",
    "cargo_backtrace": "cargo-test", "cargo_warnings": "cargo-test", "go_v": "go-test", "go_json": "go-test",
    "go_packages": "go-test", "maven": "junit", "gradle": "junit", "dotnet": "junit", "rspec": "rspec",
    "phpunit": "phpunit", "gtest": "ctest",
}  # fmt: skip


@pytest.mark.parametrize("name", TEST_RUNS)
def test_the_runner_is_told_by_structure(name: str) -> None:
    assert detect_test_run(output(name)) == TEST_RUNS[name]


@pytest.mark.parametrize(
    "name", ["app_log", "grep", "diff", "tsc", "py_group", "table", "git_log_stat", "pip"]
)
def test_other_output_is_no_test_run(name: str) -> None:
    assert detect_test_run(output(name)) == ""


def test_a_diff_is_told() -> None:
    assert detect_diff(output("diff")) == "unified-diff"
    assert detect_diff("@@ -1,2 +1,2 @@\n-old\n+new\n same\n") == "unified-diff"


@pytest.mark.parametrize("name", ["app_log", "pytest_q", "grep", "git_log_stat", "rustc", "py_group"])
def test_other_output_is_no_diff(name: str) -> None:
    assert detect_diff(output(name)) == ""


@pytest.mark.parametrize(
    ("name", "kind"),
    [("py_group", "traceback-python"), ("py_recursion", "traceback-python"), ("py_threads", "traceback-python"),
     ("java_stack", "stack-java"), ("js_stack", "stack-js"), ("rust_panic", "stack-rust")],
)  # fmt: skip
def test_the_language_is_told(name: str, kind: str) -> None:
    assert detect_traceback(output(name)) == kind


@pytest.mark.parametrize("name", ["app_log", "pytest_q", "diff", "grep", "paths", "git_log_stat", "tsc"])
def test_other_output_is_no_traceback(name: str) -> None:
    assert detect_traceback(output(name)) == ""
