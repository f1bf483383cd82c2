"""What a terminal is given: nothing in it is obeyed, and nothing of a text is lost but its colours."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.table import Table

from aider_gardener import terminal
from aider_gardener.cli import child, pipe
from aider_gardener.tables import as_text, beginning, grid, plain
from aider_gardener.terminal import COLOUR, VisibleStream, visible
from bench.attacks.terminal import Screen as Tty
from bench.attacks.terminal import raw
from bench.attacks.terminal import terminal as attacked

PIECES = (
    "\x1b", "[2J", "[31m", "[0;1m", "[K", "]52;c;QQ==", "\x07", "\x9b", "\x9d", "\r", "\n", "\r\n", "\t", "\u202e",
    "\u2028", "\u200d", "\u200c", "\U000e0041", "\ud800", "\\x1b", "a", "é", "👩", "می",
)  # fmt: skip
TEXTS = st.lists(st.sampled_from(PIECES) | st.characters(), max_size=30).map("".join)


@given(TEXTS)
def test_nothing_that_a_terminal_obeys_or_hides_is_left(text: str) -> None:
    shown = visible(text)
    assert raw(shown) == [] and visible(shown) == shown


@given(TEXTS)
def test_nothing_is_lost_but_colours(text: str) -> None:
    known = COLOUR.sub("", text.replace("\r\n", "\n"))
    written = re.sub(
        r"\\(?:x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8}|r)",
        lambda found: found[0].encode().decode("unicode_escape"),
        visible(text.replace("\\", "/")),
    )
    assert written == known.replace("\\", "/")


@given(
    st.text(
        st.characters(codec="utf-8", exclude_categories=["C", "Z"]) | st.sampled_from(" \n\t"), max_size=40
    )
)
def test_what_is_no_control_stays_as_it_is(text: str) -> None:
    assert visible(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[2Ja\x1b[31mred\x1b[0m", r"\x1b[2Jared"),
        ("\x1b]52;c;QQ==\x07 \x9d0;x", r"\x1b]52;c;QQ==\x07 \x9d0;x"),
        ("\x1b\x1b[0m[2J", r"\x1b[2J"),
        ("evil\rgood\r\n\r\r\n", "evil\\rgood\n\\r\n"),
        ("a\u202eb\u2066c\u2028d\u200e", r"a\u202eb\u2066c\u2028d\u200e"),
        ("\ufeffx\U000e0041\ud83d", r"\ufeffx\U000e0041\ud83d"),
        ("👩\u200d💻 می\u200cخواهم pass\u200cword\u200d", "👩\u200d💻 می\u200cخواهم pass\\u200cword\\u200d"),
        ("col1\tcol2\n日本 – façade ▶ \ue0b0", "col1\tcol2\n日本 – façade ▶ \ue0b0"),
    ],
)
def test_how_it_looks(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_a_long_text_takes_no_longer_than_its_length() -> None:
    began = time.process_time()
    visible("\u200d\x1b[" * 200_000)
    assert time.process_time() - began < 10


# Streams


@contextmanager
def guarded() -> Iterator[Tty]:
    """Standard output and error are a terminal, which is guarded."""
    with attacked() as screen:
        terminal.guard()
        yield screen


def test_all_text_is_visible_and_bytes_are_data() -> None:
    with guarded() as tty:
        click.echo("1 \x1b]0;t\x07")
        print("2 \x9b2J", file=sys.stderr)
        sys.stdout.writelines(["3 \u202e\n"])
        assert tty.said() == "1 \\x1b]0;t\\x07\n2 \\x9b2J\n3 \\u202e\n"
        sys.stdout.buffer.write(b"\x1b")
        assert tty.said()[-1] == "\x1b"


def test_guarding_twice_is_guarding_once_and_a_host_gets_its_terminal_back() -> None:
    with guarded() as tty:
        terminal.guard()
        assert isinstance(sys.stdout, VisibleStream) and sys.stdout.bare is tty
        terminal.release()
        assert sys.stdout is sys.stderr is tty


def test_a_process_without_streams_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    monkeypatch.setattr(sys, "stderr", None)
    terminal.guard()
    assert sys.stdout is None and sys.stderr is None


def test_nobody_gets_the_descriptor_to_write_past_it() -> None:
    with guarded(), pytest.raises(io.UnsupportedOperation):
        sys.stdout.fileno()


def test_bytes_are_visible_on_a_terminal_whatever_they_are_cut_into() -> None:
    with guarded() as tty:
        with pipe.printing() as out:
            for byte in "é\x1b[2J\xff €".encode() + b"\xff":
                out.write(bytes([byte]))
        assert tty.said() == "é\\x1b[2Jÿ €\ufffd"


def test_the_line_of_progress_is_drawn_and_what_it_quotes_is_visible(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child, "PROGRESS_SECONDS", 0.0)
    code = r"print('a\x1b[2J\r\u202eb', flush=True); import time; time.sleep(0.5)"
    with guarded() as tty:
        child.run([sys.executable, "-S", "-X", "utf8", "-c", code], child.Output())
        assert re.search(r"\r\x1b\[K\d+ s, 1 lines: a\\x1b\[2J\\r\\u202eb", tty.said())
        assert tty.said().endswith("\r\x1b[K")


# Drawing


def test_what_is_drawn_is_visible() -> None:
    with guarded() as tty:
        plain(60).print("[red]x\x1b[31m\x1b[2J\u202e")
        assert tty.said() == "[red]x\\x1b[2J\\u202e\n"


def test_texts_are_no_markup_and_a_table_keeps_its_columns() -> None:
    with guarded():
        table: Table = grid(("a", "b"), [("\x1b[2J", "[link=file://x]y[/link]"), ("\u2028", "z")])
        drawn = as_text(table).split("\n")
        assert drawn[2:] == ["\\x1b[2J │ [link=file://x]y[/link]", "\\u2028  │ z"]


def test_what_a_text_begins_with_has_its_length_when_it_is_visible() -> None:
    assert beginning("\x1b" * 100, 20) == r"\x1b\x1b\x1b\x1b\x1b"[:19] + "…"


# A process


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_whatever_the_encoding(tmp_path: Path, encoding: str) -> None:
    """click writes UTF-8 past a stream that says it is ASCII."""
    code = "import click\nfrom aider_gardener.cli.root import main\n"
    code += (
        "main.add_command(click.Command('x', callback=lambda: click.echo('é\\x9b2J\\u202e')))\nmain(['x'])"
    )
    environ = {**os.environ, "PYTHONIOENCODING": encoding}
    done = subprocess.run([sys.executable, "-c", code], env=environ, capture_output=True, check=True)
    assert done.stdout.decode("utf-8" if encoding == "ascii" else encoding) == f"é\\x9b2J\\u202e{os.linesep}"


def test_a_traceback_of_ours_is_visible_too() -> None:
    code = "import click\nfrom aider_gardener.cli.root import main\n"
    code += "def x(): raise RuntimeError('\\x1b[2J')\nmain.add_command(click.Command('x', callback=x))\nmain(['x'])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True)
    assert done.returncode == 1 and b"\x1b" not in done.stderr and rb"RuntimeError: \x1b[2J" in done.stderr
