"""The server beside the archive: it answers those who have its token, for its project, one at a time."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from aider_gardener.adapters.claude_code import client
from aider_gardener.adapters.claude_code.client import SERVER_NAME, SOCKET_NAME, asked, server_of
from aider_gardener.adapters.claude_code.server import HookServer
from aider_gardener.archive.store import Store, open_store
from bench.claude_transcript import Host

FACT = "Never use the port 8080, our queue listens on 9317."
PROMPT = {"prompt": "Which port has the queue?"}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / ".git").mkdir()
    return tmp_path


@pytest.fixture
def store(project: Path) -> Iterator[Store]:
    store = open_store(project / ".aider.gardener")
    yield store
    store.close()


@pytest.fixture
def server(store: Store, project: Path) -> Iterator[HookServer]:
    server = HookServer(store, str(project))
    server.start()
    yield server
    server.stop()


@pytest.fixture
def host(project: Path) -> Host:
    made = Host(project / "transcript.jsonl")
    made.ask(FACT)
    made.ask("Something else.")
    made.compact()
    return made


def test_a_hook_is_answered_by_the_server(server: HookServer, host: Host, project: Path) -> None:
    directory = project / ".aider.gardener"
    answer = asked(directory, "UserPromptSubmit", host.payload("UserPromptSubmit", **PROMPT), project)
    assert answer is not None and FACT in answer["hookSpecificOutput"]["additionalContext"]
    assert asked(directory, "PreCompact", host.payload("PreCompact"), project) == {}


def test_the_end_of_a_turn_begins_a_sync_and_no_other_event_does(
    store: Store, host: Host, project: Path
) -> None:
    begun: list[int] = []
    server = HookServer(
        store, str(project), sync=lambda: begun.append(len(store.session_entries("simulated")))
    )
    server.start()
    for event in ("PreCompact", "UserPromptSubmit", "Stop"):
        assert not begun
        asked(project / ".aider.gardener", event, host.payload(event), project)
    server.stop()
    assert begun == [3], "behind what the turn brought"


def test_a_process_takes_the_servers_answer(server: HookServer, host: Host, project: Path) -> None:
    command = [sys.executable, "-m", "aider_gardener.cli", "hook", "UserPromptSubmit"]
    given = json.dumps(host.payload("UserPromptSubmit", **PROMPT)).encode()
    environ = {name: value for name, value in os.environ.items() if not name.startswith("AIDER_GARDENER")}
    done = subprocess.run(command, input=given, capture_output=True, cwd=project, env=environ, check=True)
    assert FACT in json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"]


def test_without_the_token_and_for_other_projects_nothing_is_told(
    server: HookServer, host: Host, project: Path
) -> None:
    given = host.payload("UserPromptSubmit", **PROMPT)
    request = {"event": "UserPromptSubmit", "given": given, "project": str(project), "environ": {}}
    for token in ("", "0" * 64):
        raw = json.dumps({**request, "token": token}).encode()
        assert server.respond(raw) == {"fault": "token"}
    right = json.loads((project / ".aider.gardener" / SERVER_NAME).read_text(encoding="utf-8"))["token"]
    raw = json.dumps({**request, "token": right, "project": "/other"}).encode()
    assert server.respond(raw) == {"fault": "of another project"}
    for broken in (b"", b"{", b"[]", b"{}"):
        assert set(server.respond(broken)) == {"fault"}


@pytest.mark.skipif(os.name == "nt", reason="modes are told otherwise there")
def test_what_names_the_server_is_private_and_goes_with_it(server: HookServer, project: Path) -> None:
    directory = project / ".aider.gardener"
    names = [name for name in (SERVER_NAME, SOCKET_NAME) if (directory / name).exists()]
    assert SERVER_NAME in names
    assert all((directory / name).stat().st_mode & 0o077 == 0 for name in names)
    server.stop()
    assert not any((directory / name).exists() for name in (SERVER_NAME, SOCKET_NAME))


def test_a_long_path_gets_a_port_of_this_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    deep = tmp_path / ("d" * 120)
    deep.mkdir()
    store = open_store(deep / ".aider.gardener")
    server = HookServer(store, str(deep))
    server.start()
    try:
        told = json.loads((deep / ".aider.gardener" / SERVER_NAME).read_text(encoding="utf-8"))
        assert isinstance(told["port"], int)
        assert asked(deep / ".aider.gardener", "PreCompact", {"session_id": "s"}, deep) == {}
    finally:
        server.stop()
        store.close()


def test_a_second_server_leaves_the_first_in_its_place(
    server: HookServer, store: Store, project: Path
) -> None:
    second = HookServer(store, str(project))
    second.start()
    assert not second.serves
    second.stop()
    assert server_of(project / ".aider.gardener") is not None


def test_what_a_killed_server_left_is_replaced(store: Store, project: Path) -> None:
    directory = project / ".aider.gardener"
    (directory / SERVER_NAME).write_text('{"token": "old"}', encoding="utf-8")
    (directory / SERVER_NAME).chmod(0o600)
    (directory / SOCKET_NAME).write_text("", encoding="utf-8")
    assert asked(directory, "PreCompact", {"session_id": "s"}, project) is None, "nobody is there"
    server = HookServer(store, str(project))
    server.start()
    assert asked(directory, "PreCompact", {"session_id": "s"}, project) == {}
    server.stop()


def test_an_archive_in_memory_is_not_served() -> None:
    store = open_store(None)
    server = HookServer(store, "/project")
    server.start()
    assert not server.serves
    store.close()


def test_many_at_once_are_all_answered(
    server: HookServer, host: Host, project: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    for patience in ("CONNECT_SECONDS", "ANSWER_SECONDS"):  # a slow machine is no fault of the server's
        monkeypatch.setattr(client, patience, 60.0)
    answers: list[object] = []
    for number in range(4):  # in a turn only so much is taken in as fits into a tenth of a second
        given = {**host.payload("PreCompact"), "session_id": f"s{number}"}
        assert asked(project / ".aider.gardener", "PreCompact", given, project) == {}

    def ask(number: int) -> None:
        given = {**host.payload("UserPromptSubmit", **PROMPT), "session_id": f"s{number % 4}"}
        answers.append(asked(project / ".aider.gardener", "UserPromptSubmit", given, project))

    threads = [threading.Thread(target=ask, args=[number]) for number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == 20 and all(isinstance(answer, dict) and FACT in str(answer) for answer in answers)
    assert [len(store.session_entries(f"s{number}")) for number in range(4)] == [3] * 4
