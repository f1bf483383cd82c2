"""Terminal output as a reader would see it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from aider_gardener.reading.excerpt import MANY_LINES
from aider_gardener.reading.output import LINE_CHARS, clip, clipped, flat, lines_of, plain, squeeze


def test_colours_and_overwritten_lines_are_gone() -> None:
    assert plain("\x1b[31mred\x1b[0m\r\nnext\r\n") == "red\nnext\n"
    assert plain(" 10%\r 50%\r100%\ndone\n") == "100%\ndone\n"


def test_a_ci_runners_stamps_go_and_a_logs_own_stay() -> None:
    stamped = "".join(f"2026-03-01T10:00:0{n}.123Z step {n}\n" for n in range(9))
    assert plain(stamped.rstrip("\n")) == "\n".join(f"step {n}" for n in range(9))
    own = "\n".join(f"2026-03-01T10:00:0{n}.123Z INFO step {n}" for n in range(9))
    assert plain(own) == own
    table = "\n".join(f"2026-03-01T10:00:0{n}Z,station {n},{n}.5" for n in range(9))
    assert plain(table) == table  # a column of times


def test_fences_go_and_long_lines_show_their_ends() -> None:
    assert lines_of("```text\none\n```\ntwo") == ["one", "two"]
    (line,) = lines_of("a" * 9_000 + "z" * 9_000)
    assert len(line) <= LINE_CHARS + 3 and line[0] == "a" and line[-1] == "z"


def test_of_very_many_lines_what_tells_of_trouble_stays() -> None:
    lines = [f"line {n}" for n in range(MANY_LINES * 2)]
    lines[MANY_LINES] = "ERROR in the middle"
    found = lines_of("\n".join(lines))
    assert len(found) <= MANY_LINES and found[0] == "line 0" and found[-1] == lines[-1]
    assert "ERROR in the middle" in found


def test_a_clipped_line_keeps_head_and_tail() -> None:
    assert clip("short", 20) == "short"
    shown = clip("a" * 50 + "z" * 50, 30)
    assert len(shown) == 30 and " … " in shown and shown.endswith("z")


def test_a_text_is_cut_at_a_word_and_where_words_are_written_without_spaces_at_a_sign() -> None:
    assert clipped("never touch the vendor folder", 24) == "never touch the vendor …"
    assert clipped(f"see {'a/path' * 9}", 24) == "see …"
    rule = "vendor/ " + "の中の生成されたファイルは手で変更しないでください" * 20
    assert clipped(rule, 240) == f"{rule[:240]} …"


def test_white_space_is_squeezed() -> None:
    assert squeeze("  a \n\t b  ") == "a b"


@given(st.text(max_size=400))
def test_what_is_flat_and_indented_is_no_markup_of_a_page(text: str) -> None:
    found = MarkdownIt("commonmark").enable("table").parse(f"# head\n\n    said: {flat(text)}\n\nnext\n")
    assert [token.type for token in found if token.level == 0 and token.nesting >= 0] == [
        "heading_open", "code_block", "paragraph_open",
    ]  # fmt: skip


def test_a_flat_text_is_cut_at_a_word_and_has_nothing_unseen() -> None:
    assert flat("word " * 200, 22) == "word word word word …"
    assert flat("short\n  and \u202eplain\ttext\x1b[31m") == "short and plain text"
    assert len(flat("x" * 5_000, 300)) <= 302 and flat("\x00" * 10_000 + "late", 300) == " …"
