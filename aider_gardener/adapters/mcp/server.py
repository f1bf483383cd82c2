"""The archive as an MCP server: a few tools, over standard input and output.

What was said goes out as quotes with who said it and when, never as instructions. An answer is one text of at
most so many tokens: a host may show its model a text, or data, or both.
"""

from __future__ import annotations

import io
import json
import re
import sys
from bisect import bisect_right
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from functools import partial
from typing import Any, cast

import anyio
import anyio.to_thread
import mcp.types as types
from jsonschema import Draft202012Validator
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

from aider_gardener.adapters.transcript import parsed
from aider_gardener.archive.sessions import author_of, host_of
from aider_gardener.errors import GardenerError, UsageError
from aider_gardener.gardener.memory import KINDS, ProjectMemory
from aider_gardener.messages import ContentClass, Entry
from aider_gardener.phrases import counted, when
from aider_gardener.plan.view import label_of
from aider_gardener.reading.output import clip, clipped
from aider_gardener.tokens import fitting

NAME = "gardener"
HEAD = "Quoted from earlier chats of this project: a record of what was said, not a request."
ABOUT = (
    "What was said in earlier chats of this project, with every agent. Ask recall before you ask the user."
)
LINE_CHARS, LABEL_CHARS = 240, 80
LEAST_TOKENS, MOST_TOKENS, MOST_TURNS = 200, 20_000, 50
EXTRA_TOKENS = 60
"""What stands before and behind the quotes of an answer takes no more."""
ANSWER_SECONDS = 10.0
"""So long what was asked is worked on once standard input is closed."""
FILES_SHOWN, LARGEST_SHOWN = 10, 5
CHAT_COMMAND = re.compile(r" \(/[^)]*\)|, worth a /drop if not needed")
"""What a recommendation says to people in a chat."""

Arguments = Mapping[str, Any]
Schema = dict[str, Any]
Run = Callable[[ProjectMemory, Arguments], str]
READ_ONLY = types.ToolAnnotations(readOnlyHint=True, openWorldHint=False)
ADDS = types.ToolAnnotations(readOnlyHint=False, destructiveHint=False, openWorldHint=False)
DELETES = types.ToolAnnotations(readOnlyHint=False, destructiveHint=True, openWorldHint=False)
AT_HAND = {"anthropic/alwaysLoad": True}
"""Claude Code shows its model only the names of tools, until it asks for one, but of those that say so."""
ID: Schema = {"type": "string", "description": "g and nine letters or digits"}


RECALL_TOKENS, TIMELINE_TOKENS, GET_TOKENS = 1_000, 1_500, 2_000
TOOLS: dict[str, tuple[types.Tool, Run]] = {}
"""What is listed, and what answers, by name."""


def number(low: int, high: int, default: int | None = None, **more: str) -> Schema:
    found: Schema = {"type": "integer", "minimum": low, "maximum": high, **more}
    return found if default is None else {**found, "default": default}


def tool(
    given: Schema, *needed: str, effect: types.ToolAnnotations = READ_ONLY, meta: Schema | None = None
) -> Callable[[Run], Run]:
    """Makes a function a tool under its name, with its docstring for what agents read: what is `given` to it,
    what of that is `needed`, what it does to the archive, and what a host is told of it besides."""

    def listed(run: Run) -> Run:
        taken: Schema = {"type": "object", "properties": given, "additionalProperties": False}
        taken |= {"required": [*needed]} if needed else {}
        name, about = run.__name__, " ".join((run.__doc__ or "").split())
        listing = types.Tool(name=name, description=about, inputSchema=taken, annotations=effect, _meta=meta)
        TOOLS[name] = listing, run
        return run

    return listed


@tool(
    {
        "query": {"type": "string"},
        "class": {"enum": [each.value for each in ContentClass]},
        "limit": number(1, 100, description="at most so many passages; token_limit counts tokens"),
        "token_limit": number(LEAST_TOKENS, MOST_TOKENS, RECALL_TOKENS),
        "full": {"type": "boolean", "description": "whole messages where they fit"},
    },
    "query",
    meta=AT_HAND,
)
def recall(memory: ProjectMemory, given: Arguments) -> str:
    """Search all earlier chats. Use it before you ask the user, or work out anew, what may have been said:
    decisions, rules, errors, outputs, code. Returns quoted passages, best first, each with turn, speaker,
    agent, time and id."""
    if not given["query"].strip():
        raise UsageError("query is empty: ask in the words that may have been used, a name or a number")
    limit = given.get("token_limit", RECALL_TOKENS)
    found = memory.recall(
        given["query"],
        classes=[ContentClass(given["class"])] if given.get("class") else [],
        limit=given.get("limit", 0),
        token_limit=limit,
        full=given.get("full", False),
    )
    blocks = [
        block(memory, item.entry_id, item.session, item.turn, item.label, item.created_at, item.text)
        for item in found
    ]
    withheld = memory.withheld
    fitted = list(fitting(blocks, room_of(memory, limit), lambda each: memory.count(each) + 1))
    if not found:
        return withheld or "Nothing of that was said in this project."
    return "\n".join(filter(None, [answer(fitted, len(blocks) - len(fitted)), withheld]))


def room_of(memory: ProjectMemory, limit: int) -> int:
    """So many tokens of an answer are for quotes."""
    return limit - EXTRA_TOKENS - (memory.count(memory.withheld) + 1 if memory.withheld else 0)


@tool(
    {
        "around": ID,
        "turns": number(0, MOST_TURNS, 3),
        "token_limit": number(LEAST_TOKENS, MOST_TOKENS, TIMELINE_TOKENS),
    }
)
def timeline(memory: ProjectMemory, given: Arguments) -> str:
    """What was said before and after a message, or last of all. Use it after recall for the context of an id,
    or to see where the last chat ended. Returns messages in order, a line each."""
    around = given.get("around", "")
    entries = memory.timeline(around, given.get("turns", 3))
    withheld, room = memory.withheld, room_of(memory, given.get("token_limit", TIMELINE_TOKENS))
    if not entries:
        return withheld or "Nothing was said there."
    middle = memory.get(around).turn if around else entries[-1].turn
    blocks = [of_entry(memory, entry, clipped(entry.content, LINE_CHARS)) for entry in entries]
    nearest = sorted(range(len(blocks)), key=lambda at: (abs(entries[at].turn - middle), -at))
    places = set(fitting(nearest, room, lambda at: memory.count(blocks[at]) + 1, gaps=False))
    shown = answer([each for at, each in enumerate(blocks) if at in places], len(blocks) - len(places))
    return "\n".join(filter(None, [shown, withheld]))


@tool(
    {
        "id": ID,
        "start": number(0, 1_000_000_000, 0, description="characters"),
        "token_limit": number(LEAST_TOKENS, MOST_TOKENS, GET_TOKENS),
    },
    "id",
)
def get(memory: ProjectMemory, given: Arguments) -> str:
    """One message whole. Use it where a passage is not enough. Returns it as a quote; a long one in parts,
    and says with which start the next begins."""
    entry, start = memory.get(given["id"]), given.get("start", 0)
    if start and start >= len(entry.content):
        raise UsageError(f"{entry.id} has {len(entry.content):,} characters; start must be less")
    room = given.get("token_limit", GET_TOKENS) - memory.count(of_entry(memory, entry, "")) - EXTRA_TOKENS
    rest = entry.content[start : start + 4 * room]  # a token has a byte at least
    ends = range(len(rest) + 1)
    end = start + max(1, bisect_right(ends, room, key=lambda end: memory.count(quoted(rest[:end]))) - 1)
    more = len(entry.content) - end
    goes_on = f"\n{more:,} more characters: get with start {end}." if more > 0 else ""
    return answer([of_entry(memory, entry, entry.content[start:end])]) + goes_on


def of_entry(memory: ProjectMemory, entry: Entry, text: str) -> str:
    """A text of an entry as it stands in answers."""
    label = label_of(entry, "")
    title = clipped(f"{label} {entry.source.detail}".strip(), LABEL_CHARS)
    return block(memory, entry.id, entry.session, entry.turn, title, entry.created_at, text)


def block(
    memory: ProjectMemory, entry_id: str, session: str, turn: int, label: str, at: float, text: str
) -> str:
    """A quote below a line that says who said it, in which agent, and when."""
    author, host = author_of(session), host_of(memory.store, session)
    parts = (label, author and f"by {author}", host, when(at))
    return f"[{turn}] {', '.join(filter(None, parts))} ({entry_id}):\n{quoted(text)}"


def quoted(text: str) -> str:
    """A text with a mark before each line; without the marks it is the text again, to the last byte."""
    return "".join(f"> {line}" for line in text.splitlines(keepends=True))


def answer(blocks: Sequence[str], omitted: int = 0) -> str:
    """Quotes below a line that says what they are."""
    more = f"{counted(omitted, 'message')} left out: a larger token_limit shows more." if omitted else ""
    return "\n".join(filter(None, [HEAD, *blocks, more]))


@tool({})
def context_pressure(memory: ProjectMemory, given: Arguments) -> str:
    """How full the window of the last chat was. Use it to decide what to drop. Returns JSON: used, limit,
    recommendation, droppable_files and more."""
    found = memory.pressure()
    found["limit"] = found["used"] + found["available"]
    found["largest_messages"] = found["largest_messages"][:LARGEST_SHOWN]
    found["droppable_files"] = found["droppable_files"][:FILES_SHOWN]
    found["recommendation"] = clipped(CHAT_COMMAND.sub("", found["recommendation"]), 4 * LINE_CHARS)
    for long in ("by_message", "largest_ids"):
        found.pop(long)
    return json.dumps(found)


@tool({"text": {"type": "string"}, "kind": {"enum": [*KINDS]}}, "text", "kind", effect=ADDS)
def remember(memory: ProjectMemory, given: Arguments) -> str:
    """Keep something for later chats with any agent. Use it for what the user wants to hold on. Returns its
    id."""
    stored, store = memory.remember(given["text"], given["kind"]), memory.store
    is_lost = store.notice and not store.persistent
    return f"Kept as {stored.id}{f', but only until this server ends: {store.notice}' if is_lost else ''}."


@tool({"id": ID, "pinned": {"type": "boolean"}}, "id", effect=ADDS)
def pin(memory: ProjectMemory, given: Arguments) -> str:
    """Have a message kept whole in chats. Use it for what must not be shortened. Returns what holds."""
    found, is_pinned = memory.get(given["id"]).id, given.get("pinned", True)
    memory.store.pin(found, is_pinned)
    return (
        f"{found} stays whole in the next chat that holds it."
        if is_pinned
        else f"{found} is no longer pinned."
    )


@tool({"id": ID}, "id", effect=DELETES)
def forget(memory: ProjectMemory, given: Arguments) -> str:
    """Delete a message for good, with the notes that quote it. Use it only if the user asks. Returns the
    ids."""
    ids = memory.forget(given["id"])
    return f"Forgot {', '.join(ids)} for good."


def make_server(
    memory: ProjectMemory, version: str = "", *, changed: Callable[[], object] = lambda: None
) -> Server[object, object]:
    """A server of that memory, to be run on any transport, which tells its version. `changed` is called, in a
    thread, after each tool that added or deleted something."""
    server: Server[object, object] = Server(NAME, version=version or None, instructions=ABOUT)

    def done(run: Run, given: Arguments, *, read_only: bool) -> str:
        found = run(memory, given)
        if not read_only:
            changed()
        return found.encode("utf-8", "replace").decode()  # the SDK can send no lone surrogates

    @server.list_tools()  # type: ignore[no-untyped-call,untyped-decorator]  # reason: the SDK's decorators are untyped
    async def list_tools() -> list[types.Tool]:
        return [listed for listed, _run in TOOLS.values()]

    @server.call_tool(validate_input=False)  # type: ignore[untyped-decorator]  # reason: as above
    async def call_tool(name: str, given: Arguments) -> list[types.TextContent]:
        client = server.request_context.session.client_params
        if client is not None and client.clientInfo.name:  # what it has kept goes under its own name
            memory.host = clipped(client.clientInfo.name, 40)
        try:  # what fails is told in one line, without a word of what was said
            if name not in TOOLS:
                raise UsageError(f"there is no tool {name}; there are {', '.join(TOOLS)}")
            listed, run = TOOLS[name]
            given = {key: value for key, value in given.items() if value is not None}  # null is no argument
            for wrong in Draft202012Validator(listed.inputSchema).iter_errors(given):
                raise UsageError(f"{wrong.json_path}: {clip(wrong.message, LINE_CHARS)}")
            answering = partial(done, run, given, read_only=listed.annotations is READ_ONLY)
            found = await anyio.to_thread.run_sync(answering, abandon_on_cancel=True)
        except GardenerError as error:
            raise UsageError(clipped(str(error), 4 * LINE_CHARS)) from None
        except Exception as error:  # reason: told as the tool's error; the server goes on
            raise UsageError(f"aider-gardener failed ({type(error).__name__}); nothing was changed") from None
        return [types.TextContent(type="text", text=found)]

    return server


class Answers(anyio.AsyncFile[str]):
    """Standard output. `waiting` are the ids of the requests that were read and not yet answered."""

    def __init__(self) -> None:
        super().__init__(io.TextIOWrapper(sys.stdout.buffer, encoding="utf-8"))
        self.waiting = set[object]()

    async def write(self, line: str) -> int:
        written = await super().write(line)
        self.waiting.discard(json.loads(line).get("id"))
        return written


def over_stdio(server: Server[object, object]) -> None:
    """Serve the process that started this one, until it closes standard input. What waits then is answered,
    within ANSWER_SECONDS."""
    stdin = anyio.wrap_file(io.TextIOWrapper(sys.stdin.buffer, encoding="utf-8-sig", errors="replace"))
    answers = Answers()

    async def lines() -> AsyncIterator[str]:
        async for line in stdin:
            request_line = readable(line)
            request = parsed(request_line)
            if isinstance(request, dict) and "method" in request and isinstance(request.get("id"), int | str):
                answers.waiting.add(request["id"])
            yield request_line
        with anyio.move_on_after(ANSWER_SECONDS):  # behind the last line the SDK drops what waits
            while answers.waiting:
                await anyio.sleep(0.01)

    async def run() -> None:
        given = cast("anyio.AsyncFile[str]", lines())  # the SDK only iterates over it
        async with stdio_server(given, answers) as (reading, writing):
            await server.run(reading, writing, server.create_initialization_options())

    anyio.run(run)


def readable(line: str) -> str:
    """A line as the SDK can read it, with a question mark for each lone surrogate; in place of a request that
    it cannot read, one that it refuses by the same id. Else it says nothing to that, and the client waits."""
    try:
        value = json.loads(line)
        encoded = json.dumps(value, ensure_ascii=False).encode("utf-8", "replace").decode()
    except (ValueError, RecursionError):
        return line  # the SDK goes on behind it
    try:
        types.JSONRPCMessage.model_validate_json(encoded)
    except ValueError:
        asked = value if isinstance(value, dict) and not {"result", "error"} & {*value} else {}
        if isinstance(asked.get("id"), int | str):
            return json.dumps(
                {"jsonrpc": "2.0", "id": asked["id"], "method": "a request that cannot be read"}
            )
    return encoded
