"""What came of a session is read from the archive: prompts with their results, files, errors and whether they went."""

from __future__ import annotations

from typing import Any

from made_entries import message, words

from aider_gardener.archive.archive import Archive
from aider_gardener.archive.sessions import session_named
from aider_gardener.archive.store import Store, open_store
from aider_gardener.gardener.gardener import Gardener
from aider_gardener.gardener.past_chats import Account, account
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


def test_files_are_those_of_edits_that_applied_and_were_not_undone() -> None:
    store = open_store(None)
    refused = "# 1 SEARCH/REPLACE block failed to match!\n\n## SearchReplaceNoExactMatch: c.py"
    gardener = chat(
        store, "a", EDIT.format(path="a.py"), "c", EDIT.format(path="c.py"), refused, "I see.",
        "b", EDIT.format(path="b.py"), COMMIT, "Ok.",
    )  # fmt: skip
    gardener.edit_undone("cfd9530")
    assert read(store).files == ("b.py", "a.py")
    gardener.edit_undone("cfd9539be0")
    assert read(store).files == ("a.py",)


def test_what_was_asked_and_decided_is_told() -> None:
    store = open_store(None)
    chat(store, "never touch the migrations", "I won't.", "we'll use httpx, not requests", "Fine.")
    found = read(store)
    assert found.asked == ("never touch the migrations", "we'll use httpx, not requests")
    assert found.decisions[-1].text.startswith("we'll use httpx")
