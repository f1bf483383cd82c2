"""What `gardener recall --everywhere` shows of what the server found; tests/cli/test_shared.py asks a
server."""

from __future__ import annotations

import pytest

from aider_gardener.archive.postgres.server import VARIABLE
from aider_gardener.cli.everywhere import found_everywhere, found_text
from aider_gardener.errors import UsageError

ROW = {
    "project": "ana/pump",
    "author": "bob",
    "turn": 3,
    "at": 86_400.0 * 365,
    "id": "g1",
    "text": " leaks\n",
}


def test_each_passage_stands_under_whose_it_is() -> None:
    first, second = found_text([ROW, {**ROW, "author": "cora"}]).split("\n\n")
    assert first.startswith("ana/pump, bob, turn 3, 1971-01-01 [g1]\nleaks") and "cora" in second


def test_without_a_server_it_says_what_to_set(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("psycopg", reason="the extra [postgres] is not installed")
    for name in (VARIABLE, "PGHOST", "PGHOSTADDR", "PGSERVICE", "PGDATABASE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AIDER_GARDENER_EMBEDDER", "none")
    with pytest.raises(UsageError, match=f"set {VARIABLE}="):
        found_everywhere("gasket", 3)
