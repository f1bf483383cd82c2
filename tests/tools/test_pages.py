"""What the tools share: a table that reads as one, marker lines, results that are refused in one line."""

from __future__ import annotations

from pathlib import Path

import pytest
from pages import BadResults, parts, results, table, write_or_check

PAGE = "head\n<!-- sums -->\nold\n<!-- /sums -->\ntail\n"


def test_a_table_reads_as_one_in_its_source_too() -> None:
    assert list(table(["name", "n"], [["a", "1"], ["long name", "1,000"]])) == [
        "| name      |     n |",
        "| --------- | ----: |",
        "| a         |     1 |",
        "| long name | 1,000 |",
    ]


def test_the_markers_belong_to_the_outer_parts() -> None:
    before, between, after = parts(PAGE, "sums", "p.md")
    assert between == "old\n" and before + between + after == PAGE
    for broken in (PAGE.replace("<!-- sums -->", ""), PAGE.replace("<!-- /sums -->", "")):
        with pytest.raises(BadResults, match=r"p\.md: the lines .* are missing"):
            parts(broken, "sums", "p.md")


@pytest.mark.parametrize(
    "text", ["", "[]", '{"kind": "grid", "format": 1}', '{"kind": "replay", "format": 2}']
)
def test_results_of_another_kind_or_format_are_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "r.json").write_text(text)
    with pytest.raises(BadResults, match=r"r\.json: .*make it again"):
        results(tmp_path / "r.json", "replay", 1)


def test_checking_tells_faults_and_writing_says_what_was_done(capsys: pytest.CaptureFixture[str]) -> None:
    def failing() -> str:
        raise BadResults("no results")

    assert write_or_check(True, lambda: ["a", "b"], failing) == 1
    assert capsys.readouterr().err == "a\nb\n"
    assert write_or_check(True, lambda: [], failing) == 0
    assert write_or_check(False, lambda: ["a"], lambda: "done") == 0
    assert capsys.readouterr().out == "done\n"
    assert write_or_check(False, lambda: [], failing) == 1
    assert capsys.readouterr().err == "no results\n"
