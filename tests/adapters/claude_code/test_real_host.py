"""Claude Code itself with our hooks and tools, its model played by a server on this machine: `make hosts`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

CLAUDE = os.environ.get("CLAUDE_CODE", "")
FACT = "Never use the port 8080, our queue listens on 9317."
LOG = "\n".join(f"2026-01-01 10:00:{n % 60:02} INFO worker {n} took {n * 7} ms" for n in range(900))
BAD = "2026-01-01 11:00:00 ERROR db down code 53300"

pytestmark = pytest.mark.skipif(not CLAUDE, reason="make hosts fetches it, which needs npm")


class Model(ThreadingHTTPServer):
    """Anthropic's messages as far as Claude Code needs them: shows the log when it is asked to, once a wish."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.asked: list[dict[str, Any]] = []

    def answer(self, body: Mapping[str, Any]) -> dict[str, Any]:
        messages = json.dumps(body.get("messages", []))
        if messages.count("SHOW IT") > messages.count("tool_use_id") and body.get("tools"):
            call = {"command": "cat big.log", "description": "show the log"}
            return {"type": "tool_use", "id": f"toolu_{len(self.asked):08}", "name": "Bash", "input": call}
        is_summary = "detailed summary" in messages
        return {
            "type": "text",
            "text": "<summary>They spoke of a log.</summary>" if is_summary else "Understood.",
        }


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Model

    def log_message(self, *_args: object) -> None:
        """Nothing is printed."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or b"{}")
        if not self.path.startswith("/v1/messages") or "count_tokens" in self.path:
            self.send(json.dumps({"input_tokens": 100}).encode(), "application/json")
            return
        self.server.asked.append(body)
        block = self.server.answer(body)
        stop = "tool_use" if block["type"] == "tool_use" else "end_turn"
        usage = {"input_tokens": 100, "output_tokens": 10}
        message = {
            "id": f"msg_{len(self.server.asked)}", "type": "message", "role": "assistant",
            "model": body.get("model"), "content": [], "stop_reason": None, "usage": usage,
        }  # fmt: skip
        if not body.get("stream"):
            whole = {**message, "content": [block], "stop_reason": stop}
            self.send(json.dumps(whole).encode(), "application/json")
            return
        events = [{"type": "message_start", "message": message}, *streamed(block)]
        events += [{"type": "message_delta", "delta": {"stop_reason": stop}, "usage": {"output_tokens": 10}}]
        events += [{"type": "message_stop"}]
        lines = [f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events]
        self.send("".join(lines).encode(), "text/event-stream")

    def send(self, data: bytes, kind: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def streamed(block: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """One block as it is streamed."""
    if block["type"] == "text":
        empty: dict[str, Any] = {"type": "text", "text": ""}
        delta = {"type": "text_delta", "text": block["text"]}
    else:
        empty = {**block, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
    yield {"type": "content_block_start", "index": 0, "content_block": empty}
    yield {"type": "content_block_delta", "index": 0, "delta": delta}
    yield {"type": "content_block_stop", "index": 0}


@pytest.fixture
def model() -> Iterator[Model]:
    server = Model()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


class Claude:
    """Claude Code in a project, with a home of its own."""

    def __init__(self, folder: Path, port: int) -> None:
        self.project = folder / "project"
        self.project.mkdir()
        (folder / "home").mkdir()
        (self.project / "big.log").write_text(f"{LOG}\n{BAD}\n", encoding="utf-8")
        kept = {name: value for name, value in os.environ.items() if not name.startswith("AIDER_GARDENER")}
        self.environ = {
            **kept, "HOME": str(folder / "home"), "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{port}",
            "ANTHROPIC_API_KEY": "sk-ant-api03-none", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1", "IS_SANDBOX": "1", "AIDER_GARDENER_THROTTLE_TOKENS": "1500",
            "PATH": os.pathsep.join([str(Path(sys.executable).parent), str(Path(CLAUDE).parent), os.environ["PATH"]]),
        }  # fmt: skip
        subprocess.run(["git", "init", "-q"], cwd=self.project, check=True)
        self.session = ""

    def run(self, *command: str) -> str:
        done = subprocess.run(
            command,
            cwd=self.project,
            env=self.environ,
            capture_output=True,
            text=True,
            timeout=90,
            check=True,
        )
        return done.stdout

    def ask(self, prompt: str) -> None:
        known = ["--resume", self.session] if self.session else []
        told = self.run(CLAUDE, "-p", prompt, *known, "--allowedTools", "Bash", "--output-format", "json")
        self.session = json.loads(told)["session_id"]


def sent(model: Model) -> str:
    """The last prompt that a model got, with all that hooks added."""
    return json.dumps(model.asked[-1]["messages"], ensure_ascii=False)


def test_what_a_compaction_loses_comes_back_and_large_results_come_in_short(
    tmp_path: Path, model: Model
) -> None:
    claude = Claude(tmp_path, model.server_address[1])
    claude.run("gardener", "install", "claude-code")
    claude.ask(f"{FACT} SHOW IT")
    assert "shortened by aider-gardener" in sent(model) and BAD in sent(model)
    assert "worker 250 took" not in sent(model) and "the whole is g" in sent(model)
    assert "persisted-output" not in sent(model), "the host would show the beginning of the short form alone"
    names = {tool["name"].rpartition("__")[2] for tool in model.asked[-1]["tools"]}
    assert {"recall", "forget"} <= names
    for prompt in ("Plan the ferry at noon.", "And the crew list?", "Name the pier."):
        claude.ask(prompt)
    assert "Quoted from earlier" not in sent(model), "before a compaction nothing is missing"
    claude.ask("/compact")
    claude.ask("Which port does the queue listen on?")
    prompt = sent(model)
    assert "They spoke of a log." in prompt and "Plan the ferry at noon." not in prompt
    assert "Quoted from earlier in this chat by aider-gardener" in prompt
    assert f"> {FACT}" in prompt.replace(" SHOW IT", "")
    found = json.loads(claude.run("gardener", "recall", "worker 850", "--full", "--limit", "30000", "--json"))
    assert any("worker 850 took 5950 ms" in row["text"] and row["host"] == "Claude Code" for row in found)
    shown = claude.run("gardener", "recall", "quoted from earlier in this chat", "--limit", "9000")
    assert "Quoted from earlier in this chat by aider-gardener" not in shown, "recall feeds on itself"
    assert "no unknown records, no faults" in claude.run("gardener", "doctor")
