"""Sessions as Markdown: an index that stays small, what came of each, and nothing that was said is markup."""

from __future__ import annotations

import re

import pytest
from gardener.test_account import COMMIT, EDIT, FAILED, PASSED, chat, ran
from markdown_it import MarkdownIt

from aider_gardener.archive.store import Store, open_store
from aider_gardener.gardener import files
from aider_gardener.gardener.files import HEAD_LINE, project_index

DAY = 86_400.0


def full_session(store: Store) -> None:
    chat(
        store, "never touch the migrations\n\n# and mind [this](javascript:x)", "I won't.",
        "make it two", EDIT.format(path="src/a.py"), COMMIT, "Ok.",
        ran("pytest -q", FAILED), "Ok.", "mend it, we'll use httpx, not requests", "Mended.",
        ran("pytest -q", PASSED), "Ok.", ran("pytest `x`", FAILED), "Ok.",
    )  # fmt: skip


def test_the_index_has_what_came_of_a_session() -> None:
    store = open_store(None)
    full_session(store)
    text = project_index(store, "p")
    assert text.startswith(HEAD_LINE) and "1970-01-01 00:16 to 00:16 UTC, 7 turns" in text
    assert "    Done: 1 commit; edited src/a.py\n    Last commit: cfd9539 fix: say two\n" in text
    assert re.search(r"^    Decided: mend it, we'll use httpx, not requests \(g", text, re.M)
    assert re.findall(r"^    Failed when it ran last: (.*) \(g", text, re.M) == ["pytest `x`"]


def test_every_id_in_the_index_is_one_that_can_be_restored() -> None:
    store = open_store(None)
    full_session(store)
    ids = set(re.findall(r"\bg[0-9a-f]{9}\b", project_index(store, "p")))
    assert len(ids) >= 2 and all(store.get(each) for each in ids)


def test_nothing_that_was_said_is_markup_in_the_index() -> None:
    store = open_store(None)
    nasty = (
        "```\n</li><script>x</script>\n# head\n- [x](javascript:y)\n\n---\n| a |\n|---|\n~~~\r\x85\u2028# b"
    )
    chat(store, nasty, nasty, f"never {nasty}", "Ok then.", ran("cat <b>*x*</b>", nasty), "Ok.", session="s")
    text = project_index(store, "p")
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    assert {t.type for t in tokens} <= {
        "heading_open", "heading_close", "inline", "paragraph_open", "paragraph_close", "html_block", "code_block",
    }  # fmt: skip
    assert [t.content.strip() for t in tokens if t.type == "html_block"] == [HEAD_LINE]
    kinds = {child.type for t in tokens for child in t.children or ()}
    assert not kinds & {"link_open", "image", "html_inline", "em_open"}
    heads = [tokens[at + 1].content for at, t in enumerate(tokens) if t.type == "heading_open"]
    assert not any("head" in head for head in heads)


def test_the_index_is_newest_first_and_says_where_each_ended() -> None:
    store = open_store(None)
    chat(store, "the first", "Yes.", session="aaaa", at=DAY)
    chat(store, "the second", "Yes.", "and the last", "Yes.", session="bbbb", at=2 * DAY)
    text = project_index(store, "p")
    assert re.findall(r"^## (\w+), (\S+)", text, re.M) == [("bbbb", "1970-01-03"), ("aaaa", "1970-01-02")]
    assert "    Asked first: the second\n" in text and "    Asked last: and the last\n" in text
    assert text.count("Asked last") == 1 and "Older" not in text


def test_the_index_has_the_newest_and_says_how_many_are_older(monkeypatch: pytest.MonkeyPatch) -> None:
    store = open_store(None)
    monkeypatch.setattr(files, "INDEX_SESSIONS", 2)
    for number in range(5):
        chat(
            store, "漢 " * 500, "Yes.", *["漢 " * 500, "Yes."], session=f"{number}abc", at=(number + 1) * DAY
        )
    text = project_index(store, "p")
    assert re.findall(r"^## (\w+)", text, re.M) == ["4abc", "3abc"]
    assert "\n3 older sessions: `gardener sessions --limit 5`\n" in text
    assert max(map(len, text.splitlines())) < 300
