"""The report of a month as a page: figures and words as text, nothing from elsewhere."""

from __future__ import annotations

import os
import re
from pathlib import Path

from replay.show.test_html_transcript import NASTY, Elements

from aider_gardener.gardener.past_chats import Month, MonthChat, MonthObservation
from aider_gardener.replay.show.html_month import html_of, width, write_month

CHAT = MonthChat("3fa2", 1.7e9, NASTY, 12, 86_700, -400, 1.234, 3, 2, 5, 1)
SUMS = {
    "sessions": 1, "turns": 12, "calls": 9, "prompt_tokens": 86_700, "saved_tokens": 0, "cost": 1.234,
    "saved_cost": 0.0, "compactions": 0, "seconds": 0.5, "saved_share": 0.0,
}  # fmt: skip
MONTH = Month(
    "2026-11",
    "/src/<b>",
    SUMS,
    (CHAT, CHAT),
    (MonthObservation(NASTY, "waiting", 3),),
    (("2026-11-20", NASTY),),
)


def test_what_was_said_is_text_whatever_it_looks_like() -> None:
    page = html_of(MONTH)
    found = Elements(page).found
    assert not any(tag in ("script", "img", "link", "iframe", "b") for tag, _ in found)
    assert not any(name.startswith("on") or name == "src" for _, attrs in found for name in attrs)
    assert "default-src" in page and not re.search(r"https?://", page)
    assert page.count("&lt;script&gt;alert(1)") == 4


def test_it_has_the_chats_with_their_figures() -> None:
    page = html_of(MONTH)
    assert (
        page.count("<tr>") == 3
        and "86,700" in page
        and "$1.23" in page
        and "-400" in page
        and "5 / 1" in page
    )
    assert "Sent 86.7k tokens in 9 calls" in page and "seen in 3 sessions" in page and "2 chats" in page
    assert 'value="100"' in page and width(1, 4) == 25 and width(1, 0) == 0


def test_a_month_without_anything_says_so(tmp_path: Path) -> None:
    empty = Month("2025-01", "/src/x", {}, (), (), ())
    write_month(empty, tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text("utf-8")
    assert "No chat of this project ended in 2025-01." in page and "<table" not in page
    assert os.name != "posix" or (tmp_path / "page.html").stat().st_mode & 0o777 == 0o600
