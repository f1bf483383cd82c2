"""What was said stands in Markdown as words: it opens nothing, ends nothing and links nowhere."""

from __future__ import annotations

import html
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from aider_gardener.notes.markdown import CODE, code, flat, quoted

WORDS = {"text", "paragraph_open", "paragraph_close", "inline", "text_special", "code_inline"}
LIST = {"bullet_list_open", "bullet_list_close", "list_item_open", "list_item_close"}
NASTY = (
    "```\n# mine\n```", "~~~~ sh", "# a heading", "- a list", "+ x", "* y *z*", "1. first", "2) second", "> quoted",
    "[a](javascript:x) ![b](c)", "<script>alert(1)</script>", "<!-- open", "a\n\nb\n===", "---", "| a | b |\n|---|---|",
    "[x]: https://example.org", "https://example.org/a_b_c?d", "www.example.org", "&copy; &#35;", "\\", "a\\", "__x__",
    "$x$", "a\u202eb\x1b[31mc\x00\ud800", "<https://a.example>", ":::note", "`", "``a`", "{{ x }}", "=====", "\t code",
)  # fmt: skip


def tokens(text: str) -> list[Token]:
    found = []
    for token in MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(text):
        found += [token, *(token.children or [])]
    return found


def shown(text: str) -> str:
    """What a reader sees of a Markdown text."""
    return html.unescape(re.sub(r"<[^>]*>", "", MarkdownIt("commonmark").render(text))).strip("\n")


@pytest.mark.parametrize("text", NASTY)
def test_nothing_that_is_quoted_is_markup(text: str) -> None:
    said = f"- {quoted(text)} (g0123456789)\n- next\n"
    assert {token.type for token in tokens(said)} <= WORDS | LIST
    assert shown(f"x {quoted(text)}") == f"x {flat(text)}"


def test_inline_code_stays_code_and_the_rest_of_its_line_words() -> None:
    text = "`a_b` *and* `<c>` but ``d``"
    assert quoted(text) == r"`a_b` \*and\* `<c>` but \`\`d\`\`"
    assert [t.content for t in tokens(quoted(text)) if t.type == "code_inline"] == ["a_b", "<c>"]
    assert quoted("x }` in `tidy` and") == r"x }\` in `tidy` and"
    assert quoted("` ` x `` y") == r"\` \` x \`\` y"


@given(st.text(max_size=400))
def test_whatever_is_quoted_opens_nothing_and_reads_as_it_was(text: str) -> None:
    said = f"{quoted(text)}\n\nnext\n" if flat(text) else "next\n"
    found = tokens(said)
    assert {token.type for token in found} <= WORDS and sum(t.type == "paragraph_open" for t in found) <= 2
    assert shown(quoted(text)).replace("\n", " ") == flat(text) or CODE.search(flat(text))


@given(st.text(alphabet="`ab \\\n<>", min_size=1, max_size=60))
def test_code_holds_its_ticks(text: str) -> None:
    if not flat(text):
        assert code(text) == ""
        return
    found = tokens(f"- x {code(text)} y")
    assert [token.content for token in found if token.type == "code_inline"] == [flat(text)]
    assert {token.type for token in found} <= WORDS | LIST


def test_a_plain_address_is_no_link() -> None:
    said = quoted("see https://example.org and www.example.org or mailto:a@b.example")
    assert "://" not in said and "www." not in said and "mailto:" not in said


def test_a_long_text_is_cut_at_a_word() -> None:
    assert flat("word " * 200, 22) == "word word word word …"
    assert flat("short\n  and plain\ttext") == "short and plain text"
    assert len(flat("x" * 5_000, 300)) <= 302 and flat("x" * 5_000, 300).endswith(" …")
    assert flat("\x00" * 10_000 + "late", 300) == " …"


def test_names_with_underscores_stay_readable() -> None:
    assert quoted("rename get_user_name in a.py (fast)") == "rename get_user_name in a.py (fast)"
