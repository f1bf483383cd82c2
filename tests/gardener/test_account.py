"""What came of a session is read from the archive: prompts with their results, files, errors and whether they went."""

from __future__ import annotations

from typing import Any

import pytest
from made_entries import message, words

from aider_gardener.archive.archive import Archive
from aider_gardener.archive.sessions import session_named
from aider_gardener.archive.store import Store, open_store
from aider_gardener.gardener.account import Account, account, is_of
from aider_gardener.gardener.gardener import Gardener
from aider_gardener.settings import Settings

EDIT = "Here it is.\n\n{path}\n```python\n<<<<<<< SEARCH\na = 1\n=======\na = 2\n>>>>>>> REPLACE\n```\n"
COMMIT = "I committed the changes with git hash cfd9539 & commit msg: fix: say two\n\nbody"
FAILED = "FAILED tests/test_a.py::test_one - assert 1 == 2\n1 failed, 3 passed in 0.10s"
PASSED = "4 passed in 0.10s"


def ran(command: str, output: str) -> str:
    return f"I ran this command:\n\n{command}\n\nAnd got this output:\n\n{output}"


def chat(store: Store, *said: str, session: str = "s", at: float = 1_000.0, project: str = "p") -> Gardener:
    """A chat of so many messages, the user's and the model's in turn; each of the user's is a turn."""
    gardener = Gardener(
        Settings(), Archive(store, session=session, project=project, count=words, clock=lambda: at)
    )
    messages: list[dict[str, Any]] = []
    for number, text in enumerate(said):
        if number % 2 == 0:
            gardener.enter_turn()
        messages.append(message("assistant" if number % 2 else "user", text))
        gardener.sync(messages, [])
        gardener.leave_turn()
    return gardener


def read(store: Store, session: str = "last") -> Account:
    return account(store, session_named(store, "p", session))


def test_a_prompt_has_its_reply_its_edits_its_commit_and_what_was_run() -> None:
    store = open_store(None)
    chat(
        store, "make it two", EDIT.format(path="src/a.py"), COMMIT, "Ok.", ran("pytest -q", FAILED), "Ok.",
        "and now?", "It is two.",
    )  # fmt: skip
    first, second = read(store).steps
    assert (first.turn, first.asked, second.asked) == (1, "make it two", "and now?")
    assert first.entry_id.startswith("g")
    assert [reply.edited for reply in first.replies] == [("src/a.py",)]
    assert "SEARCH" not in first.replies[0].line and "edited" not in first.replies[0].line
    assert [(c.hash, c.message) for c in first.commits] == [("cfd9539", "fix: say two")]
    assert first.runs[0].command == "pytest -q" and "1 failed" in first.runs[0].line
    assert "pytest -q:" not in first.runs[0].line
    assert second.replies[0].line == "It is two." and not second.commits


def test_files_are_counted_and_an_edit_that_was_undone_is_not() -> None:
    store = open_store(None)
    gardener = chat(
        store,
        "a",
        EDIT.format(path="a.py"),
        "b",
        EDIT.format(path="b.py"),
        "c",
        "Again. " + EDIT.format(path="a.py"),
    )
    assert [(f.path, f.times, f.turn) for f in read(store).files] == [("a.py", 2, 3), ("b.py", 1, 2)]
    gardener.edit_undone()
    found = read(store)
    assert [(f.path, f.times) for f in found.files] == [("a.py", 1), ("b.py", 1)]
    assert [reply.undone for step in found.steps for reply in step.replies] == [False, False, True]


def test_an_edit_that_did_not_apply_is_none() -> None:
    store = open_store(None)
    refused = "# 1 SEARCH/REPLACE block failed to match!\n\n## SearchReplaceNoExactMatch: a.py"
    chat(store, "a", EDIT.format(path="a.py"), refused, "I see.")
    assert read(store).files == ()


def test_an_error_is_gone_when_its_tests_ran_without_it() -> None:
    store = open_store(None)
    chat(store, ran("pytest -q", FAILED), "Ok.", ran("pytest tests/test_b.py", PASSED), "Ok.")
    assert [met.gone_turn for met in read(store).errors] == [0]
    chat(
        store,
        ran("pytest -q", FAILED),
        "Ok.",
        "mend",
        "Done.",
        ran("pytest -q tests", PASSED),
        "Ok.",
        session="t",
    )
    (met,) = read(store, "t").errors
    assert (met.text, met.first_turn, met.gone_turn) == ("tests/test_a.py::test_one", 1, 3)
    assert read(store, "t").open_errors == []


def test_an_error_that_comes_back_is_open_again() -> None:
    store = open_store(None)
    chat(store, *(text for output in (FAILED, PASSED, FAILED) for text in (ran("pytest", output), "Ok.")))
    (met,) = read(store).open_errors
    assert (met.first_turn, met.turn) == (1, 3)


@pytest.mark.parametrize(
    ("command", "fault", "says"),
    [
        ("pytest -q", "tests/a.py::test_x", True),
        ("python3.11 -m pytest -q", "tests/a.py::test_x", True),
        ("pytest tests/b.py", "tests/a.py::test_x", False),
        ("pytest tests/a.py::test_y", "tests/a.py::test_x", True),
        ("pytest ./tests", "tests/a.py::test_x", True),
        ("pytest -k y", "tests/a.py::test_x", False),
        ("pytest | tail -1", "tests/a.py::test_x", False),
        ("cargo test --offline 2>&1", "open_cuts", True),
        ("cargo test --test store", "open_cuts", False),
        ("node --test --test-reporter=spec test/", "rounds halves", True),
        ("node --test test/b.test.js", "rounds halves", False),
    ],
)
def test_a_run_of_some_tests_says_nothing_of_the_others(command: str, fault: str, says: bool) -> None:
    assert is_of(command, fault) is says


def test_rules_decisions_and_pinned_messages_are_told_with_their_ids() -> None:
    store = open_store(None)
    gardener = chat(store, "never touch the migrations", "I won't.", "we'll use httpx, not requests", "Fine.")
    gardener.add_rule("keep it short")
    entry = next(iter(gardener.state.chat.entries.values()))
    gardener.pin(entry.id)
    found = read(store)
    assert found.rules[0].text == "never touch the migrations"
    assert [rule.entry_id for rule in found.rules if rule.text == "keep it short"] == [""]
    assert found.decisions[-1].text.startswith("we'll use httpx")
    assert [pinned.id for pinned in found.pinned] == [entry.id]
