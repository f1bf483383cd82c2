"""The HTML report in a real browser, from a file:// address: marks open what they should, by mouse and by
keyboard; nothing is fetched; the console stays empty. Skipped where there is no Chromium."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from made_replays import NASTY, made_report

from aider_gardener.replay.show.html_report import write_html

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as started:
        found = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield found
        found.close()


@pytest.fixture
def page(browser: Any, tmp_path: Path) -> Iterator[Any]:
    """The report of a chat full of markup, open in the browser; no message, request or dialog may come."""
    target = tmp_path / "report.html"
    write_html(*made_report(NASTY, names=("shop", NASTY)), target)
    opened = browser.new_page()
    unwanted: list[str] = []
    opened.on("console", lambda message: unwanted.append(message.text))
    opened.on("pageerror", lambda error: unwanted.append(str(error)))
    opened.on("dialog", lambda dialog: unwanted.append(dialog.message))
    opened.on("request", lambda request: unwanted.append(request.url))
    opened.goto(target.as_uri())
    yield opened
    assert unwanted == [target.as_uri()]
    opened.close()


def focused(page: Any) -> str:
    return str(page.evaluate("document.activeElement.id || document.activeElement.parentElement.id"))


def test_a_click_on_a_mark_opens_its_compaction(page: Any) -> None:
    assert page.locator("details[open]").count() == 0
    page.click("#m-s1-2-1 circle")
    assert page.locator("details[open]").count() == 1
    assert page.locator("#c-s1-2-1").get_attribute("open") is not None
    assert page.locator("#m-s1-2-1").get_attribute("aria-expanded") == "true"
    page.click("#c-s1-2-1 details.swap summary")
    assert page.locator("#c-s1-2-1 pre").first.inner_text().startswith("</script><script>alert(1)")


@pytest.mark.parametrize("key", ["Enter", " "])
def test_the_keyboard_opens_a_mark_and_escape_leads_back(page: Any, key: str) -> None:
    page.focus("#m-s1-2-2")
    page.keyboard.press(key)
    assert page.locator("#c-s1-2-2").get_attribute("open") is not None
    assert focused(page) == "c-s1-2-2"
    page.keyboard.press("Escape")
    assert page.locator("details[open]").count() == 0
    assert focused(page) == "m-s1-2-2"


def test_tab_reaches_the_marks(page: Any) -> None:
    page.focus("#s1 select[data-slot='1']")
    reached = []
    for _ in range(4):
        page.keyboard.press("Tab")
        reached.append(focused(page))
    assert reached[:3] == ["m-s1-1-1", "m-s1-2-1", "m-s1-2-2"]


def test_two_charts_show_and_another_can_be_chosen(page: Any) -> None:
    shown = page.locator("#s1 figure.chart:visible")
    assert shown.count() == 2
    page.select_option("#s1 select[data-slot='0']", "gardener")
    assert shown.count() == 1
    assert page.locator("#s2 figure.chart:visible").count() == 2


def test_one_request_is_read_out_in_figures(page: Any) -> None:
    page.focus("#s1 .reader input")
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    assert page.locator("#s1 .reader caption").inner_text() == "turn 4, request 1 of it"
    rows = page.locator("#s1 .reader tbody tr")
    assert rows.count() == 2 and rows.first.locator("th").inner_text() == "stock"
    assert int(rows.first.locator("td").first.inner_text().replace(",", "")) > 1_000


def test_probes_can_be_filtered(page: Any) -> None:
    lines = page.locator("#s1 .probes tbody tr:visible")
    assert lines.count() == 2
    for choice in ("miss", "differ"):
        page.check(f"#s1 .filters input[value={choice}]")
        assert lines.count() == 1 and lines.first.locator("th").inner_text() == "2"


def test_a_link_to_a_compaction_opens_it(page: Any) -> None:
    page.evaluate("location.hash = '#c-s2-2-1'")
    page.wait_for_selector("#c-s2-2-1[open]")


def test_it_is_readable_in_the_dark_and_on_paper(page: Any) -> None:
    def contrast() -> float:
        return float(
            page.evaluate(
                """() => {
                const light = (name) => {
                  const [r, g, b] = getComputedStyle(document.body)[name].match(/\\d+/g).map(Number);
                  return 0.05 + (0.2126 * (r/255)**2.2 + 0.7152 * (g/255)**2.2 + 0.0722 * (b/255)**2.2);
                };
                const [a, b] = [light("color"), light("backgroundColor")];
                return Math.max(a, b) / Math.min(a, b);
                }"""
            )
        )

    for scheme, media in (("light", "screen"), ("dark", "screen"), ("dark", "print")):
        page.emulate_media(color_scheme=scheme, media=media)
        assert contrast() > 7
        background = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert (background == "rgb(255, 255, 255)") == (scheme == "light" or media == "print")
    assert not page.locator(".pickers").first.is_visible()


def test_without_script_everything_is_there(browser: Any, tmp_path: Path) -> None:
    target = tmp_path / "report.html"
    write_html(*made_report(), target)
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(target.as_uri())
    assert page.locator("figure.chart").count() == 2
    page.click("#c-s1-2-1 > summary")
    page.click("#c-s1-2-1 details.swap summary")
    assert page.locator("#c-s1-2-1 pre").first.inner_text() == "hello"
    context.close()
