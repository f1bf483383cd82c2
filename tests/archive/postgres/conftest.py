"""A server for the tests of this room, and archives of several machines beside it."""

from __future__ import annotations

from shared_archives import machines, postgres, team

__all__ = ["machines", "postgres", "team"]
