"""Threads of one process in one archive: what one looks for while another stores it is no damage."""

from __future__ import annotations

import threading
from pathlib import Path

from aider_gardener.archive.archive import Archive
from aider_gardener.archive.store import open_store
from aider_gardener.messages import Message, Source, SourceKind, entry_id

ENTRIES, THREADS = 60, 8


def test_an_entry_that_another_thread_stores_meanwhile_is_no_damage(tmp_path: Path) -> None:
    store = open_store(tmp_path / "archive")
    archive = Archive(store, session="s", project="p", count=len, clock=lambda: 1.0)
    faults: list[Exception] = []

    def look_and_store() -> None:
        try:
            for number in range(ENTRIES):
                text = f"said {number}"
                store.get(entry_id("user", text))
                archive.log(
                    Message("user", text), turn=1, seq=number, source=Source(SourceKind.TYPED), at=1.0
                )
        except Exception as error:  # reason: told by the test's own thread
            faults.append(error)

    threads = [threading.Thread(target=look_and_store) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []
    assert (store.notice, store.generation, store.verify()) == ("", 0, [])
    assert len(store.session_entries("s")) == ENTRIES
    store.close()
