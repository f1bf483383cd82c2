"""What came of a session, as the index tells it: what was asked and decided, which edits stand."""

from __future__ import annotations

from typing import Any

from made_entries import message, words

from aider_gardener.archive.archive import Archive
from aider_gardener.archive.store import Store, open_store
from aider_gardener.gardener.compactions import show
from aider_gardener.gardener.files import project_index
from aider_gardener.gardener.gardener import Gardener
from aider_gardener.messages import Level
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


def told(store: Store) -> list[str]:
    """The lines of the only session in the index."""
    return [line.strip() for line in project_index(store, "p").split("\n") if line.startswith("    ")]


def test_files_are_those_of_edits_that_applied_and_were_not_undone() -> None:
    store = open_store(None)
    refused = "# 1 SEARCH/REPLACE block failed to match!\n\n## SearchReplaceNoExactMatch: c.py"
    gardener = chat(
        store, "a", EDIT.format(path="a.py"), "c", EDIT.format(path="c.py"), refused, "I see.",
        "b", EDIT.format(path="b.py"), COMMIT, "Ok.",
    )  # fmt: skip
    gardener.edit_undone("cfd9530")
    assert "Done: 1 commit; edited b.py, a.py" in told(store)
    gardener.edit_undone("cfd9539be0")
    assert "Done: 1 commit; edited a.py" in told(store)


def test_a_note_says_at_once_that_an_edit_was_undone() -> None:
    gardener = chat(open_store(None), "a", EDIT.format(path="a.py"), COMMIT, "Ok.", "b", "Fine.")
    show(gardener.state, {1: Level.HIDDEN}, "made")
    as_it_was = gardener.state.chat
    gardener.edit_undone("a commit that no edit here was made in")
    assert gardener.state.chat is as_it_was
    gardener.edit_undone("cfd9539be0")
    assert "edited a.py (+1 −1), undone" in gardener.state.chat.pieces[0].content


def test_of_many_files_some_are_named() -> None:
    store = open_store(None)
    chat(store, *(each for n in range(8) for each in (f"do {n}", EDIT.format(path=f"{n}.py"))))
    assert "Done: 0 commits; edited 7.py, 6.py, 5.py, 4.py, 3.py, 2.py and 2 more" in told(store)
