"""Which older entries may come back unasked."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from made_entries import talk, words

from aider_gardener.archive.archive import Archive
from aider_gardener.archive.providers import may_go
from aider_gardener.archive.sessions import clear_floor, project_sessions, session_named, short_ids
from aider_gardener.archive.store import Store, open_store
from aider_gardener.errors import UsageError
from aider_gardener.gardener.gardener import Gardener
from aider_gardener.settings import Settings

FACT = ("which port has the staging box kestrel?", "The staging box kestrel listens on port 48213.")


def chat(store: Store, session: str, *, project: str = "p", provider: str = "openai") -> Gardener:
    archive = Archive(store, session=session, project=project, count=words, clock=lambda: 1_000.0)
    archive.provider = provider
    return Gardener(Settings(recall_sessions=True, history_tokens=4_000), archive)


@pytest.mark.parametrize(
    ("first", "second", "allowed"),
    [
        ("openai", "anthropic", True),
        ("ollama", "openai", False),
        ("ollama_chat", "ollama", True),
        ("openai@here", "openai", False),
        ("openai@here", "openai@here", True),
        ("openai@loopback", "openai", False),
        ("openai@loopback", "openai@loopback", True),
        ("openai@loopback", "ollama", True),
        ("ollama", "openai@loopback", False),
        ("openai@here", "anthropic@loopback", False),
        ("openai", "ollama", True),
        ("ollama@away", "openai", False),
        ("ollama", "ollama@away", False),
        ("", "openai", False),
        ("", "ollama", True),
    ],
)
def test_what_was_said_to_a_local_model_stays_here(first: str, second: str, allowed: bool) -> None:
    assert may_go(first, second) is allowed


def note_of(gardener: Gardener) -> str:
    return gardener.recall_note(FACT[0], "")


def test_a_chat_cleared_by_its_host_is_cleared_for_good() -> None:
    store = open_store(None)
    old = chat(store, "old")
    old.sync(talk(FACT), [])
    old.sync([], [])
    assert clear_floor(store, "old") == 2
    assert note_of(chat(store, "new")) == ""


def test_a_session_is_named_by_its_beginning_its_number_or_as_the_last() -> None:
    store = open_store(None)
    with pytest.raises(UsageError, match="holds no chat of p"):
        session_named(store, "p", "last")
    for at, session in enumerate(("abcd1111", "abcd2222", "12345678", "notes-77")):
        archive = Archive(store, session=session, project="p", count=words, clock=lambda at=at: 1_000.0 + at)
        Gardener(Settings(), archive).sync(talk(("a", f"b {at}")), [])
    chat(store, "empty")
    assert [info.id for info in project_sessions(store, "p")] == [
        "notes-77",
        "12345678",
        "abcd2222",
        "abcd1111",
    ]
    for given, wanted in (("last", 1), ("1", 0), ("1234", 1), ("abcd2", 2), ("4", 3), (" ABCD1", 3)):
        assert session_named(store, "p", given) == project_sessions(store, "p")[wanted]
    for given, why in (
        ("abcd", "2 sessions begin with abcd"),
        ("9", "no session"),
        ("", "begins with nothing"),
    ):
        with pytest.raises(UsageError, match=f"{why}.*gardener sessions` lists"):
            session_named(store, "p", given)
    with pytest.raises(UsageError, match="holds no chat of elsewhere"):
        session_named(store, "elsewhere", "last")


def test_an_id_is_shown_as_far_as_no_other_begins_so() -> None:
    ids = ["abcd1111", "abcd1222", "ffff0000"]
    assert short_ids(ids) == {"abcd1111": "abcd11", "abcd1222": "abcd12", "ffff0000": "ffff"}
    assert short_ids(["abc", "abc"]) == {"abc": "abc"} and short_ids([]) == {}
    assert short_ids(["a\nbcdef"]) == {"a\nbcdef": r"a\nbc"}, "in a list it stands on one line"


def test_an_archive_in_a_project_holds_its_chats_whatever_the_folder_was_called(tmp_path: Path) -> None:
    with closing(open_store(tmp_path / "old" / ".aider.gardener")) as store:
        chat(store, "one", project=str(tmp_path / "old")).sync(talk(FACT), [])
        assert store.forget_session("one") == 2
        chat(store, "two", project=str(tmp_path / "old")).sync(talk(FACT), [])
        store.add(replace(store.session_entries("two")[0], session="one"), chunks=[])  # forgotten while open
    (tmp_path / "old").rename(tmp_path / "new")
    with closing(open_store(tmp_path / "new" / ".aider.gardener")) as store:
        assert {info.id for info in project_sessions(store, str(tmp_path / "new"))} == {"one", "two"}
        assert project_sessions(store, str(tmp_path / "elsewhere")) == []
