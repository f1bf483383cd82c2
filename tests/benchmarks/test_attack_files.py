"""The attacks with hostile files run as they are told in the benchmark; the tests of each part are beside it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from bench.attacks import files, readers


@pytest.mark.skipif(os.name != "posix", reason="needs FIFOs")
@pytest.mark.parametrize("name", ["encryption.json is a FIFO", "a hard link to another file"])
def test_an_attack_holds_in_a_process_of_its_own(name: str) -> None:
    assert files.outcome_of(name, files.ROOT)["outcome"] == files.HELD


@pytest.mark.skipif(os.name != "posix", reason="needs FIFOs")
@pytest.mark.parametrize("kind", ["a FIFO", "a link to a device", "deep"])
@pytest.mark.parametrize("name", ["Stop: transcript", "compress FILE", "store import FILE"])
def test_a_reader_holds_out_against_a_path(tmp_path: Path, name: str, kind: str) -> None:
    environ = readers.prepared(tmp_path / "made", readers.ROOT)
    outcome, _ = readers.attempt(readers.READERS[name], readers.KINDS[kind], tmp_path / "made", environ)
    assert outcome == readers.HELD


@pytest.mark.parametrize(
    ("code", "out", "told", "outcome"),
    [
        (0, b"", b"", readers.HELD),
        (0, b"{}", b"", readers.HELD),
        (1, b"", b"", "it ended with 1: "),
        (0, b"", b"a word\n", "it ended with 0: a word"),
        (0, b"", b"Traceback (most recent call last):\nE: e", "it broke: E: e"),
    ],
)
def test_a_hook_that_says_too_much_does_not_hold(code: int, out: bytes, told: bytes, outcome: str) -> None:
    assert readers.verdict(readers.READERS["Stop: transcript"], code, out, told) == outcome
