"""The guard that keeps the tests off the network."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import conftest
import pytest


def test_a_look_up_of_another_machine_is_refused_and_noted() -> None:
    with pytest.raises(socket.gaierror):
        socket.create_connection(("example.com", 80), timeout=1)
    assert conftest.attempts == ["example.com"]
    conftest.attempts.clear()


def test_a_connection_to_another_address_is_refused_and_noted() -> None:
    with socket.socket() as client, pytest.raises(ConnectionRefusedError):
        client.connect(("192.0.2.1", 80))
    assert conftest.attempts == ["192.0.2.1"]
    conftest.attempts.clear()


def test_the_home_is_the_sandbox() -> None:
    assert "gardener-tests-home-" in str(Path.home())
    assert not [name for name in os.environ if name.startswith("AIDER_GARDENER")]


def test_aider_reads_its_price_table_whatever_home_it_was_imported_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from aider.models import model_info_manager as manager

    for name, value in (("content", None), ("cache_file", tmp_path / "none"), ("_cache_loaded", True)):
        monkeypatch.setattr(manager, name, value)
    conftest.keep_price_table()
    assert manager.get_model_from_cached_json_db("gpt-4o")["mode"] == "chat" and conftest.attempts == []
