"""Attacks of bench/attacks run as they are told in the documentation; the tests of each part are beside it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from aider_gardener.adapters.aider.commands import COMMANDS, STEPS
from aider_gardener.cli.root import main
from bench.attacks import files, readers, settings, terminal
from bench.attacks.results import HELD, environment

SHOWING = {
    "/recall", "/context-pressure", "/gardener constraints", "gardener recall", "gardener pressure", "gardener restore",
    "gardener sessions", "gardener sessions show", "gardener doctor", "gardener compress",
    "gardener run", "gardener status",
}  # fmt: skip
"""Commands that quote what is hostile here: it is to be seen there, not left out."""
on_posix = pytest.mark.skipif(os.name != "posix", reason="needs FIFOs and names with control characters")


@on_posix
@pytest.mark.parametrize("name", ["encryption.json is a FIFO", "a hard link to another file"])
def test_an_attack_by_a_file_holds_in_a_process_of_its_own(name: str) -> None:
    assert files.outcome_of(name) == HELD


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """A project of which each attack has a copy, and the environment of the attacks."""
    folder = tmp_path_factory.mktemp("readers") / "made"
    return folder, readers.prepared(folder)


@on_posix
@pytest.mark.parametrize("kind", ["a FIFO", "a link to a device", "deep"])
@pytest.mark.parametrize("name", ["Stop: transcript", "compress FILE", "store import FILE"])
def test_a_reader_holds_out_against_a_path(made: tuple[Path, dict[str, str]], name: str, kind: str) -> None:
    outcome, _ = readers.attempt(readers.READERS[name], readers.KINDS[kind], *made)
    assert outcome == HELD


@pytest.mark.parametrize(
    ("name", "code", "out", "told", "outcome"),
    [
        ("Stop: transcript", 0, b"", b"", HELD),
        ("Stop: transcript", 0, b"{}", b"", HELD),
        ("Stop: transcript", 1, b"", b"", "it ended with 1: "),
        ("Stop: transcript", 0, b"", b"a word\n", "it ended with 0: a word"),
        ("Stop: transcript", 0, b"", b"Traceback (most recent call last):\nE: e", "it broke: E: e"),
        ("compress FILE", 2, b"", b"it is no text\n", HELD),
        (
            "compress FILE",
            2,
            b"",
            b"no such option: --x; --help says what it takes",
            "it ended with 2: no such",
        ),
    ],
)
def test_what_says_too_much_or_was_called_in_a_wrong_way_does_not_hold(
    name: str, code: int, out: bytes, told: bytes, outcome: str
) -> None:
    found = readers.verdict(readers.READERS[name], code, out, told)
    assert found.startswith(outcome) and (found == HELD) == (outcome == HELD)


@on_posix
def test_every_command_that_reads_a_path_is_called_as_it_wants_to_be(
    made: tuple[Path, dict[str, str]],
) -> None:
    plain = readers.once(lambda path: path.write_bytes(readers.turns(3)))
    for name, reader in readers.READERS.items():
        found = HELD if reader.is_hook else readers.attempt(reader, plain, *made)[0]
        assert found == HELD, name


@pytest.mark.parametrize("name", ["store", "store_key", "mode", "resume"])
def test_what_a_repository_sets_is_not_taken_or_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    before = dict(os.environ)
    try:
        for number, case in enumerate(case for case in settings.cases() if case.name == name):
            folder = tmp_path / str(number)
            folder.mkdir()
            assert settings.attempt(case, folder) == HELD, case
    finally:
        os.environ.clear()
        os.environ.update(before)


@on_posix
def test_no_command_gives_a_terminal_anything_raw() -> None:
    found = terminal.outcome_of(3)
    assert {command: row for command, row in found.items() if row[0] != row[1]} == {}
    registered = {f"gardener {path}" for path, _ in terminal.leaves(main) if path not in terminal.SERVERS}
    assert found.keys() == {*registered, *COMMANDS, *(f"/gardener {step}" for step in STEPS)}
    assert {command for command in SHOWING if not found[command][2]} == set()


def test_the_attack_on_terminals_knows_what_is_raw() -> None:
    held = "a\tb\n日本 👩\u200d💻 \\x1b"
    assert terminal.raw(held) == []
    for char in "\x1b\r\x07\x7f\x9b\u202e\u2066\u200e\u061c\u2028\u200b\ufeff\U000e0041\ud800":
        assert terminal.raw(f"a{char}b") == [char]


def test_an_attacked_process_gets_nothing_of_who_runs_the_attack(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("AIDER_GARDENER_STORE", "GIT_DIR", "CLAUDE_PROJECT_DIR"):
        monkeypatch.setenv(name, "mine")
    found = environment(tmp_path)
    assert found["HOME"] == str(tmp_path) and "mine" not in found.values()
