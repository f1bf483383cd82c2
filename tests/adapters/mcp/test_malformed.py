"""Odd requests over standard input: each is answered, and behind what is none the server goes on."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from aider_gardener.archive.archive import Archive
from aider_gardener.archive.store import open_store
from aider_gardener.messages import Message, Source

HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
LONE = "a \ud800 b"
METHODS = ("tools/list", "tools/call", "resources/list", "prompts/get", "ping", "none", LONE)
NESTED: tuple[Any, ...] = ([], {}, {LONE: LONE}, [LONE], {"name": LONE})
ODD: tuple[Any, ...] = (LONE, None, -1, 1e400, "x" * 9_999, True, "\0", *NESTED)
WAIT_SECONDS = 120


class Process:
    """The server as a process; `answers` has what it said, by id, the file `log` what it told the host."""

    def __init__(self, project: Path) -> None:
        (project / ".git").mkdir()
        self.log = project / "log"
        self.command = [sys.executable, "-m", "aider_gardener.cli", "mcp", "--project", str(project)]
        self.answers: dict[object, dict[str, Any]] = {}
        self.changed = threading.Condition()

    def __enter__(self) -> Process:
        environ = {**os.environ, "AIDER_GARDENER_EMBEDDER": "none"}
        self.process = subprocess.Popen(
            self.command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.log.open("wb"),
            env=environ,
        )
        threading.Thread(target=self._listen, daemon=True).start()
        self.process.stdin.write(b"\xef\xbb\xbf")  # as PowerShell begins a pipe
        self.ask("hello", "initialize", HELLO)
        self.say(b'{"jsonrpc": "2.0", "method": "notifications/initialized"}')
        return self

    def __exit__(self, *_error: object) -> None:
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            stream.close()

    def _listen(self) -> None:
        for line in self.process.stdout:
            answer = json.loads(line)
            with self.changed:
                self.answers[str(answer.get("id"))] = answer
                self.changed.notify_all()

    def say(self, line: bytes) -> None:
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def answer(self, name: str) -> dict[str, Any]:
        with self.changed:
            assert self.changed.wait_for(lambda: name in self.answers, WAIT_SECONDS), f"{name} got no answer"
            return self.answers[name]

    def ask(self, name: str, method: str, params: object) -> dict[str, Any]:
        self.say(json.dumps({"jsonrpc": "2.0", "id": name, "method": method, "params": params}).encode())
        return self.answer(name)


def malformed(count: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """Requests with ids, each of them odd in some way."""
    chance = random.Random(35)
    for number in range(count):
        name = f"r{number}"
        request: dict[str, Any] = {"jsonrpc": "2.0", "id": name, "method": chance.choice(METHODS)}
        request["params"] = chance.choice(
            [
                {"name": chance.choice(["recall", "get", "remember", LONE]), "arguments": chance.choice(ODD)},
                {"name": "recall", "arguments": {"query": chance.choice(ODD), "limit": chance.choice(ODD)}},
                {"uri": chance.choice(["gardener://entry/\ud800", *ODD])},
                {LONE: LONE},
            ]
        )
        if chance.random() < 0.2:
            del request["params"]
        yield name, request


def test_each_odd_request_is_answered_and_the_server_goes_on(tmp_path: Path) -> None:
    with Process(tmp_path) as server:
        asked = list(malformed(400))
        for name, request in asked:
            server.say(json.dumps(request).encode())
            server.answer(name)
        for line in (
            b"",
            b"\xff\xfe",
            b"not json",
            b"[]",
            b"7",
            b"[" * 99_999,
            b'{"id": {}, "method": "ping"}',
            b'{"id": 1, "method": "ping", "params": 7}',
        ):
            server.say(line)
        assert server.ask("last", "ping", {})["result"] == {}
        assert {"result", "error"} == {key for name, _ in asked for key in server.answers[name]} - {
            "id",
            "jsonrpc",
        }
    assert server.log.read_bytes() == b""  # a host keeps it: it quotes no request


CALL = '{"jsonrpc": "2.0", "id": "%s", "method": "tools/call", "params": {"name": "recall", "arguments": %s}}'
UNREADABLE = {
    "deep": CALL % ("deep", '{"query": ' + "[" * 500 + "]" * 500 + "}"),
    "no version": '{"id": "no version", "method": "ping"}',
    "no method": '{"jsonrpc": "2.0", "id": "no method"}',
    "parameters by place": '{"jsonrpc": "2.0", "id": "parameters by place", "method": "ping", "params": []}',
}


def test_a_request_that_is_none_by_the_protocol_is_refused_by_its_id(tmp_path: Path) -> None:
    with Process(tmp_path) as server:
        for name, line in UNREADABLE.items():
            server.say(line.encode())
            found = server.answer(name)
            assert "error" in found or found["result"]["isError"], name
        assert server.ask("last", "ping", {})["result"] == {}


def test_what_holds_lone_surrogates_is_found_and_kept(tmp_path: Path) -> None:
    store = open_store(tmp_path / ".aider.gardener")
    archive = Archive(store, session="s", project=str(tmp_path), count=len, clock=lambda: 1.0)
    archive.provider = "openai"
    archive.log(Message("user", f"The port {LONE} is 9317."), turn=1, seq=0, source=Source(), at=1.0)
    store.close()
    with Process(tmp_path) as server:
        found = server.ask("a", "tools/call", {"name": "recall", "arguments": {"query": f"port {LONE}"}})
        assert "is 9317" in found["result"]["content"][0]["text"]
        kept = {"text": LONE, "kind": "decision"}
        assert not server.ask("b", "tools/call", {"name": "remember", "arguments": kept})["result"]["isError"]
