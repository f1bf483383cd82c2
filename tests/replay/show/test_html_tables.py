"""The tables of a report: texts within an allowance, compactions with their swaps, verdicts in words."""

from __future__ import annotations

from dataclasses import replace

from made_replays import made_probe, made_report, made_result, made_swap

from aider_gardener.replay.measure.carryover import Carried
from aider_gardener.replay.measure.cost import PROVIDERS
from aider_gardener.replay.show.html_tables import (
    PAGE_CHARS,
    SHORT_CHARS,
    TextAllowance,
    compaction_rows,
    fact_rows,
    figure_rows,
    price_rows,
    probe_rows,
    saved_tokens,
    verdict,
)


def test_a_page_holds_only_so_much_text_and_counts_what_it_cut() -> None:
    allowance = TextAllowance()
    while allowance.left > 0:
        assert allowance.take("x" * 7_000) == "x" * 7_000
    assert allowance.cut == 0
    shown = allowance.take("a" * 5_000 + "z" * 5_000)
    assert shown.startswith("a") and shown.endswith("z") and len(shown) < SHORT_CHARS + 100
    assert allowance.cut == 1 and PAGE_CHARS - 7_000 * 600 < 7_000 * 600


def test_a_compaction_lists_the_swaps_of_its_own_plan_the_largest_saving_first() -> None:
    detail = made_report(swaps=3)[1].found["shop", "gardener"]
    first, second = compaction_rows(detail, TextAllowance())
    assert [swap["saved"] for swap in first["swaps"]] == [f"{n} tokens saved" for n in (100, 99, 98)]
    assert first["saved"] == "500 tokens saved" and second["swaps"] == []
    assert (first["number"], first["took"], second["took"]) == (1, "10 ms", "20 ms")
    other = replace(detail, swaps=(*detail.swaps, made_swap(1)))
    assert len(compaction_rows(other, TextAllowance())[1]["swaps"]) == 1


def test_a_verdict_names_the_keys_that_a_prompt_lacks() -> None:
    lost = replace(made_probe(1, 1, 5, present=False, supported=False), missing=("47", "pool"))
    assert verdict(None)["word"] == "not asked"
    assert verdict(lost) == {"word": "missing", "lacks": "47, pool"}
    assert verdict(replace(lost, answer="no", answered=False))["lacks"] == "47, pool; answered wrong"
    assert verdict(made_probe(1, 1, 5))["word"] == "supported"


def test_a_probe_is_one_row_with_a_verdict_for_each_variant() -> None:
    asked = made_result(probes=[made_probe(2, 1, 6), made_probe(1, 1, 5)])
    rows = probe_rows([asked, made_result(variant="none", probes=[made_probe(1, 1, 5)])])
    assert [row["number"] for row in rows] == [1, 2]
    assert [one["word"] for one in rows[1]["verdicts"]] == ["supported", "not asked"]


def test_without_facts_there_are_no_rows() -> None:
    details = {name: detail for (_, name), detail in made_report()[1].found.items()}
    assert fact_rows(details, ["stock", "stock"])["variants"] == ["stock"]
    assert (fact_rows(details, ["stock"])["count"], fact_rows(details, ["stock"])["missing"]) == (0, 0)


def test_facts_that_the_last_variant_lacks_are_counted() -> None:
    detail = made_report()[1].found["shop", "stock"]
    there, gone = (Carried(text, False, 1, 9, text == "there") for text in ("there", "gone"))
    details = {
        "stock": replace(detail, carried=(there, replace(gone, present=True))),
        "gardener": replace(detail, carried=(there, gone)),
    }
    found = fact_rows(details, ["stock", "gardener"])
    assert (found["count"], found["missing"]) == (2, 1)
    assert [row["text"] for row in found["rows"]] == ["gone", "there"]


def test_the_figures_put_the_gardener_first_and_leave_out_what_says_nothing() -> None:
    summaries = {row.variant: row for row in made_report()[0].summaries}
    table = figure_rows(summaries, "stock", "gardener")
    assert table["names"] == ["gardener", "stock"]
    rows = {row["what"]: row for row in table["rows"]}
    assert rows["things asked later, still known"]["values"] == ["1 of 2", "2 of 2"]
    assert rows["tokens billed"]["saved"].endswith("% less") and not rows["usable turns"]["saved"]
    assert "reused facts in the prompt" not in rows and "answered right by the model asked" not in rows
    alone = figure_rows(summaries, "stock", "stock")
    assert all(not row["saved"] for row in alone["rows"])


def test_a_compaction_that_makes_things_longer_says_so() -> None:
    assert [saved_tokens(n) for n in (2, 1, -1)] == ["2 tokens saved", "1 token saved", "1 token more"]


def test_a_price_stands_beside_the_limit_of_the_session() -> None:
    report, _ = made_report()
    tables = price_rows(report.summaries, "stock")
    assert [table["provider"] for table in tables] == [provider.name for provider in PROVIDERS]
    cost = report.summaries[0].costs[0]
    assert tables[0]["rows_of"][0]["over"] == f"{cost.over_limit:.2f}"
