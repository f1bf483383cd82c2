"""Logs: repeats mined into templates; errors, warnings, rare and outlying lines kept."""

from __future__ import annotations

from aider_gardener.compress.logs.compressor import compress

__all__ = ["compress"]
