"""An archive is the project's: no HOME hides it. What is a repository's or another user's is left alone, and
everything says so."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import apsw
import pytest
from click.testing import CliRunner
from made_lines import bytes_of, opened_by_a_command, put, said, written

from aider_gardener.archive.store import location, open_store, open_to_read, opening, records, schema
from aider_gardener.archive.store.encryption import VARIABLE, encrypt
from aider_gardener.cli.root import main
from aider_gardener.errors import StoreError
from bench.attacks.homes import be_bound
from bench.attacks.results import in_child

MINE = "what I said"
posix = pytest.mark.skipif(os.name != "posix", reason="needs owners")
linux = pytest.mark.skipif(
    sys.platform != "linux", reason="modes bind root too in a child without capabilities"
)
COMMANDS = (
    "status", "recall fox", "sessions", "pressure", "why g1", "restore g1", "forget g1 --yes",
    "forget --session s --yes", "doctor", "mcp", "upkeep index", "upkeep month",
    "upkeep observations", "store verify", "store export out.jsonl", "store import in.jsonl",
    "store gc --yes", "store encrypt --key env", "store copy --to there", "store copy --from other",
    "store unshare", "store share --status",
)  # fmt: skip


def filled(directory: Path) -> Path:
    """An archive with one entry, closed; returns its file."""
    store = open_store(directory)
    store.open_session("s1", project="p", started_at=1.0)
    put(store, MINE)
    store.close()
    return directory / "gardener.db"


def in_lines(directory: Path, text: str) -> None:
    """What a session said that could not open the file."""
    store = opening.open_lines(directory, lambda: 1.0)
    put(store, text, seq=1)
    store.close()


def git(top: Path, *words: str) -> None:
    subprocess.run(["git", "-C", str(top), *words], check=True, capture_output=True)


def home(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    for name in ("HOME", "USERPROFILE", "XDG_DATA_HOME", "APPDATA", "LOCALAPPDATA"):
        monkeypatch.setenv(name, str(folder))


def test_another_home_sees_the_same_archive_also_what_was_left_in_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "project"
    filled(place)
    in_lines(place, "said in lines")
    home(monkeypatch, tmp_path / "another")
    reader = open_to_read(place)
    assert said(reader) == [MINE] and "yet: 1 line;" in reader.notice
    reader.close()
    store = open_store(place)
    assert said(store) == [MINE, "said in lines"] and location.names_in(place, location.ASIDE) == []
    store.close()
    home(monkeypatch, tmp_path / "a third")
    store = open_store(place)
    assert said(store) == [MINE, "said in lines"] and store.notice == ""
    store.close()
    assert not (tmp_path / "another").exists(), "nothing of it is kept in a home"


def every_command_fails(top: Path, monkeypatch: pytest.MonkeyPatch, told: str) -> None:
    """Each says why, and every file stays as it is."""
    filled(top / "other")
    (top / "in.jsonl").write_text(json.dumps({"kind": "meta", "format": records.FORMAT}) + "\n")
    monkeypatch.setenv(VARIABLE, "ab" * 32)
    monkeypatch.chdir(top)
    before = {path: path.read_bytes() for path in top.rglob("*") if path.is_file()}
    for words in COMMANDS:
        done = CliRunner().invoke(main, words.split())
        said = "".join(done.output.split())  # a table may break a line within a long path
        assert done.exit_code in (1, 2) and told.replace(" ", "") in said, (words, said)
        assert "damaged" not in said, (words, said)
    assert {path: path.read_bytes() for path in top.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize("name", ["gardener.db", "gardener.db-wal", "encryption.json"])
def test_what_git_tracks_is_left_alone_and_every_command_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    path = filled(tmp_path / ".aider.gardener")
    if name != "gardener.db":
        path.rename(path.with_name(name))
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "-f", f".aider.gardener/{name}")
    store = open_store(path.parent)
    put(store, "in memory")
    assert not store.persistent and "git tracks" in store.notice and "\n" not in store.notice
    store.close()
    every_command_fails(tmp_path, monkeypatch, "git tracks")
    git(tmp_path, "rm", "-rq", "--cached", str(path.parent))
    if name == "gardener.db":
        store = open_store(path.parent)
        assert said(store) == [MINE]
        store.close()


def test_beside_an_archive_of_another_version_every_command_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    git(tmp_path, "init", "-q")
    path = filled(tmp_path / ".aider.gardener")
    written(path, f"PRAGMA user_version = {schema.VERSION + 3}; CREATE TABLE later (x)")
    every_command_fails(tmp_path, monkeypatch, "gardener.db")


@pytest.mark.parametrize("form", ["--index-version=2", "--index-version=4", "--split-index"])
@pytest.mark.parametrize("name", [".aider.gardener", ".AIDER.gardener", ""])
def test_whatever_form_the_index_has_it_is_known_what_git_tracks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str, name: str
) -> None:
    filled(tmp_path / "sub" / ".aider.gardener")
    git(tmp_path, "init", "-q")
    names = [".aider.conf.yml", *([f"{name}/gardener.db"] if name else [])]
    for each in names:
        given = f"100644,e69de29bb2d1d6434b8b29ae775ad8c2e48c5391,sub/{each}"
        git(tmp_path, "update-index", "--add", "--cacheinfo", given)
    git(tmp_path, "update-index", form)
    if not name and form == "--index-version=2":  # each hook opens an archive: then no program is started
        monkeypatch.setattr(subprocess, "run", None)
    assert location.is_tracked(tmp_path / "sub" / ".aider.gardener") == bool(name)


@posix
@pytest.mark.parametrize("what", ["gardener.db", "gardener.db.copy", "encryption.json", "directory"])
def test_what_is_another_users_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    place = tmp_path / ".aider.gardener"
    filled(place)
    if what == "encryption.json":
        (place / what).write_text("{}")
    listed, owner = os.listdir, os.getuid()
    others = os.stat(place if what == "directory" else place / what)

    def shut(path: Path) -> list[str]:
        if what == "directory":
            raise PermissionError(13, "Permission denied")
        return listed(path)

    monkeypatch.setattr("os.listdir", shut)
    monkeypatch.setattr(location, "is_anothers", lambda found: found.st_ino == others.st_ino)
    store = open_store(place)
    assert not store.persistent and f"another user (uid {owner})" in store.notice
    store.close()
    for opened in (open_to_read, opened_by_a_command):
        with pytest.raises(StoreError, match="another user"):
            opened(place)


@posix
def test_whoever_is_not_the_owner_is_another_but_for_root(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = os.stat(tmp_path)
    for user, is_anothers in ((found.st_uid, False), (0, False), (found.st_uid + 7, True)):
        monkeypatch.setattr("os.geteuid", lambda user=user: user)
        assert location.is_anothers(found) is is_anothers


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="gives files to another user")
def test_what_root_makes_belongs_to_the_folders_owner(tmp_path: Path) -> None:
    os.chown(tmp_path, 1234, 1235)
    place = tmp_path / ".aider.gardener"
    filled(place)
    store = open_store(place)
    put(store, "in the log", seq=1)
    in_lines(place, "in lines")
    owners = {each.name: (each.stat().st_uid, each.stat().st_gid) for each in (place, *place.iterdir())}
    store.close()
    assert set(owners.values()) == {(1234, 1235)}
    assert {"gardener.db.copy", "gardener.db-wal", "gardener.db-shm", ".gitignore"} <= set(owners)


@linux
def test_a_file_that_its_owner_could_not_write_is_written_by_the_process_that_takes_its_mode_back(
    tmp_path: Path,
) -> None:
    path = filled(tmp_path / "a")
    path.chmod(0o444)

    def chat() -> list[object]:
        be_bound()
        store = open_store(path.parent)
        put(store, "more", seq=1)
        told = [store.notice, store.is_file, [entry.content for entry in store.session_entries("s1")]]
        store.close()
        return told

    assert in_child(chat) == ["", True, [MINE, "more"]]


@linux
def test_a_file_that_its_owner_may_not_read_is_not_called_damaged_or_sound_or_empty(tmp_path: Path) -> None:
    path = filled(tmp_path / ".aider.gardener")
    path.chmod(0)
    place = ["--store", str(tmp_path)]

    def commands() -> list[list[object]]:
        be_bound()
        found = []
        for words in ("status", "recall said", "store verify", f"store export {tmp_path / 'out'}"):
            result = CliRunner().invoke(main, [*words.split(), *place])
            found.append(
                [
                    result.exit_code,
                    "check the permissions" in result.output or "check its permissions" in result.output,
                    "damaged" in result.output,
                ]
            )
        store = open_store(path.parent)
        put(store, "more", seq=1)
        store.close()
        return found

    assert in_child(commands) == 4 * [[1, True, False]]
    path.chmod(0o600)
    store = open_store(path.parent)
    assert [entry.content for entry in store.session_entries("s1")] == [MINE, "more"]
    store.close()


@posix
def test_no_lines_are_written_through_a_link_that_took_the_folders_place(tmp_path: Path) -> None:
    place, elsewhere = tmp_path / ".aider.gardener", tmp_path / "elsewhere"
    store = open_store(place)
    put(store, MINE)
    place.rename(tmp_path / "was")
    elsewhere.mkdir()
    place.symlink_to(elsewhere)
    put(store, "more", seq=1)
    assert "symbolic link" in store.notice and "in memory" in store.notice
    assert [entry.content for entry in store.session_entries("s1")] == ["more"]
    store.close()
    assert list(elsewhere.iterdir()) == []


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TRIGGER evil AFTER INSERT ON occurrences BEGIN UPDATE bodies SET body = x'00'; END",
        "CREATE VIEW evil AS SELECT load_extension('x')",
        "CREATE TABLE evil (a, b GENERATED ALWAYS AS (hex(a)))",
        "CREATE INDEX evil ON bodies (hex(body))",
        "CREATE VIRTUAL TABLE evil USING fts5(a)",
        "ALTER TABLE originals ADD COLUMN evil AS (zeroblob(1000000000)) VIRTUAL",
        "DROP INDEX originals_by_hash",
        "ALTER TABLE bodies RENAME TO theirs; CREATE VIEW bodies AS SELECT original, body FROM theirs",
    ],
)
def test_tables_that_are_not_ours_to_the_letter_are_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, statement: str
) -> None:
    path = filled(tmp_path / "a")
    written(path, statement)
    before = bytes_of(path.parent)
    store = open_store(path.parent)
    put(store, "in memory")
    assert not store.persistent and "other tables" in store.notice and "\n" not in store.notice
    store.close()
    for opened in (open_to_read, opened_by_a_command):
        with pytest.raises(StoreError, match="other tables"):
            opened(path.parent)
    monkeypatch.setenv(VARIABLE, "ab" * 32)
    with pytest.raises(StoreError, match="no archive of this version"):
        encrypt(path.parent, "env")
    assert bytes_of(path.parent) == before


def test_nothing_is_saved_through_a_column_that_is_computed(tmp_path: Path) -> None:
    """Of a damaged file, whose tables nobody could compare."""
    path = filled(tmp_path / "a")
    path.with_name("gardener.db.copy").unlink()
    body = "body BLOB NOT NULL, evil AS (zeroblob(1)) VIRTUAL"
    with apsw.Connection(str(path)) as db:  # without check sums: it counts as damaged
        db.execute(f"DROP TABLE bodies; CREATE TABLE bodies (original INTEGER PRIMARY KEY, {body})")
        db.execute("INSERT INTO bodies VALUES (1, CAST(? AS BLOB))", (MINE,))
    db.close()
    store = open_store(path.parent)
    assert "set aside as gardener.db.damaged" in store.notice and said(store) == []


def test_it_may_be_moved_restored_and_shared(tmp_path: Path) -> None:
    filled(tmp_path / "one" / ".aider.gardener")
    os.rename(tmp_path / "one", tmp_path / "two")
    moved = tmp_path / "two" / ".aider.gardener"
    shutil.copy(moved / "gardener.db", tmp_path / "backup")
    for _ in range(2):
        store, other = open_store(moved), open_store(moved)
        assert said(store) == said(other) == [MINE] and store.notice == other.notice == ""
        store.close()
        other.close()
        shutil.copy(tmp_path / "backup", moved / "gardener.db")


def test_a_journal_that_names_another_is_not_played_back(tmp_path: Path) -> None:
    victim, place = tmp_path / "victim", tmp_path / ".aider.gardener"
    victim.write_text("precious")
    filled(place)
    (place / "gardener.db-journal").write_bytes(
        b"\0" * 512 + str(victim).encode() + b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"
    )
    store = open_store(place)
    assert not store.persistent and "journal" in store.notice and victim.read_text() == "precious"


def test_what_was_set_aside_is_named_and_can_be_taken_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / ".aider.gardener"
    (tmp_path / ".git").mkdir()
    removed = filled(place).rename(place / "gardener.db.removed-20260101-000000")
    names = [removed.name]
    for name in ("gardener.db.damaged-20250101-000000", f"gardener.db.damaged-lines-{'a' * 32}"):
        (place / name).write_text("theirs")
        names.append(name)
    (place / f"{removed.name}-wal").touch()
    monkeypatch.chdir(tmp_path)

    def run(*words: str) -> str:
        done = CliRunner().invoke(main, words)
        return f"{done.exit_code} {done.output}"

    def archive_found() -> str:
        checks = json.loads(run("doctor", "--json").split(" ", 1)[1])
        return next(str(each["found"]) for each in checks if each["name"] == "archive")

    assert "none yet" in archive_found() and all(name in archive_found() for name in names)
    store = open_store(place)
    assert said(store) == []
    store.close()
    assert "sound" in archive_found() and all(name in archive_found() for name in names)
    assert "-wal" not in archive_found()
    (tmp_path / "old").mkdir()
    file = removed.rename(tmp_path / "old" / "gardener.db")
    assert run("store", "copy", "--from", str(file.parent)).startswith("0 ")
    store = open_store(place)
    assert said(store) == [MINE] and store.notice == ""


def test_the_number_of_an_archive_is_neither_exported_nor_imported(tmp_path: Path) -> None:
    filled(tmp_path / "a")
    store = open_store(tmp_path / "a")
    number = store.database.read(schema.number_of)
    store.export(tmp_path / "out")
    assert '"owner"' not in (tmp_path / "out").read_text()
    with open(tmp_path / "out", "a") as file:
        file.write('{"kind": "state", "session": "", "key": "owner", "value": "theirs"}\n')
    store.import_(tmp_path / "out")
    assert store.database.read(schema.number_of) == number is not None
