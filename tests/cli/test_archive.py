"""`gardener store`: counts, soundness and a way out and in again. Pruning and encryption have tests of their own."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import apsw
import pytest
from click.testing import CliRunner, Result
from made_entries import entry
from made_lines import bytes_of, written

from aider_gardener.archive import store as archive_store
from aider_gardener.archive.store import Store, database, lines, open_store
from aider_gardener.archive.store.opening import open_lines
from aider_gardener.cli.root import main
from aider_gardener.errors import StoreError

from .conftest import SAID


def store(archive: Path, *words: str) -> Result:
    return CliRunner().invoke(main, ["store", *words, "--store", str(archive)])


def status(archive: Path, *words: str) -> Result:
    return CliRunner().invoke(main, ["status", *words, "--store", str(archive)])


def test_verify_ends_with_1_when_an_original_is_not_what_it_was(archive: Path) -> None:
    assert (store(archive, "verify").stdout, store(archive, "verify").exit_code) == (
        "The archive is sound.\n",
        0,
    )
    assert json.loads(store(archive, "verify", "--json").stdout) == []
    written(archive / "gardener.db", "UPDATE bodies SET body = CAST('x' AS BLOB) WHERE original = 1")
    found = store(archive, "verify", "--json")
    altered, mended = json.loads(found.stdout)
    assert found.exit_code == 1 and "not the one that was stored" in altered and "was damaged" in mended
    assert store(archive, "verify").exit_code == 0


def test_verify_that_finds_the_file_damaged_as_it_opens_it_ends_with_1_and_says_so_once(
    archive: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "FALTERING_SECONDS", 0.1)
    (archive / "gardener.db.copy").unlink(missing_ok=True)
    (archive / "gardener.db").write_bytes(b"hello\n")
    found = store(archive, "verify")
    assert found.exit_code == 1 and found.stdout.count("was set aside as") == 1 and not found.stderr
    (archive / "gardener.db").write_bytes(b"hello\n")
    (said,) = json.loads(store(archive, "verify", "--json").stdout)
    assert "was set aside as" in said
    assert (store(archive, "verify").exit_code, store(archive, "verify").stderr) == (0, "")


def test_what_is_exported_comes_back_after_it_was_forgotten(archive: Path, tmp_path: Path) -> None:
    file = tmp_path / "all.jsonl"
    assert "lines written" in store(archive, "export", str(file)).stdout
    for none in ("-", ""):
        assert "name one" in store(archive, "export", none).stderr and not Path("-").exists()
    assert "lines written" in store(archive, "export", str(file)).stdout, "an export is replaced"
    (notes := tmp_path / "notes.md").write_text("mine\n", "utf-8")
    assert "no export" in store(archive, "export", str(notes)).stderr and notes.read_text("utf-8") == "mine\n"
    CliRunner().invoke(main, ["forget", "--session", "s", "--yes", "--store", str(archive)])
    assert json.loads(status(archive, "--json").stdout)["entries"] == 0
    assert "lines read" in store(archive, "import", str(file)).stdout
    assert json.loads(status(archive, "--json").stdout)["entries"] == len(SAID)
    assert "lines read" in store(tmp_path / "new", "import", str(file)).stdout, "where none is yet"
    assert json.loads(status(tmp_path / "new", "--json").stdout)["entries"] == len(SAID)


@pytest.mark.skipif(os.name != "posix", reason="Windows has no such signals")
@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
def test_an_export_that_a_signal_ends_leaves_no_part_of_it(archive: Path, tmp_path: Path, name: str) -> None:
    code = f"""import os, signal
signal.signal(signal.{name}, signal.SIG_DFL)
os.fsync = lambda _: os.kill(os.getpid(), signal.{name})
from aider_gardener.cli import main; main()"""
    words = ["store", "export", str(tmp_path / "all.jsonl"), "--store", str(archive)]
    ended = subprocess.run([sys.executable, "-c", code, *words], check=False)
    assert ended.returncode > 128 and list(tmp_path.iterdir()) == [archive]


def test_an_archive_that_takes_no_writes_is_exported_and_copied(
    archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, of_system, as_ever = bytes_of(archive), os.access, archive_store.open_store

    def but_there(directory: Path, **options: Any) -> Store:
        if directory == archive:
            raise StoreError(f"{archive} cannot be opened")
        return as_ever(directory, **options)

    monkeypatch.setattr(os, "access", lambda path, mode: path != archive and of_system(path, mode))
    monkeypatch.setattr(archive_store, "open_store", but_there)
    assert "lines written" in store(archive, "export", str(tmp_path / "all.jsonl")).stdout
    assert store(archive, "copy", "--to", str(tmp_path / "there")).exit_code == 0
    assert store(tmp_path / "here", "copy", "--from", str(archive)).exit_code == 0
    for made in ("there", "here"):
        assert json.loads(status(tmp_path / made, "--json").stdout)["entries"] == len(SAID)
    assert bytes_of(archive) == before


def test_what_is_no_export_begins_no_archive(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("nothing\n", encoding="utf-8")
    done = store(tmp_path / "new", "import", str(tmp_path / "notes.txt"))
    assert done.exit_code and "nothing was imported" in done.stderr and not (tmp_path / "new").exists()


def test_the_status_says_tier_and_what_waits(archive: Path) -> None:
    value = json.loads(status(archive, "--json").stdout)
    assert (value["tier"], value["archive"]) == ("SQLite", str(archive / "gardener.db"))
    assert (value["sessions"], value["entries"], value["lines_files"]) == (1, len(SAID), 0)
    assert (value["pinned"], value["compression_ratio"]) == (0, 1.0)
    assert {name: of["entries"] for name, of in value["by_class"].items()} == {"prose": 2, "log": 1}
    assert sum(of["original_tokens"] for of in value["by_class"].values()) == value["original_tokens"] > 0
    open_lines(archive, clock=lambda: 9.0).record_event("s", 1, "clear", {}, 1.0)
    shown = status(archive)
    assert shown.exit_code == 0 and len(shown.stdout.splitlines()) < 24
    assert re.search(r"^log +1 ", shown.stdout, re.MULTILINE)
    assert "not in the archive yet: 1 line;" in shown.stderr
    assert json.loads(status(archive, "--json").stdout)["lines_files"] == 1
    (archive / "gardener.db.damaged-20261125-120000").touch()
    assert "set aside: gardener.db.damaged-20261125-120000;" in status(archive).stderr


def test_a_copy_is_an_archive_of_its_own(archive: Path, tmp_path: Path) -> None:
    done = store(archive, "copy", "--to", str(tmp_path / "copy"))
    assert done.exit_code == 0 and "lines copied to" in done.stdout and "(SQLite)" in done.stdout
    for name, place in (("one", archive), ("two", tmp_path / "copy")):
        assert store(place, "export", str(tmp_path / name)).exit_code == 0
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    again = store(archive, "copy", "--to", str(tmp_path / "copy"))
    assert again.stdout.startswith("0 new lines copied to")
    assert store(archive, "import", str(tmp_path / "one")).stdout.startswith("0 new lines read from")
    back = store(tmp_path / "third", "copy", "--from", str(tmp_path / "copy"))
    assert back.exit_code == 0 and store(tmp_path / "third", "export", str(tmp_path / "three")).exit_code == 0
    assert (tmp_path / "three").read_bytes() == (tmp_path / "one").read_bytes()
    for way in ("--to", "--from"):
        assert (
            "where the archive lies already"
            in store(archive, "copy", way, f"{archive}/../{archive.name}").output
        )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("copy",), "--to PLACE, or --from PLACE"),
        (("copy", "--to", "x", "--from", "y"), "--to PLACE, or --from PLACE"),
        (("copy", "--to", "https://me:secret@host/db"), "postgresql://ROLE@HOST/DATABASE#NAME"),
        (("copy", "--to", "postgresql://me:secret@127.0.0.1:1/db"), "127.0.0.1 cannot be used now"),
    ],
)
def test_a_place_that_is_none_is_refused_in_one_line_without_its_password(
    archive: Path, words: tuple[str, ...], said: str
) -> None:
    done = store(archive, *words)
    assert done.exit_code in (1, 2) and said in done.stderr
    assert len(done.stderr.splitlines()) == 1 and "secret" not in done.stderr


def test_what_may_go_goes_out_of_lines_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from aider_gardener.archive.store import database

    opened = database._open

    def attempt(path: Path | None, key: str = "") -> apsw.Connection:
        if path is not None:
            raise apsw.CantOpenError("unable to open database file")
        return opened(path, key)

    monkeypatch.setattr(database, "_open", attempt)
    place = tmp_path / "lines"
    chat = open_store(place)
    text = entry(0, "user", "the quokka of long ago")
    chat.add(replace(text, created_at=1.0, accessed_at=1.0), chunks=[(0, len(text.content))])
    chat.close()
    assert b"quokka" in (place / lines.names(place)[0]).read_bytes()
    value = json.loads(store(place, "gc", "--yes", "--json").stdout)
    assert value["deleted"] and [each["id"] for each in value["entries"]] == [text.id]
    assert b"quokka" not in b"".join((place / name).read_bytes() for name in lines.names(place))
