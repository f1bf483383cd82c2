"""Listings: grep, ls, trees, git log, tables, profiles as groups with counts and the first of each."""

from __future__ import annotations

from aider_gardener.compress.listings.compressor import compress

__all__ = ["compress"]
