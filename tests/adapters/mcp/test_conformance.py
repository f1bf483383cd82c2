"""The protocol's own conformance suite against the server, here over HTTP, which it needs: `make mcp-conformance`.

Most of its scenarios call tools, resources and prompts that only its own example server has; those below ask
for nothing but the protocol.
"""

from __future__ import annotations

import os
import re
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import uvicorn
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.applications import Starlette
from starlette.routing import Mount

from aider_gardener.adapters.mcp.server import make_server
from aider_gardener.archive.store import open_store
from aider_gardener.gardener.memory import ProjectMemory
from aider_gardener.settings import Settings

FOLDER = os.environ.get("MCP_CONFORMANCE", "")
SUITE = "node_modules/@modelcontextprotocol/conformance/dist/index.js"
OF_THE_PROTOCOL = (
    "server-initialize", "ping", "tools-list", "tools-call-error", "server-sse-multiple-streams",
)  # fmt: skip

pytestmark = pytest.mark.skipif(not FOLDER, reason="make mcp-conformance installs the suite, which needs npm")


@pytest.fixture(scope="module")
def summary() -> Iterator[str]:
    store = open_store(None)
    manager = StreamableHTTPSessionManager(make_server(ProjectMemory(store, "/p", settings=Settings())))
    mounted = [Mount("/mcp", manager.handle_request)]
    app = Starlette(routes=mounted, lifespan=lambda _app: manager.run())
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_level="error"))
    thread = threading.Thread(target=server.run, args=[[listening]], daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.02)
    url = f"http://127.0.0.1:{listening.getsockname()[1]}/mcp/"
    node = Path(FOLDER, "node_modules/node/bin/node")
    command = [str(node), str(Path(FOLDER, SUITE)), "server", "--url", url]
    done = subprocess.run(command, capture_output=True, text=True, timeout=250)
    yield done.stdout
    server.should_exit = True
    thread.join(10)
    store.close()


@pytest.mark.parametrize("scenario", OF_THE_PROTOCOL)
def test_a_scenario_of_the_protocol_itself_passes(summary: str, scenario: str) -> None:
    (line,) = re.findall(rf"^. {scenario}: .*$", summary, re.MULTILINE)
    assert line.startswith("✓") and line.endswith(" 0 failed")
