"""The attacks by a repository's settings run as they are told in the benchmark; the tests are in test_origins."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from bench.attacks import settings


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
            assert settings.attempt(case, folder) == settings.HELD, case
    finally:
        os.environ.clear()
        os.environ.update(before)
