"""Hooks of other hosts, told as Claude Code's: JSON as these hosts document it, through the process they start."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aider_gardener.adapters.claude_code.client import ANSWERED, EVENTS, LOG_NAME
from aider_gardener.adapters.claude_code.dialects import DIALECTS
from aider_gardener.archive.store import open_store
from aider_gardener.messages import Entry, SourceKind

from .hooked import FACT, entries, run, until

SNAPSHOT = '{"$set":{"messages":[{"id":"m","timestamp":"%s","type":"user","content":[{"text":"<state_snapshot>It."}]}]}}'
json_values = st.recursive(
    st.none() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


def told(host: str, event: str, project: Path, **given: Any) -> dict[str, Any]:
    """What one hook answers its host."""
    common = {"session_id": "s1", "cwd": str(project), "hook_event_name": event, "transcript_path": None}
    done = run(f"{event} {host}", {**common, **given}, project)
    assert (done.returncode, done.stderr) == (0, b"")
    answer: dict[str, Any] = json.loads(done.stdout or b"{}")
    return answer


def archived(project: Path, count: int) -> list[Entry]:
    """What the chat holds, once it is so much."""
    until(lambda: len(entries(project, "s1")) >= count)
    return entries(project, "s1")


def test_what_is_said_in_gemini_comes_back_out_of_an_export(project: Path) -> None:
    told("gemini", "BeforeAgent", project, prompt=FACT)
    (said,) = archived(project, 1)
    own = open_store(project / ".aider.gardener")
    own.export(project / "saved")
    own.close()
    other = open_store(None)
    other.import_(project / "saved")
    assert [(each.content, each.seq) for each in other.session_entries("s1")] == [(FACT, said.seq)]
    other.close()


def test_what_is_said_in_gemini_is_archived_and_comes_back_once_it_was_compacted(project: Path) -> None:
    transcript = project / "session.jsonl"
    transcript.write_text("{}\n")
    path = {"transcript_path": str(transcript)}
    prompt = f"<hook_context>Of an earlier chat.</hook_context>\n\n{FACT}"
    assert told("gemini", "BeforeAgent", project, prompt=prompt, **path) == {}, "all of the chat stands"
    archived(project, 1)
    asked = {"tool_name": "run_shell_command", "tool_input": {"command": "pytest -q"}}
    parts = [{"text": "1 failed"}, {"inlineData": {"mimeType": "image/png", "data": "aGVsbG8="}}]
    told("gemini", "AfterTool", project, **asked, tool_response={"llmContent": parts}, **path)
    archived(project, 2)
    told("gemini", "AfterAgent", project, prompt=FACT, prompt_response="It fails.", **path)
    found = archived(project, 3)
    assert [(each.content, each.source.kind.value, each.turn) for each in found] == [
        (FACT, "typed", 1), ("1 failed\n[image/png, 5 bytes]", "test", 1), ("It fails.", "reply", 1),
    ]  # fmt: skip
    later = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(time.time() + 60))
    transcript.write_text(SNAPSHOT % later + "\n")
    answer = told("gemini", "BeforeAgent", project, prompt="Which port has the queue?", **path)[
        "hookSpecificOutput"
    ]
    assert answer["hookEventName"] == "BeforeAgent" and FACT in answer["additionalContext"]


def test_a_result_that_is_json_itself_is_archived_as_it_is(project: Path) -> None:
    text = '{"text": "x",\n "port": 9317}'
    told("gemini", "AfterTool", project, tool_name="read_file", tool_response={"llmContent": text})
    assert [each.content for each in archived(project, 1)] == [text]


def test_what_is_said_in_cursor_is_archived_and_a_new_chat_begins_with_it(project: Path) -> None:
    more = {
        "session_id": None,
        "conversation_id": "s1",
        "workspace_roots": [str(project)],
        "cwd": "/elsewhere",
    }
    assert told("cursor", "beforeSubmitPrompt", project, prompt=f"From now on: {FACT}", **more) == {}
    archived(project, 1)
    shell = {"tool_name": "Shell", "tool_input": json.dumps({"command": "make"})}
    told("cursor", "postToolUse", project, **shell, tool_output='{"output": "built", "exitCode": 0}', **more)
    archived(project, 2)
    told("cursor", "postToolUseFailure", project, **shell, error_message="make: *** Error 2", **more)
    archived(project, 3)
    recall = {"tool_name": "MCP:recall", "tool_input": {"query": "port"}, "tool_output": f"Quoted: {FACT}"}
    told("cursor", "postToolUse", project, **recall, **more)
    archived(project, 4)
    told("cursor", "afterAgentResponse", project, text="Done.", **more)
    *found, own, reply = archived(project, 5)
    texts = [f"From now on: {FACT}", "built", "make: *** Error 2", "Done."]
    assert [each.content for each in (*found, reply)] == texts and own.source.kind is SourceKind.STUB
    answer = told("cursor", "sessionStart", project, **{**more, "conversation_id": "s2"})
    assert list(answer) == ["additional_context"] and FACT in answer["additional_context"]


def test_what_cursor_tells_a_hook_of_claude_code_its_own_hook_tells(project: Path) -> None:
    for said, version in (("Said in Cursor.", {"cursor_version": "2"}), (FACT, {})):
        transcript = project / f"{len(version)}.jsonl"
        transcript.write_text(json.dumps({"type": "user", "message": {"content": said}}) + "\n")
        told("", "Stop", project, transcript_path=str(transcript), **version)
    assert [each.content for each in archived(project, 1)] == [FACT]


@pytest.mark.parametrize("name", DIALECTS)
def test_each_event_is_one_of_claude_codes(name: str, project: Path) -> None:
    dialect = DIALECTS[name]
    assert set(dialect.events.values()) <= set(EVENTS) and dialect.answered <= ANSWERED
    archive = project / ".aider.gardener"
    archive.mkdir(exist_ok=True)
    assert told(name, "Nonsense", project) == {} and not (archive / LOG_NAME).exists()


def test_a_session_whose_id_has_half_a_character_is_archived(project: Path) -> None:
    told("gemini", "BeforeAgent", project, session_id="s\ud800", prompt=FACT)
    assert until(lambda: [each.content for each in entries(project, "s?")] == [FACT])


@pytest.mark.parametrize("name", DIALECTS)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_whatever_an_event_holds_it_is_told_in_texts(name: str, data: st.DataObject) -> None:
    dialect = DIALECTS[name]
    keys = ["prompt", "tool_name", "tool_input", "tool_response", "tool_output", "text", "workspace_roots"]
    event = data.draw(st.sampled_from(sorted(dialect.events)))
    made = dialect.translated(event, data.draw(st.dictionaries(st.sampled_from(keys), json_values)))
    json.dumps(made)
    for line in made["said"]:
        content = line["message"]["content"]
        for block in content if isinstance(content, list) and line["type"] == "user" else []:
            assert not isinstance(block, dict) or isinstance(block.get("content", ""), str)
