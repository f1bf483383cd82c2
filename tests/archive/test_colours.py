"""A terminal's control sequences: the original keeps them byte for byte, nothing that is read of it has one."""

from __future__ import annotations

import pytest
from made_entries import words
from made_search import found

from aider_gardener.archive.archive import Archive
from aider_gardener.archive.store import open_store
from aider_gardener.messages import Focus, Level, Message, Source, SourceKind
from aider_gardener.notes.names import mine

RED, GREEN, BOLD, PLAIN = "\x1b[31m", "\x1b[38;5;40m", "\x1b[1m", "\x1b[0m"
LINES = [f"{GREEN}2024-05-01{PLAIN} {BOLD}worker_{n}{PLAIN} took the lease in {n} ms" for n in range(90)]
LOG = "\n".join(
    [*LINES, f"{RED}FAILED{PLAIN} tests/test_{RED}lease{PLAIN}.py::test_renewal", "\x1b[2K\x1b[1A"]
)
OUTPUT = f"I ran this command:\n\npytest -q\n\nAnd got this output:\n\n{LOG}\n"
TALK = f"Why does {BOLD}renew_lease{PLAIN} wait?\n\n" + "\n\n".join(
    f"{RED}Part {n}{PLAIN} of the answer says that the {BOLD}lease_{n}{PLAIN} is renewed." for n in range(40)
)
SOURCES = {OUTPUT: Source(SourceKind.COMMAND, "pytest -q"), TALK: Source(SourceKind.REPLY)}


@pytest.mark.parametrize("text", [OUTPUT, TALK], ids=["output", "talk"])
def test_nothing_that_is_read_has_a_code_and_the_original_has_all(text: str) -> None:
    archive = Archive(open_store(None), session="s", project="p", count=words, clock=lambda: 1_000.0)
    entry = archive.add(Message("user", text), turn=1, seq=0, focus=Focus(), source=SOURCES[text])
    assert archive.store.original(entry.id) == entry.content == text
    forms = archive.renditions(entry)
    assert forms.keys() == {Level.COMPRESSED, Level.LINE}
    assert [form for form in forms.values() if "\x1b" in form.text or "[0m" in form.text] == []
    named = mine(entry)
    assert named and [name for name in named if name.startswith(("m2024", "mFAILED", "31m", "0m"))] == []
    pending = archive.store.vectors_pending(100, "any")
    assert pending and [each.text for each in pending if "\x1b" in each.text] == []


def test_a_word_that_is_coloured_in_part_is_found_as_it_is_read() -> None:
    archive = Archive(open_store(None), session="s", project="p", count=words, clock=lambda: 1_000.0)
    entry = archive.add(Message("user", f"it says {RED}qua{PLAIN}dratic"), turn=1, seq=0, focus=Focus())
    assert found(archive.store, "quadratic") == [entry.id]
    assert found(archive.store, "31mqua") == []
