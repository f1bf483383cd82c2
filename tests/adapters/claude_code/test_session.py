"""A chat of Claude Code in the archive: taken in once, however often it is told, and recalled when it is lost."""

from __future__ import annotations

import re
from dataclasses import asdict

import pytest

from aider_gardener.adapters.claude_code.hooks import Hooks
from aider_gardener.adapters.claude_code.session import (
    BOUNDARY_BYTES,
    HOST,
    ClaudeSession,
    boundary_of,
    provider,
)
from aider_gardener.adapters.intake import UNKNOWN_RECORD, Progress
from aider_gardener.archive.archive import Archive
from aider_gardener.archive.store import Store
from aider_gardener.messages import Focus, Message, SourceKind
from aider_gardener.settings import Settings
from aider_gardener.tokens import approximate
from bench.claude_transcript import Host

from .hooked import FACT, QUESTION

PROJECT = "/project"


def chat(store: Store, host: Host, **options: object) -> ClaudeSession:
    settings = Settings(**options)  # type: ignore[arg-type]
    return ClaudeSession(store, host.session, PROJECT, settings, clock=lambda: host.now)


def told(store: Store, host: Host) -> list[str]:
    return [entry.content for entry in store.session_entries(host.session)]


def said_in_aider(store: Store, provider: str) -> None:
    """Put the fact into a chat that aider held with a model of this provider."""
    aider = Archive(store, session="a", project=PROJECT, count=approximate, clock=lambda: 1.7e9)
    aider.provider = provider
    aider.add(Message("user", FACT), turn=1, seq=0, focus=Focus())


def test_what_is_new_is_taken_in_once(store: Store, host: Host) -> None:
    host.ask(FACT)
    host.answer("I will remember.")
    assert chat(store, host).take_in(host.path) == 2
    host.ask("Go on.")
    assert chat(store, host).take_in(host.path) == 1
    assert chat(store, host).take_in(host.path) == 0
    assert told(store, host) == [FACT, "I will remember.", "Go on."]
    entries = store.session_entries(host.session)
    assert [entry.turn for entry in entries] == [1, 1, 2]
    assert entries[0].provider == "anthropic" and entries[0].created_at < entries[2].created_at
    assert store.get_state(host.session, "host") == HOST


def test_a_second_compaction_that_writes_the_history_again_adds_nothing(store: Store, host: Host) -> None:
    host.ask(FACT)
    host.ask("Yes.")
    host.compact()
    host.ask("Add a worker.")
    host.compact()
    assert host.path.read_text(encoding="utf-8").count("9317") == 2, "the host did write it again"
    chat(store, host).take_in(host.path)
    assert sum(FACT in text for text in told(store, host)) == 1
    typed = [e for e in store.session_entries(host.session) if e.source.kind is SourceKind.TYPED]
    assert [entry.turn for entry in typed] == [1, 2, 3]


def test_words_said_once_more_are_said_once_more(store: Store, host: Host) -> None:
    for _time in range(3):
        host.ask("Yes.")
    chat(store, host).take_in(host.path)
    assert told(store, host) == ["Yes."] * 3


def test_other_chats_come_in_only_by_choice_and_with_their_hosts_name(store: Store, host: Host) -> None:
    said_in_aider(store, "openai")
    host.ask("Hello.")
    session = chat(store, host)
    session.take_in(host.path)
    assert session.recall_note(QUESTION, boundary_of(host.path)) == ""
    note = chat(store, host, recall_sessions=True).recall_note(QUESTION, boundary_of(host.path))
    assert re.search(r", in an earlier chat of \d{4}-\d\d-\d\d, in aider\]\n> " + re.escape(FACT), note)


def test_what_an_answer_recalled_counts_as_accessed_behind_it(store: Store, host: Host) -> None:
    host.ask(FACT)
    host.ask("Something else.")
    host.compact()
    chat(store, host).take_in(host.path)
    served = Hooks(store, PROJECT, settings=Settings(), clock=lambda: host.now)
    (fact,) = (entry.id for entry in store.session_entries(host.session) if entry.content == FACT)
    assert served.answer("UserPromptSubmit", host.payload("UserPromptSubmit", prompt=QUESTION))
    assert store.get(fact).access_count == 0, "no lock is waited for before the answer"
    served.take_in(host.payload("UserPromptSubmit"))
    assert store.get(fact).access_count == 1


def test_what_was_said_to_a_local_model_stays_here_and_that_is_told(
    store: Store, host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    said_in_aider(store, "ollama")
    host.ask("Hello.")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:4000")  # perhaps a proxy to anywhere
    session = chat(store, host, recall_sessions=True)
    session.take_in(host.path)
    note = session.recall_note(QUESTION, boundary_of(host.path))
    assert FACT not in note and "1 messages that fit" in note and "AIDER_GARDENER_LOCAL=true" in note
    monkeypatch.setenv("AIDER_GARDENER_LOCAL", "true")
    note = chat(store, host, recall_sessions=True).recall_note(QUESTION, boundary_of(host.path))
    assert FACT in note and "withheld" not in note


def test_a_shortened_result_is_archived_whole_and_its_short_form_is_not(store: Store, host: Host) -> None:
    host.ask("Look at the log.")
    log = "\n".join(f"2026-01-01 10:00:{n % 60:02} INFO item {n} done" for n in range(900))
    served = Hooks(store, PROJECT, settings=Settings(), clock=lambda: host.now)
    tool = {"tool_name": "Bash", "tool_input": {"command": "cat log"}, "tool_response": {"stdout": log}}
    made = served.answer("PostToolUse", host.payload("PostToolUse", **tool))
    short = made["hookSpecificOutput"]["updatedToolOutput"]["stdout"]
    assert short.startswith("[shortened by aider-gardener: the whole is g") and len(short) < len(log) / 2
    host.run("cat log", short)
    again = chat(store, host)
    again.take_in(host.path)
    assert told(store, host) == ["Look at the log.", log]
    assert "item 321 done" in again.recall_note("Was item 321 done in the log?", boundary_of(host.path))


def test_an_unknown_record_is_kept_and_counted(store: Store, host: Host) -> None:
    host.write({"type": "hologram", "beam": 7})
    session = chat(store, host)
    session.take_in(host.path)
    (entry,) = store.session_entries(host.session)
    assert '"beam": 7' in entry.content and entry.source.kind is SourceKind.NOTICE
    assert [event.data for event in store.events(kind=UNKNOWN_RECORD)] == [{"type": "hologram"}]


def test_a_result_that_comes_later_is_told_with_its_command(store: Store, host: Host) -> None:
    host.said({"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "pytest -q"}})
    chat(store, host).take_in(host.path)
    host.result("t", "1 failed")
    chat(store, host).take_in(host.path)
    (entry,) = store.session_entries(host.session)
    assert (entry.source.kind, entry.source.detail) == (SourceKind.TEST, "pytest -q")


def test_time_ends_a_taking_in_and_the_next_goes_on(store: Store, host: Host) -> None:
    for turn in range(5):
        host.ask(f"Step {turn}.")
    session = chat(store, host)
    assert session.take_in(host.path, seconds=0.0) == 1
    assert chat(store, host).take_in(host.path) == 4


def test_what_cannot_be_read_of_the_progress_begins_anew() -> None:
    assert Progress.read("{") == Progress.read("[]") == Progress.read('{"mystery": 1}') == Progress()
    assert Progress.read('{"offset": 3, "calls": {}}') == Progress(offset=3), "an earlier build kept more"
    assert set(asdict(Progress())) >= {"offset", "turn"}


def test_the_window_and_the_last_prompt_are_kept_for_reports(store: Store, host: Host) -> None:
    host.ask("Hello.")
    host.answer("Hello.")
    chat(store, host).take_in(host.path)
    from aider_gardener.gardener.stored_chat import last_frame

    frame = last_frame(store, host.session)
    assert frame.window == 200_000 and frame.parts["prompt"] > 0 and frame.model == "claude-sonnet-5"


@pytest.mark.parametrize(
    ("address", "name"),
    [
        ("", "anthropic"),
        ("http://localhost:8080/v1", "anthropic@loopback"),
        ("http://127.0.1.1:4000", "anthropic@loopback"),
        ("https://proxy.example", "anthropic@away"),
    ],
)
def test_the_provider_is_here_only_where_the_user_says_so(address: str, name: str) -> None:
    assert provider({"ANTHROPIC_BASE_URL": address}) == name
    said = {"ANTHROPIC_BASE_URL": address, "AIDER_GARDENER_LOCAL": "true"}
    assert provider(said) == "anthropic@here"
    assert provider({**said, "AIDER_GARDENER_LOCAL": "no"}) == name


def test_recall_does_not_feed_on_itself(store: Store, host: Host) -> None:
    host.ask("Hello.")
    host.run("gardener recall port", f"2 days ago\n> {FACT}")
    host.said(
        {"type": "tool_use", "id": "toolu_x", "name": "mcp__gardener__recall", "input": {"query": "port"}}
    )
    host.result("toolu_x", f"> {FACT} Again.")
    host.ask("Something else.")
    host.compact()
    session = chat(store, host)
    session.take_in(host.path)
    kinds = {e.content: e.source.kind for e in store.session_entries(host.session) if "9317" in e.content}
    assert len(kinds) == 2 and set(kinds.values()) == {SourceKind.STUB}
    assert session.recall_note(QUESTION, boundary_of(host.path)) == ""


def test_a_boundary_is_a_record_of_the_hosts_and_no_word(store: Store, host: Host) -> None:
    host.ask('A "compact_boundary"?')
    host.write({"type": "progress", "subtype": "compact_boundary"})
    host.write({"type": "system", "subtype": "compact_boundary", "more": "x" * BOUNDARY_BYTES})
    assert boundary_of(host.path) == boundary_of(None) == boundary_of(host.path / "none") == 0
    size = host.path.stat().st_size
    host.compact()
    host.write({"type": "progress", "data": ["compact_boundary"] * 9})
    assert boundary_of(host.path) >= size
