"""The server over standard input and output."""

from __future__ import annotations

from typing import Any

import anyio
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server


def over_stdio(server: Server[Any, Any]) -> None:
    """Serve the process that started this one, until it closes standard input."""

    async def run() -> None:
        async with stdio_server() as (reading, writing):
            await server.run(reading, writing, server.create_initialization_options())

    anyio.run(run)
