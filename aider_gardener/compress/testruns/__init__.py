"""Test runs: totals, and for every failing test its id, its message with both values, and file:line."""

from __future__ import annotations

from aider_gardener.compress.testruns.compressor import PARSERS, compress

KINDS = tuple(PARSERS)

__all__ = ["KINDS", "compress"]
