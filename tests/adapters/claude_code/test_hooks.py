"""What each hook answers, given JSON as the host hands it over."""

from __future__ import annotations

import copy
import json
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aider_gardener.adapters.claude_code.hooks import (
    COMPACTED_TOKENS,
    HOST,
    START_TOKENS,
    WHOLE_BYTES,
    Hooks,
    agent_of,
    boundary_of,
    provider,
)
from aider_gardener.adapters.codex.rollout import RolloutReader
from aider_gardener.adapters.intake import UNKNOWN_RECORD, Intake, Progress
from aider_gardener.archive.archive import Archive
from aider_gardener.archive.sessions import host_of
from aider_gardener.archive.store import Store
from aider_gardener.gardener.report import last_pressure
from aider_gardener.gardener.stored_chat import last_frame
from aider_gardener.messages import Focus, Message, SourceKind
from aider_gardener.settings import Settings
from aider_gardener.tokens import MESSAGE_OVERHEAD_TOKENS, approximate
from bench.claude_transcript import Host

from .hooked import FACT, LOG, QUESTION


def hooks(store: Store, host: Host, **options: object) -> Hooks:
    made = Settings(**options)  # type: ignore[arg-type]
    return Hooks(store, "/project", settings=made, clock=lambda: host.now)


def added(answer: dict[str, Any]) -> str:
    return str(answer.get("hookSpecificOutput", {}).get("additionalContext", ""))


def bash(stdout: str, **more: object) -> dict[str, Any]:
    result = {"stdout": stdout, "stderr": "", "interrupted": False, "isImage": False, **more}
    return {"tool_name": "Bash", "tool_input": {"command": "cat app.log"}, "tool_response": result}


def test_a_session_of_60_events_brings_a_fact_back_over_two_compactions(store: Store, host: Host) -> None:
    served = hooks(store, host)
    events = 1
    assert served.answer("SessionStart", host.payload("SessionStart", source="startup")) == {}
    host.ask(FACT)
    host.answer("Understood.")
    while events < 60:
        host.ask(f"Plan crossing {events} of the ferry.")
        assert added(
            served.answer("UserPromptSubmit", host.payload("UserPromptSubmit", prompt=host.last))
        ) == "" or (events > 20)
        host.run("cat app.log", f"crossing {events}\nall aboard")
        served.answer("PostToolUse", host.payload("PostToolUse", **bash(f"crossing {events}")))
        host.answer(f"Crossing {events} leaves at noon.")
        events += 2
        if events in (21, 41):
            served.ingest(host.payload("PreCompact", trigger="auto"))
            summary = host.compact()
            served.ingest(host.payload("PostCompact", trigger="auto", compact_summary=summary))
            block = added(served.answer("SessionStart", host.payload("SessionStart", source="compact")))
            assert FACT in block and approximate(block) <= COMPACTED_TOKENS
            events += 3
    assert "9317" not in "\n".join(host.context), "without the hooks it is lost"
    answer = served.answer("UserPromptSubmit", host.payload("UserPromptSubmit", prompt=QUESTION))
    assert answer["hookSpecificOutput"]["hookEventName"] == "UserPromptSubmit"
    assert "> " + FACT in added(answer)
    told = f"<task-notification>\n<summary>{QUESTION}</summary>\n</task-notification>"
    assert served.answer("UserPromptSubmit", host.payload("UserPromptSubmit", prompt=told)) == {}


def test_a_new_chat_hears_where_the_last_one_stood_and_after_clear_nothing(store: Store, host: Host) -> None:
    served = hooks(store, host)
    host.ask(FACT)
    served.ingest(host.payload("PreCompact"))
    new = {**host.payload("SessionStart", source="startup"), "session_id": "next", "transcript_path": "/none"}
    block = added(served.answer("SessionStart", new))
    assert FACT in block and approximate(block) <= START_TOKENS
    assert served.answer("SessionStart", {**new, "session_id": "third", "source": "clear"}) == {}
    assert served.answer("SessionStart", host.payload("SessionStart", source="resume")) == {}, "all stands"


def test_a_large_output_comes_back_short_in_the_tools_own_shape(store: Store, host: Host) -> None:
    given_ = host.payload("PostToolUse", **bash(LOG + "\n2026-01-01 11:00:00 ERROR db down code 53300"))
    before = copy.deepcopy(given_)
    answer = hooks(store, host).answer("PostToolUse", given_)
    made = answer["hookSpecificOutput"]["updatedToolOutput"]
    assert {**made, "stdout": ""} == {**given_["tool_response"], "stdout": ""}
    assert len(made["stdout"]) < len(LOG) / 2 and "ERROR db down code 53300" in made["stdout"]
    assert given_ == before, "what the host handed over is not changed"
    entry = store.session_entries(host.session)[-1]
    assert entry.content.startswith(LOG) and entry.id in made["stdout"]
    report, _state = last_pressure(store, store.sessions("/project")[0], Settings(), approximate)
    assert report.total_original_tokens == entry.tokens + MESSAGE_OVERHEAD_TOKENS
    assert 0 < report.total_summary_tokens < entry.tokens / 2, "as it stands in its host's context"


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        ("Read", {"type": "text", "file": {"filePath": "a.log", "content": LOG * 2, "numLines": 900}}),
        ("Grep", {"mode": "content", "numFiles": 1, "filenames": [], "content": LOG}),
        ("WebFetch", {"bytes": 1, "code": 200, "result": LOG, "url": "https://example.org"}),
    ],
)
def test_other_tools_keep_their_shapes(store: Store, host: Host, name: str, shape: dict[str, Any]) -> None:
    tool = {"tool_name": name, "tool_input": {"file_path": "a.log"}, "tool_response": shape}
    answer = hooks(store, host).answer("PostToolUse", host.payload("PostToolUse", **tool))
    made = answer["hookSpecificOutput"]["updatedToolOutput"]
    assert made.keys() == shape.keys()
    assert "shortened by aider-gardener" in str(made) and len(str(made)) < len(str(shape)) / 2


@pytest.mark.parametrize(
    "tool",
    [
        bash("a small output"),
        bash(LOG, isImage=True),
        {**bash(LOG), "tool_name": "mcp__other__tool"},
        {**bash(LOG), "tool_response": LOG},
        {**bash(LOG), "tool_response": {"stdout": 3}},
    ],
)
def test_what_is_small_strange_or_does_not_shrink_is_left_alone(
    store: Store, host: Host, tool: dict[str, Any]
) -> None:
    assert hooks(store, host).answer("PostToolUse", host.payload("PostToolUse", **tool)) == {}


def test_observing_archives_and_says_nothing(store: Store, host: Host) -> None:
    served = hooks(store, host, mode="observe")
    host.ask(FACT)
    host.compact()
    assert served.answer("UserPromptSubmit", host.payload("UserPromptSubmit", prompt=QUESTION)) == {}
    assert served.answer("SessionStart", host.payload("SessionStart", source="compact")) == {}
    assert served.answer("PostToolUse", host.payload("PostToolUse", **bash(LOG))) == {}
    served.ingest(host.payload("Stop"))
    assert FACT in [entry.content for entry in store.session_entries(host.session)]


def test_switched_off_nothing_is_archived(store: Store, host: Host) -> None:
    host.ask(FACT)
    hooks(store, host, mode="off").ingest(host.payload("PreCompact"))
    assert store.sessions("/project") == []


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
KEYS = "session_id transcript_path prompt tool_name tool_input tool_response source trigger".split()
EVENTS = ("UserPromptSubmit", "PostToolUse", "PreCompact", "PostCompact", "SessionStart", "Stop", "Setup")


@given(event=st.sampled_from(EVENTS), payload=st.dictionaries(st.sampled_from(KEYS), JSON))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_json_gets_an_answer_that_is_an_object(
    store: Store, host: Host, event: str, payload: dict[str, Any]
) -> None:
    served = hooks(store, host)
    answer = served.answer(event, payload)
    served.ingest(payload)
    assert isinstance(answer, dict) and set(answer) <= {"hookSpecificOutput"}


def kept_by_the_host(host: Host, text: str) -> dict[str, Any]:
    """The result of a command whose output was too long for the host, which keeps it beside its transcript."""
    folder = host.path.with_suffix("") / "tool-results"
    folder.mkdir(parents=True)
    (folder / "b1.txt").write_text(text, encoding="utf-8")
    size = {"persistedOutputPath": str(folder / "b1.txt"), "persistedOutputSize": len(text)}
    return bash(text[:30_000], **size)


def test_the_whole_is_archived_where_the_host_hands_over_its_beginning(store: Store, host: Host) -> None:
    whole = f"{LOG}\n{LOG}\n2026-01-01 11:00:00 ERROR db down code 53300"
    tool = kept_by_the_host(host, whole)
    answer = hooks(store, host).answer("PostToolUse", host.payload("PostToolUse", **tool))
    made = answer["hookSpecificOutput"]["updatedToolOutput"]
    assert made["stdout"].startswith("[shortened by aider-gardener: the whole is g")
    assert "ERROR db down code 53300" in made["stdout"], "it stands behind the beginning"
    assert store.session_entries(host.session)[-1].content == whole
    assert not {"persistedOutputPath", "persistedOutputSize"} & set(made), "the host would show its beginning"


def outside(path: Path) -> None:
    path.unlink()
    other = path.parents[2] / "secret.txt"
    other.write_text("SECRET\n" + LOG + LOG)
    path.symlink_to(other)


def fifo(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


@pytest.mark.parametrize(
    "spoil",
    [
        Path.unlink,
        outside,
        fifo,
        lambda path: (path.unlink(), path.mkdir()),
        lambda path: os.truncate(path, WHOLE_BYTES + 1),
    ],
    ids=["gone", "a link out of the folder", "a FIFO", "a directory", "too large"],
)
@pytest.mark.skipif(os.name != "posix", reason="needs FIFOs")
def test_where_the_whole_cannot_be_had_a_part_is_called_a_part(
    store: Store, host: Host, spoil: Callable[[Path], object]
) -> None:
    tool = kept_by_the_host(host, LOG + LOG)
    path = tool["tool_response"]["persistedOutputPath"]
    spoil(Path(path))
    answer = hooks(store, host).answer("PostToolUse", host.payload("PostToolUse", **tool))
    stdout = answer["hookSpecificOutput"]["updatedToolOutput"]["stdout"]
    head = f"[shortened by aider-gardener: of the whole in {path} 30,000 characters are g"
    assert stdout.startswith(head) and "SECRET" not in stdout
    assert store.session_entries(host.session)[-1].content == (LOG + LOG)[:30_000]


def test_a_file_of_another_session_is_not_read(store: Store, host: Host) -> None:
    tool = kept_by_the_host(Host(host.path.with_name("other.jsonl")), LOG + LOG)
    answer = hooks(store, host).answer("PostToolUse", host.payload("PostToolUse", **tool))
    assert " 30,000 characters are " in answer["hookSpecificOutput"]["updatedToolOutput"]["stdout"]


def test_what_our_own_commands_show_stays_as_it_is(store: Store, host: Host) -> None:
    tool = {**bash(LOG), "tool_input": {"command": "cd /src && gardener recall worker"}}
    assert hooks(store, host).answer("PostToolUse", host.payload("PostToolUse", **tool)) == {}


ROLLOUT = next((Path(__file__).resolve().parents[2] / "data" / "chats").glob("rollout-*.jsonl"))


def test_a_chat_of_codex_is_archived_by_its_own_hook(store: Store, host: Host, tmp_path: Path) -> None:
    path = shutil.copy(ROLLOUT, tmp_path / ROLLOUT.name)
    given = {"session_id": "codex", "transcript_path": str(path), "hook_event_name": "Stop"}
    hooks(store, host).ingest(given)
    entries = store.session_entries("codex")
    assert "Never use port 8080." in [entry.content for entry in entries]
    assert host_of(store, "codex") == "Codex"
    assert {entry.provider for entry in entries} == {"codex@loopback"}, (
        "a server of that name may be anywhere"
    )
    hooks(store, host).ingest(given)
    assert store.session_entries("codex") == entries


def test_what_codex_compacted_comes_back(store: Store, host: Host, tmp_path: Path) -> None:
    path = tmp_path / "rollout-1.jsonl"

    def said(text: str) -> dict[str, Any]:
        content = [{"type": "input_text", "text": text}]
        return {"type": "response_item", "payload": {"type": "message", "role": "user", "content": content}}

    compacted = {"type": "compacted", "payload": {"message": "They talked.", "replacement_history": []}}
    head = {"type": "session_meta", "payload": {"id": "codex"}}
    lines = [json.dumps(row) for row in (head, said(FACT), said("Go on."), compacted, said("Well."))]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    given = {"session_id": "codex", "transcript_path": str(path), "prompt": QUESTION}
    assert "> " + FACT in added(hooks(store, host).answer("UserPromptSubmit", given))
    assert boundary_of(path, RolloutReader) == 1_024 * sum(len(line) + 1 for line in lines[:3])
    assert store.session_entries("codex")[0].provider == "openai"


def test_a_host_that_names_itself_is_named(
    store: Store, host: Host, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    host.ask(FACT)
    hooks(store, host).ingest({**host.payload("Stop"), "host": "OpenCode"})
    (entry,) = store.session_entries(host.session)
    assert (host_of(store, host.session), entry.provider) == ("OpenCode", "opencode@away")
    assert agent_of("", None).host == agent_of(7, None).host == "Claude Code"
    monkeypatch.setenv("AIDER_GARDENER_LOCAL", "true")
    assert agent_of("OpenCode", None).provider == "opencode@here"
    assert agent_of(None, tmp_path / "rollout-none.jsonl").provider == "codex@here"


# What is taken in of a transcript, and what of it comes back


def chat(store: Store, host: Host, **options: object) -> Intake:
    found = hooks(store, host, **options).chat(host.payload("Stop"))
    return found


def noted(store: Store, host: Host, prompt: str = QUESTION, **options: object) -> str:
    """What a prompt is given."""
    return added(
        hooks(store, host, **options).answer(
            "UserPromptSubmit", host.payload("UserPromptSubmit", prompt=prompt)
        )
    )


def told(store: Store, host: Host) -> list[str]:
    return [entry.content for entry in store.session_entries(host.session)]


def said_in_aider(store: Store, provider: str) -> None:
    """Put the fact into a chat that aider held with a model of this provider."""
    aider = Archive(store, session="a", project="/project", count=approximate, clock=lambda: 1.7e9)
    aider.provider = provider
    aider.add(Message("user", FACT), turn=1, seq=0, focus=Focus())


def test_what_is_new_is_taken_in_once(store: Store, host: Host) -> None:
    host.ask(FACT)
    host.answer("I will remember.")
    assert chat(store, host).ingest() == 2
    host.ask("Go on.")
    assert chat(store, host).ingest() == 1
    assert chat(store, host).ingest() == 0
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
    chat(store, host).ingest()
    assert sum(FACT in text for text in told(store, host)) == 1
    typed = [e for e in store.session_entries(host.session) if e.source.kind is SourceKind.TYPED]
    assert [entry.turn for entry in typed] == [1, 2, 3]


def test_words_said_once_more_are_said_once_more(store: Store, host: Host) -> None:
    for _time in range(3):
        host.ask("Yes.")
    chat(store, host).ingest()
    assert told(store, host) == ["Yes."] * 3


def test_other_chats_come_in_only_by_choice_and_with_their_hosts_name(store: Store, host: Host) -> None:
    said_in_aider(store, "openai")
    host.ask("Hello.")
    assert noted(store, host) == ""
    note = noted(store, host, recall_sessions=True)
    assert re.search(r", in an earlier chat of \d{4}-\d\d-\d\d, in aider\]\n> " + re.escape(FACT), note)


def test_what_an_answer_recalled_counts_as_accessed_behind_it(store: Store, host: Host) -> None:
    host.ask(FACT)
    host.ask("Something else.")
    host.compact()
    chat(store, host).ingest()
    served = hooks(store, host)
    (fact,) = (entry.id for entry in store.session_entries(host.session) if entry.content == FACT)
    assert served.answer("UserPromptSubmit", host.payload("UserPromptSubmit", prompt=QUESTION))
    assert store.get(fact).access_count == 0, "no lock is waited for before the answer"
    served.ingest(host.payload("UserPromptSubmit"))
    assert store.get(fact).access_count == 1


def test_what_was_said_to_a_local_model_stays_here_and_that_is_told(
    store: Store, host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    said_in_aider(store, "ollama")
    host.ask("Hello.")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:4000")  # perhaps a proxy to anywhere
    note = noted(store, host, recall_sessions=True)
    assert FACT not in note and "messages that fit: 1)" in note and "AIDER_GARDENER_LOCAL=true" in note
    monkeypatch.setenv("AIDER_GARDENER_LOCAL", "true")
    note = noted(store, host, recall_sessions=True)
    assert FACT in note and "withheld" not in note


def test_a_shortened_result_is_archived_whole_and_its_short_form_is_not(store: Store, host: Host) -> None:
    host.ask("Look at the log.")
    served = hooks(store, host)
    made = served.answer("PostToolUse", host.payload("PostToolUse", **bash(LOG)))
    short = made["hookSpecificOutput"]["updatedToolOutput"]["stdout"]
    assert short.startswith("[shortened by aider-gardener: the whole is g") and len(short) < len(LOG) / 2
    host.run("cat app.log", short)
    chat(store, host).ingest()
    assert told(store, host) == ["Look at the log.", LOG]
    assert "worker 321 took" in noted(store, host, "How long took worker 321 in the log?")
    assert noted(store, host, "Which colour has the sky?") == "", "all else stands"


def test_an_unknown_record_is_kept_and_counted(store: Store, host: Host) -> None:
    host.write({"type": "hologram", "beam": 7})
    chat(store, host).ingest()
    (entry,) = store.session_entries(host.session)
    assert '"beam": 7' in entry.content and entry.source.kind is SourceKind.NOTICE
    assert [event.data for event in store.events(kind=UNKNOWN_RECORD)] == [{"type": "hologram"}]


def test_a_result_that_comes_later_is_told_with_its_command(store: Store, host: Host) -> None:
    host.said({"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "pytest -q"}})
    chat(store, host).ingest()
    host.result("t", "1 failed")
    chat(store, host).ingest()
    (entry,) = store.session_entries(host.session)
    assert (entry.source.kind, entry.source.detail) == (SourceKind.TEST, "pytest -q")


def test_time_ends_a_taking_in_and_the_next_goes_on(store: Store, host: Host) -> None:
    for turn in range(5):
        host.ask(f"Step {turn}.")
    assert chat(store, host).ingest(seconds=0.0) == 1
    assert chat(store, host).ingest() == 4


def test_what_cannot_be_read_of_the_progress_begins_anew() -> None:
    assert Progress.read("{") == Progress.read("[]") == Progress.read('{"mystery": 1}') == Progress()
    assert Progress.read('{"offset": 3, "calls": {}}') == Progress(offset=3), "an earlier build kept more"


def test_the_window_and_the_last_prompt_are_kept_for_reports(store: Store, host: Host) -> None:
    host.ask("Hello.")
    host.answer("Hello.")
    chat(store, host).ingest()
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
    chat(store, host).ingest()
    kinds = {e.content: e.source.kind for e in store.session_entries(host.session) if "9317" in e.content}
    assert len(kinds) == 2 and set(kinds.values()) == {SourceKind.STUB}
    assert noted(store, host) == ""


def test_a_boundary_is_a_record_of_the_hosts_and_no_word(store: Store, host: Host) -> None:
    host.ask('A "compact_boundary"?')
    host.write({"type": "progress", "subtype": "compact_boundary"})
    assert boundary_of(host.path) == boundary_of(None) == boundary_of(host.path / "none") == 0
    size = host.path.stat().st_size
    host.compact()
    host.write({"type": "progress", "data": ["compact_boundary"] * 9})
    assert boundary_of(host.path) >= size
