"""The HTML report: one file that needs nothing else, shows what it should, and holds any chat as text."""

from __future__ import annotations

import json
import os
import re
import stat
import sys
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from made_replays import NASTY, made_call, made_report, made_result, made_session, made_swap

from aider_gardener.replay.show.html_detail import LAYERS, detail_of
from aider_gardener.replay.show.html_report import LIMITS, TILES, chosen_of, html_of, write_html
from aider_gardener.replay.show.html_tables import SWAPS_SHOWN
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


def page_of(*arguments: Any, **options: Any) -> tuple[str, Page]:
    text = html_of(*made_report(*arguments, **options))
    return text, Page(text)


def test_the_page_needs_nothing_from_outside() -> None:
    text, page = page_of()
    assert not re.search(r"""(?:src|href|action|data)\s*=\s*["'](?!#)""", re.sub(r"data-[a-z]+=", "", text))
    assert not re.search(r"url\((?!#)|@import|https?://", text)
    assert page.all("link") == page.all("img") == page.all("iframe") == []


def test_every_reference_leads_to_an_element_and_ids_are_unique() -> None:
    text, page = page_of(names=("shop", "bank"))
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    for _, attributes in page.elements:
        for name in ("aria-controls", "aria-labelledby", "data-marks"):
            assert set(attributes.get(name, ids[0]).split()) <= set(ids)
        if attributes.get("href", "").startswith("#"):
            assert attributes["href"][1:] in ids
        assert not [name for name in attributes if name.startswith("on")]
    assert set(re.findall(r"url\(#([\w-]+)\)", text)) <= set(ids)


def test_a_chat_is_text_in_the_page_whatever_it_holds() -> None:
    report, details = made_report(NASTY, names=(f"{NASTY}",))
    text = html_of(report, details)
    page = Page(text)
    plain, _ = page_of()
    assert text.count("<script") == plain.count("<script") == text.count("</script")
    assert page.all("img") == []
    assert "alert(1)" in page.text and NASTY.split()[-2] in page.text and "{{ 7*7 }}" in page.text
    data = re.findall(r'<script type="application/json" class="readout">(.*?)</script>', text)
    assert sorted(json.loads(data[0]), reverse=True) == ["stock", "gardener"]


def test_only_the_script_of_the_page_may_run() -> None:
    import base64
    import hashlib

    text, page = page_of()
    policy = page.all("meta", **{"http-equiv": "Content-Security-Policy"})[0]["content"]
    script = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script[0].encode()).digest()).decode()
    assert len(script) == 1
    assert f"script-src 'sha256-{digest}'" in policy and policy.startswith("default-src 'none'")


def test_each_compaction_is_a_mark_that_opens_its_list() -> None:
    _, page = page_of()
    drawn = [a for a in page.all("a") if a.get("class", "").startswith("mark")]
    lists = {a["id"]: a for a in page.all("details") if a["class"] == "compaction"}
    for name in ("wide", "narrow"):
        marks = [mark for mark in drawn if mark["id"].startswith(name)]
        assert [mark["class"] for mark in marks] == ["mark llm lost", "mark plan", "mark plan"]
        assert [mark["aria-controls"] for mark in marks] == list(lists)
        assert all(mark["href"] == f"#{mark['aria-controls']}" and mark["role"] == "button" for mark in marks)
        assert marks[1]["aria-label"] == "Compaction 1 at turn 3 by the gardener: 500 tokens saved"
        assert "by a model, paid for and thrown away: " in marks[0]["aria-label"]
    assert len([a for a in page.all("details") if a["class"] == "swap"]) == 1
    assert "above its budget" in page.text and "log, priority 20" in page.text


def test_original_and_rendition_stand_side_by_side() -> None:
    report, details = made_report()
    found = details.found["shop", "gardener"]
    hidden = replace(made_swap(1, "THE ORIGINAL", ""), after="hidden")
    details.found["shop", "gardener"] = replace(found, swaps=(made_swap(0, "ONE", "OTHER"), hidden))
    text = html_of(report, details)
    assert re.search(r"<pre[^>]*>ONE</pre>.*<pre[^>]*>OTHER</pre>", text)
    assert re.search(r"<pre[^>]*>THE ORIGINAL</pre></figure><figure>.*nothing; the original is in", text)


def test_what_was_recalled_says_for_which_prompt_and_what_made_it_come() -> None:
    _, page = page_of()
    assert "turn 4: 1 passage" in page.text and "words: blue; meaning: 40%" in page.text
    report, details = made_report(words=NASTY)
    assert NASTY not in html_of(report, details)
    for key, found in details.found.items():
        details.found[key] = replace(found, quoted=())
    assert "Nothing was recalled from the archive." in html_of(report, details)


def test_nothing_is_said_of_texts_cut_short_where_none_is() -> None:
    assert "cut short" not in page_of()[1].text


def test_the_swaps_of_one_compaction_are_limited_and_their_number_told() -> None:
    text, _ = page_of(swaps=SWAPS_SHOWN + 7)
    assert text.count('class="swap"') == SWAPS_SHOWN
    assert f"{SWAPS_SHOWN + 7} messages shortened" in text and f"of {SWAPS_SHOWN + 7}." in text


def test_probes_say_in_words_how_each_variant_met_them() -> None:
    _text, page = page_of()
    verdicts = [a["class"] for a in page.all("td") if a.get("class", "").startswith("v ")]
    assert verdicts == ["v supported", "v supported", "v supported", "v present"]
    assert "✔ known" in page.text and "◐ words only" in page.text
    assert "Nobody has written" in page_of(probes=False)[1].text and "Nobody has written" not in page.text


def test_prices_costs_and_limits_are_told() -> None:
    _, page = page_of()
    for provider in ("OpenAI", "DeepSeek", "Anthropic"):
        assert provider in page.text
    assert "baseline" in page.text and "% less" in page.text
    for line in LIMITS:
        assert line in page.text


def test_what_must_be_known_of_a_replay_stands_above_it_once() -> None:
    report, details = made_report()
    text = html_of(replace(report, notes=("shop under stock: a note <b>",)), details)
    assert text.count("a note &lt;b&gt;") == 1
    assert text.index("a note") < text.index('<main id="main">') and "Know this first" in text
    assert "Know this first" not in page_of()[0]


def test_facts_carried_over_name_the_turns_and_whether_they_stood_in_the_prompt() -> None:
    report, details = made_report()
    assert [one.text for one in details.found["shop", "stock"].carried if not one.is_line] == []
    # A fact said in turn 1 and again in turn 5 that only the baseline's prompt held.
    session = made_session(
        ("see deep_blue_7", "ok"), *((f"q{n}", "a") for n in range(3)), ("and?", "deep_blue_7")
    )
    rows = {}
    for variant, past in (("stock", "deep_blue_7 is it"), ("gardener", "nothing")):
        calls = [made_call(turn, [("done", past), ("cur", "and?")]) for turn in range(1, 6)]
        rows[variant] = detail_of(made_result(calls, variant=variant, turns=5), session)
    details.found.update({("shop", variant): detail for variant, detail in rows.items()})
    text = html_of(report, details)
    row = re.search(r"<code>deep_blue_7</code></td><td>(\w+)</td><td>(\w+)</td>.*?>(\d+)<.*?>(\d+)<", text)
    assert row is not None and row.groups() == ("yes", "no", "1", "5")
    assert "1, 1 missing from the prompt under gardener" in text


def test_layers_are_told_apart_without_colour() -> None:
    assert len(set(TILES)) == len(TILES) == len(LAYERS)
    _, page = page_of()
    assert [a["id"] for a in page.all("pattern")] == [f"p-{name}" for name, _ in LAYERS]
    legend = [a["data-layer"] for a in page.all("li") if "data-layer" in a]
    drawn = {a["fill"] for a in page.all("path", **{"class": "layer"})}
    assert {f"url(#p-{name})" for name in legend} == drawn


def test_the_baseline_is_a_stock_variant_else_what_was_replayed() -> None:
    _, page = page_of()
    section = page.all("section", id="s1")[0]
    assert (section["data-baseline"], section["data-gardened"]) == ("stock", "gardener")
    row = made_report()[0].summaries[0]
    assert chosen_of({"tail": row, "none": row, "gardener": row}) == ("none", "gardener")
    assert chosen_of({"tail": row, "mask10": row}) == ("tail", "mask10")
    assert chosen_of({"tail": row}) == ("tail", "tail")


def test_the_file_is_private_and_an_unwritable_place_is_one_line(tmp_path: Path) -> None:
    from aider_gardener.errors import ReplayError

    report, details = made_report()
    target = tmp_path / "new" / "r.html"
    write_html(report, details, target)
    write_html(report, details, target)
    assert target.read_text("utf-8").startswith("<!DOCTYPE html>")
    assert [path.name for path in target.parent.iterdir()] == ["r.html"]
    if sys.platform != "win32":
        assert stat.S_IMODE(os.stat(target).st_mode) == 0o600
    (tmp_path / "file").write_text("")
    with pytest.raises(ReplayError, match="cannot be written"):
        write_html(report, details, tmp_path / "file" / "r.html")


def test_the_verdict_stands_first_and_each_of_several_chats_has_its_own() -> None:
    report, details = made_report(names=("shop", "bank"))
    page = html_of(report, details)
    assert page.count('<p class="verdict">') == 1
    assert page.index(f'<p class="verdict">{verdict(report)}</p>') < page.index("<table")
    assert page.count('</h2><span class="said">With the gardener this chat would have cost') == 2
    assert page_of()[0].count("With the gardener this chat would have cost") == 1
    text = html_of(*made_report(probes=False))
    assert "no reply used anything old again.</p>" in text


def test_one_is_no_plural() -> None:
    report, details = made_report()
    result, *_ = report.results
    one = replace(report.results[1], turns=1)
    report = replace(report, results=(replace(result, turns=1), one))
    page = Page(html_of(report, details)).text
    assert not re.search(
        r"(?<![\d,.])1 (turns|messages|passages|prompts|requests|compactions|calls|questions)", page
    )
    assert "1 turn" in page and "1 message shortened" in page and "1 passage for 1 prompt" in page


def test_long_lists_are_folded_with_their_counts() -> None:
    text, _ = page_of()
    folded = re.findall(r'<details class="fold"><summary><h3>(.*?)</h3> <span class="dim">(.*?)</span>', text)
    assert folded == [
        ("Compactions", "1 under stock, 2 under gardener"),
        ("Recalled from the archive", "1 passage for 1 prompt under gardener"),
        ("Things asked later", "2 questions, 1 no longer known under gardener"),
    ]
