"""The figures of a shared server: what is lost, doubled or altered is told, and questions find something."""

from __future__ import annotations

from pathlib import Path

import pytest
from shared_archives import postgres

from bench import shared
from bench.postgres_server import Server

__all__ = ["postgres"]


@pytest.fixture
def server(postgres: Server) -> Server:
    return postgres


def test_what_is_lost_doubled_or_altered_is_told(server: Server, tmp_path: Path) -> None:
    killing = shared.Killing(server, tmp_path, writers=1, entries=12)
    sound = killing.run(0)
    assert (sound["acknowledged"], sound["fetched"]) == (12, 12)
    assert (sound["lost"], sound["doubled"], sound["altered"]) == (0, 0, 0)

    own = "encode(payload, 'escape') LIKE '%\"seq\":{},%'"
    server.execute(f"DELETE FROM gardener.lines WHERE {own.format(3)} RETURNING 1", killing.database)
    server.execute(
        "UPDATE gardener.lines SET payload = decode(replace(encode(payload, 'escape'), 'writer0 4 ', 'writer0 5 '), 'escape') RETURNING 1",
        killing.database,
    )
    server.execute(
        "INSERT INTO gardener.lines (archive, author, machine, kind, at, payload) SELECT archive, author, machine,"
        f" kind, at, payload FROM gardener.lines WHERE {own.format(5)} RETURNING 1",
        killing.database,
    )
    found = killing.checked()
    assert found["lost"] == 1 and found["doubled"] == 1 and found["altered"] >= 1


def test_every_way_to_ask_is_measured(server: Server) -> None:
    found = shared.searched(server, rows=300, rounds=4)
    assert found["rows"] == 300 and found["database_mb"] > 0
    for way in ("words", "meaning", "both"):
        assert 0 < found[way]["p50_ms"] <= found[way]["p95_ms"] and found[way]["found"] > 0


def test_a_writer_goes_on_where_it_was_killed(tmp_path: Path) -> None:
    pytest.importorskip("psycopg", reason="the extra [postgres] is not installed")
    (tmp_path / "w").mkdir()
    store = shared.archive(tmp_path / "w")
    store.open_session("w", project=shared.PROJECT, started_at=1.0)
    store.add(shared.entry("w", 0), chunks=[])
    store.close()
    (tmp_path / shared.ALL_KILLED).touch()
    folder = tmp_path / "w"
    with pytest.raises(Exception, match="not shared"):
        shared.write(folder, "w", 3)
    store = shared.archive(folder)
    assert [each.seq for each in store.session_entries("w")] == [0, 1, 2]
    store.close()
    assert (folder / "said").read_text().split() == ["1", "2"]
