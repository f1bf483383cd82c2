"""The server as a process on standard input and output, with a real client; it answers hooks beside."""

from __future__ import annotations

import sys
from pathlib import Path

import anyio
import pytest
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import get_default_environment, stdio_client
from mcp.types import TextContent

from aider_gardener.adapters.claude_code.client import SERVER_NAME, asked
from bench.claude_transcript import Host

FACT = "Never use the port 8080, our queue listens on 9317."


@pytest.mark.parametrize("folder", ["", "src"])
def test_a_process_serves_tools_and_hooks_of_its_project(tmp_path: Path, folder: str) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "src").mkdir()
    host = Host(tmp_path / "transcript.jsonl")
    host.ask(FACT)
    started = StdioServerParameters(
        command=sys.executable,
        args=["-m", "aider_gardener.cli", "mcp", "--project", str(tmp_path / folder)],
        env={**get_default_environment(), "AIDER_GARDENER_EMBEDDER": "none"},
    )

    async def use() -> None:
        async with stdio_client(started) as (reading, writing), ClientSession(reading, writing) as client:
            found = await client.initialize()
            assert found.serverInfo.name == "gardener" and found.instructions
            directory = tmp_path / ".aider.gardener"
            with anyio.fail_after(20):
                while not (directory / SERVER_NAME).exists():
                    await anyio.sleep(0.05)
            given = host.payload("PreCompact")
            assert await anyio.to_thread.run_sync(asked, directory, "PreCompact", given, tmp_path) == {}
            result = await client.call_tool("recall", {"query": "queue port"})
            (block,) = result.content
            assert isinstance(block, TextContent) and FACT in block.text and "Claude Code" in block.text

    anyio.run(use)
    assert not (tmp_path / ".aider.gardener" / SERVER_NAME).exists(), "it went with the server"
