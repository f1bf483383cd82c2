"""A model whose replies are given, as an OpenAI-compatible HTTP server on loopback, with streaming: for
tests, benches and pictures of a real aider in a process of its own.

    python -m bench.model_server --session PATH [--port N]

serves a recorded session: each request is answered with the next recorded reply, aider's commit and summary
prompts with the next recorded commit message or summary.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

from aider_gardener.adapters.aider.coder import text_of
from aider_gardener.errors import GardenerError
from aider_gardener.replay.measure.result import COMMIT, MAIN, SUMMARY
from aider_gardener.replay.play.recorded import SUMMARY_PLACEHOLDER, UNRECORDED_COMMIT, UNRECORDED_REPLY
from aider_gardener.replay.session.history import load_session
from aider_gardener.replay.session.session import Session
from aider_gardener.terminal import visible
from aider_gardener.tokens import approximate

CHUNK_CHARS = 60
"""How much text one streamed event carries."""

COMMIT_BEGINNING = "You are an expert software engineer that generates concise, one-line Git commit"
SUMMARY_BEGINNING = "*Briefly* summarize this partial conversation about programming."
"""How aider's own system messages begin; the server runs without importing aider."""


@dataclass(frozen=True)
class ServerReply:
    """A scripted answer: a text, calls of tools, or an HTTP error with the provider's code and message."""

    text: str = ""
    calls: tuple[Mapping[str, Any], ...] = ()
    status: int = 200
    code: str = ""
    message: str = ""


def context_length_exceeded(limit_tokens: int = 128_000) -> ServerReply:
    """The answer of OpenAI to a prompt that doesn't fit its window."""
    message = f"This model's maximum context length is {limit_tokens} tokens. Send fewer messages."
    return ServerReply(status=400, code="context_length_exceeded", message=message)


class Script:
    """Hands out replies in order by kind of request; thread-safe."""

    def __init__(
        self,
        replies: Iterable[ServerReply | str],
        commits: Iterable[str] = (),
        summaries: Iterable[str] = (),
    ) -> None:
        self.lock = threading.Lock()
        self.queues: dict[str, list[ServerReply | str]] = {
            MAIN: list(replies),
            COMMIT: list(commits),
            SUMMARY: list(summaries),
        }
        self.rest = {MAIN: UNRECORDED_REPLY, COMMIT: UNRECORDED_COMMIT, SUMMARY: SUMMARY_PLACEHOLDER}

    @classmethod
    def of_session(cls, session: Session) -> Script:
        """The replies, commit messages and summaries of a recording."""
        said = {kind: [event.text for event in session.of_kind(kind)] for kind in ("reply", "commit")}
        return cls(said["reply"], said["commit"], session.summaries)

    def next(self, messages: Sequence[Mapping[str, Any]]) -> ServerReply:
        kind = request_kind(messages)
        with self.lock:
            queue = self.queues[kind]
            reply = queue.pop(0) if queue else self.rest[kind]
        return ServerReply(reply) if isinstance(reply, str) else reply


def request_kind(messages: Sequence[Mapping[str, Any]]) -> str:
    """Which of aider's prompts a request is, by how its first message begins."""
    first = text_of(messages[0]) if messages else ""
    if first.startswith(COMMIT_BEGINNING):
        return COMMIT
    return SUMMARY if first.startswith(SUMMARY_BEGINNING) else MAIN


class ModelServer:
    """Serves a script on 127.0.0.1. Use it as a context manager; `requests` are the bodies received."""

    def __init__(self, script: Script | Iterable[ServerReply | str], *, port: int = 0) -> None:
        self.script = script if isinstance(script, Script) else Script(script)
        self.requests: list[dict[str, Any]] = []
        handler = type("BoundHandler", (Handler,), {"model": self})
        self.http = ThreadingHTTPServer(("127.0.0.1", port), handler)
        self.http.daemon_threads = True

    @property
    def url(self) -> str:
        """What goes into OPENAI_API_BASE."""
        return f"http://127.0.0.1:{self.http.server_address[1]}/v1"

    def main_requests(self) -> list[dict[str, Any]]:
        """The requests but those for commit messages and summaries."""
        return [body for body in self.requests if request_kind(body["messages"]) == MAIN]

    def __enter__(self) -> ModelServer:
        self.thread = threading.Thread(target=self.http.serve_forever, daemon=True)
        self.thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self.http.shutdown()
        self.http.server_close()
        self.thread.join()


class Handler(BaseHTTPRequestHandler):
    """One connection; `model` is the server it belongs to."""

    model: ClassVar[ModelServer]
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: the terminal belongs to whoever runs us."""

    def do_GET(self) -> None:
        if self.path.rstrip("/").endswith("/models"):
            model = {"id": "replay", "object": "model", "created": 0, "owned_by": "replay"}
            self.send_value(200, {"object": "list", "data": [model]})
        else:
            self.send_problem(404, "not_found", f"no such path: {self.path}")

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)))
        self.model.requests.append(request)
        reply = self.model.script.next(request["messages"])
        if reply.status != 200:
            self.send_problem(reply.status, reply.code, reply.message)
        elif request.get("stream"):
            self.send_stream(request, reply.text)
        else:
            self.send_value(200, whole(request, reply))

    def send_value(self, status: int, value: Mapping[str, Any]) -> None:
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def send_problem(self, status: int, code: str, message: str) -> None:
        error = {"message": message, "type": "invalid_request_error", "param": None, "code": code}
        self.send_value(status, {"error": error})

    def send_stream(self, request: Mapping[str, Any], text: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        try:
            for chunk in chunks(request, text):
                self.wfile.write(f"data: {json.dumps(chunk)}\n\n".encode())
                self.wfile.flush()
            self.wfile.write(b"data: [DONE]\n\n")
        except (BrokenPipeError, ConnectionResetError):
            return  # the client pressed Ctrl-C; that is its right


def head(request: Mapping[str, Any], kind: str) -> dict[str, Any]:
    model = str(request.get("model") or "replay")
    return {"id": "chatcmpl-replay", "object": kind, "created": 0, "model": model}


def usage_of(request: Mapping[str, Any], text: str) -> dict[str, Any]:
    """Usage numbers as a provider reports them, estimated."""
    prompt = sum(approximate(text_of(m)) + 4 for m in request["messages"])
    said = approximate(text)
    return {"prompt_tokens": prompt, "completion_tokens": said, "total_tokens": prompt + said}


def whole(request: Mapping[str, Any], reply: ServerReply) -> dict[str, Any]:
    """An answer in one piece."""
    message: dict[str, Any] = {"role": "assistant", "content": reply.text}
    if reply.calls:
        message["tool_calls"] = list(reply.calls)
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return {**head(request, "chat.completion"), "choices": [choice], "usage": usage_of(request, reply.text)}


def chunks(request: Mapping[str, Any], text: str) -> Iterator[dict[str, Any]]:
    """An answer as streamed pieces; with usage last if the request's stream options ask for it."""
    base = head(request, "chat.completion.chunk")
    pieces = [text[start : start + CHUNK_CHARS] for start in range(0, len(text), CHUNK_CHARS)]
    for delta in ({"role": "assistant", "content": ""}, *({"content": piece} for piece in pieces)):
        yield {**base, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    yield {**base, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
    if (request.get("stream_options") or {}).get("include_usage"):
        yield {**base, "choices": [], "usage": usage_of(request, text)}


def keep_prices(home: Path) -> None:
    """Give an aider with this home the list of prices that it would fetch: litellm's own copy."""
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    from litellm import model_cost

    cache = home / ".aider" / "caches" / "model_prices_and_context_window.json"
    cache.parent.mkdir(parents=True)
    cache.write_text(json.dumps(model_cost), encoding="utf-8")


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve a recorded session until Ctrl-C."""
    parser = argparse.ArgumentParser(description="A recorded session as a model on this machine.")
    parser.add_argument("--session", required=True, help="a recorded session folder or chat history file")
    parser.add_argument("--port", type=int, default=8089, help="port on 127.0.0.1; 0 chooses a free one")
    options = parser.parse_args(arguments)
    try:
        server = ModelServer(Script.of_session(load_session(options.session)), port=options.port)
    except (GardenerError, OSError) as problem:
        print(visible(str(problem)), file=sys.stderr)
        return 1
    with server:
        print(f"serving at {server.url}; point OPENAI_API_BASE there, any key; Ctrl-C ends", flush=True)
        try:
            server.thread.join()
        except KeyboardInterrupt:
            print("", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
