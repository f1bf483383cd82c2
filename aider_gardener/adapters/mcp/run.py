"""The server over standard input and output.

The SDK reads no request that has a lone surrogate in it, or is malformed, and then answers to no id, so that
the client waits. So such a line is mended, or answered, before the SDK sees it.
"""

from __future__ import annotations

import io
import json
import sys
from collections.abc import AsyncIterator
from typing import Any, cast

import anyio
import mcp.types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

LINE_CHARS = 16 * 1024 * 1024
"""A longer message is none, as it is none of a hook."""
NO_REQUEST = "no request of this protocol"


def over_stdio(server: Server[Any, Any]) -> None:
    """Serve the process that started this one, until it closes standard input."""
    stdin = io.TextIOWrapper(sys.stdin.buffer, encoding="utf-8", errors="replace")
    stdout = anyio.wrap_file(io.TextIOWrapper(sys.stdout.buffer, encoding="utf-8", errors="replace"))

    async def lines() -> AsyncIterator[str]:
        while line := await anyio.to_thread.run_sync(stdin.readline, LINE_CHARS):
            line, answer = mended(line)
            if line.strip():
                yield line
            if answer:
                await stdout.write(json.dumps(answer) + "\n")
                await stdout.flush()

    async def run() -> None:
        given = cast("anyio.AsyncFile[str]", lines())  # the SDK only iterates over it
        async with stdio_server(given, stdout) as (reading, writing):
            await server.run(reading, writing, server.create_initialization_options())

    anyio.run(run)


def mended(line: str) -> tuple[str, dict[str, Any]]:
    """A line as the SDK reads it, lone surrogates replaced; or "", and the error that answers what has an id
    and is no request or answer."""
    try:
        value = json.loads(line)
        text = json.dumps(value, ensure_ascii=False).encode("utf-8", "replace").decode("utf-8")
    except (ValueError, RecursionError):
        return line, {}  # the SDK tells of it
    if not isinstance(value, dict) or "id" not in value:
        return text, {}
    named = value["id"] if isinstance(value["id"], (str, int)) and not isinstance(value["id"], bool) else None
    try:
        types.JSONRPCMessage.model_validate_json(text)
        if named is not None and json.loads(text)["id"] == named:
            return text, {}
    except ValueError:
        pass
    error = {"code": types.INVALID_REQUEST, "message": NO_REQUEST}
    return "", {"jsonrpc": "2.0", "id": named, "error": error}
