"""What a reader looks for in an output: found without a compressor, and looked for in what one makes."""

from __future__ import annotations

from aider_gardener.reading.facts import extract, missing

RUN = """tests/test_sum.py:8: AssertionError
E       assert 4 == 5
FAILED tests/test_sum.py::test_adds - assert 4 == 5
1 failed, 2 passed in 0.03s
"""


def test_the_failing_test_and_its_place_are_facts() -> None:
    found = {(fact.kind, fact.text) for fact in extract(RUN)}
    assert ("failure", "tests/test_sum.py::test_adds") in found
    assert any("tests/test_sum.py:8" in text for _kind, text in found)


def test_a_fact_is_kept_only_where_all_of_it_stands() -> None:
    facts = extract(RUN)
    assert missing(facts, RUN) == []
    assert len(missing(facts, "")) == len(facts)
    without = RUN.replace("test_adds", "test_add")
    assert [fact.text for fact in missing(facts, without)] == ["tests/test_sum.py::test_adds"]
