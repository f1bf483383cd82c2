"""The attacks with what a newer version wrote, each command of the tool among them."""

from __future__ import annotations

from bench.attacks import newer


def test_what_a_newer_version_wrote_is_called_newer_and_left_as_it_is() -> None:
    assert {name: told for name, told in newer.attack().items() if told != newer.HELD} == {}
