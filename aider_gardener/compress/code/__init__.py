"""Code: imports, signatures, types, decorators and constants stay, bodies fold to `… N lines …`."""

from __future__ import annotations

from aider_gardener.compress.code.compressor import compress

__all__ = ["compress"]
