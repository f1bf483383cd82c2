"""The server as a process on standard input and output, with a real client."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import anyio
import pytest
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import get_default_environment, stdio_client
from mcp.types import TextContent

from aider_gardener.adapters.claude_code.hooks import Hooks
from aider_gardener.archive.store import open_store
from aider_gardener.gardener.memory import ProjectMemory
from aider_gardener.recall.backlog import STOP_SECONDS
from aider_gardener.settings import Settings
from bench.claude_transcript import Host

FACT = "Never use the port 8080, our queue listens on 9317."
PING = b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n'
BUSY_EMBEDDER = """
import time
class Busy:
    name, dim = "busy", 2
    def load(self): pass
    def unload(self): pass
    def embed(self, texts):
        if texts != ["queue port"]:
            open(__file__ + ".began", "w").close()
            time.sleep(600)
        import numpy as np
        return np.ones((len(texts), 2), dtype=np.float32)
def load():
    return Busy()
"""


def say_the_fact(project: Path) -> None:
    """An archive of a project in which FACT was said."""
    host = Host(project / "transcript.jsonl")
    host.ask(FACT)
    store = open_store(project / ".aider.gardener")
    Hooks(store, str(project), settings=Settings()).ingest(host.payload("Stop"))
    store.close()


@pytest.mark.parametrize("named", ["{root}/src", "${{workspaceFolder}}"])
def test_a_process_serves_what_hooks_brought_of_its_project(tmp_path: Path, root: Path, named: str) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "src").mkdir()
    say_the_fact(tmp_path)
    started = StdioServerParameters(
        command=sys.executable,
        args=["-m", "aider_gardener.cli", "mcp", "--project", named.format(root=tmp_path)],
        cwd=tmp_path,
        env={**get_default_environment(), "AIDER_GARDENER_EMBEDDER": "none", "PYTHONPATH": str(root)},
    )

    async def use() -> None:
        async with stdio_client(started) as (reading, writing), ClientSession(reading, writing) as client:
            found = await client.initialize()
            assert found.serverInfo.name == "gardener" and found.instructions
            result = await client.call_tool("recall", {"query": "queue port"})
            (block,) = result.content
            assert isinstance(block, TextContent) and FACT in block.text and "Claude Code" in block.text

    anyio.run(use)


@pytest.mark.skipif(sys.platform == "win32", reason="a process is ended in another way there")
@pytest.mark.parametrize("number", [signal.SIGTERM, getattr(signal, "SIGHUP", 0), 0])
def test_a_host_that_ends_it_by_a_signal_or_hangs_up_leaves_nothing_behind(
    tmp_path: Path, number: int
) -> None:
    (tmp_path / ".git").mkdir()
    hears = "import signal; signal.signal(signal.SIGHUP, signal.SIG_DFL)"  # begun by nohup, it would not
    code = f"{hears}; from aider_gardener.cli import main; main()"
    command = [sys.executable, "-c", code, "mcp", "--project", str(tmp_path)]
    environ = {**os.environ, "AIDER_GARDENER_EMBEDDER": "none"}
    pipe = subprocess.PIPE
    server = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, env=environ)
    server.stdin.write(PING)
    server.stdin.flush()
    assert server.stdout.readline(), "it serves"
    if number:
        server.send_signal(number)
    else:
        server.stdout.close()
        server.stdin.write(PING)
        server.stdin.close()
    assert server.wait(120) == 0 and server.stderr.read() == b""
    archive = tmp_path / ".aider.gardener"
    assert {path.name for path in archive.iterdir()} <= {".gitignore", "gardener.db"}
    for stream in (server.stdin, server.stdout, server.stderr):
        stream.close()


def test_what_waits_when_its_input_closes_is_answered(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    say_the_fact(tmp_path)
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    calls = [("recall", {"query": "queue port"}), ("remember", {"text": "The host is h7.", "kind": "fact"})]
    requests = [
        {"id": 1, "method": "initialize", "params": hello},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/list"},
        *({"id": name, "method": "tools/call", "params": {"name": name, "arguments": given}}
          for name, given in calls),
    ]  # fmt: skip
    lines = [json.dumps({"jsonrpc": "2.0", **each}) for each in requests]
    done = subprocess.run(
        [sys.executable, "-m", "aider_gardener.cli", "mcp", "--project", str(tmp_path)],
        input="\n".join(["no request", '{"method": "x", "id": [1]}', *lines]), capture_output=True, text=True, timeout=60,
        env={**os.environ, "AIDER_GARDENER_EMBEDDER": "none"}, check=True,
    )  # fmt: skip
    answers = {found.get("id"): found for found in map(json.loads, done.stdout.splitlines())}
    assert {1, 2, "recall", "remember"} <= {*answers} and FACT in str(answers["recall"])
    store = open_store(tmp_path / ".aider.gardener")
    assert "h7" in str(ProjectMemory(store, str(tmp_path), settings=Settings()).recall("which host"))
    store.close()


@pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="a disk is mounted read-only")
@pytest.mark.parametrize("has_archive", [True, False])
def test_a_project_on_a_disk_that_is_read_only_is_served_all_the_same(
    tmp_path: Path, root: Path, has_archive: bool
) -> None:
    (tmp_path / ".git").mkdir()
    if has_archive:
        store = open_store(tmp_path / ".aider.gardener")
        ProjectMemory(store, str(tmp_path), settings=Settings()).remember(FACT, "rule")
        store.close()
    mount = ["mount", "--bind", str(tmp_path), str(tmp_path)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("nothing can be mounted here")
    try:
        subprocess.run(["mount", "-o", "remount,ro,bind", str(tmp_path)], check=True)
        started = StdioServerParameters(
            command=sys.executable,
            args=["-m", "aider_gardener.cli", "mcp", "--project", str(tmp_path)],
            cwd="/",
            env={**get_default_environment(), "AIDER_GARDENER_EMBEDDER": "none", "PYTHONPATH": str(root)},
        )

        async def use() -> None:
            async with stdio_client(started) as (reading, writing), ClientSession(reading, writing) as client:
                await client.initialize()
                found = await client.call_tool("recall", {"query": "queue port"})
                kept = await client.call_tool("remember", {"text": "The host is h7.", "kind": "fact"})
                assert has_archive is (FACT in found.content[0].text)
                told = kept.content[0].text
                assert kept.isError if has_archive else "only until this server ends" in told
                assert str(tmp_path) in told

        anyio.run(use)
    finally:
        subprocess.run(["umount", str(tmp_path)], check=True)


@pytest.mark.skipif(sys.platform == "win32", reason="a process is ended in another way there")
def test_a_signal_waits_for_no_vector_that_is_being_made(tmp_path: Path, root: Path) -> None:
    (tmp_path / ".git").mkdir()
    say_the_fact(tmp_path)
    (tmp_path / "busy.py").write_text(BUSY_EMBEDDER)
    (tmp_path / "busy-1.dist-info").mkdir()
    (tmp_path / "busy-1.dist-info" / "METADATA").write_text("Name: busy\nVersion: 1\n")
    (tmp_path / "busy-1.dist-info" / "entry_points.txt").write_text(
        "[aider_gardener.embedders]\nbusy = busy:load\n"
    )
    command = [sys.executable, "-m", "aider_gardener.cli", "mcp", "--project", str(tmp_path)]
    environ = {**os.environ, "AIDER_GARDENER_EMBEDDER": "busy", "PYTHONPATH": f"{root}:{tmp_path}"}
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environ)
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    asked = {"name": "recall", "arguments": {"query": "queue port"}}
    for request in (
        {"id": 1, "method": "initialize", "params": hello},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/call", "params": asked},
    ):
        server.stdin.write(json.dumps({"jsonrpc": "2.0", **request}).encode() + b"\n")
    server.stdin.flush()
    began = tmp_path / "busy.py.began"
    until = time.monotonic() + 60
    while not began.exists() and time.monotonic() < until:
        time.sleep(0.05)
    assert began.exists(), "it embeds"
    signalled = time.monotonic()
    server.send_signal(signal.SIGINT)
    assert server.wait(60) == 0
    assert time.monotonic() - signalled < STOP_SECONDS
    for stream in (server.stdin, server.stdout):
        stream.close()
