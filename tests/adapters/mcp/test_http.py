"""The server over HTTP: only with the token, only under this machine's own names."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator

import anyio
import httpx
import pytest
import uvicorn
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client

from aider_gardener.adapters.mcp.http import ADDRESS, PATH, application
from aider_gardener.adapters.mcp.server import make_server
from aider_gardener.archive.store import open_store
from aider_gardener.gardener.memory import ProjectMemory
from aider_gardener.settings import Settings

TOKEN = "a-token-of-this-test"


@pytest.fixture
def url() -> Iterator[str]:
    store = open_store(None)
    app = application(make_server(ProjectMemory(store, "/p", settings=Settings())), TOKEN)
    listening = socket.socket()
    listening.bind((ADDRESS, 0))
    port = listening.getsockname()[1]
    server = uvicorn.Server(uvicorn.Config(app, log_level="error"))
    thread = threading.Thread(target=server.run, args=[[listening]], daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.02)
    yield f"http://{ADDRESS}:{port}{PATH}/"
    server.should_exit = True
    thread.join(10)
    store.close()


def test_with_the_token_the_tools_are_listed(url: str) -> None:
    async def use() -> None:
        http = httpx.AsyncClient(headers={"Authorization": f"Bearer {TOKEN}"})
        connected = streamable_http_client(url, http_client=http)
        async with http, connected as (reading, writing, _id), ClientSession(reading, writing) as client:
            await client.initialize()
            assert "recall" in [tool.name for tool in (await client.list_tools()).tools]

    anyio.run(use)


@pytest.mark.parametrize("headers", [{}, {"Authorization": "Bearer wrong"}, {"Authorization": TOKEN}])
def test_without_it_nothing_is_told(url: str, headers: dict[str, str]) -> None:
    answer = httpx.post(url, json={"jsonrpc": "2.0", "id": 1, "method": "tools/list"}, headers=headers)
    assert answer.status_code == 401 and "token" in answer.text


def test_a_page_in_a_browser_cannot_reach_it_under_another_name(url: str) -> None:
    headers = {"Authorization": f"Bearer {TOKEN}", "Accept": "application/json, text/event-stream"}
    asked = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    assert httpx.post(url, json=asked, headers={**headers, "Host": "evil.example"}).status_code == 421
    assert (
        httpx.post(url, json=asked, headers={**headers, "Origin": "https://evil.example"}).status_code == 403
    )
