"""A compressed build keeps every error with its place, and each kind of warning once with its count."""

from __future__ import annotations

import pytest
from tool_outputs import assert_kept, compressed, context, output, ratio

from aider_gardener.compress import builds

KINDS = {
    "gcc": "gcc", "rustc": "rustc", "tsc": "tsc", "eslint": "eslint", "ruff_concise": "flake8", "mypy": "mypy",
    "javac": "javac", "pip": "pip", "maven": "maven", "cargo_warnings": "rustc",
}  # fmt: skip


@pytest.mark.parametrize("name", KINDS)
def test_the_tool_is_told_by_structure(name: str) -> None:
    assert builds.detect(output(name)) == KINDS[name]


@pytest.mark.parametrize(
    "name", ["app_log", "worker_log", "diff", "py_group", "table", "git_log_stat", "grep"]
)
def test_other_output_is_no_build(name: str) -> None:
    assert builds.detect(output(name)) == ""


@pytest.mark.parametrize("name", ["gcc", "rustc", "javac"])
def test_errors_and_kinds_of_warnings_are_kept(name: str) -> None:
    text = output(name)
    assert_kept(text, compressed(builds.compress, text), "build")


def test_a_flood_of_one_error_keeps_its_files_and_count() -> None:
    text = output("tsc")
    result = compressed(builds.compress, text)
    assert ratio(text, result) < 0.25
    assert "TS7006 ×211" in result.text
    assert "278 errors" in result.text
    assert "src/retry.js(11,22): error TS2554: Expected 0 arguments, but got 1." in result.text


def test_eslint_keeps_errors_with_file_and_counts_warnings() -> None:
    shown = compressed(builds.compress, output("eslint")).text
    assert "src/discounts.js:26:19: error eqeqeq" in shown
    assert "no-magic-numbers" in shown
    assert "[43 of this kind in 12 files]" in shown
    assert "64 problems (4 errors, 60 warnings)" in shown


def gcc_log(files: int) -> str:
    """A long build with a few kinds of warnings and two errors."""
    lines = []
    for n in range(files):
        lines.append(f"[{n * 100 // files:3}%] Building C object CMakeFiles/shop.dir/src/file_{n}.c.o")
        lines.append(f"src/file_{n}.c:{n + 10}:7: warning: unused variable ‘tmp{n}’ [-Wunused-variable]")
        lines.append(f"   {n + 10} |   int tmp{n} = 3;\n      |       ^~~~")
    lines.insert(90, "src/core.c:41:12: error: ‘rate’ undeclared (first use in this function)")
    lines.append("src/rate.c:9:1: fatal error: rates.h: No such file or directory")
    lines.append("make[1]: *** [CMakeFiles/shop.dir/build.make:76: all] Error 1")
    return "\n".join(lines)


def test_a_long_build_meets_its_target() -> None:
    text = gcc_log(1_400)
    result = compressed(builds.compress, text)
    assert context().count(text) > 50_000
    assert ratio(text, result) <= 0.05
    assert "src/core.c:41:12: error: ‘rate’ undeclared (first use in this function)" in result.text
    assert "src/rate.c:9:1: error: rates.h: No such file or directory" in result.text
    assert "Wunused-variable" in result.text
    assert "[1400 of this kind in 1400 files]" in result.text
    assert "*** [CMakeFiles/shop.dir/build.make:76: all] Error 1" in result.text


def test_an_install_is_its_result_and_its_trouble() -> None:
    lines = [
        f"Collecting package{n}\n  Downloading package{n}-1.{n}.0-py3-none-any.whl (30 kB)" for n in range(80)
    ]
    lines.append("WARNING: Running pip as the 'root' user can result in broken permissions")
    lines.append(
        "ERROR: Could not find a version that satisfies the requirement shop==9.9 (from versions: 1.0, 1.1)"
    )
    text = "\n".join(lines)
    shown = compressed(builds.compress, text).text
    assert "Could not find a version that satisfies the requirement shop==9.9" in shown
    assert "Running pip as the 'root' user" in shown


def test_npm_errors_are_kept() -> None:
    lines = [f"npm WARN deprecated left{n}@1.0.{n}: use something else" for n in range(60)]
    lines += ["npm ERR! code ERESOLVE", "npm ERR! ERESOLVE unable to resolve dependency tree"]
    lines += ["npm ERR! Found: react@18.2.0", 'npm ERR! peer react@"^17.0.0" from react-shop@4.1.0']
    lines += ["npm ERR! A complete log of this run can be found in: /srv/.npm/_logs/x.log"]
    shown = compressed(builds.compress, "\n".join(lines)).text
    assert "ERESOLVE unable to resolve dependency tree" in shown
    assert 'peer react@"^17.0.0" from react-shop@4.1.0' in shown
    assert "[60 of this kind" in shown


def test_rust_labels_stay_with_their_errors() -> None:
    shown = compressed(builds.compress, output("rustc")).text
    assert "expected `i32`, found `&str`" in shown
