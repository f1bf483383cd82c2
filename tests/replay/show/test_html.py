"""The HTML report in a real browser, from a file:// address: short and legible at every width, its folds and
marks open what they should, by mouse and by keyboard; nothing is fetched; the console stays empty."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from made_replays import NASTY, made_report

from aider_gardener.replay.measure.carryover import Carried
from aider_gardener.replay.measure.result import Compaction
from aider_gardener.replay.measure.summary import ReplayReport
from aider_gardener.replay.show.html_report import Details, write_html
from aider_gardener.replay.show.verdict import verdict

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
playwright = pytest.importorskip(
    "playwright.sync_api", reason="playwright is not installed: pip install 'aider-gardener[dev]'"
)
pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="no chromium, chromium-browser or google-chrome on the PATH"
)

OPTIONS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)

PHONE = {"width": 390, "height": 844}
SCREEN = {"width": 1280, "height": 900}


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as started:
        found = started.chromium.launch(executable_path=CHROMIUM, args=list(OPTIONS))
        yield found
        found.close()


def opened(browser: Any, tmp_path: Path, made: tuple[ReplayReport, Details], **options: Any) -> Iterator[Any]:
    """A report open in the browser; no message, request or dialog may come."""
    target = tmp_path / "report.html"
    write_html(*made, target)
    page = browser.new_page(**options)
    unwanted: list[str] = []
    page.on("console", lambda message: unwanted.append(message.text))
    page.on("pageerror", lambda error: unwanted.append(str(error)))
    page.on("dialog", lambda dialog: unwanted.append(dialog.message))
    page.on("request", lambda request: unwanted.append(request.url))
    page.goto(target.as_uri())
    yield page
    assert unwanted == [target.as_uri()]
    page.close()


@pytest.fixture
def page(browser: Any, tmp_path: Path) -> Iterator[Any]:
    """The report of two chats full of markup, the first unfolded."""
    for found in opened(browser, tmp_path, made_report(NASTY, names=("shop", NASTY)), viewport=SCREEN):
        found.click("#s1 h2")
        yield found


def long_chat() -> tuple[ReplayReport, Details]:
    """A chat with 320 reused facts, long lines among them, and 40 compactions under the gardener."""
    report, details = made_report(swaps=40)
    for (name, variant), found in list(details.found.items()):
        carried = tuple(
            Carried(f"{'/'.join(['a_long_path'] * (n % 12 + 1))}/file_{n}.py", False, 1, 9, n % 3 > 0)
            for n in range(320)
        )
        events = tuple(Compaction(n % 9 + 1, "plan", True, 900, 400, reason="why") for n in range(40))
        own = events if variant == "gardener" else found.compactions
        details.found[name, variant] = replace(found, carried=carried, compactions=own)
    return report, details


@pytest.fixture(params=["phone", "screen"])
def long_page(browser: Any, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Any]:
    """The report of one long chat, as it opens on a telephone and on a screen."""
    size = PHONE if request.param == "phone" else SCREEN
    yield from opened(browser, tmp_path, long_chat(), viewport=size)


def height(page: Any) -> int:
    return int(page.evaluate("document.documentElement.scrollHeight"))


def overflow(page: Any) -> int:
    """By how much the page is wider than what shows it."""
    return int(page.evaluate("document.documentElement.scrollWidth - innerWidth"))


def test_the_page_is_short_and_never_scrolls_sideways(long_page: Any) -> None:
    assert height(long_page) < 4_500
    assert overflow(long_page) <= 0
    for fold in long_page.locator("details.fold").all():
        fold.evaluate("(one) => { one.open = true }")
    assert height(long_page) < 12_000, "a table of 320 facts scrolls within its box"
    assert overflow(long_page) <= 0


def test_the_verdict_is_what_is_seen_first(long_page: Any) -> None:
    said = long_page.locator(".verdict")
    assert said.inner_text() == verdict(long_chat()[0])
    box = said.bounding_box()
    assert box["y"] < 100 and box["y"] + box["height"] < 500
    above = long_page.locator("h1").bounding_box()
    assert above["y"] + above["height"] <= box["y"]


def test_a_long_table_unfolds_and_folds_by_a_click(long_page: Any) -> None:
    facts, summary = long_page.locator("table.facts"), long_page.get_by_text("Reused facts and lines").first
    assert "320, 107 missing" in long_page.locator("summary", has=summary).inner_text()
    assert not facts.is_visible()
    summary.click()
    assert facts.is_visible() and facts.locator("tbody tr").count() == 320
    summary.click()
    assert not facts.is_visible()


def test_charts_can_be_read_at_every_width(long_page: Any) -> None:
    drawn = long_page.locator("figure.chart svg:visible")
    assert drawn.count() == 2, "of each chart one drawing shows"
    sizes = drawn.locator("text.axis").evaluate_all(
        "(all) => all.map((one) => parseFloat(getComputedStyle(one).fontSize) * one.getScreenCTM().a)"
    )
    assert len(sizes) > 10 and min(sizes) > 9


def test_every_mark_can_be_hit_and_says_what_it_is(long_page: Any) -> None:
    marks = long_page.locator("figure[data-variant=gardener] svg:visible a.mark")
    assert marks.count() == 40
    radii = marks.locator(".hit").evaluate_all(
        "(all) => all.map((one) => one.getBoundingClientRect().width / 2)"
    )
    assert min(radii) >= 8
    assert (
        marks.first.locator("title").text_content()
        == "Compaction 1 at turn 1 by the gardener: 500 tokens saved"
    )
    last = marks.last
    last.scroll_into_view_if_needed()
    box = last.locator(".hit").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    long_page.mouse.move(x, y)
    assert last.locator(".shape").evaluate("(one) => getComputedStyle(one).fill") == long_page.evaluate(
        "getComputedStyle(document.body).color"
    )
    long_page.mouse.click(x - 7, y)
    shown = last.get_attribute("aria-controls")
    assert long_page.locator(f"#{shown} > .inside").is_visible()


def test_pointing_at_a_column_reads_it_out(long_page: Any) -> None:
    drawn = long_page.locator("figure[data-variant=stock] svg:visible")
    drawn.scroll_into_view_if_needed()
    grid = drawn.locator(".grid").last.bounding_box()
    long_page.mouse.move(grid["x"] + grid["width"] * 0.5, grid["y"] + 5)
    assert long_page.locator(".reader .at").inner_text() == "Turn 5, request 1 of it"
    read = long_page.locator(".reader").bounding_box()
    assert read["y"] + read["height"] <= long_page.viewport_size["height"] + 1, "it can be seen meanwhile"
    assert long_page.locator(".reader li").first.inner_text().startswith("stock 505 tokens (prompt 502, ")


def test_paper_shows_what_is_short_and_counts_what_is_long(long_page: Any) -> None:
    long_page.evaluate("dispatchEvent(new Event('beforeprint'))")
    long_page.emulate_media(media="print")
    for words in ("US dollars for the whole chat", "tokens billed: prompt and completion"):
        assert long_page.get_by_text(words).first.is_visible()
    assert long_page.get_by_text("320, 107 missing").is_visible()
    assert not long_page.locator("table.facts").is_visible()
    assert long_page.locator("svg.wide:visible").count() == 2
    assert not long_page.locator(".pickers, .reader").first.is_visible()
    long_page.emulate_media(media="screen")
    long_page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert long_page.locator("details[open]").count() == 0


def test_printing_leaves_the_page_as_it_was(long_page: Any) -> None:
    long_page.click("summary:has(h3:text-is('Things asked later'))")
    count = "document.querySelectorAll('details[open]').length"
    long_page.evaluate(f"addEventListener('beforeprint', () => {{ window.printed = {count}; }})")
    assert long_page.pdf().startswith(b"%PDF")
    assert long_page.evaluate("window.printed") == 3, "the prices, the words, and what the reader has opened"
    assert long_page.evaluate(count) == 1


def focused(page: Any) -> str:
    return str(page.evaluate("document.activeElement.id || document.activeElement.parentElement.id"))


def test_a_click_on_a_mark_opens_its_compaction(page: Any) -> None:
    assert page.locator("#s1 .inside details[open]").count() == 0
    page.click("#wide-s1-2-1 .shape")
    assert page.locator("#s1 .inside details[open]").count() == 2, "the list and the compaction in it"
    assert page.locator("#c-s1-2-1").get_attribute("open") is not None
    assert page.locator("#wide-s1-2-1").get_attribute("aria-expanded") == "true"
    page.click("#c-s1-2-1 details.swap summary")
    assert page.locator("#c-s1-2-1 pre").first.inner_text().startswith("</script><script>alert(1)")


@pytest.mark.parametrize("key", ["Enter", " "])
def test_the_keyboard_opens_a_mark_and_escape_leads_back(page: Any, key: str) -> None:
    page.focus("#wide-s1-2-2")
    page.keyboard.press(key)
    assert page.locator("#c-s1-2-2").get_attribute("open") is not None
    assert focused(page) == "c-s1-2-2"
    page.keyboard.press("Escape")
    assert page.locator("#c-s1-2-2").get_attribute("open") is None
    assert focused(page) == "wide-s1-2-2"


def test_tab_reaches_the_marks(page: Any) -> None:
    page.focus("#s1 select[data-slot='1']")
    reached = []
    for _ in range(4):
        page.keyboard.press("Tab")
        reached.append(focused(page))
    assert reached[:3] == ["wide-s1-1-1", "wide-s1-2-1", "wide-s1-2-2"]


def test_two_charts_show_and_another_can_be_chosen(page: Any) -> None:
    shown = page.locator("#s1 figure.chart:visible")
    assert shown.count() == 2
    page.select_option("#s1 select[data-slot='0']", "gardener")
    assert shown.count() == 1
    page.click("#s2 h2")
    assert page.locator("#s2 figure.chart:visible").count() == 2


def test_one_request_is_read_out_in_figures(page: Any) -> None:
    page.focus("#s1 .reader input")
    page.keyboard.press("Home")
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    assert page.locator("#s1 .reader .at").inner_text() == "Turn 4, request 1 of it"
    rows = page.locator("#s1 .reader li")
    assert rows.count() == 2 and rows.first.locator("b").inner_text() == "stock"
    assert int(rows.first.inner_text().split()[1].replace(",", "")) > 1_000


def test_probes_can_be_filtered(page: Any) -> None:
    page.click("#s1 summary:has(h3:text-is('Things asked later'))")
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

    def layer() -> str:
        return str(page.evaluate("getComputedStyle(document.querySelector('.fill-log')).fill"))

    layers = []
    for scheme, media in (("light", "screen"), ("dark", "screen"), ("dark", "print")):
        page.emulate_media(color_scheme=scheme, media=media)
        assert contrast() > 7
        background = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert (background == "rgb(255, 255, 255)") == (scheme == "light" or media == "print")
        layers.append(layer())
    assert layers[0] == layers[2] != layers[1], "paper has the colours of the light page"


def test_without_script_everything_is_there(browser: Any, tmp_path: Path) -> None:
    target = tmp_path / "report.html"
    write_html(*made_report(), target)
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(target.as_uri())
    assert page.locator("figure.chart").count() == 2
    page.click("summary:has(h3:text-is('Compactions'))")
    page.click("#c-s1-2-1 > summary")
    page.click("#c-s1-2-1 details.swap summary")
    assert page.locator("#c-s1-2-1 pre").first.inner_text() == "hello"
    context.close()
