"""What the engine of records makes of compilers, linters, builds and searches, and what it leaves alone."""

from __future__ import annotations

import pytest

from aider_gardener.compress.outline import CAUSE, CONTEXT, FAILURE, WARNING, Note
from aider_gardener.compress.records import MATCH, read
from aider_gardener.compress.shapes import shortened


def notes(text: str) -> dict[str, Note]:
    """The notes by the stripped line; of equal lines that of the last."""
    lines = text.split("\n")
    return {lines[row].strip(): note for row, note in read(lines).items()}


def words(text: str) -> int:
    return len(text.split())


@pytest.mark.parametrize(
    "head",
    [
        "lamp.c:31:5: error: expected ';' before '}' token",
        "lamp.c:31:5: エラー: ‘bulb’ が宣言されていません",
        "lamp.c:31:5: erreur : « bulb » non déclaré",
        "src/lamp.ts(31,5): error TS2307: Cannot find module 'bulb'.",
        "src/lamp.ts:31:5 - error TS2307: Cannot find module 'bulb'.",
        r"C:\lamp\Bulb.cs(31,5): error CS1002: ; expected [C:\lamp\Lamp.csproj]",
        "bulb.obj : error LNK2019: unresolved external symbol lit",
        "[ERROR] /srv/lamp/Bulb.java:[31,5] cannot find symbol",
        "[error] /srv/lamp/Bulb.scala:31:5: not found: value lit",
        "e: file:///srv/lamp/Bulb.kt:31:5 Unresolved reference 'lit'.",
        "./bulb.go:31:5: undefined: lit",
        "lamp.py:31:5: F821 undefined name 'lit'",
        "lamp.rb:31:5: E: Lint/Syntax: unexpected token kEND",
        "%Error: lamp.v:31:5: syntax error, unexpected endmodule",
        "** (CompileError) lib/lamp.ex:31: undefined function lit/0",
        "lamp.cpp:(.text+0x12): undefined reference to `lit()'",
        "error: linking with `cc` failed: exit status: 1",
        "ERROR: No matching distribution found for bulb==9",
        "E: Unable to locate package bulb",
    ],
)
def test_an_error_is_the_cause_in_whatever_order_its_parts_stand(head: str) -> None:
    assert notes(head)[head].worth == CAUSE


@pytest.mark.parametrize(
    "head",
    [
        "lamp.c:31:5: warning: unused variable 'bulb' [-Wunused-variable]",
        "lamp.c:31:5: предупреждение: неиспользуемая переменная [-Wunused-variable]",
        "lamp.py:31:80: E501 line too long (97 > 79 characters)",
        "lamp.py:31:0: C0301: Line too long (101/100) (line-too-long)",
        "lamp.rb:31:5: C: [Correctable] Style/StringLiterals: Prefer single quotes",
        "Dockerfile:3 DL3008 warning: Pin versions in apt get install",
        "docs/lamp.md:31:81 MD013/line-length Line length [Expected: 80; Actual: 120]",
        "warning: unused import: `std::fmt`",
    ],
)
def test_warnings_and_codes_of_style_are_worth_less(head: str) -> None:
    assert notes(head)[head].worth == WARNING


def test_a_place_below_a_head_is_worth_nearly_as_much_and_the_code_little() -> None:
    found = read(
        [
            "error[E0308]: mismatched types",
            "  --> src/tide.rs:41:18",
            "   |",
            "41 |         self.raw.len()",
            "   |         ^^^^^^^^^^^^^^ expected `u32`, found `usize`",
            "   = note: it was a `u32` before",
        ]
    )
    assert FAILURE > found[1].worth > CONTEXT > found[2].worth
    assert found[4].worth > found[3].worth > CONTEXT
    assert found[1].above == 0 and found[3].above == 0
    assert found[4].above == 3, "a caret needs the line that it points into"


@pytest.mark.parametrize(
    "end",
    [
        "make: *** [Makefile:6: lamp.o] Error 1",
        "error: could not compile `lamp` due to 2 previous errors",
        "BUILD FAILED in 6s",
        "Found 12 errors in 3 files (checked 20 source files)",
        "✖ 51 problems (50 errors, 1 warning)",
        "2 errors and 1 warning generated.",
        "26 files would be reformatted, 1 file would fail to reformat.",
    ],
)
def test_what_a_tool_says_of_all_its_records_is_worth_most(end: str) -> None:
    assert notes(f"a.c:1:2: error: no\n{end}")[end].worth > CAUSE


def test_what_a_search_found_is_of_equal_worth_and_spread_over_files() -> None:
    found = read(["a.py:12:    total = 1", "a.py:13:total", "b.py:3:def total():"])
    assert found[0].worth == MATCH
    assert found[2].worth > found[1].worth


def test_a_short_form_keeps_each_code_once_and_the_sum() -> None:
    lines = [f"a{at % 9}.py:{at}:80: E501 line too long ({at} > 79 characters)" for at in range(80, 400)]
    lines[200:200] = ["a3.py:7:9: F821 undefined name 'lit'", "a4.py:8:1: W605 invalid escape sequence"]
    form = shortened("\n".join([*lines, "Found 322 errors."]), words).text
    assert "F821" in form and "W605" in form and form.endswith("Found 322 errors.")
    assert len({line.split(":")[0] for line in form.split("\n") if "E501" in line}) >= 3
