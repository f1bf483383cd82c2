"""`gardener store share`, `unshare` and `sync`: one line for the user, one JSON value, or one error."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import anyio
import pytest
from made_entries import entry
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from shared_archives import Team, postgres, team

from aider_gardener.archive.postgres import local
from aider_gardener.archive.postgres.server import VARIABLE
from aider_gardener.archive.store import open_store
from bench.claude_transcript import Host
from bench.postgres_server import PASSWORD

from .conftest import gardener

__all__ = ["postgres", "team"]


@pytest.fixture
def project(tmp_path: Path, team: Team, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with two messages, one of them to a local model, and the server in the environment."""
    folder = tmp_path / "pump"
    (folder / ".git").mkdir(parents=True)
    store = open_store(folder / ".aider.gardener")
    store.open_session("s", project=str(folder), started_at=1.0, live=False)
    for seq, (text, provider) in enumerate((("the gasket leaks", "openai"), ("told to llama", "ollama"))):
        new = replace(entry(seq, "user", text), provider=provider)
        store.add(new, chunks=[(0, len(text))])
    store.close()
    monkeypatch.chdir(folder)
    monkeypatch.setenv(VARIABLE, team.environ("ana")[VARIABLE])
    monkeypatch.setenv("AIDER_GARDENER_EMBEDDER", "none")
    return folder


def test_sharing_says_under_which_name_and_sends(project: Path) -> None:
    done = gardener("store", "share")
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout == f"{project} is shared as ana/pump, by ana.\n1 message sent, 0 fetched.\n"
    assert json.loads(gardener("store", "sync", "--json").stdout) == {
        "sent": 0, "fetched": 0, "told": 0, "heard": 0, "refused": 0, "problem": "",
    }  # fmt: skip


def test_the_status_is_told_and_as_json(project: Path) -> None:
    assert gardener("store", "share", "--status").stdout == "This project is not shared.\n"
    gardener("store", "share")
    told = gardener("store", "share", "--status").stdout
    assert told.startswith(
        "Shared as ana/pump by ana (owner) on 127.0.0.1.\nWaiting: 0 messages, 0 deletions."
    )
    assert "\nNever sent: 1 message, said to a local model or to none.\n" in told
    assert told.endswith("\nMembers: ana (owner)\n")
    found = json.loads(gardener("store", "share", "--status", "--json").stdout)
    assert (found["role"], found["members_problem"]) == ("owner", "")
    assert found["members"] == [{"member": "ana", "role": "owner", "creator": True}]


def test_the_status_is_told_though_nobody_answers(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gardener("store", "share")
    monkeypatch.setenv(VARIABLE, f"postgresql://ana:{PASSWORD}@127.0.0.1:1/d")
    done = gardener("store", "share", "--status")
    assert done.exit_code == 0 and "Its members are not known: 127.0.0.1 cannot be used now" in done.stdout
    assert PASSWORD not in done.output


def test_the_archives_status_says_how_it_is_shared_without_asking(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert gardener("status").stdout.endswith("This project is not shared.\n")
    assert json.loads(gardener("status", "--json").stdout)["sharing"] == {"shared": False}
    gardener("store", "share")
    monkeypatch.setenv(VARIABLE, f"postgresql://ana:{PASSWORD}@127.0.0.1:1/d")
    done = gardener("status")
    assert "Shared as ana/pump by ana (owner) on 127.0.0.1." in done.stdout and PASSWORD not in done.output
    found = json.loads(gardener("status", "--json").stdout)["sharing"]
    assert (found["name"], found["waiting"], found["problem"]) == ("ana/pump", 0, "")


def test_access_is_given_and_taken_away(project: Path) -> None:
    done = gardener("store", "share", "--reader", "bob", "--owner", "eve")
    assert "eve may read and write it.\nbob may read it.\n" in done.stdout
    done = gardener("store", "share", "--remove", "bob")
    assert done.exit_code == 0 and done.stdout.startswith("bob was removed, unless a group that --status")
    removed = gardener("store", "share", "--remove", "eve", "--json")
    assert json.loads(removed.stdout) == {"removed": ["eve"]}
    for words in (("--remove", "bob"), ("--remove", "ana")):
        done = gardener("store", "share", *words)
        assert done.exit_code == 1 and done.stderr.count("\n") == 1
    assert gardener("store", "share", "--remove", "ana", "--owner", "eve").exit_code == 2
    done = gardener("store", "share", "--owner", "bob", "--reader", "bob")
    assert done.exit_code == 2 and "name it once" in done.stderr and not done.stdout


def test_a_project_with_a_name_of_its_own_is_meant_without_it(project: Path) -> None:
    gardener("store", "share", "--name", "oil")
    done = gardener("store", "share", "--reader", "bob")
    assert done.exit_code == 0 and done.stdout.startswith(
        f"{project} is shared as ana/oil, by ana.\nbob may read"
    )
    other = gardener("store", "share", "--name", "water")
    assert other.exit_code == 2 and "is shared as ana/oil already" in other.stderr


def test_who_joins_before_a_first_chat_fetches_what_was_said(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gardener("store", "share")
    (tmp_path / "copy" / ".git").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "copy")
    assert gardener("store", "share", "--status").exit_code == 2
    assert gardener("store", "share", "--name", "ana/pump").stdout.endswith("0 messages sent, 1 fetched.\n")
    assert "the gasket leaks" in gardener("recall", "gasket").stdout


def test_what_is_shared_is_found_everywhere(project: Path) -> None:
    gardener("store", "share")
    told = gardener("recall", "--everywhere", "gasket").stdout
    assert told.startswith("ana/pump, ana, turn 1, ") and told.endswith("the gasket leaks\n")
    assert json.loads(gardener("recall", "--everywhere", "--json", "gasket").stdout)[0]["author"] == "ana"
    assert gardener("recall", "--everywhere", "llama").stdout.startswith("Nothing in the archive fits")


def test_without_a_server_it_says_what_to_set(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (VARIABLE, "PGHOST", "PGHOSTADDR", "PGSERVICE", "PGDATABASE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AIDER_GARDENER_EMBEDDER", "none")
    done = gardener("recall", "--everywhere", "gasket")
    assert done.exit_code == 2 and f"set {VARIABLE}=" in done.stderr


def test_unsharing_says_what_became_of_what_was_sent(project: Path, team: Team) -> None:
    gardener("store", "share")
    assert gardener("store", "unshare", "--delete").stdout.endswith(
        "What you shared of it was deleted there.\n"
    )
    assert team.said() == []
    again = gardener("store", "unshare")
    assert (again.exit_code, again.stderr.count("\n")) == (2, 1)


def test_a_wrong_password_is_one_line_without_it(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gardener("store", "share")
    monkeypatch.setenv(VARIABLE, os.environ[VARIABLE].replace(PASSWORD, "hunter2"))
    for words in (("store", "sync"), ("store", "share"), ("recall", "--everywhere", "gasket")):
        done = gardener(*words)
        assert (done.exit_code, done.stdout) == (1, "") and "hunter2" not in done.output
        assert 'password authentication failed for user "ana"' in done.stderr
        assert done.stderr.splitlines()[-1].startswith("gardener: 127.0.0.1 cannot be used now (")
    assert (
        "The last sync failed: 127.0.0.1 cannot be used now ("
        in gardener("store", "share", "--status").stdout
    )


def test_a_server_is_prepared_without_sharing(project: Path) -> None:
    assert gardener("store", "share", "--prepare").stdout == "The server is ready.\n"
    assert gardener("store", "share", "--status").stdout == "This project is not shared.\n"


def comes(team: Team, text: str) -> bool:
    """Whether a text comes to the server: within two minutes, if the machine is busy."""
    until = time.monotonic() + 120
    while time.monotonic() < until:
        if any(text in each for each in team.said()):
            return True
        time.sleep(0.1)
    return False


def due_again(project: Path) -> None:
    """A minute goes by."""
    store = open_store(project / ".aider.gardener")
    local.note(store, str(project), active_at=time.time() - 60)
    store.close()


def test_what_is_said_in_claude_code_comes_to_the_server_by_itself(project: Path, team: Team) -> None:
    gardener("store", "share")
    host = Host(project / "transcript.jsonl")
    command = [sys.executable, "-m", "aider_gardener.cli", "hook", "Stop"]
    for text in ("The valve is of brass.", "The hose is of rubber."):
        due_again(project)
        host.ask(text)
        given = json.dumps(host.payload("Stop")).encode()
        done = subprocess.run(command, input=given, capture_output=True, cwd=project, check=True)
        assert (done.stdout, done.stderr) == (b"", b"")
        assert comes(team, text)


def test_what_the_mcp_server_takes_in_comes_to_the_server_by_itself(project: Path, team: Team) -> None:
    gardener("store", "share")
    due_again(project)
    started = StdioServerParameters(
        command=sys.executable,
        args=["-m", "aider_gardener.cli", "mcp", "--project", str(project)],
        env=dict(os.environ),
    )

    async def use() -> None:
        async with stdio_client(started) as (reading, writing), ClientSession(reading, writing) as client:
            await client.initialize()
            await client.call_tool("remember", {"text": "The host is k7.", "kind": "fact"})
            assert await anyio.to_thread.run_sync(comes, team, "The host is k7.")

    anyio.run(use)


def test_an_archive_is_copied_to_a_server_looked_after_there_and_brought_back(
    project: Path, team: Team, tmp_path: Path
) -> None:
    place = team.environ("ana")[VARIABLE] + "#pump"
    store = open_store(project / ".aider.gardener")
    store.open_session("t", project=str(project), started_at=2.0, live=False)
    new = replace(entry(7, "user", "the flange holds"), session="t", provider="openai")
    store.add(new, chunks=[(0, len(new.content))])
    store.close()
    done = gardener("store", "copy", "--to", place)
    assert done.stdout.endswith("lines copied to postgresql://127.0.0.1#pump (PostgreSQL)\n"), done.output
    assert "1 of the chats were held with a local model" in done.stderr and PASSWORD not in done.output
    assert json.loads(gardener("status", "--json", "--store", place).stdout)["entries"] == 1
    assert gardener("store", "verify", "--store", place).stdout == "The archive is sound.\n"
    assert "flange" in gardener("recall", "flange", "--store", place).stdout
    assert "may go" in gardener("store", "gc", "--store", place).stdout
    export = ("store", "export", str(tmp_path / "there.jsonl"), "--store", place)
    assert gardener(*export).exit_code == 0
    back = str(tmp_path / "back")
    assert gardener("store", "copy", "--from", place, "--store", back).exit_code == 0
    gardener("store", "export", str(tmp_path / "back.jsonl"), "--store", back)
    assert (tmp_path / "back.jsonl").read_bytes() == (tmp_path / "there.jsonl").read_bytes()
    assert gardener("forget", new.id, "--yes", "--store", place).exit_code == 0
    assert json.loads(gardener("status", "--json", "--store", place).stdout)["entries"] == 0
    gardener("store", "import", str(tmp_path / "there.jsonl"), "--store", place)
    assert json.loads(gardener("status", "--json", "--store", place).stdout)["entries"] == 1
    for words in (("store", "encrypt"), ("store", "share")):
        refused = gardener(*words, "--store", place)
        assert refused.exit_code == 2 and refused.stderr.count("\n") == 1, words
    assert "holds no archive" in gardener("status", "--store", place + "x").stderr
