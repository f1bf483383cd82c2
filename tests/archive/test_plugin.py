"""Whether a project is shared is known without the plug-in, which is found by its entry point."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from aider_gardener.archive import plugin
from aider_gardener.archive.postgres import local
from aider_gardener.archive.postgres.local import Share
from aider_gardener.archive.store import forgotten, open_store, schema


def test_a_shared_project_is_known_by_its_path(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    kept = Share("/p", "ana/p", 1, "s", "ana", True, "m")
    store.database.write(lambda db: local.save_share(db, kept))
    assert plugin.is_shared(store, "/p") and not plugin.is_shared(store, "/q")
    assert store.database.read(lambda db: local.share_of(db, "/p")) == kept
    store.close()
    assert not plugin.is_shared(open_store(None), "/p")


def test_a_project_whose_path_is_no_utf8_is_shared_or_not_like_another(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    assert not plugin.is_shared(store, "/caf\udce9")
    store.set_state(schema.OWN, forgotten.KEY + "/caf\udce9", "{}")
    assert plugin.is_shared(store, "/caf\udce9")
    store.close()


def test_it_is_found_by_its_entry_point_or_in_the_source_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    assert plugin.part("local") is local
    monkeypatch.setattr(
        "importlib.metadata.entry_points", lambda **_: [EntryPoint(plugin.NAME, "json", plugin.GROUP)]
    )
    assert plugin.part("decoder").JSONDecoder
    monkeypatch.setattr("importlib.metadata.entry_points", lambda **_: [])
    assert plugin.part("local") is local


def test_the_archive_works_without_it_and_it_without_a_library_until_it_is_used() -> None:
    code = (
        "import sys, aider_gardener.archive.store, aider_gardener.archive.archive;"
        " assert not [name for name in sys.modules if 'postgres' in name or name == 'psycopg'];"
        " import aider_gardener.archive.postgres; sys.exit('psycopg' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
