"""The account of the last chat."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_entries import talk, words

from aider_gardener.archive.archive import Archive
from aider_gardener.archive.store import Store, open_store
from aider_gardener.gardener.gardener import Gardener
from aider_gardener.notes.last_chat import ASKED, FAILING, ROOM, LastTime, edited_files, last_time
from aider_gardener.reading.source import RUN_HEAD, RUN_MIDDLE
from aider_gardener.settings import Settings

FAILED = "FAILED tests/test_a.py::test_b - assert 1 == 2\n1 failed in 0.1s\n"
PASSED = "1 passed in 0.1s\n"
SHOWN_COMMIT = """commit bf799c4
Author: Dev <dev@example.com>

    fix: a failed append leaves no torn bytes behind

diff --git a/notes.txt b/notes.txt
--- a/notes.txt
+++ b/notes.txt
@@ -1,2 +1,3 @@
 what the build says:
+src/main.rs:3: error: `x` is not declared
-src/main.rs:3: warning: `x` is not used
 end
"""


def chat(store: Store, session: str, messages: list[dict[str, Any]]) -> Gardener:
    archive = Archive(store, session=session, project="p", count=words, clock=lambda: 1_000.0)
    archive.provider = "openai"
    gardener = Gardener(Settings(), archive)
    gardener.sync(messages, [])
    return gardener


def told(store: Store, token_limit: int = 600) -> LastTime | None:
    return last_time(chat(store, "new", []).state.archive, token_limit=token_limit)


def ran(command: str, output: str) -> tuple[str, str]:
    return RUN_HEAD + command + RUN_MIDDLE + output, "Ok."


def test_prompts_come_with_the_last_reply_to_each() -> None:
    store = open_store(None)
    restored = [{"role": "user", "content": typed} for typed in ("/run echo hello", "/exit")]
    chat(store, "old", [*talk(("do this", "First try."), ("do that", "That is done.")), *restored])
    found = told(store)
    assert "do this" in found.note and "/exit" not in found.note
    assert "→ That is done." in found.note
    assert found.rows[ASKED] == 2


def test_an_error_that_was_mended_is_not_open() -> None:
    store = open_store(None)
    chat(store, "old", talk(("go", "Yes."), ran("pytest", FAILED), ran("mypy .", "a.py:1: error: bad  [misc]\n"),
                            ran("pytest", PASSED)))  # fmt: skip
    found = told(store)
    assert found.rows[FAILING] == 1
    assert "mypy" in found.note
    assert "test_b" not in found.note


@pytest.mark.parametrize(
    ("output", "is_open"),
    [
        ("cc -o t t.c\nt.c: In Funktion »main«:\nt.c:3:5: Fehler: »x« nicht deklariert\n", True),
        ("ok 1 - a\nnot ok 2 - b\n1..2\n# pass 1\n# fail 1\n", True),
        ("ok 1 - a\nok 2 - b\n1..2\n# pass 2\n# fail 0\n", False),
        ('src/a.py:12:    raise StoreError("bad error")\nsrc/b.py:14:    except OSError as error:\n', False),
        (SHOWN_COMMIT, False),
    ],
)
def test_what_failed_is_open_in_any_tool_and_language(output: str, is_open: bool) -> None:
    store = open_store(None)
    chat(store, "old", talk(("go", "Yes."), ran("make check", output)))
    found = told(store)
    assert bool(found.rows.get(FAILING)) == is_open


def test_of_edited_files_the_last_are_named() -> None:
    block = "f{0}.py\n<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n"
    turns = [(f"edit {number}", block.format(number % 8)) for number in range(20)]
    entries = chat(open_store(None), "old", talk(*turns)).state.chat.all_entries()
    assert edited_files(entries, 3) == ["f3.py", "f2.py", "f1.py"]
    assert sorted(edited_files(entries)) == [f"f{number}.py" for number in range(8)]


def test_a_file_whose_edit_was_not_applied_is_not_named() -> None:
    block = "{0}.py\n<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n"
    no_edit = "I didn't see any properly formatted edits in your reply?!"
    failed = "# 1 SEARCH/REPLACE block failed to match!"
    said = talk(("a", block.format("a")), ("b", block.format("b")), (no_edit, "Ok."), (failed, "Then not."))
    assert edited_files(chat(open_store(None), "old", said).state.chat.all_entries()) == ["a.py"]


def test_the_newest_chat_of_which_something_may_be_told() -> None:
    store = open_store(None)
    chat(store, "first", talk(("the first thing", "Done.")))
    dropped = chat(store, "second", talk(("the dropped thing", "Done.")))
    dropped.clear()
    found = told(store)
    assert found.session.id == "first"
    assert "the dropped thing" not in found.note


def test_without_an_older_chat_there_is_nothing() -> None:
    assert told(open_store(None)) is None


@settings(max_examples=30, deadline=None)
@given(
    turns=st.lists(
        st.tuples(st.text(min_size=1, max_size=300), st.text(min_size=1, max_size=300)), max_size=12
    ),
    limit=st.integers(0, 700),
)
def test_the_account_keeps_its_limit_and_cannot_be_left(turns: list[tuple[str, str]], limit: int) -> None:
    store = open_store(None)
    chat(store, "old", talk(*(turn for turn in turns if turn[0].strip() and turn[1].strip())))
    found = told(store, limit)
    if found is None:
        return
    assert found.tokens == words(found.note) <= min(limit, 600)
    body = found.note.splitlines()[1:-1]
    assert all(line.startswith("> ") or line in ROOM for line in body)
