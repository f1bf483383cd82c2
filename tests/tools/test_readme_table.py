"""The README quotes what is made from the committed results, or says how to make it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import check_docs
import pytest
import readme_table

HEAD, TAIL = "# Title\n\n<!-- measured -->\n", "<!-- /measured -->\n\nThe end.\n"


def row(session: str, variant: str, facts: int, supported: int, usd: float) -> dict[str, Any]:
    return {
        "session": session, "variant": variant, "turns": 40, "summaries": [3, 4],
        "facts": [facts, 20], "supported": supported, "asked": 10,
        "costs": [
            {"provider": name, "usd": at * usd}
            for at, name in enumerate((readme_table.OPENAI, readme_table.DEEPSEEK, readme_table.CLAUDE), 1)
        ],
    }  # fmt: skip


def results() -> dict[str, Any]:
    rows = [
        row(session, variant, facts, supported, usd)
        for session in ("a", "b")
        for variant, facts, supported, usd in (
            ("stock", 20, 10, 4.0), ("stock-fixed", 5, 3, 2.0), ("tail-search", 11, 8, 2.5), ("gardener", 15, 9, 1.0),
        )
    ]  # fmt: skip
    return {"format": 1, "kind": "rest", "provenance": {"aider": "0.86.2", "commit": "abc"}, "rows": rows}


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A README with the markers beside results."""
    monkeypatch.setattr(readme_table, "PAGES", {tmp_path / "README.md": "docs/benchmark.md"})
    monkeypatch.setattr(readme_table, "RESULTS", tmp_path / "rest.json")
    (tmp_path / "README.md").write_text(HEAD + TAIL, "utf-8")
    (tmp_path / "rest.json").write_text(json.dumps(results()), "utf-8")
    return tmp_path / "README.md"


def test_the_project_pages_are_up_to_date() -> None:
    assert list(readme_table.faults()) == []


def test_the_words_are_those_of_the_results(page: Path) -> None:
    assert readme_table.main([]) == 0
    text = " ".join(page.read_text("utf-8").split())
    assert "over 2 recorded sessions of 80 turns the prompts held 75 % of the facts" in text
    assert "the answers to 90 % of the questions" in text and "fault mended, 25 % and 30 %;" in text
    assert "55 % and 80 %." in text and "sent everything (100 % and 100 %)" in text
    assert "$2.00 for all of them" in text and "$4.00 for mended aider with its 6 calls" in text
    assert "$5.00 for the thirty lines, and $8.00 for aider as it is, which paid for 8 summaries" in text
    assert "it is $4.00 beside mended aider's $8.00 (deepseek-chat) and $6.00 beside $12.00 (Claude" in text


def test_what_is_around_the_section_stays(page: Path) -> None:
    readme_table.main([])
    text = page.read_text("utf-8")
    assert text.startswith(HEAD) and text.endswith(TAIL)
    assert readme_table.main(["--check"]) == 0
    page.write_text(text.replace("75 %", "76 %"), "utf-8")
    assert readme_table.main(["--check"]) == 1


def test_without_results_the_section_says_how_to_make_them(page: Path) -> None:
    readme_table.RESULTS.unlink()
    assert readme_table.main([]) == 0
    assert "Not measured yet: `python -m bench.rest`" in page.read_text("utf-8")
    assert list(readme_table.faults()) == [], "nothing to compare with"


def test_results_that_cannot_be_shown_are_one_line(page: Path, capsys: pytest.CaptureFixture[str]) -> None:
    value = results()
    value["rows"] = [row for row in value["rows"] if row["variant"] != "tail-search"]
    readme_table.RESULTS.write_text(json.dumps(value), "utf-8")
    assert readme_table.main(["--check"]) == 1
    said = capsys.readouterr().err
    assert "tail-search not measured on all sessions: python -m bench.rest" in said and said.count("\n") == 1
    page.write_text("# Title\n", "utf-8")
    assert readme_table.main([]) == 1


def test_the_check_of_the_docs_holds_the_readme(page: Path) -> None:
    assert any("measured" in fault for fault in readme_table.faults())
    assert check_docs.readme_table is readme_table
