"""Builds, linters and installers: every error, each kind of warning once with its count."""

from __future__ import annotations

from aider_gardener.compress.builds.compressor import compress
from aider_gardener.compress.builds.detector import detect

__all__ = ["compress", "detect"]
