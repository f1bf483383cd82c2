"""Tracebacks: type, message, the whole causal chain, project frames; library frames folded."""

from __future__ import annotations

from aider_gardener.compress.errors.compressor import compress

__all__ = ["compress"]
