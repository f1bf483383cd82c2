"""Builds, linters and installers: every error, each kind of warning once with its count."""

from __future__ import annotations

from aider_gardener.compress.builds.compressor import compress
from aider_gardener.reading.detectors import BUILD_SIGNS

KINDS = tuple(dict.fromkeys(kind for kind, _, _ in BUILD_SIGNS))

__all__ = ["KINDS", "compress"]
