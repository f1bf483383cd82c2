"""JSON, YAML, TOML, CSV: keys, shape, outliers and the fields the user named stay, the repetition goes."""

from __future__ import annotations

from aider_gardener.compress.structured.compressor import compress

__all__ = ["compress"]
