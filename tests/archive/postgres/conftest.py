"""A server for the tests of this room, and archives of several machines beside it."""

from __future__ import annotations

import pytest
from shared_archives import Machine, Machines, machines, postgres, team

__all__ = ["machines", "postgres", "team"]


@pytest.fixture
def one(machines: Machines) -> Machine:
    """A machine of ana's."""
    return machines("ana")


@pytest.fixture
def other(one: Machine, machines: Machines) -> Machine:
    """Another machine of ana's."""
    return machines("ana")
