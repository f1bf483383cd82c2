"""Long lines without line ends, over several."""

from __future__ import annotations

import json

import hypothesis.strategies as st
import pytest
from hypothesis import given

from aider_gardener import shorten
from aider_gardener.compress.breaks import broken
from aider_gardener.compress.line import line_form
from aider_gardener.messages import Source, SourceKind

PARTS = st.lists(st.sampled_from(["<a>", "</a>", "{x:1}", "},", ";", "word ", "long" * 40]), min_size=20)


@given(PARTS, st.integers(1, 60))
def test_the_parts_of_a_line_are_the_line(parts: list[str], times: int) -> None:
    line = "".join(parts) * times
    assert "".join(broken(line).split("\n  ")) == line


def test_a_line_is_left_whose_parts_would_outweigh_the_others() -> None:
    packed = "".join(f"<i>{n}</i>" for n in range(400))
    text = "\n".join([*(f"step {n} of the build is done" for n in range(200)), packed])
    assert broken(text) == text
    rows = "\n".join([packed] * 4)
    assert broken(rows) == rows


@pytest.mark.parametrize("command", ["", "curl -s localhost"])
def test_a_record_unlike_the_others_is_shown_whole(command: str) -> None:
    odd = "<job><id>77</id><state>failed</state></job>"
    jobs = (f"<job><id>{n}</id><state>done</state></job>" for n in range(200))
    found = shorten("<jobs>" + "".join([*jobs, odd, *jobs]) + "</jobs>", command=command)
    assert f"\n  {odd}" in found.text
    assert found.tokens_after < 250


def test_an_element_over_several_lines_is_one_where_it_fits() -> None:
    jobs = [("done", number) for number in range(90)]
    jobs[63] = ("failed", 63)
    rows = (f"  <job>\n    <id>{n}</id>\n    <state>{state}</state>\n  </job>" for state, n in jobs)
    found = shorten("<jobs>\n" + "\n".join(rows) + "\n</jobs>\n", command="curl -s localhost")
    assert "\n  <job><id>63</id><state>failed</state></job>\n" in found.text


def test_a_line_for_it_says_what_is_told_of_trouble() -> None:
    steps = [f"[{n:03}] step {n} is done in {n % 7}s" for n in range(120)]
    steps[83] = "[083] step 83 FAILED: no disk"
    record = json.dumps({"job": "nightly", "stdout": "\n".join(steps)})
    assert "step 83 FAILED: no disk" in line_form(record, Source(SourceKind.COMMAND, "curl -s ci/job"))
