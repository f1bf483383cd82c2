"""A tool is told by lines that only it writes, wherever they come from."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from aider_gardener.reading.classify import classify
from aider_gardener.reading.tools import CLASSES, SIGNS, detect_tool

FACTS = Path(__file__).resolve().parent.parent / "data" / "facts"
MADE = {
    entry["input"].removeprefix("inputs/").removesuffix(".txt"): FACTS / family / entry["input"]
    for family in ("programs", "builds")
    for entry in json.loads((FACTS / family / "index.json").read_text("utf-8"))
}


@pytest.mark.parametrize(
    ("name", "kind"),
    [("valgrind_memcheck", "valgrind"), ("jstack_deadlock", "threads"), ("gdb_threads", "threads"),
     ("leak_sanitizer", "sanitizer"), ("go_race", "sanitizer"), ("german_stock", ""), ("dmesg", "")],
)  # fmt: skip
def test_a_tool_is_told_by_its_own_lines(name: str, kind: str) -> None:
    assert detect_tool(MADE[name].read_text("utf-8")) == kind


def test_words_about_a_tool_are_not_its_output() -> None:
    words = "valgrind and tox were run, terraform was not.\nThe Plan: keep the table as it is.\nNo errors.\n"
    assert detect_tool(words * 5) == ""


def test_a_sanitizer_within_a_run_of_tests_leaves_it_a_run_of_tests() -> None:
    race = "=== RUN   TestAdd\n" + MADE["go_race"].read_text("utf-8")
    text = race + "--- FAIL: TestAdd (0.00s)\nFAIL\nFAIL\texample.com/till/cart\t0.01s\n"
    assert classify(text)[1] == "go-test"


def test_each_kind_has_one_class_and_signs_that_suffice() -> None:
    for kind, cls in CLASSES.items():
        rows = [row for row in SIGNS if row[0] == kind]
        assert {row[1] for row in rows} == {cls}
        assert sum(row[2] for row in rows) >= 3
