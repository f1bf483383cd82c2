"""The README quotes the measured table that is made from the results, or says how to make it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import check_docs
import pytest
import readme_table

from aider_gardener.replay.measure.carryover import CarryOver
from aider_gardener.replay.measure.cost import PROVIDERS, Bill, Cost
from aider_gardener.replay.measure.summary import FORMAT, Recall, ReplayReport, Summary, report_json

HEAD, TAIL = "# Title\n\n<!-- measured -->\n", "<!-- /measured -->\n\nThe end.\n"


def summary(variant: str, **figures: Any) -> Summary:
    """A row with the figures that the table shows; the others are empty."""
    costs = tuple(
        Cost(provider.name, provider.main, Bill(usd=1.5 + place), Bill(usd=9.0))
        for place, provider in enumerate(PROVIDERS)
    )
    values: dict[str, Any] = {
        "llm_compactions": 0, "llm_discarded": 0, "plan_compactions": 0, "recall": Recall(20, 18, 16),
        "tokens_billed": 1_234_567, "largest_prompt": 9_999, "carry_over": CarryOver(), "recall_by_distance": {}, **figures,
    }  # fmt: skip
    return Summary(
        session="all 3 sessions", variant=variant, turns=182, llm_seconds=0.0, recall_by_kind={},
        prompt_tokens=0, completion_tokens=0, costs=costs, usable=None, **values,
    )  # fmt: skip


def results(*rows: Summary, notes: tuple[str, ...] = ()) -> dict[str, Any]:
    """The JSON of a report with these sums, as the replay writes it."""
    value = report_json(ReplayReport((), (), rows, notes))
    made_by = {"model": "gpt-4o", "window_tokens": 128_000, "history_tokens": 8_000, "aider": "0.86.2",
               "tokenizer": "o200k_base", "commit": "abc123"}  # fmt: skip
    value["results"] = [{"provenance": made_by}]
    loaded: dict[str, Any] = json.loads(json.dumps(value))
    return loaded


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A README with markers and nothing between them, and no results."""
    monkeypatch.setattr(readme_table, "README", tmp_path / "README.md")
    monkeypatch.setattr(readme_table, "RESULTS", tmp_path / "replay.json")
    monkeypatch.setattr(readme_table, "DOMINANCE", tmp_path / "dominance.json")
    readme_table.README.write_text(HEAD + TAIL, "utf-8")
    return tmp_path


def put(value: Any) -> None:
    readme_table.RESULTS.write_text(json.dumps(value), "utf-8")


def test_without_results_the_section_names_the_command_and_nothing_is_wrong(project: Path) -> None:
    assert readme_table.main(["--check"]) == 0
    assert readme_table.main([]) == 0
    text = readme_table.README.read_text("utf-8")
    assert text.startswith(HEAD) and text.endswith(TAIL)
    assert readme_table.COMMAND in text
    assert readme_table.main(["--check"]) == 0


def test_results_are_written_once_and_then_agree(project: Path) -> None:
    put(results(summary("gardener", plan_compactions=64, overhead_ms=(3.2, 90.0)), summary("none")))
    assert readme_table.main(["--check"]) == 1
    assert readme_table.main([]) == 0
    written = readme_table.README.read_bytes()
    assert readme_table.main(["--check"]) == 0
    assert readme_table.main([]) == 0
    assert readme_table.README.read_bytes() == written
    assert written.decode().startswith(HEAD) and written.decode().endswith(TAIL)


def test_the_table_shows_each_variant_in_the_fixed_order(project: Path) -> None:
    put(results(
        summary("extra"), summary("no-history"), summary("gardener", plan_compactions=64, overhead_ms=(3.2, 90.0)),
        summary("stock", llm_discarded=72, tokens_billed=11_809_004), summary("none", recall=Recall(20, 20, 20)),
    ))  # fmt: skip
    lines = readme_table.section().splitlines()
    cells = {
        line.split("|")[1].strip(): [cell.strip() for cell in line.split("|")[2:-1]]
        for line in lines
        if "|" in line
    }
    assert cells["all 3 sessions, 182 turns"] == ["none", "stock", "gardener", "no-history", "extra"]
    assert cells["probes present, of 20"] == ["20", "18", "18", "18", "18"]
    assert cells["probes supported, of 20"] == ["20", "16", "16", "16", "16"]
    assert cells["tokens billed"][1] == "11,809,004"
    assert cells["$ gpt-4o"] == ["1.50"] * 5
    assert cells["$ same with --cache-prompts"] == ["4.50"] * 5
    assert cells["LLM summaries thrown away"] == ["0", "72", "0", "0", "0"]
    assert cells["history rewritten by a plan"] == ["0", "0", "64", "0", "0"]
    assert cells["overhead ms, p50 / p95"] == ["–", "–", "3 / 90", "–", "–"]
    assert len({len(line) for line in lines if line.startswith("|")}) == 1


def test_the_figures_are_read_out_in_plain_words(project: Path) -> None:
    late = {"≤ 10": Recall(10, 10, 10), "> 25": Recall(50, 48, 45)}
    made = [summary(name, recall_by_distance=late) for name in ("stock", "stock-fixed", "gardener")]
    rows = results(*made)["totals"]
    words = " ".join(readme_table.reading(rows))
    assert "More than 25 turns later that was 90%, 90% and 90%." in words
    assert words.endswith("nothing changes, and nothing is saved.")
    assert readme_table.reading(rows[:1]) == []


def test_the_section_keeps_to_the_width_and_says_what_it_depends_on(project: Path) -> None:
    rows = [summary(name, tokens_billed=11_809_004) for name in readme_table.ORDER]
    put(
        results(*rows, notes=("queue under gardener: the gardener took no part in it, " + "and so on " * 20,))
    )
    section = readme_table.section()
    assert max(len(line) for line in section.splitlines()) < 100
    assert "commit abc123" in section and "history budget 8,000" in section
    assert "the gardener took no part in it" in section


@pytest.mark.parametrize("text", ["{", "[]", '{"kind": "replay", "format": 999}', '{"kind": "other"}'])
def test_what_is_no_result_of_this_format_is_a_fault(project: Path, text: str) -> None:
    readme_table.RESULTS.write_text(text, "utf-8")
    assert len(list(readme_table.faults())) == 1
    assert readme_table.main([]) == 1
    assert readme_table.README.read_text("utf-8") == HEAD + TAIL


def test_several_sessions_without_sums_are_a_fault(project: Path) -> None:
    value = results(summary("none"))
    value["summaries"], value["totals"] = [{**value["totals"][0], "session": name} for name in "ab"], []
    put(value)
    assert "no sums" in next(readme_table.faults())


def test_missing_markers_are_a_fault_and_nothing_is_written(project: Path) -> None:
    readme_table.README.write_text("# Title\n", "utf-8")
    assert list(readme_table.faults()) == []
    put(results(summary("none")))
    assert "are missing" in next(readme_table.faults())
    assert readme_table.main([]) == 1
    assert readme_table.README.read_text("utf-8") == "# Title\n"


def test_the_script_reads_the_format_that_the_replay_writes() -> None:
    assert readme_table.FORMAT == FORMAT


def test_the_documentation_check_asks_for_the_table(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("links", "unlisted", "lost"):
        monkeypatch.setattr(check_docs, name, lambda: [])
    monkeypatch.setattr("sys.argv", ["check_docs.py"])
    assert check_docs.main() == 0
    put(results(summary("none")))
    assert check_docs.main() == 1


def sessions(**held: tuple[int, int]) -> dict[str, Any]:
    """Results of several sessions: by name how many of 10 facts, and of 20 probes, the gardener has; the rival has 5."""
    value = results(*(summary(name) for name in ("stock-fixed", "gardener")))
    value["summaries"] = []
    for name, (facts, supported) in held.items():
        for variant, met, probes in (("stock-fixed", 5, 5), ("gardener", facts, supported)):
            row = summary(variant, recall=Recall(20, 20, probes), carry_over=CarryOver(10, met, 0, 0))
            value["summaries"].append(
                {**report_json(ReplayReport((), (row,)))["summaries"][0], "session": name}
            )
    return value


def worst_rows(text: str) -> list[list[str]]:
    lines = text[text.index("| worst session") :].split("\n\n")[0].splitlines()[2:]
    return [[cell.strip() for cell in line.strip("| ").split("|")] for line in lines]


def test_what_is_carried_over_stands_in_the_table(project: Path) -> None:
    put(
        results(
            summary("gardener", carry_over=CarryOver(123, 65, 31, 1)),
            summary("none", carry_over=CarryOver(123, 119, 31, 26)),
        )
    )
    lines = [" ".join(line.split()) for line in readme_table.section().splitlines()]
    assert "| facts carried over, of 123 | 119 | 65 |" in lines
    assert "| lines carried over, of 31 | 26 | 1 |" in lines
    put(results(summary("gardener")))
    assert "carried over" not in readme_table.section()


def test_the_worst_session_of_each_figure_is_named_with_both_figures(project: Path) -> None:
    put(sessions(shop=(4, 19), bank=(9, 6), mill=(6, 18)))
    assert worst_rows(readme_table.section()) == [
        ["probes supported", "bank", "6 of 20", "5 of 20"],
        ["facts", "shop", "4 of 10", "5 of 10"],
    ]


def test_plain_chats_have_a_worst_session_too(project: Path) -> None:
    put(sessions(shop=(4, 19), bank=(9, 6)))
    figures = {"supported": [1, 9], "facts": [3, 9], "lines": [2, 9]}
    rival = {**figures, "lines": [8, 9]}
    row = {
        "kind": "plain",
        "session": "shop",
        "variants": {"gardener": figures, "stock-fixed": rival, "stock": rival},
    }
    value = {"rows": [row, {**row, "kind": "chain", "session": "all"}]}
    readme_table.DOMINANCE.write_text(json.dumps(value), "utf-8")
    found = worst_rows(readme_table.section())
    assert [line[:2] for line in found] == [
        ["probes supported", "bank"], ["probes supported", "shop as a plain chat"],
        ["facts", "shop"], ["facts", "shop as a plain chat"], ["lines", "shop as a plain chat"],
    ]  # fmt: skip
    assert found[-1][2:] == ["2 of 9", "8 of 9"]
    readme_table.DOMINANCE.write_text("{", "utf-8")
    assert "dominance.json: cannot be read" in next(iter(readme_table.faults()))


def test_a_single_session_has_no_worst_one(project: Path) -> None:
    put(sessions(shop=(4, 19)))
    assert "worst session" not in readme_table.section()


def test_the_cost_over_the_limit_stands_in_the_table_where_the_results_have_it(project: Path) -> None:
    value = results(summary("gardener"), summary("none"))
    for row, ratio in zip(value["totals"], (1.04, 1.5), strict=True):
        row["costs"][0]["over_limit"] = ratio
    put(value)
    text = " ".join(readme_table.section().split())
    assert "| cost / limit, gpt-4o | 1.50 | 1.04 |" in text
    assert "cost / limit, gemini" not in text and "wherever it stands" in text
    for row in value["totals"]:
        for cost in row["costs"]:
            del cost["over_limit"]
    put(value)
    assert "limit" not in readme_table.section(), "results of earlier versions have no limit"
