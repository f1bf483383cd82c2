"""Past chats in a terminal: within its width."""

from __future__ import annotations

import pytest
from rich.cells import cell_len

from aider_gardener.cli.sessions import chats_table, transcript_lines
from aider_gardener.gardener.past_chats import PastChat, Said, Shown, Transcript, Turn
from aider_gardener.gardener.state import ChatSums
from aider_gardener.messages import Fidelity
from aider_gardener.tables import as_text

NOW = 1_780_000_000.0
SUMS = ChatSums(prompt_tokens=86_700, cost=1.234)


def chat(prompt: str, **changes: object) -> PastChat:
    known = {
        "number": 1, "id": "3fa29c0d", "short": "3fa2", "started_at": NOW - 900, "last_at": NOW, "turns": 12,
        "first_prompt": prompt, "model": "gpt-4o", "sums": SUMS, "in_chat": ("a.py",), "edited": ("a.py", "b.py"),
    }  # fmt: skip
    return PastChat(**{**known, **changes})  # type: ignore[arg-type]


def said(text: str, speaker: str = "output", **changes: object) -> Said:
    known = {"id": "g1", "speaker": speaker, "detail": "", "text": text, "tokens": 9, "at": NOW}
    known |= {"pinned": False, "cleared": False, "shown": ()}
    return Said(**{**known, **changes})  # type: ignore[arg-type]


def lines_of(*rows: Said, full: bool = False) -> list[str]:
    return list(transcript_lines(Transcript(chat("x"), (Turn(1, rows),)), full=full))


@pytest.mark.parametrize("columns", [80, 120])
@pytest.mark.parametrize(
    "prompt", ["a short one", "many words of a prompt " * 20, "修复连接池" * 40, "two\nlines"]
)
def test_a_list_keeps_to_the_width(prompt: str, columns: int) -> None:
    head, line = as_text(chats_table([chat(prompt)]), width=columns).splitlines()
    assert cell_len(head) <= columns and cell_len(line) <= columns
    assert "12" in line and "86.7k" in line and "$1.23" in line and "3fa2" in line and "\n" not in line
    assert line.split()[7] == "2"
    assert ("…" in line) == (cell_len(prompt) > 100 or cell_len(prompt) > columns)


def test_of_long_outputs_both_ends_are_shown_unless_all_is_asked_for() -> None:
    long = "\n".join(f"line {n}" for n in range(100))
    short = lines_of(said(long))
    assert "… 60 lines more: --full, or gardener restore g1" in short
    assert "line 19" in short and "line 20" not in short and "line 99" in short
    assert "line 50" in lines_of(said(long), full=True) and "line 50" in lines_of(said(long, "you"))


def test_what_the_model_saw_less_of_and_what_was_cleared_is_told_in_a_line() -> None:
    one = said("words", shown=(Shown(4, Fidelity.LINE, 3, "w"),), cleared=True)
    two = said("more")
    found = list(transcript_lines(Transcript(chat("x"), (Turn(1, (one,)), Turn(2, (two,)))), full=False))
    assert "(In prompts: shorter from turn 4 (3 of 9 tokens). gardener why g1)" in found
    assert sum("What stands above was cleared" in line for line in found) == 1
    assert found[1:4] == [
        "12 turns, 86.7k tokens sent, $1.23",
        "In the chat at its end: a.py",
        "Edited: a.py, b.py",
    ]
