"""Each tool, resource and prompt, called by the SDK's own client in memory."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import anyio
import pytest
from mcp import ClientSession, McpError
from mcp.shared.memory import create_connected_server_and_client_session
from mcp.types import CallToolResult, TextContent
from pydantic import AnyUrl

from aider_gardener.adapters.mcp.server import ACTS, HEAD, make_server
from aider_gardener.archive.archive import Archive
from aider_gardener.archive.store import Store, open_store
from aider_gardener.gardener.memory import ProjectMemory
from aider_gardener.messages import Focus, Message, Source, SourceKind
from aider_gardener.settings import Settings
from aider_gardener.tokens import approximate, default_counter

PROJECT = "/project"
FACT = "Never use the port 8080, our queue listens on 9317."
LISTING_TOKENS = 900
Client = Callable[[ClientSession], Awaitable[None]]


@pytest.fixture
def store() -> Iterator[Store]:
    store = open_store(None)
    archive = Archive(store, session="chat", project=PROJECT, count=approximate, clock=lambda: 1.79e9)
    archive.provider = "openai"
    archive.add(Message("user", FACT), turn=1, seq=0, focus=Focus())
    archive.add(Message("assistant", "I will bind the worker to it."), turn=1, seq=1, focus=Focus())
    failed = Source(SourceKind.TEST, "pytest -q")
    text = "FAILED tests/test_w.py::test_go - assert 1 == 2\n1 failed in 0.1s"
    archive.add(Message("user", text), turn=2, seq=2, focus=Focus(), source=failed)
    yield store
    store.close()


@pytest.fixture
def memory(store: Store) -> ProjectMemory:
    return ProjectMemory(store, PROJECT, settings=Settings(), clock=lambda: 1.79e9)


@asynccontextmanager
async def connected(memory: ProjectMemory) -> AsyncIterator[ClientSession]:
    async with create_connected_server_and_client_session(make_server(memory)) as client:
        yield client


def with_client(memory: ProjectMemory, use: Client) -> None:
    async def run() -> None:
        async with connected(memory) as client:
            await use(client)

    anyio.run(run)


def call(memory: ProjectMemory, name: str, **given: object) -> CallToolResult:
    found: list[CallToolResult] = []

    async def use(client: ClientSession) -> None:
        found.append(await client.call_tool(name, dict(given)))

    with_client(memory, use)
    return found[0]


def text(result: CallToolResult) -> str:
    (block,) = result.content
    assert isinstance(block, TextContent)
    return block.text


def data(result: CallToolResult) -> dict[str, Any]:
    assert result.structuredContent is not None and not result.isError
    return result.structuredContent


def test_recall_quotes_with_source_and_turn_and_never_as_an_instruction(memory: ProjectMemory) -> None:
    result = call(memory, "recall", query="Which port does the queue use?")
    assert text(result).startswith(HEAD + "\n[1] user, aider, 2026-")
    assert all(line.startswith((">", "[")) for line in text(result).splitlines()[1:])
    (first, *_rest) = data(result)["items"]
    assert first["text"] == FACT and first["turn"] == 1 and first["id"] in text(result)


def test_recall_keeps_to_class_and_limit(memory: ProjectMemory) -> None:
    found = data(call(memory, "recall", query="test port worker", **{"class": "log"}))["items"]
    assert [row["from"].split(",")[0] for row in found] == ["shell"]
    assert len(data(call(memory, "recall", query="port worker test", limit=1))["items"]) == 1
    assert data(call(memory, "recall", query="zebra"))["items"] == []
    assert text(call(memory, "recall", query="zebra")) == "Nothing of that was said in this project."


def test_timeline_and_get_show_what_was_said_around_an_entry(memory: ProjectMemory) -> None:
    rows = data(call(memory, "timeline"))["items"]
    assert [row["turn"] for row in rows] == [1, 1, 2]
    around = data(call(memory, "timeline", around=rows[0]["id"], turns=0))["items"]
    assert [row["id"] for row in around] == [row["id"] for row in rows[:2]]
    (whole,) = data(call(memory, "get", id=rows[2]["id"]))["items"]
    assert whole["text"].endswith("1 failed in 0.1s") and "shell pytest -q, aider" in whole["from"]


def test_context_pressure_has_the_documented_keys(memory: ProjectMemory) -> None:
    found = data(call(memory, "context_pressure"))
    assert {"used", "limit", "available", "utilization", "recommendation", "droppable_files"} <= set(found)
    assert {"history_budget", "history_used", "messages_count", "by_class", "host"} <= set(found)
    assert found["host"] == "aider" and found["messages_count"] == 3


def test_what_changes_the_archive_is_told_and_what_looks_is_not(memory: ProjectMemory) -> None:
    changes: list[str] = []
    given: list[tuple[str, dict[str, object]]] = [
        ("recall", {"query": "port"}), ("timeline", {}), ("context_pressure", {}), ("forget", {"id": "g0"}),
    ]  # fmt: skip

    async def run() -> None:
        server = make_server(memory, changed=lambda: changes.append("changed"))
        async with create_connected_server_and_client_session(server) as client:
            for name, arguments in given:
                await client.call_tool(name, arguments)
            assert changes == [], "nothing was forgotten either"
            kept = await client.call_tool("remember", {"text": "The host is k7.", "kind": "fact"})
            assert len(changes) == 1
            await client.call_tool("forget", {"id": data(kept)["id"]})

    anyio.run(run)
    assert len(changes) == 2


def test_what_an_agent_keeps_is_found_by_the_next_under_its_name(memory: ProjectMemory, store: Store) -> None:
    kept = data(call(memory, "remember", text="The staging host is k7.", kind="fact"))["id"]
    other = ProjectMemory(store, PROJECT, settings=Settings())
    (row,) = data(call(other, "recall", query="staging host"))["items"]
    assert row["id"] == kept and row["from"].startswith("an agent's note, mcp, ")
    assert [entry["turn"] for entry in data(call(other, "timeline"))["items"]] == [1, 1, 2], "it is no chat"


def test_forget_deletes_for_good(memory: ProjectMemory, store: Store) -> None:
    (row, *_rest) = data(call(memory, "recall", query="queue port"))["items"]
    assert data(call(memory, "forget", id=row["id"]))["forgotten"] == [row["id"]]
    assert store.original(row["id"]) is None
    assert data(call(memory, "recall", query="queue port"))["items"] == []


@pytest.mark.parametrize(
    ("name", "given", "says"),
    [
        ("get", {"id": "g123"}, "no entry has the id g123"),
        ("get", {}, "'id' is a required property"),
        ("recall", {"query": "x", "class": "poem"}, "'poem' is not one of"),
        ("recall", {"query": "x", "limit": 0}, "0 is less than the minimum"),
        ("recall", {"query": "x", "limits": 1}, "Additional properties are not allowed"),
        ("remember", {"text": " ", "kind": "fact"}, "text must have 1 to 20,000 characters"),
        ("remember", {"text": "x", "kind": "poem"}, "'poem' is not one of"),
        ("nonsense", {}, "there is no tool nonsense"),
    ],
)
def test_an_error_is_one_line_of_the_tool(
    memory: ProjectMemory, name: str, given: dict[str, Any], says: str
) -> None:
    result = call(memory, name, **given)
    assert result.isError and says in text(result) and "\n" not in text(result)


def test_a_fault_of_ours_tells_its_kind_and_no_word_of_a_chat(
    memory: ProjectMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_given: object, **_more: object) -> None:
        raise RuntimeError(FACT)

    monkeypatch.setattr(memory, "recall", broken)
    result = call(memory, "recall", query="x")
    assert result.isError and text(result) == "aider-gardener failed (RuntimeError); nothing was changed"


def test_what_was_said_to_a_local_model_goes_to_no_other(store: Store) -> None:
    archive = Archive(store, session="local", project=PROJECT, count=approximate, clock=lambda: 1.8e9)
    archive.provider = "ollama"
    entry = archive.add(Message("user", "Our salary table is in vault k9."), turn=1, seq=0, focus=Focus())
    remote = ProjectMemory(store, PROJECT, settings=Settings())
    found = call(remote, "recall", query="salary table vault")
    assert data(found)["items"] == [] and "AIDER_GARDENER_LOCAL=true" in text(found)
    assert data(call(remote, "timeline"))["items"] == []
    assert "goes to no other" in text(call(remote, "get", id=entry.id))
    assert "goes to no other" in text(call(remote, "forget", id=entry.id))
    local = ProjectMemory(store, PROJECT, settings=Settings(), reader="agent@here")
    assert len(data(call(local, "recall", query="salary table vault"))["items"]) == 1


def test_entries_are_resources_and_resume_is_a_prompt(memory: ProjectMemory) -> None:
    async def use(client: ClientSession) -> None:
        listed = (await client.list_resources()).resources
        assert len(listed) == 3
        read = (await client.read_resource(listed[0].uri)).contents[0]
        assert getattr(read, "text", "") == FACT
        assert (await client.list_resource_templates()).resourceTemplates[
            0
        ].uriTemplate == "gardener://entry/{id}"
        with pytest.raises(McpError, match="no entry has the id"):
            await client.read_resource(AnyUrl("gardener://entry/g000000000"))
        assert [prompt.name for prompt in (await client.list_prompts()).prompts] == ["resume"]
        said = (await client.get_prompt("resume")).messages[0].content
        assert isinstance(said, TextContent) and FACT in said.text and "[Context Gardener State]" in said.text
        with pytest.raises(McpError, match="there is no prompt nonsense"):
            await client.get_prompt("nonsense")

    with_client(memory, use)


def test_an_empty_archive_says_so(memory: ProjectMemory) -> None:
    empty = ProjectMemory(open_store(None), "/other", settings=Settings())
    for name in ("timeline", "context_pressure"):
        result = call(empty, name)
        assert result.isError and text(result) == "the archive holds no chat of this project yet"

    async def use(client: ClientSession) -> None:
        assert (await client.list_resources()).resources == []
        said = (await client.get_prompt("resume")).messages[0].content
        assert isinstance(said, TextContent) and said.text == "There is no earlier chat in this project."

    with_client(empty, use)


def test_progress_is_told_to_a_client_that_asks(memory: ProjectMemory) -> None:
    heard: list[float] = []

    async def progress(done: float, total: float | None, message: str | None) -> None:
        heard.append(done)

    async def use(client: ClientSession) -> None:
        await client.call_tool("recall", {"query": "port"}, progress_callback=progress)
        await anyio.sleep(0.05)

    with_client(memory, use)
    assert heard == [0, 1]


def test_a_request_that_is_given_up_leaves_the_server_answering(
    memory: ProjectMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    import threading

    released = threading.Event()
    looked = memory.recall

    def slow(query: str, **more: Any) -> Any:
        if query == "slow":
            released.wait(20)
        return looked(query, **more)

    monkeypatch.setattr(memory, "recall", slow)

    async def use(client: ClientSession) -> None:
        with pytest.raises(McpError):
            await client.call_tool("recall", {"query": "slow"}, read_timeout_seconds=timedelta(seconds=0.2))
        result = await client.call_tool("recall", {"query": "queue port"})
        assert not result.isError
        released.set()

    with_client(memory, use)


def test_the_list_of_tools_costs_little_and_says_what_each_does_to_the_archive() -> None:
    tools = [act.tool.model_dump(exclude_none=True, by_alias=True, mode="json") for act in ACTS]
    assert default_counter()(json.dumps(tools)) < LISTING_TOKENS
    hints = {act.tool.name: act.tool.annotations for act in ACTS}
    assert all(hint is not None for hint in hints.values())
    reading = {name for name, hint in hints.items() if hint and hint.readOnlyHint}
    assert reading == {"recall", "timeline", "get", "context_pressure"}
    assert [name for name, hint in hints.items() if hint and hint.destructiveHint] == ["forget"]
    assert all(tool["outputSchema"]["type"] == "object" for tool in tools)
