"""A chat as a page: everything as text, nothing from elsewhere."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

from aider_gardener.gardener.past_chats import (
    PastChat,
    Said,
    Shown,
    Transcript,
    Turn,
)
from aider_gardener.gardener.state import ChatSums
from aider_gardener.messages import Fidelity
from aider_gardener.replay.show.pages import (
    FOLDED_LINES,
    transcript_page,
    write_transcript,
)

NASTY = "<script>alert(1)</script> & </pre><img src=x onerror=y> \u202e"
CHAT = PastChat(1, "3fa29c", "3fa2", 0, 60, 2, NASTY, "gpt-4o", ChatSums(cost=0.5), ("a<b>.py",), ())


class Elements(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def said(text: str, *shown: Shown) -> Said:
    return Said("g1", "model", NASTY, text, 90, 0.0, False, False, shown)


def page_of(*rows: Said) -> str:
    return transcript_page(Transcript(CHAT, (Turn(1, rows),)))


def test_what_was_said_is_text_whatever_it_looks_like() -> None:
    page = page_of(said(NASTY, Shown(2, Fidelity.LINE, 3, NASTY)))
    found = Elements(page).found
    assert not any(tag in ("script", "img", "link", "iframe") for tag, _ in found)
    assert not any(name.startswith("on") or name == "src" for _, attrs in found for name in attrs)
    assert all(str(attrs.get("href", "#")).startswith("#") for _, attrs in found)
    assert "default-src" in page and not re.search(r"https?://", page)
    assert page.count("&lt;script&gt;alert(1)") >= 4


def test_short_forms_stand_beside_the_original_and_are_folded() -> None:
    page = page_of(
        said("the whole", Shown(3, Fidelity.COMPRESSED, 20, "a part"), Shown(5, Fidelity.HIDDEN, 0)),
        said("untouched"),
    )
    assert page.count('class="pair"') == 2 and page.count("<details") == 1 and "<details open" not in page
    assert "shorter from turn 3 (20 of 90 tokens), left out from turn 5" in page
    assert "a part" in page and page.count("the whole") == 3 and "(left out)" in page
    assert "Every message stood whole" in page_of(said("untouched"))


def test_a_long_text_is_folded_too() -> None:
    page = page_of(said("\n".join(f"line {n}" for n in range(FOLDED_LINES + 1))))
    assert "(31 lines)" in page and "line 30" in page


def test_it_reads_by_day_and_night_and_on_a_phone(tmp_path: Path) -> None:
    write_transcript(Transcript(CHAT, ()), tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text("utf-8")
    assert (
        "prefers-color-scheme: dark" in page
        and 'name="viewport"' in page
        and "@media screen and (max-width:" in page
    )
    assert "$0.50" in page and "a&lt;b&gt;.py" in page


def test_the_title_is_the_first_prompts_first_words() -> None:
    for prompt, title in (("two\nwords", "two words"), ("word " * 99, "word " * 15 + "word …")):
        page = transcript_page(Transcript(replace(CHAT, first_prompt=prompt), ()))
        assert f"<title>{title} – aider-gardener</title>" in page
