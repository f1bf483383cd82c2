"""A known tool's output is told by its own lines only, and what it is not is left to another compressor."""

from __future__ import annotations

import time

import pytest

from aider_gardener.compress import Context, compress_text
from aider_gardener.compress.tools import READERS, tables
from aider_gardener.messages import ContentClass
from aider_gardener.reading.tools import CLASSES, detect_tool

DJANGO_RUN = (
    "Found 3 test(s).\nSystem check identified 2 issues (1 silenced).\n"
    + "".join(
        f"======\nFAIL: test_{n} (berths.tests.BerthTests)\n------\nTraceback (most recent call last):\n"
        f'  File "/srv/berths/tests.py", line {n}, in test_{n}\n    self.assertEqual({n}, 2)\n'
        f"AssertionError: {n} != 2\n\n"
        for n in range(30)
    )
    + "Ran 30 tests in 1.204s\n\nFAILED (failures=30)\n"
)


def test_each_kind_has_a_reader() -> None:
    by_registry = {"sql"}
    assert set(CLASSES) == {*READERS, *by_registry}


@pytest.mark.parametrize(
    "words",
    [
        "Because the module depends on the clock, we keep both.\nSo, because of that, nothing changes here.",
        "Error: I mean the word.\nPlan: first read, then write.\nNo changes. Nothing to do.",
        "The notes say: Step one, then step two of the build; the container has started by then.",
    ],
)
def test_words_are_no_output_of_a_tool(words: str) -> None:
    assert detect_tool(words) == ""


def test_a_run_of_tests_behind_a_check_is_a_run_of_tests() -> None:
    shown = compress_text(DJANGO_RUN, ContentClass.LOG, Context("django")).text
    assert "test_7" in shown and "7 != 2" in shown and "30" in shown


@pytest.mark.parametrize(
    "line",
    ["word word word", "a  b  c d", "| a |", "| a", "\ta\tb", "7 a", "a|b|c", "HEAD OF", "- - -", "x\n"],
)
def test_tables_are_looked_for_in_time_that_grows_with_the_lines(line: str) -> None:
    ragged = [line if row % 7 else "words between" for row in range(30_000)]
    began = time.process_time()
    tables.read(ragged, Context())
    assert time.process_time() - began < 20, "a line at which no table begins is looked at once"
