"""YAML as plain values: nothing is resolved, and nothing that is no YAML raises."""

from __future__ import annotations

import pytest

from aider_gardener.reading.yaml import DEPTH_LIMIT, FAST_CHARS, read_yaml


def test_yaml_of_several_documents_with_tags_and_aliases() -> None:
    text = "---\nbase: &base\n  Size: !Ref Size\nmore:\n  <<: *base\n---\n- !Sub '${A}-x'\n- 3\n"
    assert read_yaml(text) == [{"base": {"Size": "!Ref Size"}, "more": {"<<": "*base"}}, ["!Sub ${A}-x", 3]]


@pytest.mark.parametrize(
    "text",
    [
        "[" * 5_000,
        "- " * 5_000,
        "a: b: c",
        "a:\n\tb: 1",
        "\x00",
        "{a: [",
        "? ? ?",
        "*x",
        "&a [*a, *a]",
        "%YAML 9.9\n---\na: 1",
        "!<" + "a" * 900,
        "\ud800: 1",
    ],
)
def test_bad_yaml_is_read_as_far_as_it_is_yaml(text: str) -> None:
    assert read_yaml(text) is None or isinstance(read_yaml(text), list | dict | str | int)


def test_plain_numbers_and_truth_values_are_such_and_the_rest_is_text() -> None:
    text = "a: 3\nb: 2.5\nc: true\nd: '3'\ne: 007\nf: 2024-01-02\n"
    assert read_yaml(text) == {"a": 3, "b": 2.5, "c": True, "d": "3", "e": "007", "f": "2024-01-02"}


def test_what_is_too_large_or_nests_too_deep_is_not_read() -> None:
    assert read_yaml("- x\n" * FAST_CHARS) is None
    assert read_yaml("[" * (DEPTH_LIMIT + 2) + "]" * (DEPTH_LIMIT + 2)) is None
