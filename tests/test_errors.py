"""A fault of one step ends there: what was set before stands, and the log has its name alone."""

from __future__ import annotations

import logging

import pytest

from aider_gardener.errors import tolerating


def test_a_fault_ends_where_it_is_spared(caplog: pytest.LogCaptureFixture) -> None:
    made = "the fallback"
    with caplog.at_level(logging.WARNING), tolerating("reader of rules") as faults:
        made = str(1 / len(""))
    assert (made, faults) == ("the fallback", ["ZeroDivisionError"])
    assert "reader of rules failed: ZeroDivisionError (" in caplog.text and "division by" not in caplog.text


def test_who_ends_the_process_is_not_held_up() -> None:
    with pytest.raises(KeyboardInterrupt), tolerating("reader of rules"):
        raise KeyboardInterrupt
