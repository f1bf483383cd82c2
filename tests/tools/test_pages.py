"""What the tools share: a table that reads as one, marker lines, results that are refused in one line."""

from __future__ import annotations

from pathlib import Path

import pytest
from pages import BadResults, Section, main, parts, results

PAGE = "head\n<!-- sums -->\nold\n<!-- /sums -->\ntail\n"


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


def test_a_section_is_compared_or_written_and_what_cannot_be_made_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def failing() -> str:
        raise BadResults("no results")

    page = tmp_path / "p.md"
    page.write_text(PAGE, "utf-8")
    sections = [Section(page, "sums", lambda: "new\n")]
    assert main(sections, "tool", ["--check"]) == 1 and page.read_text("utf-8") == PAGE
    assert "section sums is not what tools/tool.py makes" in capsys.readouterr().err
    assert main(sections, "tool", []) == 0 and main(sections, "tool", ["--check"]) == 0
    assert page.read_text("utf-8") == PAGE.replace("old", "new")
    for words in ([], ["--check"]):
        assert main([Section(page, "sums", failing)], "tool", words) == 1
        assert capsys.readouterr().err.endswith("no results\n")
    page.write_text("no place", "utf-8")
    assert main(sections, "tool", []) == 1 and page.read_text("utf-8") == "no place"
