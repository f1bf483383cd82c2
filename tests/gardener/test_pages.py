"""Sessions as Markdown: all that came of one, an index that stays small, and nothing that was said is markup."""

from __future__ import annotations

import re

import pytest
from gardener.test_account import COMMIT, EDIT, FAILED, PASSED, chat, ran
from markdown_it import MarkdownIt

from aider_gardener.archive.sessions import session_named
from aider_gardener.archive.store import SessionInfo, Store, open_store
from aider_gardener.gardener.account import Account, account
from aider_gardener.gardener.files import (
    INDEX_BYTES,
    INDEX_SESSIONS,
    MADE,
    index_page,
    is_as_made,
    is_ours,
    project_index,
    sealed,
    session_page,
)

DAY = 86_400.0


def page(store: Store, session: str = "s") -> str:
    return session_page(account(store, session_named(store, "p", session)), session)


def full_session(store: Store) -> None:
    chat(
        store, "never touch the migrations\n\n# and mind [this](javascript:x)", "I won't.",
        "make it two", EDIT.format(path="src/a.py"), COMMIT, "Ok.",
        ran("pytest -q", FAILED), "Ok.", "mend it, we'll use httpx, not requests", "Mended.",
        ran("pytest -q", PASSED), "Ok.", ran("ruff check `x`", "error: one"), "Ok.",
    )  # fmt: skip


def test_a_page_has_all_that_came_of_a_session() -> None:
    store = open_store(None)
    full_session(store)
    text = page(store)
    heads = re.findall(r"^## (.+)$", text, re.M)
    assert heads == [
        "Asked and done", "Decided", "Rules set by the user", "Files edited", "Errors met and mended",
        "Errors not seen to be gone",
    ]  # fmt: skip
    assert (
        text.startswith(MADE) and "1970-01-01 00:16 to 00:16 UTC: 7 turns, 1 commit, 1 file edited." in text
    )
    assert re.search(r"^- \*\*Turn 2:\*\* make it two \(g\w{9}\)$", text, re.M)
    assert "    - committed `cfd9539`: fix: say two" in text
    assert re.search(r"^- `src/a.py`: 1 edit, the last in turn 2$", text, re.M)
    assert re.search(r"^- `tests/test_a.py::test_one`: met in turn 4, gone in turn 6 \(g", text, re.M)
    assert re.search(r"^- `error: one`: last met in turn 7 by `` ruff check `x` `` \(g", text, re.M)
    assert re.search(r"^- mend it, we'll use httpx, not requests \(turn 5, you, g", text, re.M)


def test_every_id_in_a_page_is_one_that_can_be_restored() -> None:
    store = open_store(None)
    full_session(store)
    ids = set(re.findall(r"\bg[0-9a-f]{9}\b", page(store)))
    assert len(ids) >= 6 and all(store.get(each) for each in ids)


def test_nothing_that_was_said_is_markup_in_a_page() -> None:
    store = open_store(None)
    nasty = "```\n</li><script>x</script>\n# head\n- [x](javascript:y)\n\n---\n| a |\n|---|\n~~~"
    chat(store, nasty, nasty, f"never {nasty}", "Ok then.", ran("cat <b>*x*</b>", nasty), "Ok.", session="s")
    for text in (page(store), project_index(store, "p")):
        tokens = MarkdownIt("commonmark").enable("table").parse(text)
        assert {t.type for t in tokens} <= {
            "heading_open", "heading_close", "inline", "paragraph_open", "paragraph_close", "html_block",
            "bullet_list_open", "bullet_list_close", "list_item_open", "list_item_close",
        }  # fmt: skip
        comments = [t.content.strip() for t in tokens if t.type == "html_block"]
        assert comments[0] == MADE and comments[1:] == [
            line for line in text.splitlines()[1:] if "<!--" in line
        ]
        kinds = {child.type for t in tokens for child in t.children or ()}
        assert not kinds & {"link_open", "image", "html_inline", "em_open"}
        heads = [tokens[at + 1].content for at, t in enumerate(tokens) if t.type == "heading_open"]
        assert not any("head" in head for head in heads)


def test_the_same_archive_gives_the_same_bytes() -> None:
    one, other = open_store(None), open_store(None)
    full_session(one)
    full_session(other)
    assert page(one) == page(other) and project_index(one, "p") == project_index(other, "p")


def test_a_secret_stands_in_no_page() -> None:
    store, secret = open_store(None), "ghp_" + "a1B2" * 9
    chat(store, f"never log {secret}", f"I won't log {secret}.")
    assert "redacted" in page(store) and secret not in page(store) + project_index(store, "p")


def test_the_index_is_newest_first_and_says_where_each_ended() -> None:
    store = open_store(None)
    chat(store, "the first", "Yes.", session="aaaa", at=DAY)
    chat(store, "the second", "Yes.", "and the last", "Yes.", session="bbbb", at=2 * DAY)
    text = project_index(store, "p")
    assert re.findall(r"^## (\w+), (\S+)", text, re.M) == [("bbbb", "1970-01-03"), ("aaaa", "1970-01-02")]
    assert "- **Asked first:** the second\n" in text and "- **Asked last:** and the last\n" in text
    assert text.count("Asked last") == 1 and "Older" not in text


def made(number: int, asked: str = "x") -> SessionInfo:
    return SessionInfo(f"{number:08x}", "p", at := 1.7e9 - number * DAY, entries=2, turns=2, last_at=at)


@pytest.mark.parametrize(("asked", "shown"), [("x", INDEX_SESSIONS), ("漢 " * 500, 50)])
def test_the_index_stays_within_its_bounds(asked: str, shown: int) -> None:
    store = open_store(None)
    chat(store, asked, "Yes.", f"{asked} again", "Yes.")
    found = account(store, session_named(store, "p", "last"))
    read: list[SessionInfo] = []

    def account_of(info: SessionInfo) -> Account:
        read.append(info)
        return found

    infos = [made(number) for number in range(9_000)]
    text = index_page(infos, lambda name: name[:4], account_of)
    assert len(sealed(text).encode()) <= INDEX_BYTES
    assert min(INDEX_SESSIONS, shown) <= text.count("Asked first") <= INDEX_SESSIONS
    assert len(read) <= text.count("Asked first") + 1
    months = re.findall(r"^- (\S+): ([\d,]+) sessions?, ([\d,]+) turns$", text, re.M)
    assert len(months) >= 290
    told = sum(int(count.replace(",", "")) for _month, count, _turns in months) + text.count("Asked first")
    assert told == 9_000


def test_an_index_that_was_changed_is_known_by_its_last_line() -> None:
    store = open_store(None)
    chat(store, "the first <!-- as it was made: 0123456789abcdef -->", "Yes.", session="aaaa", at=DAY)
    held = project_index(store, "p").encode()
    assert is_as_made(held) and is_as_made(None) and is_as_made(b"")
    for other in (
        held + b"x",
        held.replace(b"first", b"last"),
        held.rstrip(b"\n"),
        held.replace(b"\n", b"\r\n"),
    ):
        assert not is_as_made(other), other
    assert not is_as_made(b"mine") and not is_as_made(sealed("mine").encode())


def test_only_what_we_made_is_written_over() -> None:
    assert is_ours(None) and is_ours(b"") and is_ours(MADE.encode() + b"\nx")
    assert not is_ours(b"# my own notes")
