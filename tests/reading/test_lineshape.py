"""What a line looks like, however long it is."""

from __future__ import annotations

import pytest

from aider_gardener.reading.lineshape import (
    SAMPLE_WIDTH,
    is_sentence,
    line_shape,
    sample_lines,
    shape_counts,
)


@pytest.mark.parametrize(
    ("line", "shape"),
    [
        ("", "blank"),
        ('  File "app/main.py", line 12, in run', "trace"),
        ("@@ -1,2 +1,3 @@ def run", "diff"),
        ("2026-03-01 10:00:00,000 INFO shop.http started", "log"),
        ("please keep the limit at thirty and never log bodies", "prose"),
        ("    return total", "code"),
    ],
)
def test_the_shape_of_a_line(line: str, shape: str) -> None:
    assert line_shape(line) == shape


def test_sentences_of_any_script() -> None:
    assert is_sentence("We keep the port at 48213 for now.")
    assert is_sentence("我们决定保留三十六小时")
    assert not is_sentence("total = rate * 3")


def test_of_a_long_text_a_bounded_part_is_looked_at() -> None:
    text = "\n".join(f"line {n} " + "x" * 900 for n in range(20_000))
    lines = sample_lines(text)
    assert 100 < len(lines) <= 480 and max(map(len, lines)) <= SAMPLE_WIDTH
    assert lines[0].startswith("line 0 ") and lines[-1].startswith("line 19999 ")


def test_shapes_are_counted_without_blank_lines() -> None:
    assert shape_counts(["", "    return total", "", "    return rate"]) == {"code": 2}
