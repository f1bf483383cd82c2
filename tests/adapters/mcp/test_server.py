"""Each tool, called by the SDK's own client in memory."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from locked_archives import fill_disk
from mcp import ClientSession, McpError
from mcp.shared.memory import create_connected_server_and_client_session
from mcp.types import CallToolResult, TextContent

from aider_gardener.adapters.mcp.server import HEAD, LEAST_TOKENS, MOST_TOKENS, TOOLS, make_server
from aider_gardener.archive.archive import Archive
from aider_gardener.archive.store import Store, open_store
from aider_gardener.gardener.memory import ProjectMemory
from aider_gardener.messages import Focus, Message, Source, SourceKind
from aider_gardener.settings import Settings
from aider_gardener.tokens import approximate, default_counter

PROJECT = "/project"
FACT = "Never use the port 8080, our queue listens on 9317."
LISTING_TOKENS = 1_000
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


ROW = re.compile(r"^\[(\d+)\] (.+) \((g[0-9a-f]{9})\):$")


@dataclass
class Quote:
    """A quote of an answer: its text to the last byte, and who said it."""

    turn: int
    record_of: str
    id: str
    text: str = ""


def quotes(result: CallToolResult) -> list[Quote]:
    """The quotes of an answer, each line of which is marked."""
    assert not result.isError
    found: list[Quote] = []
    for line in text(result).splitlines(keepends=True):
        if row := ROW.match(line.rstrip("\n")):
            found.append(Quote(int(row[1]), row[2], row[3]))
        elif line.startswith("> "):
            found[-1].text += line[2:]
    for quote, _next in pairwise(found):
        quote.text = quote.text.removesuffix("\n")
    return found


def test_recall_quotes_with_source_and_turn_and_never_as_an_instruction(memory: ProjectMemory) -> None:
    result = call(memory, "recall", query="Which port does the queue use?")
    assert text(result).startswith(HEAD + "\n[1] user, aider, 2026-")
    assert all(line.startswith((">", "[")) for line in text(result).splitlines()[1:])
    assert quotes(result)[0].text == FACT and quotes(result)[0].turn == 1


def test_recall_keeps_to_class_and_limit(memory: ProjectMemory) -> None:
    found = quotes(call(memory, "recall", query="test port worker", **{"class": "log"}))
    assert [quote.record_of.split(",")[0] for quote in found] == ["shell"]
    assert len(quotes(call(memory, "recall", query="port worker test", limit=1))) == 1
    assert text(call(memory, "recall", query="zebra")) == "Nothing of that was said in this project."


def test_a_null_is_an_argument_that_was_not_given(memory: ProjectMemory) -> None:
    every = {"class": None, "limit": None, "token_limit": None, "full": None}
    assert quotes(call(memory, "recall", query="queue port", **every))
    assert "'query' is a required property" in text(call(memory, "recall", query=None))


def test_what_somebody_shared_is_told_with_their_name_their_agent_and_the_day(
    memory: ProjectMemory, store: Store
) -> None:
    name = "shared:ana:c1"
    archive = Archive(
        store, session=name, project=PROJECT, count=approximate, clock=lambda: 1.78e9, host="cecli"
    )
    archive.provider = "openai"
    archive.add(Message("user", "The badger is in cellar nine."), turn=4, seq=0, focus=Focus())
    (quote,) = quotes(call(memory, "recall", query="where is the badger"))
    assert quote.record_of.startswith("user, by ana, cecli, 2026-05-")
    assert quotes(call(memory, "get", id=quote.id))[0].record_of == quote.record_of


def test_timeline_and_get_show_what_was_said_around_an_entry(memory: ProjectMemory) -> None:
    rows = quotes(call(memory, "timeline"))
    assert [row.turn for row in rows] == [1, 1, 2]
    around = quotes(call(memory, "timeline", around=rows[0].id, turns=0))
    assert [row.id for row in around] == [row.id for row in rows[:2]]
    (whole,) = quotes(call(memory, "get", id=rows[2].id))
    assert whole.text.endswith("1 failed in 0.1s") and "shell pytest -q, aider" in whole.record_of


def test_timeline_keeps_what_is_nearest_and_says_how_much_is_left_out(store: Store) -> None:
    archive = Archive(store, session="long", project=PROJECT, count=approximate, clock=lambda: 1.8e9)
    archive.provider = "openai"
    for n in range(60):
        archive.log(Message("user", f"row {n} " * 40), turn=n // 20 + 1, seq=n, source=Source(), at=1.8e9)
    memory = ProjectMemory(store, PROJECT, settings=Settings())
    last = quotes(call(memory, "timeline", token_limit=400))
    assert [row.text[:6] for row in last] == [f"row {n}" for n in range(56, 60)]
    assert text(call(memory, "timeline", token_limit=400)).endswith(
        "56 messages left out: a larger token_limit shows more."
    )
    around = quotes(call(memory, "timeline", around=last[0].id, turns=2, token_limit=400))
    assert {row.turn for row in around} == {3}


@given(st.text(st.sampled_from("a é\n\r\u2028中"), max_size=3_000), st.integers(LEAST_TOKENS, 600))
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_long_message_comes_in_parts_that_are_the_whole(
    memory: ProjectMemory, body: str, most: int
) -> None:
    entry = memory.remember("begin " + body * 3, "fact")
    found, start = "", 0
    while True:
        result = call(memory, "get", id=entry.id, start=start, token_limit=most)
        (quote,) = quotes(result)
        more = re.search(r"more characters: get with start (\d+)\.$", text(result))
        found += quote.text.removesuffix("\n") if more else quote.text
        assert approximate(text(result)) <= most
        if not more:
            break
        start = int(more[1])
    assert found == entry.content
    assert call(memory, "get", id=entry.id, start=len(entry.content)).isError


def test_context_pressure_has_the_documented_keys(memory: ProjectMemory) -> None:
    found = json.loads(text(call(memory, "context_pressure")))
    assert {"used", "limit", "available", "utilization", "recommendation", "droppable_files"} <= set(found)
    assert {"history_budget", "history_used", "messages_count", "by_class", "host"} <= set(found)
    assert found["host"] == "aider" and found["messages_count"] == 3


def test_what_changes_the_archive_is_told_and_what_looks_is_not(memory: ProjectMemory) -> None:
    changes: list[str] = []
    calls: list[tuple[str, dict[str, object]]] = [
        ("recall", {"query": "port"}), ("timeline", {}), ("context_pressure", {}), ("forget", {"id": "g0"}),
    ]  # fmt: skip

    async def run() -> None:
        server = make_server(memory, changed=lambda: changes.append("changed"))
        async with create_connected_server_and_client_session(server) as client:
            for name, arguments in calls:
                await client.call_tool(name, arguments)
            assert changes == [], "nothing was forgotten either"
            kept = await client.call_tool("remember", {"text": "The host is k7.", "kind": "fact"})
            assert len(changes) == 1
            await client.call_tool("forget", {"id": text(kept).split()[-1]})

    anyio.run(run)
    assert len(changes) == 2


def test_what_an_agent_keeps_is_found_by_the_next_under_its_name(memory: ProjectMemory, store: Store) -> None:
    kept = text(call(memory, "remember", text="The staging host is k7.", kind="fact"))
    assert "stays whole" in text(call(memory, "pin", id=kept[8:18])) and memory.get(kept[8:18]).pinned
    assert "no longer" in text(call(memory, "pin", id=kept[8:18], pinned=False))
    other = ProjectMemory(store, PROJECT, settings=Settings())
    (row,) = quotes(call(other, "recall", query="staging host"))
    assert kept == f"Kept as {row.id}." and row.record_of.startswith("an agent's note (fact), mcp, ")
    assert [entry.turn for entry in quotes(call(other, "timeline"))] == [1, 1, 2], "it is no chat"


def test_what_is_kept_in_memory_only_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = open_store(tmp_path)
    memory = ProjectMemory(store, PROJECT, settings=Settings())
    fill_disk(monkeypatch)
    kept = text(call(memory, "remember", text="The staging host is k7.", kind="fact"))
    assert ", but only until this server ends: " in kept and "No space left on device" in kept
    store.close()


def test_forget_deletes_for_good(memory: ProjectMemory, store: Store) -> None:
    (row, *_rest) = quotes(call(memory, "recall", query="queue port"))
    assert text(call(memory, "forget", id=row.id)) == f"Forgot {row.id} for good."
    assert store.original(row.id) is None
    assert quotes(call(memory, "recall", query="queue port")) == []


@pytest.mark.parametrize(
    ("name", "given", "says"),
    [
        ("recall", {"query": " "}, "query is empty"),
        ("get", {"id": "g123"}, "no entry has the id g123"),
        ("get", {}, "'id' is a required property"),
        ("recall", {"query": "x", "class": "poem"}, "'poem' is not one of"),
        ("recall", {"query": "x", "limit": 0}, "0 is less than the minimum"),
        ("recall", {"query": "x", "limits": 1}, "Additional properties are not allowed"),
        ("remember", {"text": " ", "kind": "fact"}, "text must have 1 to 20,000 characters"),
        ("remember", {"text": "x" * 20_001, "kind": "fact"}, "text must have 1 to 20,000 characters"),
        ("remember", {"text": "x", "kind": "poem"}, "'poem' is not one of"),
        ("nonsense", {}, "there is no tool nonsense"),
        pytest.param("nonsense " * 9_999, {}, "there is no tool nonsense", id="a long name"),
        ("remember", {"text": "fact", "kind": "word " * 9_999}, "' is not one of ['rule', "),
        ("recall", {"query": {"word": "x" * 99_999}}, "$.query: {'word': 'xxx"),
    ],
)
def test_an_error_is_one_line_of_the_tool(
    memory: ProjectMemory, name: str, given: dict[str, Any], says: str
) -> None:
    result = call(memory, name, **given)
    assert result.isError and says in text(result) and "\n" not in text(result)
    assert len(text(result)) < 1_000


def test_a_fault_of_ours_tells_its_kind_and_no_word_of_a_chat(
    memory: ProjectMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "recall", Mock(side_effect=RuntimeError(FACT)))
    result = call(memory, "recall", query="x")
    assert result.isError and text(result) == "aider-gardener failed (RuntimeError); nothing was changed"


def test_what_was_said_to_a_local_model_goes_to_no_other(store: Store) -> None:
    archive = Archive(store, session="local", project=PROJECT, count=approximate, clock=lambda: 1.8e9)
    archive.provider = "ollama"
    entry = archive.add(Message("user", "Our salary table is in vault k9."), turn=1, seq=0, focus=Focus())
    remote = ProjectMemory(store, PROJECT, settings=Settings())
    found = call(remote, "recall", query="salary table vault")
    assert quotes(found) == [] and "AIDER_GARDENER_LOCAL=true" in text(found)
    around = call(remote, "timeline")
    assert quotes(around) == [] and "AIDER_GARDENER_LOCAL=true" in text(around), (
        "nothing is left out silently"
    )
    archive.provider = "openai"
    archive.add(Message("assistant", "The ferry leaves at nine."), turn=1, seq=1, focus=Focus())
    around = call(remote, "timeline")
    assert len(quotes(around)) == 1 and text(around).startswith("Quoted") and "withheld" in text(around)
    assert "goes to no other" in text(call(remote, "get", id=entry.id))
    assert "goes to no other" in text(call(remote, "forget", id=entry.id))
    local = ProjectMemory(store, PROJECT, settings=Settings(), reader="agent@here")
    assert "vault k9" in text(call(local, "recall", query="salary table vault"))


def test_an_empty_archive_says_so(memory: ProjectMemory) -> None:
    empty = ProjectMemory(open_store(None), "/other", settings=Settings())
    for name in ("timeline", "context_pressure"):
        result = call(empty, name)
        assert result.isError and text(result).startswith("the archive holds no chat of ")


def test_a_request_that_is_given_up_leaves_the_server_answering(
    memory: ProjectMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    import threading

    released, ended = threading.Event(), list[bool]()
    looked = memory.recall

    def slow(query: str, **more: Any) -> Any:
        if query == "slow":
            ended.append(released.wait(120))
        return looked(query, **more)

    monkeypatch.setattr(memory, "recall", slow)

    async def use(client: ClientSession) -> None:
        with pytest.raises(McpError):
            await client.call_tool("recall", {"query": "slow"}, read_timeout_seconds=timedelta(seconds=0.2))
        result = await client.call_tool("recall", {"query": "queue port"})
        assert not result.isError
        released.set()

    with_client(memory, use)
    assert False not in ended, "the second was not answered while the first went on"


def test_the_list_of_tools_costs_little_and_says_what_each_does_to_the_archive() -> None:
    tools = [
        listed.model_dump(exclude_none=True, by_alias=True, mode="json") for listed, _run in TOOLS.values()
    ]
    assert default_counter()(json.dumps(tools)) < LISTING_TOKENS
    hints = {listed.name: listed.annotations for listed, _run in TOOLS.values()}
    assert all(hint is not None for hint in hints.values())
    reading = {name for name, hint in hints.items() if hint and hint.readOnlyHint}
    assert reading == {"recall", "timeline", "get", "context_pressure"}
    assert [name for name, hint in hints.items() if hint and hint.destructiveHint] == ["forget"]
    assert all("Use it" in tool["description"] and "Returns" in tool["description"] for tool in tools)
    assert [tool["name"] for tool in tools if "anthropic/alwaysLoad" in tool.get("_meta", {})] == ["recall"]


SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
CHAT_COMMANDS = re.compile(
    r"(?<![\w/])/(?:clear|compact|context-pressure|drop|forget|gardener|pin|recall|restore|unpin|why)\b"
)


def filled(messages: Sequence[str], *, session: str = "s") -> ProjectMemory:
    """The memory of an archive in which this was said by turns."""
    store = open_store(None)
    archive = Archive(store, session=session, project=PROJECT, count=approximate, clock=lambda: 1.79e9)
    archive.provider = "openai"
    for seq, said in enumerate(messages):
        role = "assistant" if seq % 2 else "user"
        source = Source(SourceKind.REPLY if seq % 2 else SourceKind.TYPED)
        archive.log(Message(role, said), turn=seq // 2 + 1, seq=seq, source=source, at=1.79e9)
    return ProjectMemory(store, PROJECT, settings=Settings())


ARCHIVES = {
    "empty": lambda: filled([]),
    "one entry": lambda: filled([FACT]),
    "many entries": lambda: filled([f"{FACT} And row {n} of the port list is {n * 7}." for n in range(200)]),
    "a huge entry": lambda: filled([FACT + "\nport line 77 of the log, é" * 40_000]),
    "one huge line": lambda: filled(["port " + "x" * 300_000]),
    "a secret": lambda: filled([f"The token of the port is {SECRET}, keep it."]),
    "another session's": lambda: filled([FACT], session="shared:ana:" + "0" * 40),
}


@pytest.mark.parametrize("archive", ARCHIVES)
def test_whatever_is_asked_the_answer_is_short_names_tools_alone_and_its_ids_bring_the_whole(
    archive: str,
) -> None:
    memory, known = ARCHIVES[archive](), "g000000000"
    limits: dict[str, int] = {"recall": 1_000, "timeline": 1_500, "get": 2_000}

    def asked(name: str, **given: object) -> CallToolResult:
        result = call(memory, name, **given)
        said = text(result)
        assert approximate(said) <= given.get("token_limit", limits.get(name, 1_000)), (name, given)  # type: ignore[operator]
        assert not CHAT_COMMANDS.search("\n".join(re.findall(r"^(?!> ).*$", said, re.MULTILINE)))
        assert SECRET not in said
        return result

    found = quotes(asked("recall", query="which port does the queue listen on"))
    assert bool(found) is (archive != "empty")
    asked("recall", query="port", full=True, token_limit=LEAST_TOKENS)
    asked("recall", query="port", limit=100, token_limit=MOST_TOKENS)
    for bounds in (
        {},
        {"turns": 50},
        {"turns": 50, "token_limit": LEAST_TOKENS},
        {"around": known},
        {"around": ""},
    ):
        asked("timeline", **bounds)
    asked("context_pressure")
    assert asked("remember", text="x", kind="poem").isError
    for entry_id in (known, "", "g", "s", "x" * 9_000, "shared:ana:1"):
        for name in ("get", "forget", "timeline"):
            if not found or entry_id != "g":  # with a single entry that is its name
                assert asked(name, **{"around" if name == "timeline" else "id": entry_id or " "}).isError
    for quote in found:
        (whole,) = quotes(asked("get", id=quote.id, token_limit=MOST_TOKENS))
        assert (
            quote.text.strip() in memory.get(quote.id).content
            and whole.text[:200] in memory.get(quote.id).content
        )
        asked("timeline", around=quote.id)
    kept = asked("remember", text=f"The port token is {SECRET}", kind="fact")
    assert not asked("forget", id=text(kept).removeprefix("Kept as ").rstrip(".")).isError
