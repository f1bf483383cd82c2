"""Claude Code, Codex, OpenCode and Gemini themselves with what `gardener install` gives them, their model played here.

`make hosts` fetches them; without it these tests are skipped.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest

BINARIES = os.environ.get("REAL_HOSTS", "")
ROOT = Path(__file__).resolve().parents[2]
REPLY, OUTPUT = "The kestrel pool has 17 connections.", "marker-output-42"
FACT = "Never use the port 8080, our queue listens on 9317."
QUESTION = "How many connections has the kestrel pool?"
LOG = "\n".join(f"2026-01-01 10:00:{n % 60:02} INFO worker {n} took {n * 7} ms" for n in range(900))
BAD = "2026-01-01 11:00:00 ERROR db down code 53300"

pytestmark = pytest.mark.skipif(not BINARIES, reason="make hosts fetches the programs")


class Model(BaseHTTPRequestHandler):
    """Asks for one command where it may, then answers, in the format that it is asked in."""

    protocol_version = "HTTP/1.1"
    asked: ClassVar[list[str]] = []

    def log_message(self, *_: object) -> None:
        pass

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.asked.append(json.dumps(asked, ensure_ascii=False))
        of = (name for name in FORMATS if name in self.path)
        events = list(FORMATS[next(of, "responses")](asked))
        is_streamed = ":generateContent" not in self.path and "input_tokens" not in events[0]
        done = [] if "enerateContent" in self.path or "messages" in self.path else ["data: [DONE]\n\n"]
        named = [f"event: {e['type']}\n" if "type" in e else "" for e in events]
        rows = [f"{name}data: {json.dumps(e)}\n\n" for name, e in zip(named, events, strict=True)]
        data = "".join([*rows, *done]) if is_streamed else json.dumps(events[0])
        self.send_response(200)
        self.send_header("content-type", "text/event-stream" if is_streamed else "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data.encode())


def chat(asked: dict[str, Any]) -> Iterator[dict[str, Any]]:
    delta: dict[str, Any] = {"role": "assistant", "content": REPLY}
    reason = "stop"
    names = [tool["function"]["name"] for tool in asked.get("tools", [])]
    # OpenCode reads no more of a command that has ended, whatever still stands in the pipe.
    log = "cat big.log; sleep 2"
    commands = [log, f"echo {OUTPUT}"][sum(each["role"] == "tool" for each in asked["messages"]) :]
    if "bash" in names and commands:
        words = json.dumps({"command": commands[0], "description": "it"})
        call = {"index": 0, "id": "c1", "type": "function", "function": {"name": "bash", "arguments": words}}
        delta, reason = {"role": "assistant", "tool_calls": [call]}, "tool_calls"
    head = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    yield {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    yield {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}], "usage": usage}


def messages(asked: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Anthropic's: shows the log when it is asked to, once a wish."""
    told, stop = json.dumps(asked.get("messages", [])), "end_turn"
    is_summary = "detailed summary" in told
    text = "<summary>They spoke of a log.</summary>" if is_summary else "Understood."
    block: dict[str, Any] = {"type": "text", "text": ""}
    delta: dict[str, Any] = {"type": "text_delta", "text": text}
    if told.count("SHOW IT") > told.count("tool_use_id") and asked.get("tools"):
        call = {"command": "cat big.log", "description": "show the log"}
        block = {"type": "tool_use", "id": f"toolu_{len(Model.asked):08}", "name": "Bash", "input": {}}
        delta, stop = {"type": "input_json_delta", "partial_json": json.dumps(call)}, "tool_use"
    usage = {"input_tokens": 100, "output_tokens": 10}
    whole = {
        "id": f"msg_{len(Model.asked)}",
        "type": "message",
        "role": "assistant",
        "model": asked.get("model"),
        "usage": usage,
    }
    if not asked.get("stream"):  # or only tokens are to be counted
        yield {**usage, **whole, "content": [{**block, "text": text}], "stop_reason": stop}
        return
    yield {"type": "message_start", "message": {**whole, "content": [], "stop_reason": None}}
    yield {"type": "content_block_start", "index": 0, "content_block": block}
    yield {"type": "content_block_delta", "index": 0, "delta": delta}
    yield {"type": "content_block_stop", "index": 0}
    yield {"type": "message_delta", "delta": {"stop_reason": stop}, "usage": usage}
    yield {"type": "message_stop"}


def gemini(asked: dict[str, Any]) -> Iterator[dict[str, Any]]:
    told = json.dumps(asked.get("contents"))
    part: dict[str, Any] = {"text": REPLY}
    if "distilling chat history" in json.dumps(asked.get("systemInstruction")):
        part = {"text": "<state_snapshot>They spoke of a pool.</state_snapshot>"}
    elif "run_shell_command" in json.dumps(asked.get("tools")) and "functionResponse" not in told:
        words = {"command": f"echo {OUTPUT}", "description": "it"}
        part = {"functionCall": {"name": "run_shell_command", "args": words}}
    content = {"role": "model", "parts": [part]}
    usage = {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15}
    yield {"candidates": [{"content": content, "finishReason": "STOP", "index": 0}], "usageMetadata": usage}


def responses(_asked: dict[str, Any]) -> Iterator[dict[str, Any]]:
    text = {"type": "output_text", "text": REPLY, "annotations": []}
    item = {"type": "message", "id": "m1", "status": "completed", "role": "assistant", "content": [text]}
    usage = {
        "input_tokens": 10, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 5,
        "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 15,
    }  # fmt: skip
    whole = {
        "id": "r1",
        "object": "response",
        "status": "completed",
        "model": "m",
        "output": [item],
        "usage": usage,
    }
    yield {"type": "response.created", "response": {**whole, "status": "in_progress", "output": []}}
    yield {"type": "response.output_item.done", "output_index": 0, "item": item}
    yield {"type": "response.completed", "response": whole}


FORMATS = {
    "v1/messages": messages,
    "chat/completions": chat,
    "enerateContent": gemini,
    "responses": responses,
}


@pytest.fixture
def place(tmp_path: Path) -> Iterator[tuple[Path, dict[str, str], str]]:
    """A project, the environment of a user who has nothing, and the address of the model."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    project = tmp_path / "project"
    project.mkdir()
    subprocess.run(["git", "init", "-q", str(project)], check=True)
    path = f"{BINARIES}{os.pathsep}{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environ = {"HOME": str(tmp_path), "PATH": path, "PYTHONPATH": str(ROOT), "KEY": "x"}
    Model.asked.clear()
    yield project, environ, f"http://127.0.0.1:{server.server_address[1]}/v1"
    server.shutdown()


def gardener(place: tuple[Path, dict[str, str], str], *words: str) -> str:
    command = [sys.executable, "-m", "aider_gardener.cli", *words]
    done = subprocess.run(
        command, cwd=place[0], env=place[1], capture_output=True, text=True, timeout=60, check=True
    )
    return done.stdout


def said(place: tuple[Path, dict[str, str], str]) -> str:
    return gardener(place, "recall", "kestrel pool connections marker output", "--json")


def run(place: tuple[Path, dict[str, str], str], *command: str) -> str:
    done = subprocess.run(
        [f"{BINARIES}/{command[0]}", *command[1:]], cwd=place[0], env=place[1], capture_output=True, text=True,
        timeout=200, stdin=subprocess.DEVNULL, check=False,
    )  # fmt: skip
    return done.stdout + done.stderr


def test_opencode_archives_what_was_said_and_gets_its_tools(place: tuple[Path, dict[str, str], str]) -> None:
    (place[0] / "big.log").write_text(f"{LOG * 9}\n{BAD}\n")
    gardener(place, "install", "opencode")
    options = {"baseURL": place[2], "apiKey": "x"}
    fake = {"npm": "@ai-sdk/openai-compatible", "options": options, "models": {"m": {}}}
    (place[0] / "opencode.json").write_text(json.dumps({"provider": {"fake": fake}}))
    assert "connected" in run(place, "opencode", "mcp", "list")
    assert REPLY in run(place, "opencode", "run", "-m", "fake/m", QUESTION)
    found = said(place)
    assert REPLY in found and OUTPUT in found and QUESTION in found and "OpenCode" in found
    results = [each for each in json.loads(Model.asked[-1])["messages"] if each["role"] == "tool"]
    assert "the whole is g" in results[0]["content"] and BAD in results[0]["content"]
    assert len(results[0]["content"]) < len(LOG) / 10 and OUTPUT in results[1]["content"]
    shown = json.loads(gardener(place, "recall", "worker 850", "--full", "--limit", "400000", "--json"))
    assert f"{LOG * 9}\n{BAD}\n" in [row["text"] for row in shown], "of which OpenCode shows the end"
    gardener(place, "uninstall", "opencode")
    assert "gardener" not in run(place, "opencode", "mcp", "list")


def test_codex_archives_what_was_said_and_gets_its_tools(place: tuple[Path, dict[str, str], str]) -> None:
    gardener(place, "install", "codex")
    assert "gardener" in run(place, "codex", "mcp", "list")
    fake = f'model_providers.fake={{name="f",base_url="{place[2]}",wire_api="responses",env_key="KEY"}}'
    words = ("-c", fake, "-c", 'model_provider="fake"', "-m", "m")
    told = run(place, "codex", "exec", "--dangerously-bypass-hook-trust", *words, QUESTION)
    assert REPLY in told and "hook: Stop Completed" in told
    found = said(place)
    assert REPLY in found and QUESTION in found and "Codex" in found
    gardener(place, "uninstall", "codex")
    assert "gardener" not in run(place, "codex", "mcp", "list")


def test_gemini_archives_what_was_said_and_gets_back_what_it_lost(
    place: tuple[Path, dict[str, str], str],
) -> None:
    settings = Path(place[1]["HOME"], ".gemini", "settings.json")
    settings.parent.mkdir()
    own = {"security": {"auth": {"selectedType": "gemini-api-key"}}, "model": {"compressionThreshold": 1e-6}}
    settings.write_text(json.dumps(own))
    gardener(place, "install", "gemini")
    assert "gardener" in run(place, "gemini", "mcp", "list")
    place[1].update(GEMINI_API_KEY="x", GOOGLE_GEMINI_BASE_URL=place[2].removesuffix("/v1"))
    words = ("gemini", "--skip-trust", "-y", "-m", "gemini-2.5-flash")
    assert REPLY in run(place, *words, "-p", f"{FACT} Look at this: {' '.join(map(str, range(9_000)))}")
    found = said(place)
    assert REPLY in found and OUTPUT in found and "Gemini" in found and "hook_context" not in found
    run(place, *words, "-r", "latest", "-p", "Go on.")  # behind which Gemini compacts
    Model.asked.clear()
    run(place, *words, "-r", "latest", "-p", "Which port has the queue?")
    assert any("Quoted from earlier" in each and FACT in each for each in Model.asked)
    gardener(place, "uninstall", "gemini")
    assert json.loads(settings.read_text()) == own


def test_claude_code_gets_back_what_a_compaction_loses_and_large_results_come_in_short(
    place: tuple[Path, dict[str, str], str],
) -> None:
    (place[0] / "big.log").write_text(f"{LOG}\n{BAD}\n")
    place[1].update(
        ANTHROPIC_BASE_URL=place[2].removesuffix("/v1"), ANTHROPIC_API_KEY="sk-ant-api03-none",
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC="1", DISABLE_AUTOUPDATER="1", IS_SANDBOX="1",
        AIDER_GARDENER_THROTTLE_TOKENS="1500",
    )  # fmt: skip
    gardener(place, "install", "claude-code")
    session: list[str] = []

    def asked(prompt: str) -> str:
        """The last prompt that the model got then, with all that hooks added."""
        told = run(
            place, "claude", "-p", prompt, *session, "--allowedTools", "Bash", "--output-format", "json"
        )
        session[:] = ["--resume", json.loads(told)["session_id"]]
        return json.dumps(json.loads(Model.asked[-1])["messages"], ensure_ascii=False)

    prompt = asked(f"{FACT} SHOW IT")
    assert "shortened by aider-gardener" in prompt and BAD in prompt
    assert "worker 250 took" not in prompt and "the whole is g" in prompt
    assert "persisted-output" not in prompt, "the host would show the beginning of the short form alone"
    names = {tool["name"].rpartition("__")[2] for tool in json.loads(Model.asked[-1])["tools"]}
    assert "recall" in names and "gardener__forget" in Model.asked[-1], "shown, or named to be looked up"
    for words in ("Plan the ferry at noon.", "And the crew list?", "Name the pier."):
        assert "Quoted from earlier" not in asked(words), "before a compaction nothing is missing"
    asked("/compact")
    prompt = asked("Which port does the queue listen on?")
    assert "They spoke of a log." in prompt and "Plan the ferry at noon." not in prompt
    assert "Quoted from earlier in this chat by aider-gardener" in prompt
    assert f"> {FACT}" in prompt.replace(" SHOW IT", "")
    found = json.loads(gardener(place, "recall", "worker 850", "--full", "--limit", "30000", "--json"))
    assert any("worker 850 took 5950 ms" in row["text"] and row["host"] == "Claude Code" for row in found)
    shown = gardener(place, "recall", "quoted from earlier in this chat", "--limit", "9000")
    assert "Quoted from earlier in this chat by aider-gardener" not in shown, "recall feeds on itself"
    assert "no unknown records, no faults" in gardener(place, "doctor")
    for words, is_left in (
        (("install", "--project"), True),
        (("uninstall", "--project"), True),
        (("uninstall",), False),
    ):
        gardener(place, words[0], "claude-code", *words[1:])
        assert ("aider-gardener" in run(place, "claude", "plugin", "list")) is is_left
