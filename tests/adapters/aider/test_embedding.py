"""A provider's embeddings through litellm, against a server on this machine."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from aider_gardener.adapters.aider import provider as module
from aider_gardener.adapters.aider.provider import ApiEmbedder, loading
from aider_gardener.archive.store import Chunk, open_store
from aider_gardener.messages import ContentClass, Entry, Source, entry_id
from aider_gardener.recall.backlog import Backlog
from aider_gardener.recall.embed import EmbedderError, loaded
from aider_gardener.settings import Settings

SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


class Provider:
    """A server that speaks the embedding API: vectors of letter counts, `dim` long."""

    def __init__(self) -> None:
        self.dim, self.status, self.asked, self.short = 8, 200, [], False  # type: ignore[var-annotated]  # reason: texts
        provider = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                provider.asked.append(body["input"])
                rows = [provider.vector(text) for text in body["input"]][: -1 if provider.short else None]
                data = [{"object": "embedding", "index": n, "embedding": row} for n, row in enumerate(rows)]
                answer = {
                    "object": "list",
                    "data": data,
                    "model": body["model"],
                    "usage": {"prompt_tokens": 1, "total_tokens": 1},
                }
                self.send_response(provider.status)
                self.send_header("Content-Type", "application/json")
                self.end_headers()
                self.wfile.write(
                    json.dumps(answer if provider.status == 200 else {"error": {"message": "no"}}).encode()
                )

            def log_message(self, *_: Any) -> None:
                return

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def vector(self, text: str) -> list[float]:
        row = [0.5] * self.dim
        for char in text:
            row[ord(char) % self.dim] += 1.0
        return row


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Iterator[Provider]:
    found = Provider()
    monkeypatch.setenv("OPENAI_API_BASE", f"http://127.0.0.1:{found.server.server_port}/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "not-a-key")
    monkeypatch.setattr(module, "API_TRIES", 1)
    yield found
    found.server.shutdown()
    found.server.server_close()


@pytest.mark.parametrize(
    "choice", ["minilm", "none", "fastembed:some/model", "litellm:openai/text-embedding-3-small"]
)
def test_the_setting_takes_each_kind(choice: str) -> None:
    assert Settings(embedder=choice).embedder == choice
    assert (loading(choice) is None) == (choice == "none")


def test_a_providers_vectors_are_unit_rows_in_order(provider: Provider) -> None:
    found, reason = loaded(lambda: ApiEmbedder("openai/fake"))
    assert found is not None and reason == "" and found.dim == 8 and found.name == "litellm:openai/fake"
    texts = [f"text number {n} {'x' * n}" for n in range(module.API_TEXTS + 3)]
    rows = found.embed(texts)
    assert rows.shape == (len(texts), 8) and np.allclose((rows**2).sum(axis=1), 1, atol=1e-5)
    expected = np.array([provider.vector(text) for text in texts])
    assert np.allclose(rows, expected / np.linalg.norm(expected, axis=1, keepdims=True), atol=1e-5)
    assert found.embed([]).shape == (0, 8)
    assert max(len(texts) for texts in provider.asked) == module.API_TEXTS


def test_no_secret_goes_to_a_provider(provider: Provider) -> None:
    found, _ = loaded(lambda: ApiEmbedder("openai/fake"))
    assert found is not None
    found.embed([f"why does the token {SECRET} fail?", ""])
    sent = json.dumps(provider.asked)
    assert SECRET not in sent and "[redacted:" in sent


@pytest.mark.parametrize("trouble", ["refused", "another length", "too few"])
def test_a_provider_in_trouble_is_a_reason_in_one_line(provider: Provider, trouble: str) -> None:
    embedder = ApiEmbedder("openai/fake")
    embedder.load()
    if trouble == "refused":
        provider.status = 401
    elif trouble == "too few":
        provider.short = True
    else:
        provider.dim = 9
    with pytest.raises(EmbedderError, match="openai/fake") as refused:
        embedder.embed(["private words", "more of them"])
    assert "\n" not in str(refused.value) and "private" not in str(refused.value)


def test_a_change_of_embedder_makes_vectors_anew_and_compares_none(
    provider: Provider, tmp_path: Path
) -> None:
    store = open_store(tmp_path)
    for n in range(5):
        text = f"passage {n}"
        new = Entry(entry_id("user", text), "s", 1, n, "user", text, Source(), ContentClass.LOG, (), 1)
        store.add(new, chunks=[Chunk(new.id, 0, len(text))])
    for dim in (8, 6):
        provider.dim = dim
        backlog = Backlog(store, load=loading(f"litellm:openai/fake-{dim}"), background=False)
        assert backlog.drain() == 5
        vector = backlog.query_vector("passage 3", None)
        assert vector is not None and vector.shape == (dim,)
        hits = store.search_vectors(vector, embedder=backlog.embedder_name, limit=9)
        assert len(hits) == 5 and (store.original(hits[0].entry_id) or "") == "passage 3"
    assert store.stats().vectors == 10 and backlog.question_seconds == ApiEmbedder.question_seconds
    store.close()
