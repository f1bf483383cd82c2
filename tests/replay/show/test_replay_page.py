"""The page of a replay: complete, private, whatever a chat holds; nothing from elsewhere."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import pytest
from made_replays import NASTY, made_report

from aider_gardener.replay.measure.result import Carried
from aider_gardener.replay.measure.summary import ReplayReport, make_report
from aider_gardener.replay.show import chart, replay_page
from aider_gardener.replay.show.replay_page import SWAPS_SHOWN, page_of
from aider_gardener.replay.show.table import brief, further, providers
from aider_gardener.replay.show.verdict import verdict


class Page(HTMLParser):
    """Elements of a page, its ids and its text by element."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.text = ""
        self.stack: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in ("meta", "link", "img", "br", "input", "hr"):
            self.stack.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.stack.pop() == tag, "elements are not closed in order"

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))

    def handle_data(self, data: str) -> None:
        if not {"script", "style"} & set(self.stack):
            self.text += data

    def all(self, tag: str, **wanted: str) -> list[dict[str, str]]:
        return [a for name, a in self.elements if name == tag and wanted.items() <= a.items()]


@pytest.fixture(scope="module")
def drawn() -> str:
    return chart.plot_svg(made_report().results)


@pytest.fixture(autouse=True)
def drawn_once(drawn: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every page has the same real chart, for drawing it takes longer than all else."""
    monkeypatch.setattr(replay_page, "plot_svg", lambda _results: drawn)


def shown(*arguments: Any, **options: Any) -> tuple[str, Page]:
    text = page_of(made_report(*arguments, **options))
    return text, Page(text)


def changed(**fields: Any) -> ReplayReport:
    """The report with other fields of the gardener's result."""
    stock, gardener = made_report().results
    return make_report([stock, replace(gardener, **fields)])


def test_the_page_needs_nothing_from_outside_and_runs_nothing() -> None:
    text, page = shown()
    without_names = re.sub(r'xmlns(:\w+)?="[^"]*"', "", text)
    assert not re.search(r"https?://|@import|url\((?!#)", without_names)
    assert not re.search(r"""(?:src|href|action|data)\s*=\s*["'](?!#)""", without_names)
    for tag in ("link", "img", "iframe", "script"):
        assert page.all(tag) == []
    policy = page.all("meta", **{"http-equiv": "Content-Security-Policy"})[0]["content"]
    assert policy.startswith("default-src 'none'") and "script-src" not in policy


def test_every_reference_leads_to_an_element_and_ids_are_unique() -> None:
    text, page = shown(names=("shop", "bank"))
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    for _, attributes in page.elements:
        assert attributes.get("aria-labelledby", ids[0]) in ids
        for name in ("href", "xlink:href"):
            assert attributes.get(name, f"#{ids[0]}")[1:] in ids
        assert not [name for name in attributes if name.startswith("on")]
    assert set(re.findall(r"url\(#([\w-]+)\)", text)) <= set(ids)


def test_a_chat_is_text_in_the_page_whatever_it_holds() -> None:
    text, page = shown(NASTY, names=(NASTY,))
    assert "<script" not in text and page.all("img") == []
    assert "alert(1)" in page.text and "{{ 7*7 }}" in page.text


def test_every_figure_of_the_table_stands_in_the_page_and_no_other() -> None:
    text, page = shown()
    summaries = made_report().summaries
    for figure in brief(summaries) + further(summaries) + providers(summaries):
        assert figure.name in page.text and figure.about in page.text
        assert all(figure.cell(summary) in page.text for summary in summaries)
    assert "No model was asked" in page.text
    assert text.index("<h3>Other providers</h3>") > text.index("$ at gpt-4o"), "others are behind a fold"
    assert "usable turns" not in shown(probes=False)[0] and "upported" not in shown(probes=False)[0]


def test_the_verdict_stands_first_and_each_of_several_chats_has_its_own() -> None:
    report = make_report(made_report(names=("shop", "bank")).results)
    text = page_of(report)
    assert text.index(f'<p class="verdict">{verdict(report)[0]}</p>') < text.index("<table")
    assert text.count("</h2> Not worth it for this chat") + text.count("</h2> Worth it for this chat") == 2
    assert "There is no verdict" in page_of(make_report(report.results[:1]))


def test_each_compaction_is_listed_with_its_reason() -> None:
    _, page = shown()
    assert len(page.all("details", **{"class": "compaction"})) == 3
    assert "by a model, paid for and thrown away: 900 → 100 tokens" in page.text
    assert "above its budget" in page.text and "log, priority 20" in page.text
    assert "whole → shortened" in page.text


def test_the_swaps_of_one_compaction_are_limited_and_their_number_told() -> None:
    text, _ = shown(swaps=SWAPS_SHOWN + 7)
    assert text.count('class="swap"') == SWAPS_SHOWN
    assert f"{SWAPS_SHOWN + 7} messages shortened" in text and f"of {SWAPS_SHOWN + 7}." in text


def test_probes_say_how_each_variant_met_them() -> None:
    text, _ = shown()
    assert text.count("<td>✔ supported</td>") == 3 and text.count("<td>◐ present: </td>") == 1
    _, gardener = made_report().results
    lost = [
        replace(gardener.probes[0], present=False, supported=False, missing=("47",)),
        *gardener.probes[1:],
    ]
    assert "✘ missing: 47" in page_of(changed(probes=tuple(lost)))


def test_facts_name_the_turns_and_whether_they_stood_in_the_prompt() -> None:
    assert "No reply used anything again" in shown()[0]
    stock, gardener = made_report().results
    held, lost = (Carried("deep_blue_7", False, 1, 5, present) for present in (True, False))
    text = page_of(make_report([replace(stock, carried=(held,)), replace(gardener, carried=(lost,))]))
    row = r'<code>deep_blue_7</code></td><td>yes</td><td>no</td><td class="n">1</td><td class="n">5</td>'
    assert re.search(row, text) and "1 fact or line<" in text


def test_without_matplotlib_the_page_says_how_to_get_the_chart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    text, page = shown()
    assert not chart.can_draw() and "uv tool install '.[plot]'" in page.text and "<svg" not in text
