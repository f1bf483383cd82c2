"""Clients and the server are killed in the middle of a batch: what was acknowledged is there, once and
whole."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.postgres_server import Server, Unusable, started
from bench.shared import Killing

KILLS = 4


@pytest.fixture
def server() -> Iterator[Server]:
    try:
        found = started(durable=True)
    except Unusable as reason:
        pytest.skip(f"no PostgreSQL here: {reason}")
    yield found
    found.stop()


def test_kill_9_of_clients_and_of_the_server_loses_and_doubles_nothing(
    server: Server, tmp_path: Path
) -> None:
    killing = Killing(server, tmp_path, writers=2, entries=120, seed=7)
    found = killing.run(KILLS, least_seconds=0.1, most_seconds=0.8)
    assert sum(found["killed"].values()) == KILLS and min(found["killed"].values()) > 0
    assert found["acknowledged"] >= 2 * 120 - found["killed"]["writer"]
    assert (found["lost"], found["doubled"], found["altered"]) == (0, 0, 0)
    assert found["fetched"] == found["acknowledged"] and found["problem"] == ""
