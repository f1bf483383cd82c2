"""Pruning for good: only with leave, never live sessions, bytes and room really gone."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import made_lines
import pytest
from click.testing import CliRunner, Result
from made_lines import bytes_of

from aider_gardener.archive.retention import DAY, HOUR, proposal
from aider_gardener.archive.store import Store, open_store
from aider_gardener.archive.store.base import CONFIDENCE_GAIN
from aider_gardener.cli.root import main
from aider_gardener.gardener.files import apply_retention
from aider_gardener.messages import Entry
from aider_gardener.settings import Settings

OLD = time.time() - 60 * DAY


def put(store: Store, content: str, *, seq: int, session: str = "old", at: float = OLD) -> Entry:
    return made_lines.put(store, content, seq=seq, session=session, at=at, chunk_chars=400)


def filled(directory: Path, count: int = 60) -> None:
    """Old entries of a session that no process holds, one of them pinned, and one of today."""
    store = open_store(directory)
    store.open_session("old", project="p", started_at=OLD)
    for n in range(count):
        put(store, f"Quokka marker {n} " + f"some filler words {n} " * 400, seq=n)
    pinned = put(store, "pinned words", seq=count)
    store.pin(pinned.id, True)
    put(store, "said today", seq=0, session="new", at=time.time())
    store.close()


def run(*words: str) -> Result:
    return CliRunner().invoke(main, ["store", *words])


def gc(directory: Path, *words: str) -> dict[str, Any]:
    done = run("gc", "--store", str(directory), "--json", *words)
    assert done.exit_code == 0, done.output
    value: dict[str, Any] = json.loads(done.output)
    return value


def test_nothing_goes_without_leave(tmp_path: Path) -> None:
    filled(tmp_path)
    value = gc(tmp_path)
    assert not value["deleted"] and len(value["entries"]) == 60
    store = open_store(tmp_path)
    assert store.stats().entries == 62


def test_with_leave_it_goes_for_good_and_the_file_shrinks(tmp_path: Path) -> None:
    filled(tmp_path)
    size = (tmp_path / "gardener.db").stat().st_size
    value = gc(tmp_path, "--yes")
    assert value["deleted"] and value["bytes_after"] < value["bytes_before"] / 3
    left = bytes_of(tmp_path).lower()
    assert b"quokka" not in left and b"pinned words" in left and b"said today" in left
    assert (tmp_path / "gardener.db").stat().st_size < size / 2
    store = open_store(tmp_path)
    assert store.stats().entries == 2 and store.verify() == []
    store.close()
    assert gc(tmp_path, "--yes")["entries"] == []


def test_a_policy_the_user_set_is_leave(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    filled(tmp_path)
    store = open_store(tmp_path)
    prunes = Settings(retention="prune")
    assert apply_retention(store, "p", Settings()) == ""
    assert "60" in apply_retention(store, "p", prunes) and store.stats().entries == 2
    assert apply_retention(store, "p", prunes) == ""
    store.close()
    monkeypatch.setenv("AIDER_GARDENER_RETENTION", "prune")
    (tmp_path / "b").mkdir()
    filled(tmp_path / "b", 5)
    assert not gc(tmp_path / "b")["deleted"], "by hand it takes --yes"


def test_a_limit_caps(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    now = time.time()
    for n in range(40):  # two days old, so that only the limit can ask for them
        put(store, f"entry {n} " + "plain words of the fox " * 1_600, seq=n, at=now - 2 * DAY + n)
    assert apply_retention(store, "p", Settings(retention="1GB")) == "" and store.stats().entries == 40
    assert "deleted" in apply_retention(store, "p", Settings(retention="1MB"))
    assert store.size_bytes() <= 1_000_000 and 1 <= store.stats().entries < 40
    assert [e.seq for e in store.session_entries("old")] == list(range(40 - store.stats().entries, 40))


def test_what_a_process_holds_is_not_pruned(tmp_path: Path) -> None:
    filled(tmp_path)
    holder = open_store(tmp_path)
    holder.open_session("old", project="p", started_at=OLD)
    reader = open_store(tmp_path)
    assert proposal(reader) == []
    holder.close()
    assert len(proposal(reader)) == 60


def test_use_raises_confidence(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    stored = put(store, "used now and then", seq=0, at=1_000_000.0)
    store.touch([stored.id], 1_000_000.0 + 100 * HOUR)
    held = store.holdings()[0]
    assert held.confidence == pytest.approx(0.5 + CONFIDENCE_GAIN) and held.uses == 1
    assert held.used_at == 1_000_000.0 + 100 * HOUR and held.sessions == ("old",)
    for _ in range(40):
        store.touch([stored.id], 1_000_000.0 + 100 * HOUR)
    assert store.holdings()[0].confidence == 1.0
