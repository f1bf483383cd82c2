"""What a rollout of Codex says, line by line; `tests/data/chats` has one that Codex 0.169 wrote."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from aider_gardener.adapters.codex.rollout import RolloutReader
from aider_gardener.adapters.transcript import FAILED_EDIT, THINKING, TranscriptRecord
from aider_gardener.messages import SourceKind

CHATS = Path(__file__).resolve().parents[2] / "data" / "chats"
PATCH = "*** Begin Patch\n*** Update File: w.py\n@@\n-x = 1\n+x = 2\n*** End Patch\n"


def item(**payload: Any) -> dict[str, Any]:
    return {"timestamp": "2026-11-26T03:49:24.297Z", "type": "response_item", "payload": payload}


def read(tmp_path: Path, *rows: object) -> tuple[list[TranscriptRecord], RolloutReader]:
    path = tmp_path / "rollout.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    reader = RolloutReader(path)
    return [record for line in reader.lines() for record in line.records], reader


def said(records: list[TranscriptRecord]) -> list[tuple[str, SourceKind, str]]:
    return [(each.message.content, each.source.kind, each.source.detail) for each in records if each.message]


def test_a_rollout_of_the_real_program() -> None:
    (path,) = CHATS.glob("rollout-*.jsonl")
    reader = RolloutReader(path)
    records = [record for line in reader.lines() for record in line.records]
    assert [each for each in said(records) if each[1] is SourceKind.TYPED] == [
        ("SCRIPT please.", SourceKind.TYPED, ""),
        ("Never use port 8080.", SourceKind.TYPED, ""),
    ]
    texts = "\n".join(text for text, _kind, _detail in said(records))
    assert "print('line 39 of a long command')\nX" in texts, "the command whole"
    assert (
        "update_plan\nexplanation: how\nplan: \n- Fix the queue; in_progress\n- Write tests; pending" in texts
    )
    assert "[image/png, 70 bytes]" in texts and "Process exited with code 3" in texts
    assert f"{FAILED_EDIT}apply_patch verification failed" in texts
    assert ("ls -la", SourceKind.COMMAND) in [(detail, kind) for _text, kind, detail in said(records)]
    assert not any(each.unknown for each in records)
    assert {kind for kind in reader.passed if not kind.startswith("record ")} == {THINKING}


def test_an_event_is_counted_and_another_record_that_nobody_knows_comes_as_it_is(tmp_path: Path) -> None:
    event = {"type": "event_msg", "payload": {"type": "omen", "said": "x"}}
    compacted = {"type": "compacted", "payload": {"message": "In short."}}
    bare = {"type": "message", "role": "user", "content": "as the first versions wrote it"}
    records, reader = read(tmp_path, event, item(type="hologram", beam=7), compacted, bare)
    assert [each.unknown for each in records] == ["hologram", "", "", "message"] and records[1].boundary
    assert said(records)[1] == ("In short.", SourceKind.SUMMARY, "")
    assert '"beam": 7' in said(records)[0][0]
    assert reader.passed == {"record event_msg omen": 1}


@pytest.mark.parametrize(
    ("call", "detail"),
    [
        ({"type": "function_call", "name": "shell", "arguments": '{"command": ["bash", "-lc", "pytest -q"]}'}, "pytest -q"),
        ({"type": "function_call", "name": "shell", "arguments": '{"command": ["ls", "a b"]}'}, "ls 'a b'"),
        ({"type": "local_shell_call", "action": {"type": "exec", "command": ["ls"]}}, "ls"),
    ],
)  # fmt: skip
def test_commands_are_named_as_they_are_typed(tmp_path: Path, call: dict[str, Any], detail: str) -> None:
    records, _reader = read(
        tmp_path, item(call_id="c", **call), item(type="function_call_output", call_id="c", output="ok")
    )
    kind = SourceKind.TEST if "pytest" in detail else SourceKind.COMMAND
    assert said(records)[-1] == ("ok", kind, detail)


@pytest.mark.parametrize(
    ("output", "text"),
    [
        ('{"output": "a\\nb", "metadata": {"exit_code": 0, "duration_seconds": 0.1}}', "a\nb"),
        ('{"output": "no", "metadata": {"exit_code": 2}}', "Exit code: 2\nno"),
        ('{"output": "a", "version": 1}', '{"output": "a", "version": 1}'),
    ],
    ids=["of 2025", "one that failed", "a file of JSON"],
)
def test_an_output_is_what_the_command_printed(tmp_path: Path, output: str, text: str) -> None:
    records, _reader = read(tmp_path, item(type="function_call_output", call_id="c", output=output))
    assert said(records)[0][0] == text


def test_a_patch_is_an_edit_and_one_that_failed_is_told_as_such(tmp_path: Path) -> None:
    call = {"type": "custom_tool_call", "name": "apply_patch", "input": PATCH, "call_id": "c"}
    for output, is_failed in (
        ("Success. Updated", False),
        ("no", True),
    ):
        result = item(type="custom_tool_call_output", call_id="c", output=output)
        (edit, told) = said(read(tmp_path, item(**call), result)[0])
        assert edit[0] == PATCH and told[1] is SourceKind.NOTICE
        assert told[0].startswith(FAILED_EDIT) is is_failed


def test_what_the_host_says_in_the_users_role_is_not_the_users(tmp_path: Path) -> None:
    texts = ["<environment_context>\n  <cwd>/p</cwd>", "# AGENTS.md instructions for /p", "Go on."]
    parts = [{"type": "input_text", "text": text} for text in texts]
    records, _ = read(tmp_path, item(type="message", role="user", content=parts))
    assert [(text, kind) for text, kind, _detail in said(records)] == [
        ("\n".join(texts[:2]), SourceKind.NOTICE),
        ("Go on.", SourceKind.TYPED),
    ]


@pytest.mark.parametrize("held", [None, 3, [], {}, "x", [None, 1, {"type": "input_text", "text": 3}]])
@pytest.mark.parametrize(
    "kind", ["message", "function_call", "function_call_output", "custom_tool_call", "reasoning"]
)
def test_malformed_items_hurt_nobody(tmp_path: Path, kind: str, held: object) -> None:
    names = ("content", "output", "arguments", "input", "action", "call_id", "name")
    read(tmp_path, item(type=kind, role="user", **dict.fromkeys(names, held)), item(type=kind, payload=held))
