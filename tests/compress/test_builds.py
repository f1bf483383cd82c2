"""A compressed build keeps every error with its place, and each kind of warning once with its count."""

from __future__ import annotations

import pytest
from tool_outputs import assert_kept, compressed, context, output, ratio

from aider_gardener.adapters.aider.provider import default_counter
from aider_gardener.compress import builds
from aider_gardener.compress.base import Context
from aider_gardener.reading.detectors import detect_build


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


LINT_CODES = {
    "F821": "undefined name 'order{n}'",
    "F401": "'os.path{n}' imported but unused",
    "E501": "line too long ({n} > 79 characters)",
    "E302": "expected 2 blank lines, found {n}",
    "W291": "trailing whitespace",
}
COUNT = default_counter()


def many_lints(files: int) -> str:
    """flake8 over some files: per file four findings of each of five codes."""
    return "".join(
        f"src/part_{file}/module.py:{10 * row + number}:{number + 1}: {code} {message.format(n=row)}\n"
        for file in range(files) for number, (code, message) in enumerate(LINT_CODES.items()) for row in range(1, 5)
    )  # fmt: skip


@pytest.mark.parametrize("files", [8, 30])
def test_many_lints_keep_the_place_of_every_error_and_count_each_kind(files: int) -> None:
    text = many_lints(files)
    result = builds.compress(text, Context(count=COUNT))
    assert COUNT(text) > 3_000 and COUNT(result.text) <= 0.2 * COUNT(text)
    assert_kept(text, result, "build")
    assert f"[{4 * files} of this kind in {files} files]" in result.text


def many_type_errors(files: int) -> str:
    """mypy over some files: undefined names, wrong types, missing annotations."""
    return "".join(
        f'src/part_{file}/module.py:{7 * row + kind}: error: {message.format(n=row)}\n'
        for file in range(files) for row in range(1, 6)
        for kind, message in enumerate(('Name "total{n}" is not defined  [name-defined]', "Function is missing a return type annotation  [no-untyped-def]",
                                        'Argument {n} to "send" has incompatible type "str"; expected "int"  [arg-type]'))
    )  # fmt: skip


@pytest.mark.parametrize("files", [10, 40, 150])
def test_a_flood_of_distinct_errors_tells_every_place(files: int) -> None:
    text = many_type_errors(files)
    result = builds.compress(text, Context(count=COUNT))
    assert COUNT(result.text) <= 0.25 * COUNT(text)
    assert_kept(text, result, "build")


def test_errors_in_focus_stand_alone_in_a_flood() -> None:
    text = many_type_errors(40)
    line = 'src/part_23/module.py:14: error name-defined: Name "total2" is not defined'
    assert line not in compressed(builds.compress, text).text
    assert line in compressed(builds.compress, text, context(paths=("src/part_23/module.py",))).text


def test_the_formats_of_eslint() -> None:
    unix = "".join(
        f"/app/src/m{n}.ts:{n}:7: 'x{n}' is defined but never used. [Error/no-unused-vars]\n/app/src/m{n}.ts:{n}:9: Unexpected console statement. [Warning/no-console]\n"
        for n in range(1, 30)
    )
    compact = "".join(
        f"/app/src/m{n}.ts: line {n}, col 7, Error - 'x{n}' is defined but never used. (no-unused-vars)\n/app/src/m{n}.ts: line {n}, col 9, Warning - Unexpected console statement. (no-console)\n"
        for n in range(1, 30)
    )
    for text in (unix, compact):
        assert detect_build(text) == "eslint"
        shown = compressed(builds.compress, text).text
        assert (
            "29 errors, 29 warnings" in shown
            and "no-unused-vars ×29" in shown
            and "[29 of this kind in 29 files]" in shown
        )


def test_a_code_on_the_next_line_belongs_to_its_message() -> None:
    text = "".join(
        f'src/m{n}.py:{n}: error: Incompatible return value type (got "int", expected "str")\n[return-value]\n        return x + {n}\n               ^~~~~\n'
        for n in range(1, 40)
    )
    assert "error return-value ×39: Incompatible return value type" in compressed(builds.compress, text).text


@pytest.mark.parametrize(
    "said",
    ["error:", "Fehler:", "erreur :", "error:", "errore:", "erro:", "ошибка:", "错误：", "錯誤：", "エラー:", "오류:", "błąd:", "hata:"],
)  # fmt: skip
def test_an_error_is_told_in_every_language_of_a_compiler(said: str) -> None:
    lines = [f"src/part{n}.c:{n + 1}:5: {said} ‘rate{n}’" for n in range(8)]
    text = "\n".join([*lines, *(f"gcc -O2 -Wall -c src/other{n}.c -o build/other{n}.o" for n in range(40))])
    assert detect_build(text) == "gcc"
    shown = compressed(builds.compress, text).text
    assert "8 errors" in shown and "warning" not in shown
    assert all(f"src/part{n}.c:{n + 1}:5" in shown and f"‘rate{n}’" in shown for n in range(8))


def test_lines_that_are_only_known_by_their_words_count_as_no_errors() -> None:
    lines = [f"npm error part {n} of what went wrong" for n in range(12)]
    shown = compressed(builds.compress, "\n".join([*lines, "npm error command failed"] * 3)).text
    assert "errors" not in shown and all(line in shown for line in lines)


def test_no_count_is_told_where_nothing_was_counted() -> None:
    lines = [f"[ {n:2}%] Building C object CMakeFiles/shop.dir/src/file_{n}.c.o" for n in range(99)]
    shown = compressed(builds.compress, "\n".join([*lines, "[100%] Built target shop"])).text
    assert "Built target shop" in shown
    assert "error" not in shown and "warning" not in shown and "repeated" not in shown
