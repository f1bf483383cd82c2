"""Builds, linters and installers: every error, each kind of warning once with its count."""

from __future__ import annotations

from aider_gardener.compress.builds.compressor import compress
from aider_gardener.compress.builds.detector import SIGNS, detect

KINDS = tuple(dict.fromkeys(kind for kind, _, _ in SIGNS))

__all__ = ["KINDS", "compress", "detect"]
