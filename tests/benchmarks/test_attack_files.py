"""The attacks with hostile files run as they are told in the benchmark; the tests of each part are beside it."""

from __future__ import annotations

import os

import pytest

from bench.attacks import files


@pytest.mark.skipif(os.name != "posix", reason="needs FIFOs")
@pytest.mark.parametrize("name", ["encryption.json is a FIFO", "a hard link to another file"])
def test_an_attack_holds_in_a_process_of_its_own(name: str) -> None:
    assert files.outcome_of(name, files.ROOT)["outcome"] == files.HELD
