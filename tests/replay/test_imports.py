"""Chats from before: nothing of them is lost, nothing comes twice, and who is stopped goes on."""

from __future__ import annotations

import json
import os
import shutil
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aider_gardener.adapters.claude_code.hooks import Hooks
from aider_gardener.adapters.claude_code.transcript import ClaudeReader
from aider_gardener.adapters.transcript import DETAIL_CHARS, THINKING, UNFINISHED, call_text, detail_of
from aider_gardener.archive.archive import Archive
from aider_gardener.archive.sessions import AIDER
from aider_gardener.archive.store import Store, open_store, records
from aider_gardener.errors import StoreError
from aider_gardener.gardener.past_chats import past_chats, project_status, transcript
from aider_gardener.gardener.report import last_pressure
from aider_gardener.messages import Entry, Focus, Message, Source, SourceKind
from aider_gardener.notes.last_chat import edited_files
from aider_gardener.replay import imports
from aider_gardener.replay.imports import CODEX, Imported, files_named, find, ingest, own_files
from aider_gardener.settings import Settings
from aider_gardener.tokens import approximate
from bench.claude_transcript import Host

CHATS = Path(__file__).resolve().parents[1] / "data" / "chats"
PROJECT = "/srv/someone/project"
SESSION = "47b980fe-7e6b-4c47-8695-fd6f9af0f6f6"
HISTORY = """
# aider chat started at 2026-01-05 10:00:00

> Aider v0.86.2  
> Main model: openai/gpt-4o with diff edit format  

#### Never use port 8080.  

Understood, it listens on 9317.

> Tokens: 9.1k sent, 412 received.  

#### /run pytest -q  

> Added 3 lines of output to the chat.  

# aider chat started at 2026-01-06 10:00:00

#### Never use port 8080.  

Yes.
"""  # noqa: W291  # reason: aider ends its lines so


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    store = open_store(tmp_path / "archive")
    yield store
    store.close()


def taken(store: Store, place: Path, *, only_own: bool = False) -> Imported:
    found = Imported()
    return ingest(store, PROJECT, find(files_named(place), PROJECT, only_own=only_own, found=found), found)


def entries(store: Store) -> list[Entry]:
    return [entry for info in store.sessions(PROJECT) for entry in store.session_entries(info.id)]


def messages_in(store: Store) -> int:
    """How many messages the sessions hold, as their list counts them."""
    return sum(info.entries for info in store.sessions(PROJECT))


def archived(store: Store) -> str:
    return "\n".join(f"{entry.source.detail}\n{entry.content}" for entry in entries(store))


def texts_of(block: Any) -> Iterator[str]:
    """What is said in a block of a transcript and is to be kept, found in another way than the reader's."""
    if isinstance(block, str):
        yield block
    elif isinstance(block, list):
        yield from (text for each in block for text in texts_of(each))
    elif isinstance(block, dict) and block.get("type") not in ("thinking", "image", "server_tool_result"):
        yield from texts_of([block.get("text"), block.get("content"), *block.get("input", {}).values()])


def test_of_chats_of_the_real_programs_nothing_is_lost_but_thinking(store: Store) -> None:
    found = taken(store, CHATS)
    assert found.chats == {"Claude Code": 2, CODEX: 1} and not found.others and not found.elsewhere
    assert set(found.lost) == {THINKING} and found.lost[THINKING] == 9
    kept = archived(store)
    for path in CHATS.glob("[4a]*.jsonl"):
        for row in map(json.loads, path.read_text(encoding="utf-8").splitlines()):
            for text in texts_of(row["message"]["content"]) if row["type"] in ("user", "assistant") else ():
                assert text.strip() in kept, text
    assert "x = 1\nprint(x)" in [entry.content.strip() for entry in entries(store)], "the file of an @mention"
    assert "[image/png, 70 bytes]" in kept and "TodoWrite\ntodos: \n- Fix the queue; in_progress" in kept
    assert {Path(name).name for name in edited_files(store.session_entries(SESSION))} == {"w.py", "new.py"}
    assert min(entry.created_at for entry in entries(store)) > 1.79e9, "said when they were said, not now"


def test_an_import_that_was_stopped_goes_on(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(imports, "BATCH_BYTES", 9_000)
    found = Imported()
    chats = find(files_named(CHATS), PROJECT, only_own=False, found=found)

    class Killed(BaseException):
        pass

    stops = iter([False, False, True])

    def tick(_size: int) -> None:
        if next(stops):
            raise Killed

    with pytest.raises(Killed):
        ingest(store, PROJECT, chats, found, tick)
    first = messages_in(store)
    whole = open_store(tmp_path / "whole")
    assert 0 < first == taken(whole, CHATS).messages - taken(store, CHATS).messages
    assert [(e.session, e.seq, e.turn, e.source, e.content) for e in entries(store)] == [
        (e.session, e.seq, e.turn, e.source, e.content) for e in entries(whole)
    ]
    whole.close()


def test_a_disk_that_fills_up_undoes_the_batch_and_is_said(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_given: object, **_more: object) -> None:
        raise apsw.FullError("full")

    def do() -> None:
        store.set_state("s", "first", "value")
        monkeypatch.setattr(records, "apply", full)
        store.set_state("s", "second", "value")

    with pytest.raises(StoreError):
        store.together(do)
    monkeypatch.undo()
    assert store.get_state("s", "first") is None and store.lines is None, "nothing goes on beside the file"


def test_what_hooks_archived_is_not_doubled_and_is_gone_on_with(store: Store, tmp_path: Path) -> None:
    host = Host(tmp_path / "chats" / f"{SESSION}.jsonl", session=SESSION)
    host.path.parent.mkdir()
    host.ask("Never use port 8080.")
    host.run("ls", "a\nb")
    Hooks(store, PROJECT, settings=Settings()).ingest(host.payload("Stop"))
    assert taken(store, host.path.parent).messages == 0
    host.ask("Go on.")
    assert taken(store, host.path.parent).messages == 1
    assert [entry.content for entry in entries(store)] == ["Never use port 8080.", "a\nb", "Go on."]


@pytest.mark.parametrize(("name", "last"), [("agent-", ""), ("rollout-", '"type": "message"')])
def test_the_last_line_of_a_file_needs_no_end(store: Store, tmp_path: Path, name: str, last: str) -> None:
    (whole,) = CHATS.glob(f"{name}*")
    rows = whole.read_text("utf-8").splitlines(keepends=True)
    said = rows[: max(number for number, row in enumerate(rows) if last in row) + 1]
    (chat := tmp_path / whole.name).write_text("".join(said).rstrip("\n"), encoding="utf-8")
    first = taken(store, chat)
    chat.write_text("".join(rows), encoding="utf-8")
    other = open_store(tmp_path / "archive-of-whole")
    assert first.messages == messages_in(store) and not first.lost.get(UNFINISHED)
    again, whole_again = taken(store, chat), taken(other, chat)
    assert first.messages + again.messages == whole_again.messages
    assert entries(store)[-1].content == entries(other)[-1].content
    other.close()


def test_an_undated_record_has_the_time_of_the_one_beside_it(store: Store, tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"type": "user", "sessionId": "s", "message": {"role": "user", "content": f"{number}"}}
        for number in range(4)
    ]
    rows[1]["timestamp"], rows[3]["timestamp"] = "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"
    path = tmp_path / "chats" / "x.jsonl"
    path.parent.mkdir()
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    taken(store, path.parent)
    times = [entry.created_at - 1767225600 for entry in entries(store)]
    assert times == [0, 0, 0, 86_400]


def test_what_was_forgotten_comes_back_by_no_way(store: Store, tmp_path: Path) -> None:
    host = Host(tmp_path / "chats" / f"{SESSION}.jsonl", session=SESSION)
    host.path.parent.mkdir()
    host.ask("The vault opens with 9317.")
    host.said({"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "open vault 9317"}})
    assert taken(store, host.path.parent).messages == 1
    store.forget_session(SESSION)
    assert taken(store, host.path.parent).messages == 0
    host.ask("Go on.")
    Hooks(store, PROJECT, settings=Settings()).ingest(host.payload("Stop"))
    assert [entry.content for entry in entries(store)] == ["Go on."]
    path = tmp_path / "all.jsonl"
    store.export(path)
    assert "vault" not in path.read_text(encoding="utf-8")


CALL = {"input_tokens": 1_000, "cache_read_input_tokens": 200, "output_tokens": 50}
ROWS = [
    {"type": kind, "sessionId": "c", "isSidechain": side, "message": {"id": one, "content": text, **more}}
    for kind, side, one, text, more in (
        ("user", False, "", "Go.", {}),
        ("user", False, "", "<local-command-stdout>Model set.</local-command-stdout>", {}),
        ("assistant", False, "m1", "First", {"usage": CALL, "model": "m"}),
        ("assistant", True, "s1", "A subagent", {"usage": CALL}),
        ("assistant", False, "m1", "and second block.", {"usage": CALL}),
        ("assistant", True, "s1", "and its.", {"usage": {**CALL, "output_tokens": 900}}),
    )
]
COUNTS = {"last_token_usage": {"input_tokens": 1_200, "total_tokens": 1_250}, "model_context_window": 9_000}
ROLLOUT = [
    {"type": "session_meta", "payload": {"id": "c"}},
    {"type": "turn_context", "payload": {"model": "m"}},
    {"type": "response_item", "payload": {"type": "message", "role": "user", "content": "Go."}},
    *(
        {"type": "event_msg", "payload": {"type": "token_count", "info": info}}
        for info in (None, *({**COUNTS, "total_token_usage": {"total_tokens": n}} for n in (5, 5, 6)))
    ),
]
TOLD = """
# aider chat started at 2026-01-05 10:00:00

#### Go.  

> Tokens: 1,200 sent, 7 received.  
> Tokens: 1.2k sent, 97 received. Cost: $0.25 message, $0.25 session.  
> Commit 1a2b3c4 feat: go  
"""  # noqa: W291  # reason: aider ends its lines so


@pytest.mark.parametrize(
    ("name", "text", "window"),
    [
        ("c.jsonl", "".join(json.dumps(row) + "\n" for row in ROWS), 200_000),
        ("rollout-c.jsonl", "".join(json.dumps(row) + "\n" for row in ROLLOUT), 9_000),
        (".aider.chat.history.md", TOLD, 0),
    ],
)
def test_what_a_chat_came_to_is_what_its_host_counted_once(
    store: Store, tmp_path: Path, name: str, text: str, window: int
) -> None:
    (tmp_path / "chats").mkdir()
    (tmp_path / "chats" / name).write_text(text, encoding="utf-8")
    assert taken(store, tmp_path / "chats").messages and not taken(store, tmp_path / "chats").messages
    (chat,) = past_chats(store, PROJECT)
    assert chat.sums and (chat.sums.calls, chat.sums.prompt_tokens) == (2, 2_400)
    assert (chat.cost, chat.commits) == (("", 0) if window else ("$0.25", 1))
    report = last_pressure(store, store.sessions(PROJECT)[0], Settings(), approximate)[0]
    assert not window or (report.used, report.used + report.available) == (1_250, window)
    assert (report.history_budget, report.recommendation) == (0, "Nothing to do.")
    _chat, turns = transcript(store, PROJECT, store.sessions(PROJECT)[0])
    assert {said.speaker for rows in turns.values() for said in rows} <= {"user", "reply", chat.host}
    last = project_status(store, PROJECT)["last_chat"]
    assert last.get("tokens") == (1_250 if window else None)


# aider


def history(tmp_path: Path, text: str = HISTORY) -> Path:
    path = tmp_path / "chats" / ".aider.chat.history.md"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path.parent


def test_a_history_is_a_session_a_chat_with_the_time_of_its_header(store: Store, tmp_path: Path) -> None:
    found = taken(store, history(tmp_path))
    assert found.chats == {AIDER: 2} and found.lost == {"output that the history does not hold": 1}
    first, second = (store.session_entries(info.id) for info in store.sessions(PROJECT))
    assert [(each.source.kind, each.turn, each.content) for each in first][1:4] == [
        (SourceKind.TYPED, 1, "Never use port 8080."),
        (SourceKind.REPLY, 1, "Understood, it listens on 9317."),
        (SourceKind.NOTICE, 1, "Tokens: 9.1k sent, 412 received."),
    ]
    assert round(second[0].created_at - first[0].created_at, 3) == 86_400 and first[0].provider == "openai"
    assert taken(store, tmp_path / "chats").messages == 0


def test_a_model_with_a_prefix_is_that_providers_whoever_else_has_one_of_its_name(
    store: Store, tmp_path: Path
) -> None:
    taken(store, history(tmp_path, HISTORY.replace("openai/gpt-4o", "ollama_chat/deepseek-chat")))
    first, _second = (store.session_entries(info.id) for info in store.sessions(PROJECT))
    assert {each.provider for each in first} == {"ollama_chat"}


@pytest.mark.parametrize("before", ["", "src/a.py\0src/b.py\n"])
def test_a_history_with_names_apart_by_nuls_is_taken_in(store: Store, tmp_path: Path, before: str) -> None:
    text = before + HISTORY.replace("Understood", "a.py\0b.py: understood")
    (tmp_path / ".aider.chat.history.md").write_text(text, encoding="utf-8")
    assert not taken(store, tmp_path).others
    assert "a.py\0b.py: understood, it listens on 9317." in archived(store)


def test_words_said_once_more_in_a_history_are_said_once_more(store: Store, tmp_path: Path) -> None:
    taken(store, history(tmp_path, HISTORY + "\n> Tokens: 1k sent.  \n\n#### Go on.  \n\nDone.\n" * 3))
    said = [(entry.role, entry.turn) for entry in entries(store) if entry.content in ("Go on.", "Done.")]
    assert said == [(role, turn) for turn in (2, 3, 4) for role in ("user", "assistant")]


def test_a_history_that_grew_brings_what_is_new(store: Store, tmp_path: Path) -> None:
    taken(store, history(tmp_path, HISTORY + "\n> Tokens: 1k sent, 2 received.  \n"))
    grown = "> Applied edit to w.py  \n\n#### Go on.  \n\nDone.\n"
    found = taken(store, history(tmp_path, HISTORY + "\n> Tokens: 1k sent, 2 received.  \n" + grown))
    assert found.messages == 2, "a notice of aider's is no message"
    last = store.session_entries(store.sessions(PROJECT)[-1].id)
    assert [entry.content for entry in last[-3:]] == ["Applied edit to w.py", "Go on.", "Done."]


def test_a_time_that_no_archive_takes_is_none_and_the_export_can_be_read(
    store: Store, tmp_path: Path
) -> None:
    for name, year in (("late", 3999), ("early", 1900)):
        record = {"type": "user", "sessionId": name, "timestamp": f"{year}-01-01T00:00:00Z"}
        text = json.dumps({**record, "message": {"role": "user", "content": f"Said in {year}."}})
        (tmp_path / f"{name}.jsonl").write_text(f"{text}\n", encoding="utf-8")
    (tmp_path / "h.history.md").write_text(HISTORY.replace("2026", "3026"), encoding="utf-8")
    assert taken(store, tmp_path).messages == 6
    assert all(0 < entry.created_at < 4e9 for entry in entries(store))
    store.export(tmp_path / "export.jsonl")
    other = open_store(tmp_path / "other")
    assert other.import_(tmp_path / "export.jsonl") > 10
    other.close()


def test_a_line_that_stands_doubled_comes_once(store: Store, tmp_path: Path) -> None:
    host = Host(tmp_path / f"{SESSION}.jsonl", SESSION)
    host.ask("Yes.")
    host.answer("Done.")
    first, last = host.path.read_bytes().splitlines(keepends=True)
    host.path.write_bytes(first * 3 + last * 2)
    assert taken(store, host.path).messages == 2
    host.records += 5
    for _ in range(2):  # the same words, said later
        host.ask("Yes.")
    assert taken(store, host.path).messages == 2
    assert [entry.turn for entry in entries(store)] == [1, 1, 2, 3]
    two = [{"type": "text", "text": "Done."}] * 2
    host.write({"type": "assistant", "message": {"role": "assistant", "content": two}})
    assert taken(store, host.path).messages == 2, "one line may say a thing twice"


def test_a_chat_that_was_archived_live_is_not_taken_in_again(store: Store, tmp_path: Path) -> None:
    began = imports.started_at("# aider chat started at 2026-01-05 10:00:00")
    archive = Archive(store, session="live", project=PROJECT, count=approximate, clock=lambda: began + 9)
    archive.add(
        Message("user", "Never use port 8080."), turn=1, seq=0, focus=Focus(), source=Source(SourceKind.TYPED)
    )
    found = taken(store, history(tmp_path))
    assert found.known == 1, "the other chat with these words is of another day"
    assert store.sessions(PROJECT)[0].id == "live" and len(store.sessions(PROJECT)) == 2


# Which


def test_without_a_path_the_projects_own_are_found(store: Store, tmp_path: Path) -> None:
    home, project = tmp_path / "home", tmp_path / "shop"
    project.mkdir()
    name = "".join(letter if letter.isalnum() else "-" for letter in str(project))
    place = project
    if os.name == "posix":
        (place := tmp_path / "link").symlink_to(project)
    held = (name, project), (f"{name}-two", f"{project}-two"), (f"{name}-web", place / "web")
    for folder, cwd in held:
        host = Host(home / ".claude" / "projects" / folder / "chat.jsonl", session=folder)
        host.path.parent.mkdir(parents=True)
        host.path.write_text('{"type": "summary", "summary": "A title"}\n' * 60, encoding="utf-8")
        host.write({"type": "user", "cwd": str(cwd), "message": {"role": "user", "content": "Hello."}})
    shutil.copytree(CHATS, home / ".codex" / "sessions" / "2026")
    (project / ".aider.chat.history.md").write_text(HISTORY, encoding="utf-8")
    found = Imported()
    chats = find(own_files(project, home, {}), str(project), only_own=True, found=found)
    others = sorted(chat.session for chat in chats if chat.agent.host != AIDER)
    assert others == sorted([name, f"{name}-web"])
    assert sum(chat.agent.host == AIDER for chat in chats) == 2


@pytest.mark.parametrize(
    ("given", "provider"),
    [
        ({}, "openai"),
        ({"model_provider": "oss"}, "ollama"),
        ({"model_provider": "my-vllm"}, "codex@loopback"),
    ],
)
def test_what_was_said_to_a_model_of_this_machine_counts_as_such(
    tmp_path: Path, given: dict[str, str], provider: str
) -> None:
    head = {"id": "s", "timestamp": "2026-01-01T00:00:00Z", **given}
    (tmp_path / "x.jsonl").write_text(json.dumps({"type": "session_meta", "payload": head}))
    (chat,) = imports.chats_of(tmp_path / "x.jsonl", Counter())
    assert (chat.session, chat.agent.host, chat.agent.provider) == ("s", "Codex", provider)


# A law

FLAT = st.text(min_size=1, max_size=600) | st.booleans() | st.none() | st.integers()
INPUTS = st.dictionaries(
    st.sampled_from(
        "command file_path old_string new_string content edits url todos description limit".split()
    ),
    FLAT
    | st.lists(
        st.dictionaries(st.sampled_from("content status old_string new_string".split()), FLAT), max_size=3
    ),
)


@given(st.sampled_from(["Bash", "Edit", "MultiEdit", "Write", "TodoWrite", "mcp__x"]), INPUTS)
def test_every_text_of_a_call_stands_in_it_or_beside_its_result(name: str, given: dict[str, Any]) -> None:
    detail = detail_of(given)
    told = f"{call_text(name, given)}\n{detail}"
    assert len(detail) <= DETAIL_CHARS
    is_edit = isinstance(given.get("file_path"), str) and name in ("Edit", "MultiEdit", "Write")
    for text in given.values():
        assert is_edit or not isinstance(text, str) or text.strip() in told


WORDS = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Zl", "Zp")), min_size=1, max_size=30)
BLOCKS = st.one_of(
    st.builds(lambda text: {"type": "text", "text": text}, WORDS),
    st.builds(lambda text: {"type": "thinking", "thinking": text}, WORDS),
    st.builds(lambda text: {"type": "server_tool_result", "content": text}, WORDS),
)
CALLS = st.builds(
    lambda key, name, given: {"type": "tool_use", "id": key, "name": name, "input": given},
    st.sampled_from("abc"), st.sampled_from(["Bash", "Read", "TodoWrite"]), st.dictionaries(WORDS, WORDS, max_size=3),
)  # fmt: skip
RESULTS = st.builds(
    lambda key, content: {"type": "tool_result", "tool_use_id": key, "content": content},
    st.sampled_from("abc"),
    WORDS | st.lists(BLOCKS, max_size=2),
)
ROWS = st.builds(
    lambda kind, blocks, more: {"type": kind, "message": {"role": kind, "content": blocks}, **more},
    st.sampled_from(["user", "assistant"]),
    WORDS | st.lists(BLOCKS | CALLS | RESULTS, max_size=4),
    st.sampled_from(
        [{}, {"isMeta": True}, {"isCompactSummary": True}, {"timestamp": "2026-01-01T00:00:00Z"}]
    ),
)


@given(st.lists(ROWS, max_size=8), st.integers(0, 8))
def test_whatever_a_transcript_says_is_read_in_one_go_or_in_two(
    tmp_path_factory: pytest.TempPathFactory, rows: list[dict[str, Any]], cut: int
) -> None:
    path = tmp_path_factory.mktemp("law") / "x.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    whole = list(ClaudeReader(path).lines())
    first = ClaudeReader(path)
    lines = list(islice(first.lines(), cut))
    second = ClaudeReader(path, lines[-1].end if lines else 0, first.calls, at=first.at)
    assert [*lines, *second.lines()] == whole
    kept = "\n".join(
        f"{each.source.detail}\n{each.message.content}"
        for line in whole
        for each in line.records
        if each.message
    )
    for row in rows:
        for text in texts_of(row["message"]["content"]):
            assert text.strip() in kept or json.dumps(text, ensure_ascii=False)[1:-1] in kept
