"""What a transcript says, line by line; the records are made after the documented format."""

from __future__ import annotations

import contextlib
import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from aider_gardener import files
from aider_gardener.adapters import transcript
from aider_gardener.adapters.claude_code.transcript import ClaudeReader, typed
from aider_gardener.adapters.transcript import TranscriptRecord, seconds
from aider_gardener.archive.archive import Archive
from aider_gardener.archive.store import open_store
from aider_gardener.messages import Entry, SourceKind
from aider_gardener.notes.last_chat import edited_files

STAMP = "2026-09-21T14:13:20.000Z"


def line(**record: object) -> str:
    return json.dumps({"timestamp": STAMP, **record}) + "\n"


def user(content: object, **more: object) -> str:
    return line(type="user", message={"role": "user", "content": content}, **more)


def assistant(*blocks: object, **usage: int) -> str:
    message = {"role": "assistant", "model": "claude-sonnet-5", "content": list(blocks), "usage": usage}
    return line(type="assistant", message=message)


def call(name: str, **given: object) -> dict[str, Any]:
    return {"type": "tool_use", "id": "t1", "name": name, "input": given}


def result(text: object, **more: object) -> str:
    return user([{"type": "tool_result", "tool_use_id": "t1", "content": text, **more}])


def read(tmp_path: Path, *lines: str) -> list[TranscriptRecord]:
    path = tmp_path / "transcript.jsonl"
    path.write_text("".join(lines), encoding="utf-8")
    return [record for each in ClaudeReader(path).lines() for record in each.records]


def said(records: list[TranscriptRecord]) -> list[tuple[str, str, SourceKind, str]]:
    return [
        (each.message.role, each.message.content, each.source.kind, each.source.detail)
        for each in records
        if each.message is not None
    ]


def entries_of(records: list[TranscriptRecord]) -> list[Entry]:
    archive = Archive(open_store(None), session="s", project="p", count=len, clock=lambda: 1.0)
    return [
        archive.entry(each.message, turn=1, seq=seq, source=each.source, at=each.at)
        for seq, each in enumerate(records)
        if each.message is not None
    ]


def test_prompts_replies_and_results_have_their_sources(tmp_path: Path) -> None:
    records = read(
        tmp_path,
        user("Add a worker."),
        assistant({"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "I will."}),
        assistant(call("Bash", command="pytest -q")),
        result("1 passed"),
        assistant(call("Read", file_path="src/w.py")),
        result([{"type": "text", "text": "x = 1"}, {"type": "image", "source": {}}, "y = 2"]),
        assistant(call("WebFetch", url="https://example.org")),
        result("a page"),
        assistant(call("Grep", pattern="lease")),
        result("src/w.py:1"),
    )
    assert said(records) == [
        ("user", "Add a worker.", SourceKind.TYPED, ""),
        ("assistant", "I will.", SourceKind.REPLY, ""),
        ("user", "1 passed", SourceKind.TEST, "pytest -q"),
        ("user", "x = 1\n[image]\ny = 2", SourceKind.FILE, "src/w.py"),
        ("user", "a page", SourceKind.WEB, "https://example.org"),
        ("user", "src/w.py:1", SourceKind.COMMAND, "Grep lease"),
    ]
    assert [each.asks for each in records if each.message] == [True, False, False, False, False, False]
    assert {each.at for each in records} == {seconds(STAMP)} and seconds(STAMP) > 1.7e9


def test_a_block_that_nobody_knows_is_kept_whole(tmp_path: Path) -> None:
    block = {"type": "search_result", "title": "Ports", "text": "9317", "source": {"url": "x"}}
    ((_role, text, _kind, _detail),) = said(read(tmp_path, result([block])))
    assert json.loads(text) == block


def test_what_is_typed_with_a_picture_and_an_open_file_is_one_prompt(tmp_path: Path) -> None:
    picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}}
    texts = ["<ide_opened_file>The user opened w.py</ide_opened_file>", "Make it so."]
    blocks = [*({"type": "text", "text": text} for text in texts), picture]
    (opened, prompt) = read(tmp_path, user(blocks))
    assert (opened.source.kind, opened.asks) == (SourceKind.NOTICE, False)
    assert prompt.asks and prompt.message
    assert prompt.message.content == "Make it so.\n[image/png, 2 bytes]"


def test_the_hosts_summary_looks_like_the_user_and_is_told_apart(tmp_path: Path) -> None:
    records = read(
        tmp_path,
        line(type="system", subtype="compact_boundary", content="Conversation compacted"),
        user("This session is being continued.", isCompactSummary=True),
        user("an injected file", isMeta=True),
        user("a subagent's task", isSidechain=True),
    )
    assert records[0].boundary and records[0].message is None
    kinds = [kind for _role, _text, kind, _detail in said(records)]
    assert kinds == [SourceKind.SUMMARY, SourceKind.NOTICE, SourceKind.NOTICE]
    assert not any(each.asks for each in records)


def test_what_the_host_says_in_the_models_place_is_no_reply(tmp_path: Path) -> None:
    error = assistant({"type": "text", "text": "API Error: 529"}).replace("claude-sonnet-5", "<synthetic>")
    assert said(read(tmp_path, error)) == [("user", "API Error: 529", SourceKind.NOTICE, "")]


def test_an_edit_is_told_as_a_block_that_every_reader_of_edits_knows(tmp_path: Path) -> None:
    edit = call("Edit", file_path="src/w.py", old_string="x = 1", new_string="x = 2\n")
    records = read(tmp_path, assistant(edit), result("updated"))
    assert said(records)[0][1] == ("src/w.py\n<<<<<<< SEARCH\nx = 1\n=======\nx = 2\n>>>>>>> REPLACE\n")
    assert said(records)[1][2] is SourceKind.NOTICE
    assert edited_files(entries_of(records)) == ["src/w.py"]
    failed = read(tmp_path, assistant(edit), result("String to replace not found", is_error=True))
    assert edited_files(entries_of(failed)) == []


def test_what_the_user_said_as_they_declined_a_call_is_theirs(tmp_path: Path) -> None:
    head = "The user doesn't want to proceed with this tool use. To tell you how to proceed, the user said:"
    words, advice = "Never run the integration tests.", "\n\nNote: The user's next message may contain more."
    text = f"{head}\n{words}{advice}"
    call_, told = assistant(call("Bash", command="make")), {"is_error": True}

    def answered(text: str, **more: object) -> list[tuple[str, SourceKind]]:
        block = {"type": "tool_result", "tool_use_id": "t1", "content": text, **told}
        found = said(read(tmp_path, call_, user([block], **more)))
        return [(content, kind) for role, content, kind, _detail in found if role == "user"]

    declined = {"toolDenialKind": "user-rejected"}
    assert answered(text, **declined) == [(head, SourceKind.COMMAND), (words, SourceKind.TYPED)]
    assert answered(text) == [(text, SourceKind.COMMAND)], "a tool may print such words"
    asked_back = f"{head}\nThe user wants to clarify these questions."
    assert answered(asked_back, **declined) == [(asked_back, SourceKind.COMMAND)]
    assert answered("Stop here.", **declined) == [("Stop here.", SourceKind.COMMAND)]


def test_what_the_user_answers_to_a_question_of_the_models_is_theirs(tmp_path: Path) -> None:
    told = 'User has answered your questions: "Which store?"="Redis". You can now continue.'
    answers = {"Which store?": "Redis", "Which ports?": ["9317", "9318"], "And?": "Never use 8080."}
    block = {"type": "tool_result", "tool_use_id": "t1", "content": told}

    def answered(name: str, result: object) -> list[tuple[str, SourceKind, str]]:
        asked = assistant(call(name, questions=[{"question": "Which store?"}]))
        records = read(tmp_path, asked, user([block], toolUseResult=result))
        return [(text, kind, detail) for role, text, kind, detail in said(records) if role == "user"]

    result = (told, SourceKind.COMMAND, "AskUserQuestion")
    typed = ("Redis\n9317, 9318\nNever use 8080.", SourceKind.TYPED, "")
    assert answered("AskUserQuestion", {"questions": [], "answers": answers}) == [result, typed]
    for none in ({"answers": {}}, {"answers": ["x"]}, "Error: the user said no", None, {"answers": {"a": 1}}):
        assert answered("AskUserQuestion", none) == [result]
    of_a_server = (told, SourceKind.COMMAND, "mcp__poll__ask")
    assert answered("mcp__poll__ask", {"answers": answers}) == [of_a_server], "a tool may say anything"


def test_a_written_file_and_several_edits_are_edits_too(tmp_path: Path) -> None:
    both = [{"old_string": "a", "new_string": "b"}, {"old_string": "c", "new_string": "d"}]
    records = read(
        tmp_path,
        assistant(call("Write", file_path="new.py", content="print(1)\n")),
        assistant(call("MultiEdit", file_path="old.py", edits=both)),
    )
    assert edited_files(entries_of(records)) == ["old.py", "new.py"]
    assert said(records)[1][1].count("<<<<<<< SEARCH") == 2


def test_a_record_of_an_unknown_type_comes_as_it_is(tmp_path: Path) -> None:
    records = read(
        tmp_path, line(type="hologram", beam=1), "no json\n", '["a list"]\n', line(type="mode"), line(type=[])
    )
    assert [each.unknown for each in records] == ["hologram", "no JSON object", "no JSON object", "[]"]
    first = records[0].message
    assert first is not None and json.loads(first.content)["beam"] == 1 and first.role == "system"


def test_what_a_host_notes_of_its_requests_is_no_part_of_the_chat(tmp_path: Path) -> None:
    prompt = {"role": "user", "content": "Say what w.py is."}
    notes = [
        line(type="api-request-blob", hash="21ae", message=prompt),
        line(type="api-request", id="d5", params={"model": "m"}),
        line(type="cost-state", totalCostUSD=0.5),
        line(type="tools-used", tools=["Bash"]),
    ]
    assert not [each for each in read(tmp_path, *notes) if each.message is not None]


def test_a_line_that_is_being_written_waits(tmp_path: Path) -> None:
    path = tmp_path / "transcript.jsonl"
    path.write_text(user("one") + user("two").rstrip("\n").removesuffix('"}}'), encoding="utf-8")
    reader = ClaudeReader(path)
    assert len([record for line in reader.lines() for record in line.records]) == 1
    assert reader.offset == len(user("one"))
    with path.open("a", encoding="utf-8") as file:
        file.write('"}}\n')
    again = ClaudeReader(path, reader.offset)
    assert [each.records[0].place for each in again.lines() if each.records] == [reader.offset]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_last_line_without_an_end_is_read_once(tmp_path: Path, end: str) -> None:
    path, offset, found = tmp_path / "transcript.jsonl", 0, []
    for text in ("one", "two", "", "three"):
        with path.open("a", encoding="utf-8", newline="") as file:
            file.write((end if path.stat().st_size else "") + user(text).rstrip("\n") if text else "")
        reader = ClaudeReader(path, offset)
        found += [record for line in reader.lines() for record in line.records]
        offset = reader.offset
        assert offset == path.stat().st_size and not reader.passed
    assert [each.message.content for each in found if each.message] == ["one", "two", "three"]


def test_a_line_that_is_too_long_is_passed_over_and_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "LINE_BYTES", 300)
    path = tmp_path / "transcript.jsonl"
    path.write_text(user("one") + user("x" * 2_000) + user("two"), encoding="utf-8")
    reader = ClaudeReader(path)
    found = [record.message for line in reader.lines() for record in line.records]
    assert [message.content for message in found if message] == ["one", "two"]
    assert reader.passed == {transcript.LONG_LINE: 1} and reader.offset == path.stat().st_size


@pytest.mark.skipif(os.name != "posix", reason="needs FIFOs")
@pytest.mark.parametrize("place", ["/dev/zero", "/proc/kmsg", "fifo"])
def test_what_is_no_file_is_no_transcript(tmp_path: Path, place: str) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "transcript.jsonl").symlink_to(place)
    with contextlib.suppress(OSError):
        assert list(ClaudeReader(tmp_path / "transcript.jsonl").lines()) == []


@pytest.mark.parametrize("tag", ["system-reminder", "bash-input", "bash-stdout", "command-args"])
def test_tags_that_are_never_closed_take_no_time(tag: str) -> None:
    began = time.process_time()
    typed(f"<{tag}>" * 300_000)
    assert time.process_time() - began < 5


def test_another_file_in_its_place_is_read_from_the_beginning(tmp_path: Path) -> None:
    path = tmp_path / "transcript.jsonl"
    path.write_text(user("a new file"), encoding="utf-8")
    assert len(list(ClaudeReader(path, 5).lines())) == 1, "an offset within a line"
    assert len(list(ClaudeReader(path, 10_000).lines())) == 1, "an offset behind the end"


@pytest.mark.parametrize(
    ("text", "words", "kind"),
    [
        ("<bash-input>ls</bash-input>", "ls", SourceKind.TYPED),
        ("<bash-stdout>a\nb</bash-stdout><bash-stderr></bash-stderr>", "a\nb", SourceKind.COMMAND),
        (
            "<command-name>/fix</command-name><command-args>the port</command-args>",
            "/fix the port",
            SourceKind.TYPED,
        ),
        ("<command-name>/clear</command-name><command-args></command-args>", "", SourceKind.NOTICE),
        ("[Request interrupted by user]", "", SourceKind.NOTICE),
        ("Use <b>tags</b>.", "Use <b>tags</b>.", SourceKind.TYPED),
    ],
)
def test_words_in_tags_are_whose_they_are(text: str, words: str, kind: SourceKind) -> None:
    found, source = typed(text)
    assert source is kind
    assert found == words or kind is SourceKind.NOTICE


DEEP = json.loads(f"{'[' * 900}7{']' * 900}")


@pytest.mark.parametrize(
    ("content", "kept"),
    [(None, []), ([7, None], ["7"]), ([{"type": "text", "text": [7]}], ["7"]), ({"a": 7}, ['{"a": 7}'])],
)
@pytest.mark.parametrize("kind", ["user", "assistant"])
def test_what_a_malformed_message_says_stands_as_it_is(
    tmp_path: Path, content: object, kept: list[str], kind: str
) -> None:
    records = read(tmp_path, line(type=kind, message={"content": content}))
    assert [text for _role, text, _kind, _detail in said(records)] == kept


@pytest.mark.parametrize("message", [[], {"content": [{"type": "tool_result", "content": DEEP}]}])
def test_a_message_that_cannot_be_read_is_an_unknown_record(tmp_path: Path, message: object) -> None:
    records = read(tmp_path, line(type="user", message=message))
    assert [bool(each.unknown) for each in records] == [True] and "message" in said(records)[0][1]


def test_a_command_that_prints_nothing_is_kept(tmp_path: Path) -> None:
    records = read(tmp_path, assistant(call("Bash", command="mkdir out")), result(""))
    assert said(records) == [("user", "(no output)", SourceKind.COMMAND, "mkdir out")]
