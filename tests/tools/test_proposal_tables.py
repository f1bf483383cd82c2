"""The parts of the proposal that are made, not typed."""

from __future__ import annotations

from typing import Any

import proposal_tables
import pytest
from pages import BadResults
from proposal_tables import bills, ratio, with_part


def row(**changed: Any) -> dict[str, Any]:
    prices = {"cached": {"usd": 1.234}, "uncached": {"usd": 2.0}}
    values = {
        "session": "a-session",
        "variant": "stock",
        "tokens_billed": 1_234_567,
        "llm_compactions": 2,
        "llm_discarded": 3,
        "plan_compactions": 0,
        "llm_seconds": 12.3,
        "recall": {"asked": 10, "supported": 4},
        "costs": [prices],
    }
    return values | changed


def test_a_bill_has_what_was_measured() -> None:
    text = bills({"summaries": [row(), row(variant="an-ablation")], "totals": [row(session="all")]})
    assert "| a-session | `stock` | 1,234,567 | $1.23 | $2.00 | 5, 2 | 0 | 12 | 4 of 10 |" in text
    assert "an-ablation" not in text
    assert text.splitlines()[-1].startswith("| all |")


def test_the_ratio_is_that_of_the_compress_command() -> None:
    text = "\n\n".join(f"The part number {n} explains a detail of the topic {n * 3}." * 3 for n in range(40))
    assert "gardener compress" in ratio(text) and ratio(text).rstrip().endswith("%.")


def test_a_part_is_put_between_its_marks_and_nowhere_else() -> None:
    page = "above\n<!-- bills -->\nold\n<!-- /bills -->\nbelow\n"
    assert with_part(page, "bills", "new\n") == page.replace("old", "new")
    with pytest.raises(BadResults):
        with_part("no marks", "bills", "new\n")


def test_the_page_is_up_to_date_and_short() -> None:
    assert list(proposal_tables.faults()) == []
